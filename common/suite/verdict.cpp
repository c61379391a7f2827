// Every step against its own solution: what tells a kernel that gets the answer somehow from one that is
// worth writing, without a claim about each step.
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

/// What a step may need of one thing: at most `factor` times what its solution needs, and beside that so many
/// for each step of the solution's work.
struct Limit {
    const char* of;
    std::uint64_t (*counted)(const Counts&);
    double factor;
    double allowance;
    std::uint64_t Place::*at;  ///< what a place in the kernel has of it; null where that says nothing
};

// The same for all chapters. A factor lies between what right kernels of other styles are known to need (the
// solutions of other steps, the variants in tests/wrong) and what the mistakes there do. Sectors, passes and
// additions have none of their own: who has more of one may have less of another, and the work has them all.
constexpr Limit limits[] = {
    // A stretch of four floats or sixteen characters for each lane touches four times the lines of
    // neighbours,
    // and so do blocks of 8 x 8 threads. On an H100 the former is even faster for a histogram
    // (06_aggregated.contiguous). Eight floats are eight times the lines, and lanes that lie rows apart up to
    // 32 times. Where a solution needs next to no lines, neither are a few more of them anything.
    {"128-byte lines of global memory that its requests touch", lines, 5, 1.0 / 64, &Place::lines},
    // Whoever combines the results of blocks with atomics instead of a second launch has one for each block,
    // where the solution has none; an atomic for each element is one for a step or two.
    {"atomics on global memory", atomics, 4, 1.0 / 128, &Place::atomics},
    // Other styles need up to 1.4 times the steps, and tiles of a quarter of the size 2.5 times.
    {"steps that its warps execute, with their lines and passes", work, 3, 0, &Place::steps},
    // Threads that do more each have longer chains. One thread, warp or block for all is 6 to 1000 times as
    // long, and one thread of each block that works while the others wait 5 times and more.
    {"steps until a small GPU is done", makespan, 4, 0, nullptr},
};

std::string format(const char* how, auto... values) {
    char text[320];
    std::snprintf(text, sizeof text, how, values...);
    return text;
}

/// The place in the kernel that has most of it.
std::string where_most(const Run& run, std::uint64_t Place::*what) {
    const auto& places = run.seen.places;
    const auto most = std::max_element(places.begin(), places.end(),
                                       [what](const Place& a, const Place& b) { return a.*what < b.*what; });
    if (most == places.end() || (*most).*what == 0) return "";
    const auto here = static_cast<double>((*most).*what);
    return "\n  most in " + run.seen.line_of(*most) + ": " +
           (most->requests > 0 ? format("%.0f, for each warp that executes it %.1f", here,
                                        here / static_cast<double>(most->requests))
                               : format("%.0f, one for each warp that comes by", here));
}

std::string chains(const Counts& mine, const Counts& theirs) {
    return format(
        "\n  the longest chain of steps that wait for one another is %.0f long, the solution's %.0f: is "
        "the work shared out to many threads, in many warps and blocks?",
        static_cast<double>(mine.span), static_cast<double>(theirs.span));
}

}  // namespace

std::vector<std::string> worse_than_solution(const Run& step, const Run& solution) {
    std::multimap<double, std::string, std::greater<>> worse;  // by how much it is beyond the limit
    const auto &mine = counts_of(step), &theirs = counts_of(solution);
    for (const auto& limit : limits) {
        const auto m = static_cast<double>(limit.counted(mine)),
                   t = static_cast<double>(limit.counted(theirs));
        const auto most = limit.factor * t + limit.allowance * static_cast<double>(theirs.work);
        if (m <= most) continue;
        const auto times =
            t > 0 ? format(m < 100 * t ? "%.1f times the %s" : "%.0f times the %s", m / t, limit.of)
                  : format("%s", limit.of);
        worse.emplace(m / most,
                      "right, but it needs " + times +
                          format(": %.0f, its own solution %.0f, and at most %.0f may be", m, t, most) +
                          (limit.at ? where_most(step, limit.at) : chains(mine, theirs)));
    }
    std::vector<std::string> texts;
    for (auto& [excess, text] : worse) texts.push_back(std::move(text));
    return texts;
}

}  // namespace kata

namespace {

/// Its own solution; skips the test where the step is it, or has none.
const kata::Module& own_solution() {
    if (kata::subject().is_solution) SKIP("this is the solution");
    const auto name = kata::step_name();
    if (!exists(std::filesystem::path(kata::subject().rivals + name + "." + kata::backend_name() + ".so")))
        SKIP("there is no solution of " << name);
    return kata::rival(name);
}

}  // namespace

TEST_CASE("the step needs about what its own solution needs", "[claims]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    const auto& solution = own_solution();
    for (const auto& text : worse_than_solution(kata::counted_run(kata::step()), kata::counted_run(solution)))
        FAIL_CHECK(text);
    SUCCEED();
}

TEST_CASE("the step is about as fast as its own solution", "[timed]") {
    if (!kata::keeps_time()) SKIP("this back end keeps no time");
    const auto verdict = kata::time_against(kata::step(), own_solution(), 1 / kata::slowest);
    if (verdict.answer == kata::Answer::refuted)
        FAIL("right, but it takes " << 1 / verdict.ratio << " times as long as its own solution ("
                                    << verdict.pairs << " pairs), and at most " << kata::slowest
                                    << " times may be");
    SUCCEED();
}
