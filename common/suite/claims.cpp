// The claims of a chapter as tests: what can be counted on every machine, what takes a clock on a GPU.
#include "check/remembered.hpp"
#include "check/report.hpp"
#include "error.hpp"
#include "stopwatch.hpp"
#include "suite/clock.hpp"
#include "suite/source.hpp"
#include "suite/suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

namespace kata {

namespace {

const char* name_of(Quantity q) {
    switch (q) {
        case Quantity::bytes_loaded:
            return "bytes loaded from global memory";
        case Quantity::bytes_stored:
            return "bytes stored to global memory";
        case Quantity::sectors_loaded:
            return "32-byte sectors loaded";
        case Quantity::sectors_stored:
            return "32-byte sectors stored";
        case Quantity::global_requests:
            return "times that a warp loads from or stores to global memory";
        case Quantity::threads:
            return "threads";
        case Quantity::shared_accesses:
            return "times that a thread loads from shared memory or stores there";
        case Quantity::shared_passes:
            return "passes over the banks of shared memory";
        case Quantity::atomics:
            return "atomics on global memory";
        case Quantity::barriers:
            return "barriers";
        case Quantity::barriers_a_block:
            return "barriers in a block";
        case Quantity::basic_blocks:
            return "basic blocks (stretches of code without a branch) that warps execute";
        case Quantity::work:
            return "steps of all warps";
        case Quantity::span:
            return "steps of the longest chain (of code and memory, not of additions)";
        case Quantity::time:
            break;
    }
    return "time";
}

int decimals(Quantity q) { return q == Quantity::barriers_a_block ? 1 : 0; }

std::string text_of(double value, Quantity q) {
    char text[96];
    std::snprintf(text, sizeof text, "%.*f", decimals(q), value);
    return text;
}

/// "1/4" or "1/2.5"
std::string part(double times) {
    char text[32];
    std::snprintf(text, sizeof text, times < 100 ? "1/%.3g" : "1/%.0f", times);
    return text;
}

/// What a place in a kernel has of the quantity; null where no place has it.
std::uint64_t Place::*at(Quantity q) {
    switch (q) {
        case Quantity::bytes_loaded:
        case Quantity::sectors_loaded:
            return &Place::sectors_loaded;
        case Quantity::bytes_stored:
        case Quantity::sectors_stored:
            return &Place::sectors_stored;
        case Quantity::shared_accesses:
        case Quantity::shared_passes:
            return &Place::passes;
        case Quantity::atomics:
            return &Place::atomics;
        case Quantity::basic_blocks:
        case Quantity::work:
            return &Place::steps;
        default:
            return nullptr;
    }
}

}  // namespace

std::string as_counted(const Claim& claim, double better, double worse) {
    char least[32];
    std::snprintf(least, sizeof least, "1/%.3g of the ", claim.least);
    const std::string source = claim.source;
    return "Expected by " + (source.starts_with("not in") ? "this lesson" : source) +
           ", but refuted: " + claim.better + " has " + (claim.least > 1 ? std::string(least) : "fewer ") +
           name_of(claim.quantity) + (claim.least > 1 ? " of " : " than ") + claim.worse +
           ". Counted, with the solutions: " + text_of(better, claim.quantity) + " and " +
           text_of(worse, claim.quantity) + ". No step is judged by it.";
}

std::string unclaimed(std::span<const Claim> claims, std::string_view earlier, std::string_view later,
                      bool has_been_timed, bool can_be_counted) {
    bool counted = !can_be_counted, timed = !has_been_timed;
    for (const auto& claim : claims) {
        const bool about = (claim.better == later && claim.worse == earlier) ||
                           (claim.better == earlier && claim.worse == later);
        (claim.quantity == Quantity::time ? timed : counted) |= about;
    }
    if (counted && timed) return "";
    return "of " + std::string(earlier) + " and " + std::string(later) + " nothing is claimed that is " +
           (counted ? "timed"
            : timed ? "counted"
                    : "counted, and nothing that is timed");
}

double value_of(Quantity q, const Counts& c) {
    if (q == Quantity::barriers_a_block)
        return c.blocks == 0 ? 0 : static_cast<double>(c.barriers) / static_cast<double>(c.blocks);
    const auto value = [&]() -> std::uint64_t {
        switch (q) {
            case Quantity::bytes_loaded:
                return c.global_load.bytes;
            case Quantity::bytes_stored:
                return c.global_store.bytes;
            case Quantity::sectors_loaded:
                return c.global_load.transactions;
            case Quantity::sectors_stored:
                return c.global_store.transactions;
            case Quantity::global_requests:
                return c.global_load.requests + c.global_store.requests;
            case Quantity::threads:
                return c.threads;
            case Quantity::shared_accesses:
                return c.shared_load.accesses + c.shared_store.accesses + c.shared_atomic.accesses;
            case Quantity::shared_passes:
                return c.shared_load.transactions + c.shared_store.transactions +
                       c.shared_atomic.transactions;
            case Quantity::atomics:
                return c.global_atomic.accesses;
            case Quantity::barriers:
                return c.barriers;
            case Quantity::basic_blocks:
                return c.basic_blocks;
            case Quantity::work:
                return c.work;
            case Quantity::span:
                return c.span;
            case Quantity::barriers_a_block:
            case Quantity::time:
                break;
        }
        throw Error("time is not counted");
    };
    return static_cast<double>(value());
}

// Two ways to write a step may differ by half in what is counted of them, and steps that follow each other
// sometimes by less. Who needs as much as the other step has not made this one, whatever its style.
double most_of(const Claim& claim, double worse, std::optional<double> solution) {
    constexpr double room = 1.5, no_gain = 0.995;
    const double claimed = worse / claim.least;
    return solution ? std::max(claimed, std::min(room * *solution, no_gain * worse)) : claimed;
}

std::optional<std::string> broken(const Claim& claim, double better, double worse,
                                  std::optional<double> solution) {
    const double most = most_of(claim, worse, solution);
    if (better <= most * (1 + 1e-9)) return std::nullopt;
    const auto number = [&](double value) { return text_of(value, claim.quantity); };
    return std::string("the result is right, but the step does not gain what it is for: ") + claim.why +
           "\n  " + name_of(claim.quantity) + ": now " + number(better) +
           (solution ? ", in the solution " + number(*solution) : "") + ", at most " + number(most) + "; " +
           claim.worse + " needs " + number(worse);
}

std::optional<std::string> remark_on_idea(
    std::span<const Claim> claims, std::string_view step, const Counts& mine,
    const std::function<const Counts&(const std::string&)>& of_solution,
    const std::function<std::optional<Timed>(std::string_view)>& timed) {
    constexpr double clearly = 0.8;
    struct Later {
        std::optional<Timed> timed;
        const Claim* claim;  // null where it, or another one about the step, is not held
    };
    std::map<std::string, Later> all;
    for (const auto& claim : claims) {
        if (claim.worse != step || claim.better <= step || claim.quantity == Quantity::time ||
            claim.standing != Claim::Standing::asserted)
            continue;
        if (!all.contains(claim.better)) all[claim.better] = {timed(claim.better), &claim};
        auto& later = all[claim.better];
        // Only what is told about need be counted, and what solves another problem cannot be.
        if (!later.claim || !later.timed || later.timed->times_as_fast >= clearly) continue;
        const auto of = [&](const Counts& c) { return value_of(claim.quantity, c); };
        if (broken(claim, of(mine), of(of_solution(claim.worse)), of(of_solution(claim.better))))
            later.claim = nullptr;
    }
    for (const auto& [name, later] : all)
        if (later.claim && later.timed && later.timed->times_as_fast < clearly) {
            char slower[32];
            std::snprintf(slower, sizeof slower, "%.1f", 1 / later.timed->times_as_fast);
            return "Right, and it has what step " + name + " is for: " + later.claim->why + ". An " +
                   later.timed->device + " takes " + slower +
                   " times as long for the solution of that one as for this step's, so that on a GPU "
                   "this may fail as too slow";
        }
    return std::nullopt;
}

std::string gained(const Claim& claim, double better, double worse) {
    char less[32];
    std::snprintf(less, sizeof less, "%.0f %% less than the ", 100 * (1 - better / worse));
    return std::string("gained: ") + name_of(claim.quantity) + " " + text_of(better, claim.quantity) + ", " +
           (better <= 0          ? "instead of "
            : worse < 2 * better ? std::string(less)
                                 : part(worse / better) + " of the ") +
           text_of(worse, claim.quantity) + " in " + claim.worse;
}

// Against a step that comes later a student has nothing to compare with, and a difference of a twentieth is
// none.
std::vector<std::string> most_telling(std::string_view step, std::vector<Gain> gains) {
    constexpr double too_little = 1.05;
    constexpr std::size_t shown = 3;
    std::string before;
    std::erase_if(gains,
                  [&](const Gain& g) { return g.claim->worse >= step || g.worse < too_little * g.better; });
    for (const auto& g : gains) before = std::max<std::string>(before, g.claim->worse);
    std::erase_if(gains, [&](const Gain& g) { return g.claim->worse != before; });
    std::stable_sort(gains.begin(), gains.end(),
                     [](const Gain& a, const Gain& b) { return a.worse * b.better > b.worse * a.better; });
    gains.resize(std::min(gains.size(), shown));
    std::vector<std::string> told;
    for (const auto& g : gains) told.push_back(gained(*g.claim, g.better, g.worse));
    return told;
}

}  // namespace kata

TEST_CASE("the table of claims names steps", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    for (const auto& claim : kata::chapter.claims)
        for (const std::string step : {claim.better, claim.worse}) {
            CAPTURE(step);
            CHECK(exists(kata::subject().source.parent_path() / (step + ".cu")));
        }
    SUCCEED();
}

namespace {

/// Whether a GPU has timed the step for its chapter's lesson: who adds a step may have none.
bool has_been_timed(const std::string& step) {
    std::ifstream ladder(kata::subject().source.parent_path() / "measured/ladder.csv");
    for (std::string row; std::getline(ladder, row);)
        if (row.starts_with(step + ",")) return true;
    return false;
}

/// How the solution of `later` fared against that of `step` when a GPU timed them, in the main problem of the
/// lesson.
std::optional<kata::Timed> timed_against(std::string_view later, std::string_view step) {
    std::ifstream ladder(kata::subject().source.parent_path() / "measured/ladder.csv");
    const auto cells = [](const std::string& row) {
        std::vector<std::string> all;
        std::istringstream text(row);
        for (std::string cell; std::getline(text, cell, ',');) all.push_back(cell);
        return all;
    };
    std::string device, headings;
    if (!std::getline(ladder, device) || !std::getline(ladder, headings)) return std::nullopt;
    const auto names = cells(headings);
    const auto column = [&](const char* name) {
        return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    };
    for (std::string row; std::getline(ladder, row);) {
        const auto found = cells(row);
        if (found.size() <= std::max(column("against"), column("times as fast")) || found[0] != later)
            continue;
        if (found[column("against")] != step) return std::nullopt;
        return kata::Timed{device.substr(2, device.find(',') - 2), std::stod(found[column("times as fast")])};
    }
    return std::nullopt;
}

}  // namespace

// A ladder that begins anew (reduction 06) and a step that solves another problem (scan 05) are no
// exceptions: what is slower than the step before, or needs more, makes a claim the other way round, and a
// reader who asks what came of a step gets an answer for every one. Where the steps of a chapter are several
// problems (grids), the chapter says which one they better.
TEST_CASE("what came of a step is claimed against the one before, counted and timed", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    const auto step = kata::step_name();
    std::string before;
    for (const auto& entry : std::filesystem::directory_iterator(kata::subject().source.parent_path())) {
        const auto other = entry.path().stem().string();
        if (entry.path().extension() == ".cu" && other < step) before = std::max(before, other);
    }
    if (kata::chapter.betters) before = kata::chapter.betters(step);
    if (before.empty()) SKIP("there is no step before");
    const auto need = kata::stated_need(kata::subject().source);
    const auto text =
        kata::unclaimed(kata::chapter.claims, before, step, has_been_timed(step), kata::can_be_counted(need));
    if (!text.empty()) FAIL(text);
    SUCCEED();
}

TEST_CASE("a step that asks for another GPU is skipped, with a line that names it", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    constexpr std::size_t little = 99 * 1024;
    const auto lacking = [](const char* need, const char* architecture, std::size_t shared = 227 * 1024) {
        return kata::lacking(need, architecture, shared);
    };
    CHECK(!lacking("", "sm_75"));
    CHECK(!lacking("sm_80", "sm_80"));
    CHECK(!lacking("sm_80", "sm_90"));
    CHECK(!lacking("sm_80", ""));  // the CPU back end
    CHECK(!lacking("sm_90a", "sm_90"));
    CHECK(lacking("sm_80", "sm_75") == "needs a GPU of compute capability 8.0 or newer");
    CHECK(lacking("sm_90a", "sm_100") == "needs a GPU of compute capability 9.0");
    CHECK(lacking("sm_90a", "") == "needs a GPU of compute capability 9.0");
    CHECK(!lacking("sm_90, 193 KiB", "sm_90"));
    CHECK(!lacking("sm_90, 193 KiB", ""));
    CHECK(!lacking("sm_90", "sm_120", little));
    for (const auto& [architecture, shared] : {std::pair("sm_120", little), std::pair("sm_80", 2 * little)})
        CHECK(lacking("sm_90, 193 KiB", architecture, shared) ==
              "needs a GPU of compute capability 9.0 or newer with 193 KiB of shared memory for a block");
    CHECK(kata::can_be_counted("sm_90, 193 KiB"));  // also where a GPU with less runs this
    CHECK(!kata::can_be_counted("sm_90, 228 KiB"));
    CHECK(!kata::can_be_counted("sm_90a"));
}

TEST_CASE("a step of which nothing is claimed, or only a count or a time, is noticed", "[claims]") {
    using enum kata::Quantity;
    using kata::unclaimed;
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    const kata::Claim count{"02_b", "01_a", threads, 2, "why", "a document"},
        refuted_time{"02_b", "01_a", time, 2, "why", "a document", kata::Claim::Standing::refuted},
        the_other_way{"01_a", "02_b", time, 2, "why", "a document"},
        of_others{"03_c", "01_a", time, 2, "why", "a document"};
    CHECK(unclaimed(std::vector{count, refuted_time}, "01_a", "02_b", true).empty());
    CHECK(unclaimed(std::vector{count, the_other_way}, "01_a", "02_b", true).empty());
    CHECK(unclaimed(std::vector{count}, "01_a", "02_b", false).empty());
    CHECK(unclaimed(std::vector{refuted_time}, "01_a", "02_b", true, false).empty());
    CHECK(unclaimed(std::vector{count}, "01_a", "02_b", true, false) ==
          "of 01_a and 02_b nothing is claimed that is timed");
    CHECK(unclaimed(std::vector{count, of_others}, "01_a", "02_b", true) ==
          "of 01_a and 02_b nothing is claimed that is timed");
    CHECK(unclaimed(std::vector{refuted_time}, "01_a", "02_b", false) ==
          "of 01_a and 02_b nothing is claimed that is counted");
    CHECK(unclaimed(std::vector{count, of_others}, "02_b", "03_c", true) ==
          "of 02_b and 03_c nothing is claimed that is counted, and nothing that is timed");
}

TEST_CASE("a claim has room for another style, and none for the step that is to be bettered", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    const kata::Claim claim{"02_b", "01_a", kata::Quantity::barriers, 1.2, "why", "a document"};
    CHECK(most_of(claim, 120, {}) == 100);
    CHECK(most_of(claim, 120, 50) == 100);
    CHECK(most_of(claim, 120, 70) == 105);
    CHECK_FALSE(broken(claim, 105, 120, 70));
    CHECK(broken(claim, 106, 120, 70) ==
          "the result is right, but the step does not gain what it is for: why\n  barriers: now 106, in the "
          "solution 70, at most 105; 01_a needs 120");
    CHECK_FALSE(broken(claim, 119, 120, 100));
    CHECK(broken(claim, 120, 120, 100));
}

TEST_CASE("of a step that is wrong about what is counted it is told what that is", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    kata::Run run;
    run.fault = "1 of 5 elements differs";
    run.problem = "n = 5";
    std::string told;
    try {
        kata::counts_of(run);
    } catch (const kata::Error& e) {
        told = e.what();
    }
    CHECK(told == "1 of 5 elements differs\nwith n = 5");
}

TEST_CASE("what is told of a gain is against the nearest step before, and the most of it first", "[claims]") {
    using enum kata::Quantity;
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    const auto claim = [](const char* worse, kata::Quantity q) {
        return kata::Claim{"03_c", worse, q, 1, "why", "a document"};
    };
    const auto first = claim("01_a", threads), before = claim("02_b", barriers),
               half = claim("02_b", atomics), same = claim("02_b", threads), later = claim("04_d", atomics),
               sixth = claim("02_b", bytes_loaded), third = claim("02_b", shared_passes);
    const auto told = [](std::vector<kata::Gain> gains) {
        return kata::most_telling("03_c", std::move(gains));
    };
    using Texts = std::vector<std::string>;
    CHECK(told({{&first, 1, 10}, {&later, 1, 10}}) == Texts{"gained: threads 1, 1/10 of the 10 in 01_a"});
    CHECK(told({{&first, 1, 10}, {&before, 3, 4}, {&half, 2, 4}, {&same, 100, 101}}) ==
          Texts{"gained: atomics on global memory 2, 1/2 of the 4 in 02_b",
                "gained: barriers 3, 25 % less than the 4 in 02_b"});
    CHECK(told({{&before, 3, 4}, {&half, 2, 4}, {&sixth, 1, 6}, {&third, 1, 3}}).size() == 3);
    CHECK(told({{&before, 0, 4}}) == Texts{"gained: barriers 0, instead of 4 in 02_b"});
    CHECK(told({{&later, 1, 10}}).empty());
}

// In front of what it would cost: the cause comes first.
TEST_CASE("no launch is for nothing", "[claims]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    const auto& seen = kata::counted_run(kata::step()).seen;
    const auto theirs =
        kata::has_own_solution() ? kata::counts_of_solution(kata::step_name()).launches : seen.launches;
    const double share = 1 - static_cast<double>(seen.idle.size()) / static_cast<double>(seen.launches);
    // Where there are many, those that do nothing are the least of it.
    if (seen.launches > 2 * theirs && !seen.idle.empty())
        kata::fall_short(
            {"the result is right, but there are " + std::to_string(seen.launches) +
                 " launches, where the solution has " + std::to_string(theirs) +
                 ", and some of them change nothing: " + seen.idle.front() +
                 "\n  the usual cause: each round is a launch, where the rounds of a kernel could "
                 "be told apart by barriers",
             share});
    else
        for (const auto& text : seen.idle)
            kata::fall_short(
                {"the result is right, but " + text +
                     "\n  the usual cause: the kernel is launched once too often, or a loop over "
                     "launches has a round too many",
                 share});
    SUCCEED();
}

// No test fails for it: what asks for errors in another way, as with a macro around the whole call, is no
// worse, and a launch that does fail is told anyway.
TEST_CASE("whether somebody asks for a launch that fails is told", "[claims]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    if (kata::counted_run(kata::step()).seen.unchecked > 0)
        SUCCEED(
            "note: After the last launch nobody asks whether it has failed, or nobody reads the answer. On a "
            "GPU a launch that is refused says nothing itself, and the program goes on without it: write "
            "check(cudaGetLastError()); after it.");
    SUCCEED();
}

namespace {

/// What lines of other kinds begin with, as common/simt/legality.py writes them; the rest is the number of a
/// line of the source. The latter kind is of functions that speak of no double: a template for both types
/// computes in double where it is made for doubles.
constexpr std::string_view in_double = "double:", in_double_of_floats = "double-of-floats:";

/// The first line of the source that computes in double.
std::optional<std::string> first_in_double(std::istream& lines, std::string_view kind) {
    std::optional<int> first;
    std::string name;
    for (unsigned operations = 0; lines >> name >> operations;)
        if (name.starts_with(kind)) {
            const int line = std::stoi(name.substr(kind.size()));
            first = std::min(first.value_or(line), line);
        }
    return first ? std::optional(std::to_string(*first)) : std::nullopt;
}

/// From lines "NAME BYTES" of local arrays that no registers can hold (common/simt/legality.py). A few values
/// in turn, as of the planes that a thread has come by, cost little.
std::vector<kata::Shortfall> kept_in_local_memory(std::istream& lines) {
    constexpr unsigned few = 16;  // bytes
    std::vector<kata::Shortfall> told;
    std::string name;
    for (unsigned bytes = 0; lines >> name >> bytes;)
        if (bytes > few && name.find(':') == name.npos)
            told.push_back(
                {"the result is right, but \"" + name + "\", an array of " + std::to_string(bytes) +
                     " bytes of each thread, does not fit into registers, for its index is known only at "
                     "run time: it lies in local memory, which is device memory\n  the usual cause: the "
                     "index comes from the data, or turns around with the rounds; or no compiler can "
                     "unroll the loop over it, as the number of its rounds is no constant",
                 static_cast<double>(few) / bytes});
    return told;
}

}  // namespace

TEST_CASE("a large array in local memory is told, and a small one is not", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    std::istringstream none(""), some("few 16\ncolumn 128\n");
    CHECK(kept_in_local_memory(none).empty());
    const auto told = kept_in_local_memory(some);
    REQUIRE(told.size() == 1);
    CHECK(told[0].text.starts_with("the result is right, but \"column\", an array of 128 bytes of each"));
    CHECK(told[0].share == 0.125);
}

TEST_CASE("the first line that computes in double is found", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    std::istringstream none("column 128\n"), some("column 128\ndouble:31 2\ndouble:7 1\n");
    CHECK_FALSE(first_in_double(none, in_double));
    CHECK(first_in_double(some, in_double) == "7");
    some.clear();
    some.seekg(0);
    CHECK_FALSE(first_in_double(some, in_double_of_floats));
    std::istringstream of_floats("double:31 2\ndouble:7 1\ndouble-of-floats:31 2\n");
    CHECK(first_in_double(of_floats, in_double_of_floats) == "31");
    some.clear();
    some.seekg(0);
    CHECK(kept_in_local_memory(some).size() == 1);
}

// On an H100 half as fast as floats, and 1/64 on most GPUs.
TEST_CASE("a step computes in float where its solution does", "[claims]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    if (!kata::has_own_solution()) SKIP("for who hands in a step");
    const auto of = [](std::filesystem::path module, std::string_view kind) {
        std::ifstream lines(module.replace_extension(".legal"));
        return first_in_double(lines, kind);
    };
    for (const auto kind : {in_double, in_double_of_floats}) {
        const auto line = of(kata::subject().module, kind);
        if (!line || of(kata::rival_path(kata::step_name()), kind)) continue;
        kata::fall_short(
            {"the result is right, but " + kata::subject().source.filename().string() + ":" + *line +
                 " computes in double, which most GPUs do many times more slowly than in float\n  the usual "
                 "cause: a number without an f, as 0.5, is a double, and so is what it is multiplied with",
             0.5});
        break;
    }
    SUCCEED();
}

TEST_CASE("what a thread keeps fits into its registers", "[claims]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    // Built beside the module where there is clang.
    if (std::ifstream lines(std::filesystem::path(kata::subject().module).replace_extension(".legal")); lines)
        for (const auto& shortfall : kept_in_local_memory(lines)) kata::fall_short(shortfall);
    for (const auto& text : kata::counted_run(kata::step()).seen.spilled)
        FAIL_CHECK("the result is right, but "
                   << text
                   << "\n  the rest lies in local memory, which is device memory, or the launch is refused: "
                      "let a thread have fewer results, or a block fewer threads");
    SUCCEED();
}

TEST_CASE("the step gains what its lesson promises", "[claims]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    const auto& mine = *kata::counted_run(kata::step()).seen.counts;
    if (mine.global_store.accesses + mine.global_atomic.accesses == 0)
        FAIL("the result is right, but no kernel has written anything: the host has done the work");
    const bool is_worse =
        kata::has_own_solution() &&
        !worse_than_solution(kata::counted_run(kata::step()), kata::counts_of_solution(kata::step_name()))
             .empty();
    std::vector<kata::Gain> gains;
    for (const auto& claim : kata::chapter.claims) {
        if (claim.better != kata::step_name() || claim.quantity == kata::Quantity::time) continue;
        if (claim.standing == kata::Claim::Standing::refuted) continue;
        // Of a step that a student has not come to yet only what nothing nearer tells.
        if (claim.worse > kata::step_name() && is_worse) continue;
        const std::string other = claim.worse;
        const auto& theirs = kata::counts_of_solution(other);
        const auto own =
            kata::has_own_solution()
                ? std::optional(value_of(claim.quantity, kata::counts_of_solution(kata::step_name())))
                : std::nullopt;
        auto text =
            kata::broken(claim, value_of(claim.quantity, mine), value_of(claim.quantity, theirs), own);
        if (!text) {
            gains.push_back({&claim, value_of(claim.quantity, mine), value_of(claim.quantity, theirs)});
            continue;
        }
        if (const auto place = kata::at(claim.quantity))
            *text += kata::where_most(kata::counted_run(kata::step()), place);
        kata::fall_short({*text, kata::most_of(claim, value_of(claim.quantity, theirs), own) /
                                     value_of(claim.quantity, mine)});
    }
    for (const auto& text : kata::most_telling(kata::step_name(), std::move(gains))) SUCCEED(text);
    SUCCEED();
}

// No test fails for it without a clock: by all that is counted the later step is the better one.
TEST_CASE("a later step's idea, which a GPU has timed as slower, is told", "[claims]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    if (!kata::has_own_solution()) SKIP("for who hands in a step");
    const auto step = kata::step_name();
    if (const auto remark = kata::remark_on_idea(
            kata::chapter.claims, step, *kata::counted_run(kata::step()).seen.counts,
            kata::counts_of_solution, [&](std::string_view later) { return timed_against(later, step); }))
        SUCCEED("note: " + *remark + ".");
    SUCCEED();
}

TEST_CASE("a later step's idea is told where all that it gains is had and a GPU was slower with it",
          "[claims]") {
    using enum kata::Quantity;
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    const kata::Claim claims[] = {
        {"03_c", "02_b", sectors_loaded, 8, "neighbours read neighbours", "a document"},
        {"03_c", "02_b", barriers, 2, "nobody waits", "a document"},
        {"02_b", "01_a", atomics, 2, "they are fewer", "a document"}};
    const auto counts = [](std::uint64_t sectors, std::uint64_t barriers) {
        kata::Counts c;
        c.global_load.transactions = sectors;
        c.barriers = barriers;
        c.global_atomic.accesses = 10;
        return c;
    };
    const auto b = counts(1600, 40), c = counts(100, 20);
    const auto told = [&](const char* step, const kata::Counts& mine, std::optional<double> times) {
        return kata::remark_on_idea(
            claims, step, mine,
            [&](const std::string& name) -> const kata::Counts& { return name == "03_c" ? c : b; },
            [&](std::string_view) {
                return times ? std::optional(kata::Timed{"H100", *times}) : std::nullopt;
            });
    };
    CHECK(told("02_b", c, 0.5) ==
          "Right, and it has what step 03_c is for: neighbours read neighbours. An H100 takes 2.0 times as "
          "long for the solution of that one as for this step's, so that on a GPU this may fail as too slow");
    CHECK_FALSE(told("02_b", b, 0.5));                // is the step's own
    CHECK_FALSE(told("02_b", counts(100, 40), 0.5));  // has a part of it
    CHECK_FALSE(told("02_b", c, 0.9));                // as fast
    CHECK_FALSE(told("02_b", c, {}));                 // nobody has timed it
    CHECK_NOTHROW(kata::remark_on_idea(
        claims, "02_b", c, [](const std::string&) -> const kata::Counts& { throw kata::Error("counted"); },
        [](std::string_view) { return std::nullopt; }));
    CHECK_FALSE(told("01_a", c, 0.5));  // an earlier step, of which no more is asked
    CHECK_FALSE(told("03_c", c, 0.5));
}

// What a document promises in vain is no fault of the step's, and yet nothing to keep quiet about.
TEST_CASE("counts that are claimed in vain are told", "[claims]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    for (const auto& claim : kata::chapter.claims) {
        if (claim.better != kata::step_name() || claim.quantity == kata::Quantity::time) continue;
        if (claim.standing != kata::Claim::Standing::refuted) continue;
        const auto value = [&](const char* step) {
            return value_of(claim.quantity, kata::counts_of_solution(step));
        };
        SUCCEED("note: " + as_counted(claim, value(claim.better), value(claim.worse)));
    }
    SUCCEED();
}

// With fewer, the makespan is that of the longest block, however the others are shared out.
TEST_CASE("what is counted has a block for each multiprocessor of the model GPU", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    CHECK(kata::counted_run(kata::step()).seen.counts->blocks >= kata::machine::multiprocessors);
}

TEST_CASE("what is counted of a solution is kept for all who are held against it", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    const auto& counts = *kata::counted_run(kata::step()).seen.counts;
    const auto problem = kata::chapter.counted_problem ? kata::chapter.counted_problem() : "";
    CHECK(kata::remembered(kata::subject().module, "/proc/self/exe", problem) == counts);
}

// Of the solutions: a student may find a way that a document has not thought of.
TEST_CASE("counted claims have room, and those marked refuted do not hold", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    constexpr double room = 1.04;  // for who does the same in another way
    for (auto claim : kata::chapter.claims) {
        if (claim.better != kata::step_name() || claim.quantity == kata::Quantity::time) continue;
        const auto mine = value_of(claim.quantity, *kata::counted_run(kata::step()).seen.counts),
                   theirs = value_of(claim.quantity, kata::counts_of_solution(claim.worse));
        CAPTURE(claim.worse, claim.why, mine, theirs, claim.least);
        CHECK(theirs > 0);
        if (claim.standing == kata::Claim::Standing::refuted) {
            CHECK(kata::broken(claim, mine, theirs));
        } else {
            claim.least *= room;
            CHECK(!kata::broken(claim, mine, theirs));
        }
    }
    SUCCEED();
}

namespace {

/// Times the claims of one standing about the step under test, and fails where one turns out otherwise.
void time_claims(kata::Claim::Standing standing, kata::Answer expected, const char* otherwise) {
    if (!kata::keeps_time()) SKIP("this back end keeps no time");
    for (const auto& claim : kata::chapter.claims) {
        if (claim.better != kata::step_name() || claim.quantity != kata::Quantity::time) continue;
        if (claim.standing != standing) continue;
        if (claim.only_on && !kata::device_name().ends_with(claim.only_on)) continue;
        for (const auto& verdict :
             kata::time_claim(claim, kata::step(), kata::rival(claim.worse), kata::subject().verdicts)) {
            char text[160];
            std::snprintf(text, sizeof text,
                          "%s is %.3f (%.3f to %.3f, %d pairs) times as fast as %s; claimed: %.2f",
                          claim.better, verdict.ratio, verdict.lower, verdict.upper, verdict.pairs,
                          claim.worse, claim.least);
            if (verdict.answer == expected)
                SUCCEED(text);
            else
                kata::fall_short({otherwise + (": " + std::string(claim.why)) + "\n  " + text,
                                  kata::share_of_time(verdict.ratio / claim.least)});
        }
    }
    SUCCEED();
}

}  // namespace

TEST_CASE("the step is faster where its lesson says so", "[timed]") {
    time_claims(kata::Claim::Standing::asserted, kata::Answer::holds,
                "the result is right, but the step does not gain what it is for");
}

// For maintainers, who measured on one device what others may show otherwise.
TEST_CASE("what a document claims in vain is not so on this device either", "[.refuted]") {
    time_claims(kata::Claim::Standing::refuted, kata::Answer::refuted, "refuted elsewhere, and not here");
}
