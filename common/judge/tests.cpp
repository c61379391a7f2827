// The tests that all chapters share: a step compared with its own solution and with the steps before it, and
// requirements of solutions only.
#include "check/remembered.hpp"
#include "check/report.hpp"
#include "error.hpp"
#include "judge/chain.hpp"
#include "judge/claims.hpp"
#include "judge/clock.hpp"
#include "judge/compiled.hpp"
#include "judge/excess.hpp"
#include "judge/source.hpp"
#include "judge/suite.hpp"
#include "stopwatch.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>

namespace kata {

namespace {

void skip_without_counts() {
    if (!counts_available()) SKIP("nothing is counted on this back end");
}

void skip_without_own_solution() {
    if (!has_own_solution()) SKIP("this is the solution, or " + step_name() + " has none");
}

void skip_unless_solution() {
    if (!subject().is_solution) SKIP("only a solution must pass this");
}

const Counts& of_own_solution(const Shape& shape) { return counts_of_solution(step_name(), shape); }

std::vector<Allowance> allowances_on(const Shape& shape) {
    std::vector<Allowance> all;
    for (const auto& allowance : this_step().allows)
        if (allowance.shape.empty() || allowance.shape == shape.name) all.push_back(allowance);
    return all;
}

/// Returns how many times as long as the solution a step of another style may take on a variant of the timed
/// problem, if its row says so; otherwise 1.
double allowed_time(std::optional<int> variant) {
    const auto name = variant ? std::to_string(*variant) : "";
    double factor = 1;
    for (const auto& allowance : this_step().allows)
        if (allowance.quantity.is_timed() && (allowance.shape.empty() || allowance.shape == name))
            factor = std::max(factor, allowance.factor);
    return factor;
}

/// Returns the excesses of the step under test on a shape. There are none if nvcc saves all of them.
std::vector<Shortfall> excesses_on(const Shape& shape) {
    const auto& mine = counted_run(shape);
    const auto& theirs = of_own_solution(shape);
    const auto allowances = allowances_on(shape);
    auto worse = worse_than_solution(mine, theirs, allowances);
    const auto excused_by = [&](const Counts& compiled) {
        return worse_than_solution(mine, theirs, allowances, &compiled).empty();
    };
    if (!worse.empty() && excused_by(at_best(counts_of(mine))) && excused_by(as_compiled(shape)))
        worse.clear();
    return worse;
}

/// True if the step under test exceeds a limit, and that may be because its grids do not grow with the
/// problem as those of its solution do: its threads have less to do on a small problem. A grid that fills a
/// GPU is too large for the shapes of other steps.
bool has_fixed_grids() {
    static const bool fixed = [] {
        const auto larger = judged_shapes_of(this_step(), true),
                   others = judged_shapes_of(this_step(), false);
        if (larger.empty() || !has_own_solution() || counted_run(*others.front()).fault) return false;
        const auto& on_base = counts_of(counted_run(*others.front()));
        const auto& theirs = of_own_solution(*others.front());
        const auto is_within = [](const Shape* shape) { return excesses_on(*shape).empty(); };
        if (2 * on_base.threads < 3 * theirs.threads || std::ranges::all_of(others, is_within) ||
            counted_run(*larger.front()).fault)
            return false;
        return 2 * counts_of(counted_run(*larger.front())).blocks * theirs.blocks <
               on_base.blocks * of_own_solution(*larger.front()).blocks;
    }();
    return fixed;
}

std::vector<const Shape*> judged_shapes() { return judged_shapes_of(this_step(), has_fixed_grids()); }

/// Returns the shape on which claims about the step under test are counted.
const Shape& base_shape() { return *judged_shapes().front(); }

/// If a step needs too much on a shape only because it launches its kernels in another way than its solution,
/// says so on a line of its own; otherwise returns nothing.
std::string enough_if_launched(const Shape& shape) {
    const auto* const solution = own_solution();
    if (!solution || counted_run(shape).seen.launched.empty()) return "";
    const auto theirs = shape.run(*solution);
    const LaunchedAs as_there(theirs.seen.launched);
    const auto otherwise = launched_otherwise(counted_run(shape).seen, theirs.seen);
    constexpr std::uint64_t most = 4;  // the factor by which the run may take longer
    if (otherwise.empty() || counts_of(theirs).threads > most * counts_of(counted_run(shape)).threads)
        return "";
    const auto mine = shape.run(step());
    if (mine.fault || !worse_than_solution(mine, counts_of(theirs), allowances_on(shape)).empty()) return "";
    return "\n  it would need about what its solution needs if " + otherwise + ", as that does";
}

/// Returns, on a line of its own, the source line with most of the longest chain of the step on a shape.
std::string chain_on(const Shape& shape) {
    return most_of_chain([&] { return counts_of(shape.run(step())).span; });
}

/// Reports the main counters of a step.
void report_figures(const Counts& mine, const Counts& theirs) {
    for (const Quantity q :
         {Quantity("sectors"), Quantity("lines"), Quantity("shared_passes"), Quantity("atomics"),
          Quantity("barriers"), Quantity("work"), Quantity("makespan")})
        remarks().figures.push_back({std::string(q->key), std::string(q->name), q(mine), q(theirs)});
}

/// True if the step has been timed on a GPU for its chapter's lesson.
bool has_been_timed(std::string_view step) {
    std::ifstream ladder(subject().source.parent_path() / "measured/ladder.csv");
    for (std::string row; std::getline(ladder, row);)
        if (row.starts_with(std::string(step) + ",")) return true;
    return false;
}

/// Returns how the solution of `later` compared with that of `step` when a GPU timed them on the lesson's
/// main problem.
std::optional<Timed> timed_against(std::string_view later, std::string_view step) {
    std::ifstream ladder(subject().source.parent_path() / "measured/ladder.csv");
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
        return Timed{device.substr(2, device.find(',') - 2), std::stod(found[column("times as fast")])};
    }
    return std::nullopt;
}

/// Returns the row of the step that this one improves; null if that step solves another problem.
const Step* before_on_the_same_problem() {
    for (const auto& row : chapter.steps)
        if (row.name == this_step().before && std::string_view(row.entry) == this_step().entry) return &row;
    return nullptr;
}

// Kinds of lines in the .legal file beside a module, which common/simt/legality.py writes. "double:7 2" is a
// line of the source with two operations in double. The second kind is for functions that do not mention
// double: a template for both types computes in double if it is instantiated for doubles. "NAME BYTES" is a
// local array that no registers can hold.
constexpr std::string_view in_double = "double:", in_double_of_floats = "double-of-floats:";

/// Returns the first line of the source that computes in double.
std::optional<int> first_in_double(std::filesystem::path module, std::string_view kind) {
    std::ifstream lines(module.replace_extension(".legal"));
    std::optional<int> first;
    std::string name;
    for (unsigned operations = 0; lines >> name >> operations;)
        if (name.starts_with(kind)) {
            const int line = std::stoi(name.substr(kind.size()));
            first = std::min(first.value_or(line), line);
        }
    return first;
}

/// Four digits, or all of a whole number, where %.4g would write 1.878e+06.
std::string readable(double number) {
    char text[32];
    std::snprintf(text, sizeof text, std::abs(number) < 1000 ? "%.4g" : "%.0f", number);
    return text;
}

/// Times the asserted or refuted claims about the step under test. Fails if one turns out otherwise.
void time_claims(Claim::Standing standing, Answer expected, const char* otherwise) {
    if (!keeps_time()) SKIP("this back end keeps no time");
    for (auto claim : this_step().beats) {
        if (!claim.quantity.is_timed() || claim.standing != standing) continue;
        if (!device_name().ends_with(claim.only_on)) continue;
        const double claimed = claim.least;
        if (has_own_solution()) claim.least /= allowed_time(claim.variant);
        for (const auto& verdict :
             time_claim(claim, step(), rival(std::string(claim.worse)), subject().verdicts)) {
            char text[256];
            std::snprintf(text, sizeof text,
                          "%s is %.3f times as fast as %s (%.3f to %.3f in %d pairs of runs); claimed: %.2f, "
                          "limit for this step: %.2f",
                          step_name().c_str(), verdict.ratio, std::string(claim.worse).c_str(), verdict.lower,
                          verdict.upper, verdict.pairs, claimed, claim.least);
            if (verdict.answer == expected)
                SUCCEED(text);
            else
                fall_short({otherwise + std::string(claim.why) + "\n  " + text,
                            share_of_time(verdict.ratio / claim.least)});
        }
    }
    SUCCEED();
}

}  // namespace

const std::set<std::string>& compared_with() {
    static const std::set<std::string> names = [] {
        std::set<std::string> all{step_name()};
        for (const auto& claim : this_step().beats)
            if (claim.quantity.is_timed() == keeps_time()) all.emplace(claim.worse);
        if (!keeps_time())
            for (const auto& later : chapter.steps)
                if (const auto fared = timed_against(later.name, step_name());
                    fared && fared->times_as_fast < 1)
                    all.emplace(later.name);
        return all;
    }();
    return names;
}

TEST_CASE("the step defines the function that its chapter calls", "[claims][shared]") {
    const char* const entry = this_step().entry;
    if (entry && !step().has(entry))
        FAIL("the step defines no " << entry
                                    << "(): the header that its stub includes says how it is declared");
    SUCCEED();
}

// Comes before the tests of what idle launches cost, because it names the cause.
TEST_CASE("every launch has an effect", "[claims][shared]") {
    skip_without_counts();
    const auto& seen = counted_run(base_shape()).seen;
    const auto theirs = has_own_solution() ? of_own_solution(base_shape()).launches : seen.launches;
    const double share = 1 - static_cast<double>(seen.idle.size()) / static_cast<double>(seen.launches);
    // If there are far too many launches, their number is reported, not only the idle ones.
    if (seen.launches > 2 * theirs && !seen.idle.empty())
        fall_short({"there are " + std::to_string(seen.launches) + " launches, where the solution has " +
                        std::to_string(theirs) + ", and some of them change nothing: " + seen.idle.front(),
                    share});
    else
        for (const auto& text : seen.idle) fall_short({text, share});
    SUCCEED();
}

TEST_CASE("the step needs about what its own solution needs", "[claims][shared]") {
    skip_without_counts();
    skip_without_own_solution();
    if (is_graded())  // in grading, where the solution is tested first and cannot be loaded later
        for (const Shape* shape : judged_shapes_of(this_step(), true)) of_own_solution(*shape);
    if (has_fixed_grids())
        note(
            "The step's grids hardly grow with the problem, so it is compared with its solution on a larger "
            "one, " +
            counted_run(base_shape()).problem + "; on a small one, fewer blocks would be enough.");
    for (const Shape* shape : judged_shapes()) {
        const auto& mine = counted_run(*shape);
        const auto& theirs = of_own_solution(*shape);
        const bool is_base = shape == &base_shape();
        if (is_base) report_figures(counts_of(mine), theirs);
        const auto nearest = nearest_limit(counts_of(mine), theirs, allowances_on(*shape));
        char part[160];
        std::snprintf(part, sizeof part, "%s: %.2f of the limit of %s", std::string(shape->name).c_str(),
                      nearest.part, nearest.counter ? std::string(nearest.counter->key).c_str() : "nothing");
        remarks().nearest.push_back(part);
        const auto worse = excesses_on(*shape);
        const bool explains =
            std::none_of(worse.begin(), worse.end(), [](auto& w) { return says_enough(w.text); });
        const auto otherwise = worse.empty() || !explains ? "" : enough_if_launched(*shape);
        const bool of_chain =
            explains && std::any_of(worse.begin(), worse.end(), [](auto& w) { return w.of_chain; });
        const auto chain = of_chain ? chain_on(*shape) : "";
        for (const auto& shortfall : worse)
            fall_short({shortfall.text + (shortfall.of_chain ? chain : "") + otherwise +
                            (is_base ? "" : "\n  counted with " + mine.problem),
                        shortfall.share});
        // An excess on one shape also shows on others.
        if (!worse.empty()) break;
        if (is_base)
            if (const auto remark = remark_on_banks(mine, theirs)) note(*remark + ".");
    }
    SUCCEED();
}

TEST_CASE("the step has the idea of its lesson", "[claims][shared]") {
    skip_without_counts();
    for (const auto& idea : this_step().ideas) {
        const auto number = idea.number(counted());
        if (!number || (*number >= idea.least && *number <= idea.most)) continue;
        const bool too_much = *number > idea.most;
        const double limit = too_much ? idea.most : idea.least;
        const auto text = "the step misses its goal: " + std::string(idea.lacking) + "\n  " +
                          std::string(idea.number_is) + ": now " + readable(*number) + ", at " +
                          (too_much ? "most " : "least ") + readable(limit);
        const auto chain = idea.of_chain && !says_enough(text) ? chain_on(base_shape()) : "";
        fall_short({text + (chain.empty() ? "" : chain + ", with " + counted_run(base_shape()).problem),
                    too_much ? idea.most / *number : std::max(0.0, *number / idea.least)});
    }
    SUCCEED();
}

// double is half as fast as float on an H100, and 1/64 as fast on most GPUs.
TEST_CASE("a step computes in float where its solution does", "[claims][shared]") {
    skip_without_counts();
    skip_without_own_solution();
    for (const auto kind : {in_double, in_double_of_floats}) {
        const auto line = first_in_double(subject().module, kind);
        if (!line || first_in_double(rival_path(step_name()), kind)) continue;
        fall_short(
            {subject().source.filename().string() + ":" + std::to_string(*line) +
                 " computes in double, which most GPUs do many times more slowly than in float: a number "
                 "without an f, such as 0.5, is a double, and so is its product with a float",
             0.5});
        break;
    }
    SUCCEED();
}

TEST_CASE("the values of a thread fit into its registers", "[claims][shared]") {
    skip_without_counts();
    constexpr unsigned few =
        16;  // bytes: a few values in turn, such as of the planes that a thread has passed, cost little
    std::ifstream lines(std::filesystem::path(subject().module).replace_extension(".legal"));
    std::string name;
    for (unsigned bytes = 0; lines >> name >> bytes;)
        if (bytes > few && name.find(':') == name.npos)
            fall_short(
                {"\"" + name + "\", an array of " + std::to_string(bytes) +
                     " bytes of each thread, does not fit into registers, because its index is known only at "
                     "run time: it is in local memory, which is device memory",
                 static_cast<double>(few) / bytes});
    for (const auto& text : counted_run(base_shape()).seen.spilled)
        fall_short({text + "\n  the rest is in local memory, which is device memory, or the launch is "
                           "refused: let a thread have fewer results, or a block fewer threads",
                    0.5});
    SUCCEED();
}

TEST_CASE("the step gains what its lesson promises", "[claims][shared]") {
    skip_without_counts();
    const auto& run = counted_run(base_shape());
    const auto& mine = counts_of(run);
    if (mine.global_store.accesses + mine.global_atomic.accesses == 0)
        FAIL("no kernel has written anything: the host has done the work");
    const bool is_worse = has_own_solution() && !excesses_on(base_shape()).empty();
    std::vector<Gain> gains;
    for (const auto& claim : this_step().beats) {
        if (claim.quantity.is_timed() || claim.standing == Claim::Standing::refuted) continue;
        // A student has not seen later steps: a claim about one is reported only if no limit is exceeded.
        if (claim.worse > step_name() && is_worse) continue;
        if (has_fixed_grids() && !has_traits(step_called(claim.worse), base_shape().traits))
            continue;  // not counted on this shape
        const double now = claim.quantity(mine),
                     theirs = claim.quantity(counts_of_solution(claim.worse, base_shape()));
        const auto own =
            has_own_solution() ? std::optional(claim.quantity(of_own_solution(base_shape()))) : std::nullopt;
        const auto text = broken(claim, now, theirs, own);
        if (text && broken(claim, claim.quantity(as_compiled(base_shape())), theirs, own))
            fall_short({*text + where_most(run, *claim.quantity), most_of(claim, theirs, own) / now});
        else
            gains.push_back({&claim, now, theirs});
    }
    if (const auto before = before_on_the_same_problem())
        for (const auto& text : most_telling(before->name, std::move(gains))) note_gain(text);
    SUCCEED();
}

// Never fails: a step that checks errors in another way, such as with a macro around the whole call, is
// equally good, and a launch that fails is reported anyway.
TEST_CASE("launches whose errors are never checked are noted", "[claims][shared]") {
    skip_without_counts();
    if (counted_run(base_shape()).seen.unchecked > 0)
        note(
            "The error of the last launch is never read, or never checked. On a GPU a launch that is refused "
            "reports nothing itself, and the program goes on without it: write check(cudaGetLastError()); "
            "after it.");
    SUCCEED();
}

// Never fails without a clock: by every counter the later step is better.
TEST_CASE("a later step's idea that was measured to be slower is noted", "[claims][shared]") {
    skip_without_counts();
    skip_without_own_solution();
    const auto name = step_name();
    if (const auto remark = remark_on_idea(
            chapter.steps, name, counts_of(counted_run(base_shape())),
            [](std::string_view other) -> const Counts& { return counts_of_solution(other, base_shape()); },
            [&](std::string_view later) { return timed_against(later, name); }))
        note(*remark + ".");
    SUCCEED();
}

// A document's false claim is not the step's fault, but it should be mentioned.
TEST_CASE("counts that refute a claim are noted", "[claims][shared]") {
    skip_without_counts();
    for (const auto& claim : this_step().beats)
        if (!claim.quantity.is_timed() && claim.standing == Claim::Standing::refuted)
            note(as_counted({this_step().name, claim}, claim.quantity(of_own_solution(base_shape())),
                            claim.quantity(counts_of_solution(claim.worse, base_shape()))));
    SUCCEED();
}

// Comes before the comparison with the solution, because it names what a step lacks.
TEST_CASE("the step is faster where its lesson says so", "[timed][shared]") {
    time_claims(Claim::Standing::asserted, Answer::holds, "the step misses its goal, that ");
}

TEST_CASE("the step is about as fast as its own solution", "[timed][shared]") {
    if (!keeps_time()) SKIP("this back end keeps no time");
    skip_without_own_solution();
    const auto name = step_name();
    const auto& solution = rival(name);
    const double most = std::max(slowest, allowed_time({}));
    const auto verdict = time_against(step(), solution, 1 / most);
    if (is_graded())
        remarks().figures.push_back({"milliseconds", "ms", milliseconds(step()), milliseconds(solution)});
    if (verdict.answer == Answer::refuted) {
        std::ostringstream text;
        text << "it takes too long: now " << 1 / verdict.ratio << " times as long as its own solution ("
             << verdict.pairs << " pairs of runs), at most " << most << " times";
        fall_short({text.str(), share_of_time(most * verdict.ratio)});
    }
    SUCCEED();
}

// For maintainers: a measurement on one device may not hold on others.
TEST_CASE("a claim that is marked as refuted is refuted on this device, too", "[.refuted][shared]") {
    time_claims(Claim::Standing::refuted, Answer::refuted, "refuted elsewhere, but not on this device: ");
}

// Also holds where a ladder starts over (reduction 06) and for a step that solves another problem (scan 05).
// A step that is slower than the one before, or needs more, makes the reverse claim, so that every step has
// an answer for the reader.
TEST_CASE("a solution has a counted and a timed claim against the step before it", "[claims][shared]") {
    skip_unless_solution();
    const auto& row = this_step();
    if (row.before.empty()) SKIP("there is no step before");
    const auto text = unclaimed(chapter.steps, row.before, row.name, has_been_timed(row.name),
                                can_be_counted(stated_need(subject().source)));
    if (!text.empty()) FAIL(text);
    SUCCEED();
}

// With fewer blocks, the makespan is that of the longest block, however the others are distributed.
TEST_CASE("a solution has a block for each multiprocessor of the model GPU", "[claims][shared]") {
    skip_unless_solution();
    skip_without_counts();
    CHECK(counts_of(counted_run(base_shape())).blocks >= machine::multiprocessors);
}

TEST_CASE("the counts of a solution are kept for all steps that are compared with it", "[claims][shared]") {
    skip_unless_solution();
    skip_without_counts();
    for (const Shape* shape : judged_shapes()) {
        CAPTURE(shape->name);
        CHECK(remembered(subject().module, "/proc/self/exe", std::string(shape->name)) ==
              counts_of(counted_run(*shape)));
    }
}

namespace {

/// Lessons quote the counts of g++. clang ends basic blocks elsewhere, and everything that counts them
/// differs.
bool depends_on_the_compiler([[maybe_unused]] std::string_view key) {
#if defined(__clang__)
    constexpr std::array<std::string_view, 8> of_blocks{"basic_blocks",  "active_lanes", "work",
                                                        "span",          "makespan",     "parallelism",
                                                        "busiest_share", "busiest_warp"};
    return std::ranges::find(of_blocks, key) != of_blocks.end();
#else
    return false;
#endif
}

}  // namespace

// For solutions only: another style may need more or less.
TEST_CASE("a solution has the counts of its lesson", "[claims][shared]") {
    skip_unless_solution();
    skip_without_counts();
    for (const auto& figure : this_step().figures) {
        if (depends_on_the_compiler(figure.quantity->key)) continue;
        CAPTURE(figure.shape, figure.quantity->name);
        const double counted = figure.quantity(counts_of(counted_run(shape_called(figure.shape))));
        CHECK(counted >= figure.value - figure.room);
        CHECK(counted <= figure.value + figure.room);
    }
    SUCCEED();
}

// For solutions only: a student may find a way that a document does not consider.
TEST_CASE("counted claims have room, and those marked refuted do not hold", "[claims][shared]") {
    skip_unless_solution();
    skip_without_counts();
    constexpr double room = 1.04;  // for a kernel that does the same in another way
    for (auto claim : this_step().beats) {
        if (claim.quantity.is_timed()) continue;
        const double mine = claim.quantity(counts_of(counted_run(base_shape()))),
                     theirs = claim.quantity(counts_of_solution(claim.worse, base_shape()));
        CAPTURE(claim.worse, claim.why, mine, theirs, claim.least);
        CHECK(theirs > 0);
        if (claim.standing == Claim::Standing::refuted) {
            CHECK(broken(claim, mine, theirs));
        } else {
            claim.least *= room;
            CHECK(!broken(claim, mine, theirs));
        }
    }
    SUCCEED();
}

}  // namespace kata
