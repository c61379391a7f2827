// Every step against its own solution: what tells a kernel that gets the answer somehow from one that is
// worth writing, without a claim about each step.
#include "check/report.hpp"
#include "stopwatch.hpp"
#include "suite/clock.hpp"
#include "suite/suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <functional>
#include <map>

namespace kata {

namespace {

std::uint64_t lines(const Counts& c) { return c.lines; }
std::uint64_t atomics(const Counts& c) { return c.global_atomic.accesses; }
std::uint64_t work(const Counts& c) { return c.work; }
std::uint64_t makespan(const Counts& c) { return c.makespan; }
std::uint64_t to_host(const Counts& c) { return c.bytes_to_host; }
std::uint64_t to_device(const Counts& c) { return c.bytes_to_device; }

/// What a step may need of one thing: at most `factor` times what its solution needs, beside that so many for
/// each step of the solution's work, and so many in any case.
struct Limit {
    const char* excess;
    std::uint64_t (*counted)(const Counts&);
    double factor;
    double allowance;
    double always;
    std::uint64_t Place::*at;  ///< what a place in the kernel has of it; null where that says nothing
    const char* cause;         ///< what it usually comes from
};

static_assert(machine::multiprocessors == 16);  // as the last of these says

// The same for all chapters. A factor lies between what right kernels of other styles are known to need (the
// solutions of other steps, the variants in tests/wrong) and what the mistakes there do. Sectors, passes and
// additions have none of their own: who has more of one may have less of another, and the work has them all.
constexpr Limit limits[] = {
    // A stretch of four floats or sixteen characters for each lane touches four times the lines of
    // neighbours,
    // and so do blocks of 8 x 8 threads. On an H100 the former is even faster for a histogram
    // (06_aggregated.contiguous). Eight floats are eight times the lines, and lanes that lie rows apart up to
    // 32 times. Where a solution needs next to no lines, neither are a few more of them anything.
    {"its warps reach too many 128-byte lines of global memory", lines, 5, 1.0 / 64, 0, &Place::lines,
     "the lanes of a warp reach elements that lie apart, where neighbours should reach neighbours"},
    // Whoever combines the results of blocks with atomics instead of a second launch has one for each block,
    // where the solution has none; an atomic for each element is one for a step or two.
    {"it takes too many atomics on global memory", atomics, 4, 1.0 / 128, 0, &Place::atomics,
     "each thread has an atomic of its own, where a block could combine what its threads have first"},
    // Other styles need up to 1.4 times the steps, and tiles of a quarter of the size 2.5 times.
    {"its warps execute too many steps, which are basic blocks, lines and passes over banks", work, 3, 0, 0,
     &Place::steps, "work is done more than once, or lanes of a warp meet in one bank of shared memory"},
    // Threads that do more each have longer chains. One thread, warp or block for all is 6 to 1000 times as
    // long, and one thread of each block that works while the others wait 5 times and more.
    {"it takes too long on a model GPU of 16 multiprocessors, where time is counted in steps of a warp",
     makespan, 4, 0, 0, nullptr, "one thread, warp or block does the work of many, or waits for another"},
    // A flag, a total or an identity is a few bytes. The results of the blocks, to be combined by the host,
    // are four for each block, and sums of sections come back.
    {"it copies too many bytes from the device to the host", to_host, 4, 0, 32, nullptr,
     "the host adds up or looks through what a kernel should"},
    // Constants, and a histogram of zeros.
    {"it copies too many bytes from the host to the device", to_device, 4, 0, 4096, nullptr,
     "the host makes what a kernel or cudaMemset should write"},
};

std::string format(const char* how, auto... values) {
    char text[320];
    std::snprintf(text, sizeof text, how, values...);
    return text;
}

std::string chains(const Counts& mine, const Counts& theirs) {
    return format("\n  the longest chain of steps that wait for one another: now %.0f, in the solution %.0f",
                  static_cast<double>(mine.span), static_cast<double>(theirs.span));
}

}  // namespace

std::string where_most(const Run& run, std::uint64_t Place::*what) {
    const auto& places = run.seen.places;
    const auto most = std::max_element(places.begin(), places.end(),
                                       [what](const Place& a, const Place& b) { return a.*what < b.*what; });
    if (most == places.end() || (*most).*what == 0) return "";
    const auto here = static_cast<double>((*most).*what);
    return "\n  most in " + run.seen.line_of(*most) + ": " +
           (most->requests > 0 ? format("%.0f, each time that a warp executes it %.1f", here,
                                        here / static_cast<double>(most->requests))
                               : format("%.0f, one each time that a warp comes by", here));
}

std::vector<std::string> worse_than_solution(const Run& step, const Counts& theirs) {
    std::multimap<double, std::string, std::greater<>> worse;  // by how much it is beyond the limit
    const auto& mine = counts_of(step);
    for (const auto& limit : limits) {
        const auto m = static_cast<double>(limit.counted(mine)),
                   t = static_cast<double>(limit.counted(theirs));
        const auto most =
            limit.factor * t + limit.allowance * static_cast<double>(theirs.work) + limit.always;
        if (m <= most) continue;
        note_share(most / m);
        worse.emplace(m / most, std::string("the result is right, but ") + limit.excess +
                                    format("\n  now %.0f, in the solution %.0f, at most %.0f", m, t, most) +
                                    (limit.at ? where_most(step, limit.at) : "") +
                                    (limit.counted == makespan ? chains(mine, theirs) : "") +
                                    "\n  the usual cause: " + limit.cause);
    }
    std::vector<std::string> texts;
    for (auto& [excess, text] : worse) texts.push_back(std::move(text));
    return texts;
}

}  // namespace kata

namespace {

void skip_without_own_solution() {
    if (!kata::has_own_solution()) SKIP("this is the solution, or " << kata::step_name() << " has none");
}

}  // namespace

TEST_CASE("the step needs about what its own solution needs", "[claims]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    skip_without_own_solution();
    const auto& theirs = kata::counts_of_solution(kata::step_name());
    for (const auto& text : worse_than_solution(kata::counted_run(kata::step()), theirs)) FAIL_CHECK(text);
    SUCCEED();
}

TEST_CASE("the step is about as fast as its own solution", "[timed]") {
    if (!kata::keeps_time()) SKIP("this back end keeps no time");
    skip_without_own_solution();
    const auto verdict = kata::time_against(kata::step(), kata::rival(kata::step_name()), 1 / kata::slowest);
    if (verdict.answer == kata::Answer::refuted)
        FAIL("the result is right, but it takes too long: now "
             << 1 / verdict.ratio << " times as long as its own solution (" << verdict.pairs
             << " pairs of runs), at most " << kata::slowest << " times");
    SUCCEED();
}
