// Tests the verdict on timed claims, with made-up machines whose true speeds are known.
#include "cores.hpp"
#include "error.hpp"
#include "judge/time_limit.hpp"
#include "timing/paired.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <numbers>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace kata;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;

namespace {

/// Disturbances of a clock. They affect a and b alike, so that the median of their ratios does not change.
struct Noise {
    std::string name;
    double spread = 0;    ///< standard deviation of the logarithm of a time
    double outliers = 0;  ///< share of the runs that take five times as long
    double drift = 0;     ///< growth of the time from run to run
    double slow = 1;      ///< factor of phases of about forty runs
    double second = 1;    ///< factor of every other run, beginning with the second
};

const std::array noises{
    Noise{.name = "quiet"},
    Noise{.name = "spread", .spread = 0.05},
    Noise{.name = "wide spread", .spread = 0.4},
    Noise{.name = "outliers", .spread = 0.02, .outliers = 0.15},
    Noise{.name = "drift", .spread = 0.02, .drift = 0.002},
    Noise{.name = "slow phases", .spread = 0.02, .slow = 1.7},
    Noise{.name = "second run faster", .spread = 0.02, .second = 0.8},
    Noise{.name = "second run slower", .spread = 0.02, .second = 1.3},
    Noise{.name = "all", .spread = 0.1, .outliers = 0.15, .drift = 0.002, .slow = 1.7, .second = 0.9},
};

class Machine {
  public:
    Machine(const Noise& noise, unsigned seed) : noise_(noise), bits_(seed * 0x9E3779B97F4A7C15) {}

    /// A program that takes `seconds` on this machine without disturbances.
    Clocked program(double seconds) {
        return [this, seconds] { return seconds * disturbance(); };
    }

  private:
    // The distributions of the standard library differ between implementations.
    double uniform() {
        bits_ = bits_ * 6364136223846793005 + 1442695040888963407;
        return (static_cast<double>(bits_ >> 12) + 0.5) / 0x1p52;
    }
    double normal() {
        return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
    }

    double disturbance() {
        if (uniform() < 1.0 / 40) in_slow_phase_ = !in_slow_phase_;
        double factor = std::exp(noise_.spread * normal());
        if (uniform() < noise_.outliers) factor *= 5;
        if (in_slow_phase_) factor *= noise_.slow;
        if (runs_ % 2 == 1) factor *= noise_.second;
        return factor * (1 + noise_.drift * runs_++);
    }

    Noise noise_;
    std::uint64_t bits_;
    bool in_slow_phase_ = false;
    int runs_ = 0;
};

Verdict judge(const Noise& noise, unsigned seed, double true_ratio, double claim,
              const PairedOptions& options = {}) {
    Machine machine(noise, seed);
    return at_least_as_fast(machine.program(1e-3), machine.program(1e-3 * true_ratio), claim, options);
}

struct Tally {
    int holds = 0, refuted = 0, undecided = 0;
    int most_pairs = 0;

    void add(const Verdict& verdict) {
        ++(verdict.answer == Answer::holds ? holds : verdict.answer == Answer::refuted ? refuted : undecided);
        most_pairs = std::max(most_pairs, verdict.pairs);
    }
};

Tally tally(int times, const Noise& noise, double true_ratio, double claim,
            const PairedOptions& options = {}) {
    Tally all;
    for (int i = 0; i < times; ++i)
        all.add(judge(noise, static_cast<unsigned>(i + 1), true_ratio, claim, options));
    return all;
}

/// A clock that repeats these times in turn.
Clocked clock_of(std::vector<double> times) {
    return
        [times = std::move(times), next = std::size_t{0}]() mutable { return times[next++ % times.size()]; };
}

}  // namespace

TEST_CASE("a claim that is true by a margin holds", "[timing]") {
    const Noise& noise = GENERATE(from_range(noises));
    CAPTURE(noise.name);
    const Tally all = tally(100, noise, 3.0, 1.2);
    CHECK(all.holds == 100);
}

TEST_CASE("a claim that is false by a margin is refuted", "[timing]") {
    const Noise& noise = GENERATE(from_range(noises));
    const double true_ratio = GENERATE(0.25, 0.5);
    CAPTURE(noise.name, true_ratio);
    const Tally all = tally(100, noise, true_ratio, 1.2);
    CHECK(all.refuted == 100);
}

TEST_CASE("no noise makes a false claim hold", "[timing]") {
    const Noise& noise = GENERATE(from_range(noises));
    const double true_ratio = GENERATE(0.5, 0.9, 1.0, 1.03);
    CAPTURE(noise.name, true_ratio);
    CHECK(tally(300, noise, true_ratio, 1.05).holds == 0);
}

TEST_CASE("equal speeds are never five per cent apart, in thousands of repetitions under heavy noise",
          "[timing]") {
    CHECK(tally(3000, noises.back(), 1.0, 1.05).holds == 0);
}

TEST_CASE("a true claim is not refuted by noise", "[timing]") {
    const Noise& noise = GENERATE(from_range(noises));
    CAPTURE(noise.name);
    CHECK(tally(300, noise, 1.07, 1.05).refuted == 0);
}

TEST_CASE("wrong verdicts are as rare as promised where they are most likely, and not much rarer",
          "[timing]") {
    // At a true ratio equal to the claim, each side errs as often as it ever can. The lower limit shows that
    // these repetitions would detect an error rate above the promised one.
    const double error = GENERATE(0.02, 0.1);
    const Noise& noise = GENERATE(noises[1], noises[5]);
    const int times = 2000;
    CAPTURE(error, noise.name);
    const Tally all = tally(times, noise, 1.2, 1.2, {.error = error, .max_pairs = 128, .warm_ups = 0});
    const double most = times * error + 3 * std::sqrt(times * error);
    CHECK(all.holds <= most);
    CHECK(all.refuted <= most);
    CHECK(all.holds >= times * error / 4);
    CHECK(all.refuted >= times * error / 4);
}

TEST_CASE("a margin inside the noise stays undecided, with every pair spent", "[timing]") {
    int undecided = 0;
    for (unsigned seed = 1; seed <= 500; ++seed) {
        const Verdict verdict = judge(noises[2], seed, 1.21, 1.2);
        if (verdict.answer != Answer::undecided) continue;
        ++undecided;
        REQUIRE(verdict.pairs == PairedOptions{}.max_pairs);
        REQUIRE(verdict.lower <= 1.2);
        REQUIRE(verdict.upper >= 1.2);
    }
    CHECK(undecided >= 495);
}

TEST_CASE("a clear case takes few pairs, a closer one more", "[timing]") {
    const Noise& noise = noises[1];
    CHECK(tally(100, noise, 2.0, 1.2).most_pairs == 16);
    CHECK(tally(100, noise, 0.8, 1.2).most_pairs == 16);
    CHECK(tally(100, noise, 1.3, 1.2).most_pairs > 16);
    // With 16 of 1000 pairs a verdict is possible because the look after 8 pairs leaves its share of the
    // error unused.
    CHECK(tally(100, noise, 2.0, 1.2, {.max_pairs = 1000}).most_pairs == 16);
}

TEST_CASE("one contradicting pair in sixteen requires more pairs", "[timing]") {
    const Clocked one = clock_of({1});
    const auto two_but_once = [runs = 0]() mutable { return ++runs == 10 ? 0.5 : 2.0; };
    const Verdict verdict = at_least_as_fast(one, two_but_once, 1.5);
    CHECK(verdict.answer == Answer::holds);
    CHECK(verdict.pairs == 32);
    CHECK(verdict.ratio == 2.0);
}

TEST_CASE("a ratio exactly as claimed neither holds nor is refuted", "[timing]") {
    const Verdict verdict = at_least_as_fast(clock_of({0.5}), clock_of({1}), 2.0);
    CHECK(verdict.answer == Answer::undecided);
    CHECK(verdict.lower == 2.0);
    CHECK(verdict.upper == 2.0);
}

TEST_CASE("too few pairs for the promised error say nothing, however clear they look", "[timing]") {
    const int pairs = GENERATE(1, 7, 8, 13);
    const Verdict verdict = at_least_as_fast(clock_of({1}), clock_of({16}), 2.0, {.max_pairs = pairs});
    CHECK(verdict.answer == Answer::undecided);
    CHECK(verdict.pairs == pairs);
    CHECK_THAT(verdict.ratio, WithinRel(16.0, 1e-12));
    CHECK(verdict.lower == 0);
    CHECK(verdict.upper == std::numeric_limits<double>::infinity());
}

TEST_CASE("three pairs are enough where each is more than ten times beyond the claim", "[timing]") {
    const Verdict slow = at_least_as_fast(clock_of({3}), clock_of({0.001}), 0.5);
    CHECK(slow.answer == Answer::refuted);
    CHECK(slow.pairs == 3);
    CHECK_THAT(slow.upper, WithinRel(1.0 / 3000, 1e-12));
    const Verdict fast = at_least_as_fast(clock_of({1}), clock_of({21}), 2.0);
    CHECK(fast.answer == Answer::holds);
    CHECK(fast.pairs == 3);
    CHECK(at_least_as_fast(clock_of({1}), clock_of({19}), 2.0).pairs == 16);
}

TEST_CASE("one contradicting pair among the first three requires the usual number", "[timing]") {
    const auto slow_but_once = [runs = 0]() mutable { return ++runs == 4 ? 0.001 : 3.0; };
    const Verdict verdict = at_least_as_fast(slow_but_once, clock_of({0.001}), 0.5);
    CHECK(verdict.answer == Answer::refuted);
    CHECK(verdict.pairs > 3);
}

TEST_CASE("after the warm-ups, two programs run in turn, and each goes first every other time", "[timing]") {
    std::string order;
    const auto run = [&](char name) {
        return [&order, name] {
            order += name;
            return 1.0;
        };
    };
    ratio_of(run('a'), run('b'), {.max_pairs = 4, .warm_ups = 1});
    CHECK(order ==
          "ab"
          "abba"
          "abba");
}

TEST_CASE("the times of warm-ups are left out", "[timing]") {
    const auto slow_at_first = [runs = 0]() mutable { return ++runs <= 3 ? 1e6 : 1.0; };
    const Ratio ratio = ratio_of(slow_at_first, clock_of({2}), {.max_pairs = 20, .warm_ups = 3});
    CHECK(ratio.lower == 2.0);
    CHECK(ratio.upper == 2.0);
}

TEST_CASE("the bounds of a ratio hold the true one as often as promised", "[timing]") {
    const Noise& noise = GENERATE(noises[1], noises[3], noises[5]);
    CAPTURE(noise.name);
    const int times = 2000;
    const double error = 0.05;
    int missed = 0;
    for (unsigned seed = 1; seed <= times; ++seed) {
        Machine machine(noise, seed);
        const Ratio ratio =
            ratio_of(machine.program(1), machine.program(1.7), {.error = error, .max_pairs = 32});
        REQUIRE(ratio.lower <= ratio.ratio);
        REQUIRE(ratio.ratio <= ratio.upper);
        missed += ratio.lower > 1.7 || ratio.upper < 1.7;
    }
    CHECK(missed <= times * error + 3 * std::sqrt(times * error));
    CHECK(missed >= times * error / 4);
}

TEST_CASE("the bounds are the ratios that tables of the sign test name", "[timing]") {
    struct Row {
        int pairs;
        double error;
        double rank;
    };
    const Row row = GENERATE(Row{6, 0.05, 1}, Row{10, 0.05, 2}, Row{20, 0.05, 6}, Row{50, 0.05, 18},
                             Row{50, 0.01, 16}, Row{100, 0.05, 40});
    CAPTURE(row.pairs, row.error);
    std::vector<double> times;
    for (int i = 1; i <= row.pairs; ++i) times.push_back(i % 2 == 1 ? i : row.pairs + 2 - i);
    const Ratio ratio = ratio_of(clock_of({1}), clock_of(times), {row.error, row.pairs, 0});
    CHECK(ratio.lower == row.rank);
    CHECK(ratio.upper == row.pairs + 1 - row.rank);
}

TEST_CASE("more pairs bring the bounds closer", "[timing]") {
    double last = std::numeric_limits<double>::infinity();
    for (const int pairs : {16, 64, 256, 1000}) {
        Machine machine(noises[1], 7);
        const Ratio ratio = ratio_of(machine.program(1), machine.program(1.7), {.max_pairs = pairs});
        CHECK(ratio.pairs == pairs);
        CHECK(ratio.upper - ratio.lower < last);
        last = ratio.upper - ratio.lower;
    }
    CHECK(last < 0.05);
}

TEST_CASE("a machine that gets ever slower favours neither side", "[timing]") {
    const Verdict verdict = judge({.name = "steep drift", .spread = 0.001, .drift = 0.02}, 3, 1.0, 1.05);
    CHECK(verdict.answer == Answer::refuted);
    CHECK_THAT(verdict.ratio, WithinRel(1.0, 0.01));
}

TEST_CASE("the verdict does not change with the unit of time", "[timing]") {
    const double unit = GENERATE(1e-9, 1.0, 1e9);
    Machine machine(noises[1], 11);
    const Verdict verdict = at_least_as_fast(machine.program(unit), machine.program(1.5 * unit), 1.2);
    CHECK(verdict.answer == Answer::holds);
    CHECK_THAT(verdict.ratio, WithinRel(1.5, 0.05));
}

TEST_CASE("a value that is no time is refused, and the message says which program took it", "[timing]") {
    const double none = GENERATE(0.0, -1e-3, std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity());
    const Clocked good = clock_of({1}), bad = clock_of({1, 1, 1, 1, 1, none});
    CHECK_THROWS_MATCHES(at_least_as_fast(bad, good, 1.1), Error,
                         MessageMatches(ContainsSubstring("a run of a took")));
    CHECK_THROWS_MATCHES(at_least_as_fast(good, bad, 1.1), Error,
                         MessageMatches(ContainsSubstring("a run of b took")));
    CHECK_THROWS_AS(ratio_of(good, bad), Error);
    CHECK_THROWS_AS(ratio_of(clock_of({none}), good), Error);
}

TEST_CASE("claims and options without a meaning are refused", "[timing]") {
    const Clocked one = clock_of({1});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double claim : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()})
        CHECK_THROWS_AS(at_least_as_fast(one, one, claim), Error);
    for (const double error : {0.0, -0.1, 0.5, 1.0, nan})
        CHECK_THROWS_AS(at_least_as_fast(one, one, 1.1, {.error = error}), Error);
    for (const int pairs : {-1, 0, 1001}) CHECK_THROWS_AS(ratio_of(one, one, {.max_pairs = pairs}), Error);
    CHECK_THROWS_AS(ratio_of(one, one, {.warm_ups = -1}), Error);
}

namespace {

/// Returns the output of a process whose time is limited like that of a suite; nothing, if the process ends
/// by itself.
std::string end_of(void (*work)(), double processor_seconds, int idle_seconds,
                   std::atomic<double>* together = nullptr) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        static int out = ends[1];
        std::signal(SIGTERM, [](int) {
            const auto why = why_stopped();
            _exit(write(out, why.data(), why.size()) > 0 ? 1 : 2);
        });
        limit_time(processor_seconds, idle_seconds, together);
        work();
        _exit(0);
    }
    close(ends[1]);
    std::array<char, 1024> text{};
    const auto length = read(ends[0], text.data(), text.size());
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK((status == 0) == (length == 0));
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

void compute() {
    static volatile bool goes_on = true;
    while (goes_on) {
    }
}
void wait() {
    for (;;) pause();
}
void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(2500)); }

}  // namespace

TEST_CASE("a suite ends by what it has computed, not by the clock", "[time limit]") {
    CHECK_THAT(end_of(compute, 0.5, 60), ContainsSubstring("many times as long as they should"));
    CHECK(end_of(wait_a_little, 0.5, 60) == "");
    CHECK_THAT(end_of(wait, 60, 2),
               ContainsSubstring("the host code does not return: for 2 s it has waited"));
}

TEST_CASE("the times of several processes are added up", "[time limit]") {
    void* const memory =
        mmap(nullptr, sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto& together = *new (memory) std::atomic<double>(9.5);  // of others
    CHECK_THAT(end_of(compute, 10, 60, &together), ContainsSubstring("they have computed for 10 s"));
    CHECK(together > 10);
    CHECK(together < 15);
    munmap(memory, sizeof(double));
}

TEST_CASE("only processors that the process may use are counted", "[time limit]") {
    const auto system = std::filesystem::temp_directory_path() / ("kata-cores-" + std::to_string(getpid()));
    const auto write_file = [&](const char* path, const char* text) {
        const auto file = system / path;
        create_directories(file.parent_path());
        std::ofstream(file) << text;
    };
    CHECK(cores(4, system) == 4);
    write_file("proc/self/cgroup", "3:cpuset:/\n0::/inner/own\n");
    CHECK(cores(4, system) == 4);
    write_file("sys/fs/cgroup/inner/own/cpu.max", "max 100000\n");
    CHECK(cores(4, system) == 4);
    write_file("sys/fs/cgroup/inner/cpu.max", "200000 100000\n");
    CHECK(cores(4, system) == 2);
    CHECK(cores(1, system) == 1);
    write_file("sys/fs/cgroup/cpu.max", "50000 100000\n");
    CHECK(cores(4, system) == 1);
    remove_all(system);
}

TEST_CASE("a suite that is stopped from outside says if the machine was too busy", "[time limit]") {
    CHECK_THAT(why_stopped_from_outside(600, 12),
               ContainsSubstring("after 600 s, in which they could compute for 12 s only") &&
                   ContainsSubstring("That is no verdict on the step: run it again"));
    CHECK_THAT(why_stopped_from_outside(30, 29), !ContainsSubstring("run it again"));
}

TEST_CASE("whatever ends the tests of a step is reported in words, without the name of a signal",
          "[time limit]") {
    const auto first_line = [](const std::string& signal) {
        const auto why = why_ended(signal);
        return why.substr(0, why.find('\n'));
    };
    CHECK(first_line("SIGSEGV - Segmentation violation signal") ==
          "the step crashes: it accesses memory that does not exist");
    CHECK(first_line("SIGFPE - Floating point error signal") ==
          "the step crashes: it divides an integer by zero");
    CHECK(first_line("SIGILL - Illegal instruction signal") ==
          "the step crashes: its code cannot be executed");
    CHECK_THAT(why_ended("SIGSEGV - Segmentation violation signal"),
               ContainsSubstring("\nlook at the host code of the step: ") &&
                   ContainsSubstring("functions that lack a return statement"));
    CHECK_THAT(first_line("SIGABRT - Abort (abnormal termination) signal"), ContainsSubstring("abort()"));
    CHECK_THAT(first_line("SIGTERM - Termination request signal"), ContainsSubstring("were stopped after"));
    CHECK(first_line("SIGINT - Terminal interrupt signal") == "the tests were interrupted");
}
