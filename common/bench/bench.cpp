#include "bench/bench.hpp"

#include "error.hpp"
#include "timing/paired.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace kata::bench {

namespace {

constexpr double least_batch = 200e-6;  // seconds between two events, whose resolution is half a microsecond
constexpr double short_run = 10e-3;     // seconds; in a longer run the time of a launch does not matter
constexpr int most_in_batch = 100;      // the queue of launches holds about a thousand
constexpr double budget = 0.3;          // seconds for the pairs of a row, if the least number allows
constexpr int least_pairs = 8, most_pairs = 32;
constexpr double error = 0.05;  // the probability that a bound of a ratio does not hold

/// Runs over the copies of a problem in turn.
class Timed {
  public:
    Timed(std::function<void(std::size_t copy)> run, std::size_t copies, Stopwatch& watch)
        : run_(std::move(run)), copies_(copies), watch_(watch) {
        watch_.time_behind([] {}, [&] { next(); });  // the driver may load the kernel at its first launch
        const double once = watch_.time_behind([] {}, [&] { next(); });
        batch_ = std::clamp(static_cast<int>(std::ceil(least_batch / once)), 1, most_in_batch);
        led_ = once < short_run;
        seconds_ = once * batch_ * (led_ ? 2 : 1);
    }

    /// Returns the seconds of one run. The same kernel runs before it, so that the device is in the usual
    /// state and the host is ahead of the device.
    double operator()() {
        const auto batch = [this] {
            for (int i = 0; i < batch_; ++i) next();
        };
        const double seconds = watch_.time_behind(
                                   led_ ? std::function<void()>(batch) : [] {}, batch) /
                               batch_;
        times_.push_back(seconds);
        return seconds;
    }

    /// Returns the approximate seconds that a measurement takes.
    double cost() const { return seconds_; }
    const std::vector<double>& times() const { return times_; }

  private:
    void next() { run_(copy_++ % copies_); }

    std::function<void(std::size_t copy)> run_;
    std::size_t copies_, copy_ = 0;
    Stopwatch& watch_;
    int batch_ = 1;
    bool led_ = false;
    double seconds_ = 0;
    std::vector<double> times_;
};

int pairs_for(double seconds) {
    return static_cast<int>(std::clamp(budget / seconds, 1.0 * least_pairs, 1.0 * most_pairs));
}

/// Returns the value below which this fraction of the values lies.
double quantile(std::vector<double> values, double part) {
    std::sort(values.begin(), values.end());
    const double place = part * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place), above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

/// Times one entrant, paired with another if there is one. The row contains only the times of the first.
void time(Row& row, Timed timed, std::optional<Timed> other = {}) {
    if (other) {
        const auto ratio = ratio_of([&] { return timed(); }, [&] { return (*other)(); },
                                    {.error = error, .max_pairs = pairs_for(timed.cost() + other->cost())});
        row.faster = ratio.ratio;
        row.faster_lower = ratio.lower;
        row.faster_upper = ratio.upper;
    } else {
        for (int left = pairs_for(timed.cost()); left > 0; --left) timed();
    }
    const auto& times = timed.times();
    const double median = quantile(times, 0.5);
    row.runs = static_cast<int>(times.size());
    row.milliseconds = 1e3 * median;
    row.spread = 50 * (quantile(times, 0.75) - quantile(times, 0.25)) / median;
}

/// Sets the verdict from the results of one more round over all copies.
void judge(Row& row, const Entrant& entrant, Problem& problem, std::size_t copies, Stopwatch& watch) {
    problem.renew();
    watch.time_behind([] {},
                      [&] {
                          for (std::size_t copy = 0; copy < copies; ++copy) entrant.run(problem, copy);
                      });
    for (std::size_t copy = 0; copy < copies; ++copy)
        if (const auto fault = problem.fault(copy)) {
            row.verdict = *fault;
            return;
        }
    row.verdict = "right";
}

void add_rates(Row& row, const Case& c, double floor_seconds, double flops_per_second) {
    const double seconds = 1e-3 * row.milliseconds;
    row.gigabytes = 1e-9 * c.useful_bytes / seconds;
    row.teraflops = 1e-12 * c.operations / seconds;
    row.of_ceiling = 100 * std::max(floor_seconds, c.operations / flops_per_second) / seconds;
}

}  // namespace

std::size_t copies_of(std::size_t bytes, const Memory& memory) {
    const auto room = memory.free_bytes - memory.free_bytes / 10;  // the driver and the vendor need some
    const auto wanted = std::max<std::size_t>(1, (8 * memory.cache_bytes + bytes - 1) / bytes);
    return std::min(wanted, room / bytes);
}

std::vector<Entrant> last_steps(std::vector<Entrant> entrants, std::size_t count) {
    std::vector<std::string> steps;
    for (const auto& entrant : entrants)
        if (entrant.kind == "step") steps.push_back(entrant.name);
    std::sort(steps.begin(), steps.end());
    if (steps.size() > count) {
        const auto& first = steps[steps.size() - count];
        std::erase_if(entrants, [&](const Entrant& e) { return e.kind != "vendor" && e.name < first; });
    }
    return entrants;
}

std::string gib(std::size_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / (1 << 30));
    return text;
}

std::string field(const std::string& text) {
    std::string all = "\"";
    for (const char c : text)
        if (c == '\n')
            all += "; ";
        else
            all += c == '"' ? "\"\"" : std::string(1, c);
    return all + '"';
}

bool run(const Case& c, const std::vector<Entrant>& entrants, const Device& device, const Told& told) {
    const auto memory = device.watch.memory();
    const auto copies = copies_of(c.bytes, memory);
    if (copies == 0) {
        told.skipped(c, "needs " + gib(c.bytes) + " of the GPU's memory, of which " + gib(memory.free_bytes) +
                            " are free");
        return true;
    }

    double floor_seconds = 0;
    {
        const Entrant floor{"floor", c.floor == Floor::copy ? "copy" : "read", {}};
        told.begins(c, floor);
        const auto bytes = static_cast<std::size_t>(c.useful_bytes);
        const auto floors = copies_of(bytes, memory);
        Row row{
            .name = c.name, .kind = floor.kind, .entrant = floor.name, .verdict = "right", .copies = floors};
        time(row, {device.floor(c.floor, bytes, floors), floors, device.watch});
        floor_seconds = 1e-3 * row.milliseconds;
        add_rates(row, c, floor_seconds, std::numeric_limits<double>::infinity());
        told.row(row);
    }

    const auto vendor = std::find_if(entrants.begin(), entrants.end(),
                                     [](const Entrant& entrant) { return entrant.kind == "vendor"; });
    const auto problem = c.make(copies);
    bool all_right = true;
    for (const auto& entrant : entrants) {
        told.begins(c, entrant);
        Row row{.name = c.name, .kind = entrant.kind, .entrant = entrant.name, .copies = copies};
        const auto timed = [&](const Entrant& e) {
            return Timed([&](std::size_t copy) { e.run(*problem, copy); }, copies, device.watch);
        };
        try {
            if (vendor == entrants.end() || &*vendor == &entrant)
                time(row, timed(entrant));
            else
                time(row, timed(entrant), timed(*vendor));
            add_rates(row, c, floor_seconds, device.flops_per_second);
            judge(row, entrant, *problem, copies, device.watch);
        } catch (const OpenKata&) {
            row.verdict = "open";
        } catch (const Error& e) {
            row.verdict = e.what();
        }
        all_right = all_right && (row.verdict == "right" || row.verdict == "open");
        told.row(row);
    }
    return all_right;
}

}  // namespace kata::bench
