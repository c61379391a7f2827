// Tests of benchmarks on made-up kernels and a made-up clock, for which the time of each kernel and its
// results are known.
#include "bench/bench.hpp"

#include "bench/data.hpp"
#include "error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>
#include <new>
#include <set>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

// Memory of a device that does not exist.
namespace kata::device {
void* allocate(std::size_t bytes, std::string_view, std::byte poison) {
    void* const data = ::operator new(bytes);
    std::memset(data, std::to_integer<int>(poison), bytes);
    return data;
}
void release(void* data) noexcept { ::operator delete(data); }
void upload(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void download(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
std::optional<std::string> damage(const void*) { return std::nullopt; }
}  // namespace kata::device

namespace {

using namespace kata::bench;

/// Time passes while a kernel runs, and at no other time.
class Clock final : public kata::Stopwatch {
  public:
    double now = 0;
    kata::Memory device{std::size_t{1} << 30, std::size_t{1} << 20};

    double time(const std::function<void()>& work) override {
        return time_behind([] {}, work);
    }
    double time_behind(const std::function<void()>& lead, const std::function<void()>& work) override {
        lead();
        const double start = now;
        work();
        return now - start;
    }
    kata::Memory memory() override { return device; }
    kata::Ceilings ceilings() override { return {}; }
};

/// The right answer is the number of the copy.
class Numbers final : public Problem {
  public:
    std::map<std::size_t, std::size_t> answers;
    void run(const kata::Module&, std::size_t) override {}
    void renew() override { answers.clear(); }
    std::optional<std::string> fault(std::size_t copy) override {
        const auto found = answers.find(copy);
        if (found == answers.end()) return "copy " + std::to_string(copy) + " was not written";
        if (found->second == copy) return std::nullopt;
        return "copy " + std::to_string(copy) + " is " + std::to_string(found->second);
    }
};

/// A machine with a problem of 1 MiB: 8 copies of it are eight times the size of the cache.
struct Machine {
    Clock clock;
    std::vector<Row> rows;
    std::vector<std::string> skipped, begun;
    std::size_t floor_bytes = 0;
    Case problem{.name = "numbers",
                 .entry = "",
                 .bytes = 1 << 20,
                 .useful_bytes = 1e6,
                 .operations = 0,
                 .make = [](std::size_t) { return std::make_unique<Numbers>(); }};

    /// A right kernel that takes the given time.
    Entrant entrant(const std::string& kind, const std::string& name, double seconds) {
        return {kind, name, [this, seconds](Problem& problem, std::size_t copy) {
                    clock.now += seconds;
                    dynamic_cast<Numbers&>(problem).answers[copy] = copy;
                }};
    }
    bool run(const std::vector<Entrant>& entrants) {
        const auto floor = [this](Floor, std::size_t bytes, std::size_t) {
            floor_bytes = bytes;
            return [this](std::size_t) { clock.now += 1e-3; };
        };
        return kata::bench::run(
            problem, entrants, {clock, floor, 1e12},
            {.begins = [this](const Case&, const Entrant& e) { begun.push_back(e.name); },
             .row = [this](const Row& row) { rows.push_back(row); },
             .skipped = [this](const Case&, const std::string& why) { skipped.push_back(why); }});
    }
    const Row& row(const std::string& name) const {
        return *std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.entrant == name; });
    }
};

}  // namespace

TEST_CASE("times, rates and ratios are those of the kernels") {
    Machine machine;
    machine.problem.operations = 4e9;
    CHECK(machine.run({machine.entrant("vendor", "cub", 3e-3), machine.entrant("step", "01_a", 8e-3),
                       machine.entrant("step", "02_b", 50e-3)}));
    REQUIRE(machine.rows.size() == 4);
    CHECK(machine.begun == std::vector<std::string>{"copy", "cub", "01_a", "02_b"});
    CHECK(machine.floor_bytes == 1'000'000);
    const auto& floor = machine.row("copy");
    CHECK_THAT(floor.milliseconds, WithinRel(1.0, 1e-6));
    CHECK_THAT(floor.gigabytes, WithinRel(1.0, 1e-6));
    CHECK_THAT(floor.of_ceiling, WithinRel(100.0, 1e-6));
    const auto& a = machine.row("01_a");
    CHECK(a.verdict == "right");
    CHECK_THAT(a.milliseconds, WithinRel(8.0, 1e-6));
    CHECK_THAT(a.gigabytes, WithinRel(0.125, 1e-6));
    CHECK_THAT(a.teraflops, WithinRel(0.5, 1e-6));
    CHECK_THAT(a.of_ceiling, WithinRel(50.0, 1e-6));  // 4 ms for the operations, 1 for the bytes
    CHECK_THAT(a.faster, WithinRel(0.375, 1e-6));
    CHECK_THAT(a.faster_lower, WithinRel(0.375, 1e-6));
    CHECK_THAT(a.faster_upper, WithinRel(0.375, 1e-6));
    CHECK(a.spread < 1e-6);
    CHECK(a.copies == 8);
    CHECK(machine.row("cub").faster == 0);
    CHECK_THAT(machine.row("02_b").milliseconds, WithinRel(50.0, 1e-6));  // too long for anything to lead
}

TEST_CASE("only the last steps are timed, with a student's versions of them, and the vendor") {
    Machine machine;
    const auto names = [&](std::size_t count) {
        std::vector<std::string> left;
        for (const auto& e :
             last_steps({machine.entrant("vendor", "cub", 1), machine.entrant("step", "01_a", 1),
                         machine.entrant("mine", "01_a", 1), machine.entrant("step", "04_b", 1),
                         machine.entrant("mine", "04_b", 1), machine.entrant("step", "10_c", 1)},
                        count))
            left.push_back(e.kind + "/" + e.name);
        return left;
    };
    CHECK(names(1) == std::vector<std::string>{"vendor/cub", "step/10_c"});
    CHECK(names(2) == std::vector<std::string>{"vendor/cub", "step/04_b", "mine/04_b", "step/10_c"});
    CHECK(names(3).size() == 6);
    CHECK(names(4).size() == 6);
}

TEST_CASE("without a vendor there is no ratio") {
    Machine machine;
    CHECK(machine.run({machine.entrant("step", "01_a", 8e-3)}));
    CHECK(machine.row("01_a").faster == 0);
    CHECK(machine.row("01_a").runs >= 8);
}

TEST_CASE("times that differ have a spread, and ratios that differ bounds") {
    Machine machine;
    auto uneven = machine.entrant("step", "01_a", 100e-3);
    int run = 0;
    uneven.run = [&machine, &run, right = uneven.run](Problem& problem, std::size_t copy) {
        machine.clock.now += 10e-3 * (run++ % 5);
        right(problem, copy);
    };
    CHECK(machine.run({machine.entrant("vendor", "cub", 100e-3), uneven}));
    const auto& row = machine.row("01_a");
    CHECK(row.spread > 5);
    CHECK(row.spread < 20);
    CHECK(row.faster_lower < row.faster);
    CHECK(row.faster < row.faster_upper);
}

TEST_CASE("short runs are timed together, and all copies come round") {
    Machine machine;
    std::vector<std::size_t> copies;
    auto watched = machine.entrant("step", "01_a", 4e-6);
    watched.run = [&copies, right = watched.run](Problem& problem, std::size_t copy) {
        copies.push_back(copy);
        right(problem, copy);
    };
    CHECK(machine.run({watched}));
    CHECK_THAT(machine.row("01_a").milliseconds, WithinRel(4e-3, 1e-6));
    CHECK(std::set<std::size_t>(copies.begin(), copies.end()).size() == 8);
    for (std::size_t i = 1; i + 8 < copies.size(); ++i) CHECK(copies[i] == (copies[i - 1] + 1) % 8);
}

TEST_CASE("an answer that is wrong after the loop is reported, whatever came before it") {
    Machine machine;
    auto wrong = machine.entrant("step", "01_a", 1e-3);
    int runs = 0;
    SECTION("always") {
        wrong.run = [&](Problem& problem, std::size_t) {
            machine.clock.now += 1e-3;
            dynamic_cast<Numbers&>(problem).answers[3] = 7;
        };
    }
    SECTION("in one copy") {
        wrong.run = [&, right = wrong.run](Problem& problem, std::size_t copy) {
            right(problem, copy);
            dynamic_cast<Numbers&>(problem).answers[copy] += copy == 7;
        };
    }
    SECTION("after some runs") {
        wrong.run = [&, right = wrong.run](Problem& problem, std::size_t copy) {
            right(problem, copy);
            dynamic_cast<Numbers&>(problem).answers[copy] += ++runs > 9;
        };
    }
    SECTION("when nothing is written, where the vendor has written before") {
        wrong.run = [&](Problem&, std::size_t) { machine.clock.now += 1e-3; };
    }
    CHECK_FALSE(
        machine.run({machine.entrant("vendor", "cub", 1e-3), wrong, machine.entrant("step", "02_b", 1e-3)}));
    CHECK_THAT(machine.row("01_a").verdict, ContainsSubstring("copy "));
    CHECK(machine.row("cub").verdict == "right");
    CHECK(machine.row("02_b").verdict == "right");
}

TEST_CASE("a kernel that is stopped is wrong, one that is not written open, and the others are timed") {
    Machine machine;
    Entrant stopped{"step", "01_a", [](Problem&, std::size_t) { throw kata::Error("out of bounds"); }};
    Entrant open{"mine", "01_a_of_mine", [](Problem&, std::size_t) { throw kata::OpenKata(); }};
    CHECK_FALSE(machine.run({stopped, open, machine.entrant("step", "02_b", 1e-3)}));
    CHECK(machine.row("01_a").verdict == "out of bounds");
    CHECK(machine.row("01_a_of_mine").verdict == "open");
    CHECK(machine.row("02_b").verdict == "right");
    CHECK(Machine().run({open}));
}

TEST_CASE("a problem that does not fit into the memory is left out, with a message of one line") {
    Machine machine;
    machine.problem.bytes = std::size_t{3} << 30;
    machine.problem.make = [](std::size_t) -> std::unique_ptr<Problem> { throw kata::Error("no room"); };
    CHECK(machine.run({machine.entrant("step", "01_a", 1e-3)}));
    CHECK(machine.rows.empty());
    CHECK(machine.begun.empty());
    REQUIRE(machine.skipped.size() == 1);
    CHECK(machine.skipped[0] == "needs 3.00 GiB of the GPU's memory, of which 1.00 GiB are free");
}

TEST_CASE("all copies together are eight times the cache, or as many as fit") {
    constexpr std::size_t mib = 1 << 20;
    CHECK(copies_of(mib, {1000 * mib, 50 * mib}) == 400);
    CHECK(copies_of(3 * mib, {1000 * mib, 50 * mib}) == 134);
    CHECK(copies_of(500 * mib, {1000 * mib, 50 * mib}) == 1);
    CHECK(copies_of(mib, {100 * mib, 50 * mib}) == 90);  // a tenth stays free
    CHECK(copies_of(90 * mib, {100 * mib, 50 * mib}) == 1);
    CHECK(copies_of(91 * mib, {100 * mib, 50 * mib}) == 0);
}

TEST_CASE("a field of CSV is one line") { CHECK(field("a \"b\",\nc") == "\"a \"\"b\"\",; c\""); }

TEST_CASE("sums of the data are exact in float, and no long range of it consists of zeros") {
    for (const std::size_t count :
         {std::size_t{5}, std::size_t{1} << 20, std::size_t{1} << 24, std::size_t{1} << 30}) {
        CAPTURE(count);
        const auto few = addends(count);
        double sum = 0;
        std::size_t zeros = 0, longest = 0;
        for (const int value : few) {
            sum += value;
            zeros = value == 0 ? zeros + 1 : 0;
            longest = std::max(longest, zeros);
        }
        CHECK(sum * static_cast<double>(count) / static_cast<double>(few.size()) <= 0x1p24);
        CHECK(longest < 2048);
        CHECK(few.size() == std::min(count, kata::prime_period));
    }
}

TEST_CASE("a sample has one element of each tile, also of those that are cut off, in order") {
    const auto chosen = sample(21, 13, 8);
    std::set<std::pair<std::size_t, std::size_t>> tiles;
    for (const auto i : chosen) tiles.insert({i / 21 / 8, i % 21 / 8});
    CHECK(chosen.size() == 6);
    CHECK(tiles.size() == 6);
    CHECK(std::is_sorted(chosen.begin(), chosen.end()));
    CHECK(chosen.back() < 21 * 13);
}

TEST_CASE("an element that is wrong or was not written is found, in the copy in which it is") {
    constexpr std::size_t count = 21 * 13;
    Outputs<float> out("out", count, 2);
    const auto in_all = [&] {
        return out.difference_from(
            1, [](std::size_t i) { return static_cast<double>(i); }, 0.25);
    };
    const auto in_sample = [&](unsigned side) {
        return each_of(out, 1, sample(21, 13, side), [](std::size_t i, float value) {
            return difference(i, value, static_cast<double>(i), 0.25);
        });
    };
    CHECK(in_sample(1) == "element 0 was not written");
    CHECK_THAT(in_all().value(), ContainsSubstring("element 1 is "));  // poison is nearly 0
    for (std::size_t i = 0; i < count; ++i) out.of(1)[i] = static_cast<float>(i) + 0.25f;
    CHECK(in_all() == std::nullopt);
    CHECK(in_sample(1) == std::nullopt);
    out.of(1)[77] = 78;
    CHECK(in_all() == "element 77 is 78, expected 77");
    CHECK(in_sample(1) == "element 77 is 78, expected 77");
    out.of(1)[77] = std::numeric_limits<float>::quiet_NaN();
    CHECK_THAT(in_all().value(), ContainsSubstring("element 77 is nan"));
    CHECK_THAT(in_sample(1).value(), ContainsSubstring("element 77 is nan"));
    out.of(1)[77] = 77;
    std::memset(&out.of(1)[272], std::to_integer<int>(kata::poison), sizeof(float));
    CHECK(in_sample(21) == "element 272 was not written");  // whether the sample has it or not
    out.of(1)[272] = 272;
    CHECK(in_sample(1) == std::nullopt);
    out.renew();
    CHECK(in_sample(1) == "element 0 was not written");
}

TEST_CASE("inputs repeat their elements in each copy, and are what they were once they are renewed") {
    const std::size_t count = 1000;
    Inputs<int> in("in", {1, 2, 3}, count, 3);
    CHECK(in.of(2)[999] == 1);
    CHECK(in[998] == 3);
    auto next = in.in_order();
    for (std::size_t i = 0; i < count; ++i) REQUIRE(next() == in[i]);
    in.of(2)[999] = 7;
    in.renew();
    for (std::size_t copy = 0; copy < 3; ++copy)
        for (std::size_t i = 0; i < count; ++i) REQUIRE(in.of(copy)[i] == in[i]);
}
