// Every step against its own solution: what tells a kernel that gets the answer somehow from one that is
// worth writing, without a claim about each step.
#include "check/report.hpp"
#include "stopwatch.hpp"
#include "suite/clock.hpp"
#include "suite/suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

namespace kata {

namespace {

std::uint64_t lines(const Counts& c) { return c.lines; }
std::uint64_t atomics(const Counts& c) { return c.global_atomic.accesses; }
std::uint64_t swaps(const Counts& c) { return c.swaps; }
std::uint64_t exchanges(const Counts& c) { return c.exchanges; }
std::uint64_t work(const Counts& c) { return c.work; }
std::uint64_t makespan(const Counts& c) { return c.makespan; }
std::uint64_t stores(const Counts& c) { return c.global_store.requests; }
std::uint64_t passes(const Counts& c) {
    return c.shared_load.transactions + c.shared_store.transactions + c.shared_atomic.transactions;
}
std::uint64_t to_host(const Counts& c) { return c.bytes_to_host; }
std::uint64_t to_device(const Counts& c) { return c.bytes_to_device; }

/// What a step may need of one thing: at most `factor` times what its solution needs, beside that so many for
/// each step of the solution's work, and so many in any case. Or so large a `share` of that work, which is
/// for whom takes shared memory where the solution has none.
struct Limit {
    const char* excess;
    std::uint64_t (*counted)(const Counts&);
    double factor;
    double allowance;
    double share;
    double always;
    std::uint64_t Place::*at;  ///< what a place in the kernel has of it; null where that says nothing
    const char* cause;         ///< what it usually comes from
};

static_assert(machine::multiprocessors == 16);  // as two of these say

// The same for all chapters. A factor lies between what right kernels of other styles are known to need (the
// solutions of other steps, the variants in tests/wrong) and what the mistakes there do. Sectors and
// additions have none of their own: who has more of one may have less of another, and the work has them all.
constexpr Limit limits[] = {
    // A stretch of four floats or sixteen characters for each lane touches four times the lines of
    // neighbours,
    // and so do blocks of 8 x 8 threads. On an H100 the former is even faster for a histogram
    // (06_aggregated.contiguous). Eight floats are eight times the lines, and lanes that lie rows apart up to
    // 32 times. Where a solution needs next to no lines, neither are a few more of them anything.
    {"its accesses to global memory are not coalesced: its warps reach too many 128-byte lines of global "
     "memory",
     lines, 5, 1.0 / 64, 0, 0, &Place::lines,
     "neighbouring threads, which are those with neighbouring threadIdx.x, reach elements that lie apart, "
     "where they should reach neighbouring elements"},
    // Whoever combines the results of blocks with atomics instead of a second launch has one for each block,
    // where the solution has none; an atomic for each element is one for a step or two.
    {"it takes too many atomics on global memory", atomics, 4, 1.0 / 128, 0, 0, &Place::atomics,
     "each thread has an atomic of its own, where a block could combine what its threads have first"},
    // One for each result of a block, where there is no other atomic, is as good as none.
    {"it takes too many compare-and-swaps", swaps, 4, 1.0 / 128, 0, 0, nullptr,
     "atomicCAS in a loop: where others come in between it fails, and is tried again, once for each of them; "
     "atomicAdd and its like never fail"},
    // A sum that is kept in the output has a store for each of its terms. Where a kernel sets the output to
    // zero first there are two, and blocks of half the size leave twice the results.
    {"its warps store too often to global memory", stores, 4, 1.0 / 64, 0, 0, &Place::stores,
     "what changes in a loop is kept in global memory, where a register or shared memory could hold it"},
    // An exchange of x and z in a tile of 8³ has 6.2 times the passes, which its lines hide from the work.
    // A tree in which every warp has a lane that works has 4.2 times. Squares of neighbouring results, which
    // nvcc mends with wide loads, have 2.9 times (gemm 04), and a box blur by way of a tile, of which the
    // solution has none, an eighth of the work.
    {"its warps take too many passes over the banks of shared memory", passes, 3, 1.0 / 32, 1.0 / 4, 0,
     &Place::passes,
     "each warp has few lanes that work, while other warps could rest, or more is read than once"},
    // A reduction with blocks of a quarter of the threads has 3.8 times as many, and who takes one lane after
    // the other 4.7 times and more.
    {"its warps exchange values between lanes too often, by shuffles, votes and their like", exchanges, 4,
     1.0 / 128, 0, 0, &Place::exchanges,
     "lanes take turns, one shuffle for each of them, where five with strides 1, 2, 4, 8 and 16 reach all "
     "32; or each warp does by shuffles what one warp could do for the whole block"},
    // Other styles need up to 1.4 times the steps, and tiles of a quarter of the size 2.5 times.
    {"its warps execute too many steps, which are basic blocks, lines and passes over banks", work, 3, 0, 0,
     0, &Place::steps, "work is done more than once, or lanes of a warp meet in one bank of shared memory"},
    // Threads that do more each have longer chains. One thread, warp or block for all is 6 to 1000 times as
    // long, and one thread of each block that works while the others wait 5 times and more.
    {"it takes too long on a model GPU of 16 multiprocessors, where time is counted in steps of a warp",
     makespan, 4, 0, 0, 0, nullptr, "one thread, warp or block does the work of many, or waits for another"},
    // A flag, a total or an identity is a few bytes. The results of the blocks, to be combined by the host,
    // are four for each block, and sums of sections come back.
    {"it copies too many bytes from the device to the host", to_host, 4, 0, 0, 32, nullptr,
     "the host adds up or looks through what a kernel should"},
    // Constants, and a histogram of zeros.
    {"it copies too many bytes from the host to the device", to_device, 4, 0, 0, 4096, nullptr,
     "the host makes what a kernel or cudaMemset should write"},
};

/// Whether what is too much may come from something else that is, and explains it.
bool is_effect(const Limit& limit) { return limit.counted == work || limit.counted == makespan; }

/// Whether the lines are too many though each request has about as few as in the solution.
bool too_often(const Limit& limit, const Counts& mine, const Counts& theirs) {
    const auto a_request = [](const Counts& c) {
        const auto requests = c.global_load.requests + c.global_store.requests + c.global_atomic.requests;
        return static_cast<double>(c.lines) / static_cast<double>(std::max<std::uint64_t>(requests, 1));
    };
    return limit.counted == lines && a_request(mine) < 2 * a_request(theirs);
}

const char* excess_of(const Limit& limit, const Counts& mine, const Counts& theirs) {
    return too_often(limit, mine, theirs)
               ? "it reaches global memory too often: its warps reach too many 128-byte lines of it"
               : limit.excess;
}

std::string format(const char* how, auto... values) {
    char text[512];
    std::snprintf(text, sizeof text, how, values...);
    return text;
}

std::string chains(const Counts& mine, const Counts& theirs) {
    const auto differs = [&](const char* what, std::uint64_t m, std::uint64_t t) {
        return format("\n  %s: now %.0f, in the solution %.0f", what, static_cast<double>(m),
                      static_cast<double>(t));
    };
    return differs("the longest chain of steps that wait for one another", mine.span, theirs.span) +
           (mine.launches > 2 * theirs.launches
                ? differs("launches, each of which waits for the one before", mine.launches, theirs.launches)
                : "") +
           (2 * mine.threads < theirs.threads ? differs("threads", mine.threads, theirs.threads) : "");
}

/// For who wastes lanes, as with a block for each thread.
std::string lanes(const Counts& mine, const Counts& theirs) {
    if (mine.active_lanes() > 16 || 2 * mine.active_lanes() > theirs.active_lanes()) return "";
    return format("\n  of the 32 lanes of a warp %.1f are at work on average, in the solution %.1f",
                  mine.active_lanes(), theirs.active_lanes()) +
           (mine.threads < 32 * mine.blocks
                ? format(": its blocks have %.1f threads, and a warp is of one block",
                         static_cast<double>(mine.threads) / static_cast<double>(mine.blocks))
                : "");
}

double threads_a_block(const Counts& c) {
    return c.blocks == 0 ? 0.0 : static_cast<double>(c.threads) / static_cast<double>(c.blocks);
}

/// Where lanes wait for each other, half of the passes and more.
bool conflicts(const Limit& limit, const Counts& mine) {
    return limit.counted == passes && 2 * mine.bank_conflicts > passes(mine);
}

const char* cause_of(const Limit& limit, const Counts& mine, const Counts& theirs) {
    if (conflicts(limit, mine))
        return "bank conflicts: lanes of a warp reach different words of one bank, as down a column of an "
               "array with 32 columns, where they should reach neighbours in a row; are two indices "
               "exchanged?";
    const bool few_threads = limit.counted == makespan && 4 * mine.threads < theirs.threads;
    if (!few_threads && threads_a_block(mine) <= 16 && threads_a_block(theirs) > 16 &&
        (is_effect(limit) || limit.counted == lines || limit.counted == stores))
        return "blocks that are too small: a warp, which has 32 lanes, is of one block, and costs as much "
               "with fewer threads; 128 to 512 threads a block are usual";
    if (too_often(limit, mine, theirs))
        return "what is used several times comes from global memory each time, or goes there, where shared "
               "memory or a register could hold it";
    if (!is_effect(limit)) return limit.cause;
    const auto constants = mine.constant_load.distinct / sizeof(float);  // one step for each of them
    if (constants > work(mine) / 4 && constants > 2 * mine.constant_load.requests)
        return "lanes of a warp read constant memory at different addresses, which it answers one after the "
               "other: all lanes should want the same element at a time";
    if (limit.counted == makespan && mine.launches > 2 * theirs.launches)
        return "many small launches, one after the other, do what one could";
    if (few_threads) return "there are too few threads, and each does the work of many";
    return limit.cause;
}

/// By what factor the work may be dealt out worse than in the solution: to multiprocessors, and to the warps
/// of a block.
constexpr double uneven = 4, uneven_warps = 3;

/// As on a GPU, where no more than twice the solution's time may pass: for so long as its kernels move memory
/// the host may move some beside them.
constexpr double slack_beside = 4096;

std::optional<Shortfall> too_much_beside(const Counts& mine, const Counts& theirs) {
    const auto moved =
        32.0 * static_cast<double>(theirs.global_load.transactions + theirs.global_store.transactions +
                                   theirs.global_atomic.transactions);
    const auto m = static_cast<double>(mine.bytes_beside), t = static_cast<double>(theirs.bytes_beside),
               most = t + moved + slack_beside;
    if (m <= most) return std::nullopt;
    return Shortfall{
        format(
            "the result is right, but too many bytes are moved by copies within the device and by "
            "cudaMemset\n  now %.0f, in the solution %.0f, at most %.0f, which is what its kernels move "
            "besides\n  the usual cause: an array is copied first and then worked on, where a kernel could "
            "read the one that it is given; a copy is read and written",
            m, t, most),
        most / m};
}

/// How much of the work the busiest of the multiprocessors does; 1/16 where all have as much.
double share_of_busiest(const Counts& c) {
    return c.work == 0
               ? 0
               : machine::issued_together * static_cast<double>(c.busiest) / static_cast<double>(c.work);
}

/// Contention and the longest chain may take so long in the solution that they hide how the work is dealt out
/// to multiprocessors, and who does little may leave it all to one of them.
std::optional<std::string> badly_dealt_out(const Counts& mine, const Counts& theirs) {
    const double m = share_of_busiest(mine), t = share_of_busiest(theirs);
    if (m <= uneven * t) return std::nullopt;
    return format(
        "the result is right, but it takes too long on a model GPU of 16 multiprocessors: the busiest "
        "of them does too much of the work\n  now %.0f %%, in the solution %.0f %%, at most %.0f %%\n  "
        "blocks: now %.0f, in the solution %.0f\n  the usual cause: there are too few blocks, or few "
        "of them do most of the work",
        100 * m, 100 * t, 100 * uneven * t, static_cast<double>(mine.blocks),
        static_cast<double>(theirs.blocks));
}

/// Threads that a kernel launches and gives nothing to do wait nowhere and cost few steps, and yet each of
/// the others has their share to do.
double share_of_busiest_warp(const Counts& c) {
    return c.work == 0 ? 0 : static_cast<double>(c.evened) / static_cast<double>(c.work);
}

std::optional<std::string> left_to_one_warp(const Counts& mine, const Counts& theirs) {
    const double m = share_of_busiest_warp(mine), t = share_of_busiest_warp(theirs);
    if (m <= uneven_warps * t) return std::nullopt;
    const auto text = format(
        "the result is right, but the busiest warp of a block does too much of its work\n  now %.1f times "
        "what its warps do on average, in the solution %.1f times, at most %.1f times\n  the usual cause: ",
        m, t, uneven_warps * t);
    if (mine.threads >= 2 * theirs.threads && threads_a_block(mine) >= 2 * threads_a_block(theirs))
        return text + format(
                          "blocks that are too large for the problem: they have %.0f threads, in the "
                          "solution %.0f, and most warps have no element",
                          threads_a_block(mine), threads_a_block(theirs));
    return text +
           "a condition on threadIdx leaves the work to a few threads, and the others have nothing to do";
}

/// A block of fewer threads than half a warp leaves so many lanes empty for as long as it runs: of that the
/// work, which is of warps, has twice as much and no more.
std::optional<std::string> mostly_empty_warps(const Counts& mine, const Counts& theirs) {
    if (mine.blocks == 0 || threads_a_block(mine) > 16 || threads_a_block(theirs) <= 16) return std::nullopt;
    return format(
        "the result is right, but at least half of the lanes of its warps are empty: its blocks have %.1f "
        "threads, and a warp, which has 32 lanes, is of one block\n  now %.1f threads in a block, in the "
        "solution %.1f, at least 17\n  the usual cause: a block that is too small; 128 to 512 threads are "
        "usual",
        threads_a_block(mine), threads_a_block(mine), threads_a_block(theirs));
}

/// " sectors", of what is not counted in the unit that the sentence in front of it has.
const char* unit(std::uint64_t Place::*what) {
    return what == &Place::sectors_loaded || what == &Place::sectors_stored ? " sectors of 32 bytes" : "";
}

}  // namespace

std::string where_most(const Run& run, std::uint64_t Place::*what) {
    const auto& places = run.seen.places;
    std::vector<const Place*> most_first;
    for (const auto& place : places)
        if (place.*what > 0) most_first.push_back(&place);
    std::stable_sort(most_first.begin(), most_first.end(),
                     [what](const Place* a, const Place* b) { return a->*what > b->*what; });
    // A line may have several places, as one for each operand, and is told with all of them. Those that have
    // little cannot make it the first, and each line has to be asked for.
    struct Line {
        std::string name;
        std::uint64_t has = 0, requests = 0;
    };
    std::vector<Line> lines;
    for (const auto* place : most_first) {
        constexpr std::uint64_t little = 16;
        if (!lines.empty() && place->*what < lines.front().has / little) break;
        // What stands in front of each kernel, where its threads begin, is in no source of the step.
        const auto name = run.seen.line_of(*place);
        if (name.starts_with("cuda.hpp:")) continue;
        auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) { return l.name == name; });
        if (line == lines.end()) line = lines.insert(lines.end(), {name});
        line->has += place->*what;
        line->requests += place->requests;
    }
    if (lines.empty()) return "";
    const auto& most = *std::max_element(lines.begin(), lines.end(),
                                         [](const Line& a, const Line& b) { return a.has < b.has; });
    const auto here = static_cast<double>(most.has);
    return "\n  most in " + most.name + ": " +
           (most.requests > 0 ? format("%.0f%s, each time that a warp executes it %.1f", here, unit(what),
                                       here / static_cast<double>(most.requests))
                              : format("%.0f%s, one each time that a warp comes by", here, unit(what)));
}

std::vector<Shortfall> worse_than_solution(const Run& step, const Counts& theirs) {
    std::vector<std::pair<bool, Shortfall>> worse;  // and whether it explains others
    const auto& mine = counts_of(step);
    for (const auto& limit : limits) {
        const auto m = static_cast<double>(limit.counted(mine)),
                   t = static_cast<double>(limit.counted(theirs));
        const auto of_work = static_cast<double>(theirs.work);
        // Shuffles in place of what the solution has in shared memory are steps, as that is.
        if (limit.counted == exchanges && t == 0) continue;
        const auto most =
            std::max(limit.factor * t + limit.allowance * of_work, limit.share * of_work) + limit.always;
        if (m <= most) continue;
        const bool explains =
            (limit.counted == lines && !too_often(limit, mine, theirs)) || conflicts(limit, mine);
        worse.push_back(
            {explains,
             {std::string("the result is right, but ") + excess_of(limit, mine, theirs) +
                  format("\n  now %.0f, in the solution %.0f, at most %.0f", m, t, most) +
                  (limit.at ? where_most(step, limit.at) : "") +
                  (limit.counted == makespan ? chains(mine, theirs) : "") +
                  (limit.counted == work || limit.counted == makespan ? lanes(mine, theirs) : "") +
                  "\n  the usual cause: " + cause_of(limit, mine, theirs),
              most / m}});
    }
    for (const auto& [told, share, factor] :
         {std::tuple(&badly_dealt_out, &share_of_busiest, uneven),
          std::tuple(&left_to_one_warp, &share_of_busiest_warp, uneven_warps)})
        if (auto text = told(mine, theirs))
            worse.push_back({false, {std::move(*text), factor * share(theirs) / share(mine)}});
    if (auto shortfall = too_much_beside(mine, theirs)) worse.push_back({false, std::move(*shortfall)});
    if (worse.empty())
        if (auto text = mostly_empty_warps(mine, theirs)) worse.push_back({false, {std::move(*text), 0.5}});
    // What explains other excesses comes first, and then what is furthest beyond its limit.
    std::stable_sort(worse.begin(), worse.end(), [](const auto& a, const auto& b) {
        return std::pair(!a.first, a.second.share) < std::pair(!b.first, b.second.share);
    });
    std::vector<Shortfall> told;
    for (auto& [explains, shortfall] : worse) told.push_back(std::move(shortfall));
    return told;
}

std::optional<std::string> remark_on_banks(const Run& step, const Counts& theirs) {
    constexpr double worth = 1.0 / 32;  // of the work: as much as other limits allow beside the solution's
    const auto& mine = counts_of(step);
    struct Line {
        std::uint64_t conflicts = 0, passes = 0, requests = 0;
    };
    std::map<std::string, Line> lines;
    for (const auto& place : step.seen.places)
        if (place.passes > 0) {
            auto& line = lines[step.seen.line_of(place)];
            line.conflicts += place.conflicts, line.passes += place.passes, line.requests += place.requests;
        }
    const auto worst = std::max_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
        return a.second.conflicts < b.second.conflicts;
    });
    if (worst == lines.end()) return std::nullopt;
    const Line& line = worst->second;  // clang 14 captures no structured binding
    const auto conflicts = static_cast<double>(line.conflicts);
    // A solution that has about as many has its reasons.
    if (conflicts <= worth * static_cast<double>(mine.work) || 2 * line.conflicts < line.passes ||
        mine.bank_conflicts <= 2 * theirs.bank_conflicts)
        return std::nullopt;
    const auto each = [&](std::uint64_t passes) {
        return static_cast<double>(passes) / static_cast<double>(line.requests);
    };
    return format(
        "Right, but %s takes %.1f passes over the banks of shared memory each time that a warp executes it, "
        "where %.1f would do: bank conflicts, for its lanes reach different words of one bank. Are two "
        "indices exchanged, does a lane have elements side by side, or does each row of the array need one "
        "element more? The conflicts are %.0f %% of what its warps execute: too little to fail the test, and "
        "more than in its solution",
        worst->first.c_str(), each(line.passes), each(line.passes - line.conflicts),
        100 * conflicts / static_cast<double>(mine.work));
}

double share_of_time(double share) { return std::clamp(std::round(10 * share) / 10, 0.1, 0.9); }

void fall_short(const Shortfall& shortfall) {
    note_share(shortfall.share);
    FAIL_CHECK(shortfall.text);
}

void require_at_most(double most, double now, const std::string& what, const std::string& counted,
                     const std::string& remark) {
    if (now > most)
        fall_short(
            {what + "\n  " + counted + format(": now %.6g, at most %.6g", now, most) + remark, most / now});
}

void require_at_least(double least, double now, const std::string& what, const std::string& counted) {
    if (now < least)
        fall_short({what + "\n  " + counted + format(": now %.6g, at least %.6g", now, least), now / least});
}

}  // namespace kata

namespace {

/// For who grades, in the words of the report's reader. (tap.cpp)
void report_figure(const char* name, double mine, double theirs) {
    if (!kata::reports_are_sealed()) return;
    char text[128];
    std::snprintf(text, sizeof text, "figure %s %.6g %.6g", name, mine, theirs);
    SUCCEED(text);
}

void report_figures(const kata::Counts& mine, const kata::Counts& theirs) {
    using kata::Counts;
    const std::pair<const char*, std::uint64_t (*)(const Counts&)> figures[] = {
        {"bytes", [](const Counts& c) { return c.global_load.bytes + c.global_store.bytes; }},
        {"lines", kata::lines},
        {"passes", kata::passes},
        {"atomics", kata::atomics},
        {"barriers", [](const Counts& c) { return c.barriers; }},
        {"work", kata::work},
        {"makespan", kata::makespan},
    };
    for (const auto& [name, counted] : figures)
        report_figure(name, static_cast<double>(counted(mine)), static_cast<double>(counted(theirs)));
}

void skip_without_own_solution() {
    if (!kata::has_own_solution()) SKIP("this is the solution, or " << kata::step_name() << " has none");
}

}  // namespace

TEST_CASE("the step needs about what its own solution needs", "[claims]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    skip_without_own_solution();
    const auto name = kata::step_name();
    const auto& theirs = kata::counts_of_solution(name);
    report_figures(kata::counts_of(kata::counted_run(kata::step())), theirs);
    const auto& mine = kata::counted_run(kata::step());
    const auto worse = worse_than_solution(mine, theirs);
    for (const auto& shortfall : worse) kata::fall_short(shortfall);
    if (worse.empty())
        if (const auto remark = kata::remark_on_banks(mine, theirs)) SUCCEED("note: " + *remark + ".");
    SUCCEED();
}

TEST_CASE("bank conflicts that cost a step little are told, and those of its solution are not", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    kata::Run run;
    run.seen.counts.emplace();
    auto& mine = *run.seen.counts;
    mine.work = 1000;
    mine.bank_conflicts = 310;
    run.seen.line_of = [](const kata::Place& place) { return "02_b.cu:" + std::to_string(place.code); };
    run.seen.places = {{.code = 7, .requests = 600, .passes = 600},
                       {.code = 5, .requests = 10, .passes = 320, .conflicts = 310},
                       {.code = 9, .requests = 900}};
    kata::Counts theirs;
    const auto remark = kata::remark_on_banks(run, theirs);
    REQUIRE(remark);
    CHECK(remark->starts_with(
        "Right, but 02_b.cu:5 takes 32.0 passes over the banks of shared memory each time that a "
        "warp executes it, where 1.0 would do"));
    CHECK(remark->find("31 % of what its warps execute") != remark->npos);

    theirs.bank_conflicts = 200;
    CHECK_FALSE(kata::remark_on_banks(run, theirs));
    theirs.bank_conflicts = 0;
    mine.work = 10000;  // of which they are little
    CHECK_FALSE(kata::remark_on_banks(run, theirs));
    mine.work = 1000;
    run.seen.places[1].passes = 700;  // most of which the width of the accesses needs
    CHECK_FALSE(kata::remark_on_banks(run, theirs));
    run.seen.places = {{.code = 9, .requests = 900}};
    CHECK_FALSE(kata::remark_on_banks(run, theirs));
}

TEST_CASE("the step is about as fast as its own solution", "[timed]") {
    if (!kata::keeps_time()) SKIP("this back end keeps no time");
    skip_without_own_solution();
    const auto verdict = kata::time_against(kata::step(), kata::rival(kata::step_name()), 1 / kata::slowest);
    if (kata::reports_are_sealed())
        report_figure("ms", kata::milliseconds(kata::step()),
                      kata::milliseconds(kata::rival(kata::step_name())));
    if (verdict.answer == kata::Answer::refuted) {
        std::ostringstream text;
        text << "the result is right, but it takes too long: now " << 1 / verdict.ratio
             << " times as long as its own solution (" << verdict.pairs << " pairs of runs), at most "
             << kata::slowest << " times";
        kata::fall_short({text.str(), kata::share_of_time(kata::slowest * verdict.ratio)});
    }
    SUCCEED();
}
