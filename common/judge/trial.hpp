// Runs one problem on a step: the part that all suites share.
#pragma once
#include "buffer.hpp"
#include "check/compare.hpp"
#include "check/miscount.hpp"
#include "error.hpp"
#include "judge/origin.hpp"
#include "judge/suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <limits>
#include <string_view>

namespace kata {

/// Maximum relative error of rounding to nearest.
template <class T>
inline constexpr double rounding = std::numeric_limits<T>::epsilon() / 2;

/// NaN if read as a float: a step that uses old contents of its output gets NaN in its result.
inline constexpr std::byte nan_poison{0xFF};

struct Trial {
    Conditions conditions = {};
    std::byte poison = kata::poison;  ///< initial contents of the outputs
};

/// For problems that are large only to test an index or a counter. Smaller problems check counts and races.
inline const Trial unmetered{{.metered = false}};

/// Returns what is wrong with the first damaged buffer, if any.
template <class... Buffers>
std::optional<std::string> damage_of(const Buffers&... buffers) {
    std::optional<std::string> first;
    ((first = first ? first : buffers.damage()), ...);
    return first;
}

/// The expected result of a problem: each element within `bound` of its value, or exactly equal if there are
/// no bounds.
struct Expected {
    std::vector<double> values, bound = {};
    Layout layout;
    Mismatch found = {};  ///< what difference() returned

    template <class T>
    std::optional<std::string> difference(const std::vector<T>& got, std::byte poison) {
        layout.poison = poison;
        if (!bound.empty()) return kata::difference<T>(got, values, bound, layout, &found);
        return kata::difference<T>(got, std::vector<T>(values.begin(), values.end()), layout, &found);
    }
};

/// The smallest problem for which a wrong sum is not analyzed: the analysis takes dozens of runs.
inline constexpr std::size_t too_large_to_ask = 1 << 16;

/// The ways to explain a fault by further runs of the step, and how often each of them may still be tried. A
/// step that is always wrong need not be explained each time.
struct Tries {
    int displaced = 2, kept = 3, origin = 3, unlike = 2, launched = 3;
};
inline Tries tries;

/// Counts a try of this way to explain a fault. Returns false if no try is left, or if the text already says
/// enough.
inline bool may_try(int Tries::*way, const std::string& text) {
    return !says_enough(text) && tries.*way > 0 && (tries.*way)-- > 0;
}

/// Returns a number that a step has written; std::nullopt if it still holds the poison of `asked`.
template <class T>
std::optional<double> if_written(T value) {
    T untouched;
    std::memset(&untouched, std::to_integer<int>(poison), sizeof untouched);
    if (std::memcmp(&value, &untouched, sizeof value) == 0) return std::nullopt;
    return static_cast<double>(value);
}

/// Runs the step over another problem, to find out why it was wrong on the first, and returns
/// number_in(result); std::nullopt if the step fails.
template <class Problem, class NumberIn>
std::optional<double> asked(const Module& step, const Problem& p, Conditions conditions, NumberIn number_in) {
    conditions.metered = false;  // dozens of runs, whose counts are not used
    typename Problem::Device device(p, poison);
    std::optional<double> number;
    const auto run = observed_run(
        conditions, [&] { device.run(step); },
        [&]() -> std::optional<std::string> {
            number = number_in(device.result());
            return std::nullopt;
        });
    return run.fault ? std::nullopt : number;
}

/// For a step that computes weighted sums of an input: returns which inputs count wrongly in the first wrong
/// element; nothing if inputs do not explain it. The input has the grid of the result or another one. If
/// results are sums divided by `divisor`, inputs are multiples of it: 0 to `largest` times the divisor.
template <class Problem, class T>
std::optional<std::string> displaced_in(const Module& step, const Problem& p, std::vector<T> Problem::*input,
                                        Conditions conditions, const std::vector<T>& result,
                                        const Layout& of_input = {}, int divisor = 1,
                                        int largest = most_displaced) {
    auto expected = p.expected();
    const auto wrong =
        static_cast<std::size_t>(std::mismatch(result.begin(), result.end(), expected.values.begin(),
                                               [](T x, double y) { return static_cast<double>(x) == y; })
                                     .first -
                                 result.begin());
    if (wrong == result.size() || !may_try(&Tries::displaced, "")) return std::nullopt;
    const Grid grid(expected.layout, result.size()),
        inputs(of_input.extents.empty() ? expected.layout : of_input, (p.*input).size());
    const auto answer = [&](const std::vector<int>& values) -> std::optional<Sums> {
        auto other = p;
        std::transform(values.begin(), values.end(), (other.*input).begin(),
                       [&](int value) { return static_cast<T>(divisor * value); });
        const auto got =
            asked(step, other, conditions, [&](const auto& all) { return if_written(all[wrong]); });
        return got ? std::optional(Sums{*got, other.expected().values[wrong]}) : std::nullopt;
    };
    const auto text = displaced((p.*input).size(), answer,
                                [&](std::size_t i) { return "input " + coordinates(inputs, i); }, largest);
    return text ? std::optional("what " + coordinates(grid, wrong) + " is made of: " + *text) : std::nullopt;
}

/// Returns how an earlier call causes a wrong result. A step keeps something between calls if it is right
/// when it is loaded anew, and wrong again when it is not.
template <class Problem>
std::string what_is_kept(const Module& step, const Problem& p, const Trial& trial, const std::string& fault) {
    if (!may_try(&Tries::kept, fault)) return "";
    auto conditions = trial.conditions;
    conditions.metered = false;
    const auto is_right = [&](const Module& module) {
        typename Problem::Device device(p, trial.poison);
        const auto run = observed_run(
            conditions, [&] { device.run(module); },
            [&] { return p.expected().difference(device.result(), trial.poison); });
        return !run.fault;
    };
    try {
        if (is_right(step) || !is_right(step.anew())) return "";
    } catch (const Error&) {  // the module cannot be loaded anew
        return "";
    }
    return "it keeps something from an earlier call, in a __device__ variable or a static one: the same call "
           "is right if it comes first\n";
}

/// Returns, on a line of its own, where the first wrong element of a result comes from, or nothing.
template <class Problem>
std::string where_from(const Module& step, const Problem& p, const Trial& trial, const auto& expected,
                       std::size_t element_bytes, const std::string& fault) {
    if constexpr (requires(typename Problem::Device device) {
                      device.output();
                      expected.found;
                  }) {
        const bool small = p.operations() < 64.0 * too_large_to_ask;
        if (!expected.found.first_wrong || !trial.conditions.metered || !small ||
            !may_try(&Tries::origin, fault))
            return "";
        const Element element{element_bytes, expected.values.size(), expected.layout.extents,
                              *expected.found.first_wrong};
        std::optional<typename Problem::Device> device;
        const auto solve = [&](const Module& module) -> Solve {
            return [&] {
                device.emplace(p, trial.poison);
                device->run(module);
                return device->output();
            };
        };
        const auto* const solution = own_solution();
        const auto text =
            origin(trial.conditions, element, solve(step), solution ? solve(*solution) : Solve{});
        return text.empty() ? "" : "\n" + text;
    } else {
        return "";
    }
}

/// Returns, on a line of its own, how a thread of a race in global memory differs from the solution's, or
/// nothing.
template <class Problem>
std::string unlike_in(const Module& step, const Problem& p, const Trial& trial, const Run& run) {
    const auto* const solution = own_solution();
    const bool small = p.operations() < 64.0 * too_large_to_ask;
    if (!solution || !small || !run.seen.race || !may_try(&Tries::unlike, *run.fault)) return "";
    std::optional<typename Problem::Device> device;
    const auto solve = [&](const Module& module) -> Solve {
        return [&] {
            device.emplace(p, trial.poison);
            device->run(module);
            return nullptr;
        };
    };
    const auto text = unlike_solution(trial.conditions, *run.seen.race, solve(step), solve(*solution));
    return text.empty() ? "" : "\n" + text;
}

/// Says, on a line of its own, that a wrong step is right once its kernels are launched as in its solution;
/// returns nothing if it is not.
template <class Problem>
std::string right_if_launched(const Module& step, const Problem& p, const Trial& trial, const Run& run) {
    const auto* const solution = own_solution();
    if (!solution || p.operations() >= 64.0 * too_large_to_ask || !may_try(&Tries::launched, *run.fault))
        return "";
    auto conditions = trial.conditions;
    conditions.time_limit = 2;
    const auto run_of = [&](const Module& module) {
        typename Problem::Device device(p, trial.poison);
        return observed_run(
            conditions, [&] { device.run(module); },
            [&] {
                const auto damage = device.damage();
                return damage ? damage : p.expected().difference(device.result(), trial.poison);
            });
    };
    const auto theirs = run_of(*solution);
    if (theirs.fault) return "";
    // If an error has ended the run, not all of its launches are known.
    if (run.seen.launches > 0 && launched_otherwise(run.seen, theirs.seen).empty()) return "";
    const LaunchedAs as_there(theirs.seen.launched);
    const auto mine = run_of(step);
    const auto otherwise = mine.fault ? "" : launched_otherwise(mine.seen, theirs.seen);
    return otherwise.empty() ? "" : "\nit would be right if " + otherwise + ", as its solution does";
}

/// Forgets the tile unless the step uses it: the grid of its only launch must be that of such tiles, perhaps
/// without the last, partial ones.
inline void keep_own_tile(Layout& layout, const Observation& seen) {
    if (seen.launches != 1 || seen.launched.empty()) return;
    const auto& grid = seen.launched[0].grid;
    bool fits = true;
    unsigned all = 1;
    for (std::size_t axis = 0; axis < layout.tile.size(); ++axis) {
        const auto tile = layout.tile[axis], extent = layout.extents[axis];
        if (tile == 0 || extent == 0) return;
        const auto blocks = static_cast<unsigned>((extent + tile - 1) / tile);
        const auto whole = static_cast<unsigned>(extent / tile);
        fits = fits && (grid[axis] == blocks || (grid[axis] == whole && whole > 1));
        all *= blocks;
    }
    const bool is_numbered = grid[1] == 1 && grid[2] == 1 && all == grid[0];  // along x, whatever they do
    if (!fits && !is_numbered) layout.tile = {};
}

/// Runs the step over a problem, which provides:
///   text()                    its size, for messages
///   Device(problem, poison)   its arrays on the device: run(step), damage(), result()
///   expected(), outputs(), operations()
///   Device::output()          where its result is on the device, if a wrong one is to be traced
///   made_of(step, conditions, result)   what a wrong result consists of, if it can tell
/// If steps differ in how much of it one run does, its Device provides solved_by(step), like TimedProblem.
template <class Problem>
Run try_on(const Module& step, const Problem& p, typename Problem::Device& device, const Trial& trial = {}) {
    auto run = observed_run(
        trial.conditions, [&] { device.run(step); },
        [&](const Observation& seen) -> std::optional<std::string> {
            if (auto text = device.damage()) return text;
            const auto result = device.result();
            auto expected = p.expected();
            if constexpr (requires { expected.layout; }) keep_own_tile(expected.layout, seen);
            auto text = expected.difference(result, trial.poison);
            if (!text) return text;
            const auto kept = what_is_kept(step, p, trial, *text);
            // Another call of a step that keeps something may do something else.
            *text = kept.empty() ? *text + where_from(step, p, trial, expected, sizeof result[0], *text)
                                 : kept + *text;
            if constexpr (requires { p.made_of(step, trial.conditions, result); }) {
                if constexpr (requires { expected.found; })
                    if (expected.found.is_elsewhere) return text;
                if (says_enough(*text)) return text;
                if (const auto why = p.made_of(step, trial.conditions, result)) *text += "\n" + *why;
            }
            return text;
        });
    if (run.fault && run.out_of_time == OutOfTime::no)
        *run.fault += unlike_in(step, p, trial, run) + right_if_launched(step, p, trial, run);
    run.problem = p.text();
    run.outputs = p.outputs();
    run.operations = p.operations();
    return run;
}

/// Same, if the device is not inspected afterwards.
template <class Problem>
Run try_on(const Module& step, const Problem& p, const Trial& trial = {}) {
    typename Problem::Device device(p, trial.poison);
    return try_on(step, p, device, trial);
}

/// Returns ", threads and blocks backwards"; empty if they run in their usual order.
inline std::string text_of(const Conditions& c) {
    if (c.order == Order::forwards) return "";
    return ", threads and blocks " +
           (c.order == Order::backwards ? "backwards" : "shuffled by seed " + std::to_string(c.seed));
}

template <class Problem>
void require_right(const Problem& p, const Trial& trial = {}) {
    INFO(p.text() << text_of(trial.conditions));
    const auto run = try_on(step(), p, trial);
    if (run.fault) FAIL(*run.fault);
}

/// True if a step has a thread for every 16 elements or fewer, and no thread takes as many steps as there are
/// elements. A step with few threads, or with one thread that loops over the whole array, takes too long for
/// a test that runs only the ends of an array.
inline bool shares_out(const Counts& c, std::size_t elements) {
    return 16 * c.threads >= elements && c.span < elements;
}

/// Runs the step over arrays that are zero except at their ends. They should be so long that a grid, an index
/// or a count may miss the last element; one element more than a power of two is best, because it belongs to
/// the last thread, or to the first thread of a loop over the grid. On the CPU back end only the blocks at
/// the ends of the grid run at first. A correct step may have idle blocks after all others, or another order
/// of blocks, so a wrong result counts only if running all blocks gives it, too, or if `is_right` shows that
/// the blocks at the ends of the grid handle the ends of an array of similar length. Where all blocks take
/// too long, nothing is known, and the test passes: grading treats a skipped test as not passed.
inline void require_right_at_ends(const std::function<void(const Module&)>& work,
                                  const std::function<std::optional<std::string>()>& compare,
                                  const Conditions& conditions = {.metered = false, .only_ends = true},
                                  const std::function<bool()>& is_right = {}) {
    const auto run_on = [&](const Conditions& c) {
        return observed_run(
            c, [&] { work(step()); }, compare);
    };
    auto run = run_on(conditions);
    bool is_known = run.out_of_time != OutOfTime::in_all_blocks;
    if (run.fault && run.seen.in_part && !(is_right && is_right())) {
        auto all = conditions;
        all.only_ends = false;
        all.time_limit = 20;
        run = run_on(all);
        is_known = run.out_of_time == OutOfTime::no;
    }
    if (!is_known) {
        SUCCEED("a GPU is asked");
        return;
    }
    if (run.fault) FAIL(*run.fault);
}

/// True if a step is correct at the ends of an array when only its first and last blocks are run.
inline bool is_right_at_ends(const std::function<void(const Module&)>& work,
                             const std::function<std::optional<std::string>()>& compare) {
    const auto run = observed_run(
        {.metered = false, .only_ends = true}, [&] { work(step()); }, compare);
    return !run.fault;
}

/// Must be called before a CHECK that uses counts, because a CHECK reports a SKIP as an exception.
inline void only_where_counted() {
    if (!counts_available()) SKIP("nothing is counted on this back end");
}

/// Returns what a step launches for a problem of zeros, of which almost nothing is run; std::nullopt if one
/// block takes too many steps. Fails the test if that block accesses memory out of bounds, or if nothing is
/// launched.
template <class Sparse>
std::optional<Counts> glanced_at(Sparse& p) {
    const auto run = observed_run(
        {.sample = 1}, [&] { p.run(step()); }, []() -> std::optional<std::string> { return std::nullopt; });
    for (const auto wrong : {"out of bounds", "launch refused"})
        if (run.fault && run.fault->starts_with(wrong)) FAIL(p.text() << ": " << *run.fault);
    if (!run.fault && run.seen.launches == 0) FAIL(p.text() << ": no kernel was launched");
    return run.seen.counts;
}

/// The distribution of a problem over threads.
struct Shares {
    std::string problem;
    std::uint64_t threads;
    double each;  ///< elements per thread
};

/// Returns std::nullopt if copies and fills do so much that the number of threads says nothing about the
/// step.
template <class Sparse>
std::optional<Shares> shares_of(Sparse& p) {
    const auto c = glanced_at(p);
    if (!c || c->bytes_beside + c->bytes_to_device + c->bytes_to_host >= p.elements()) return std::nullopt;
    return Shares{p.text(), c->threads, static_cast<double>(p.elements()) / static_cast<double>(c->threads)};
}

template <class Sparse>
std::optional<std::string> fault_at_the_ends(Sparse& p) {
    return observed_run(
               {.metered = false, .only_ends = true, .even_of_few = true}, [&] { p.run(step()); },
               [&] { return p.fault(); })
        .fault;
}

/// Returns what `make` makes; std::nullopt if there is no room for it.
template <class Make>
auto if_there_is_room(const Make& make) -> std::optional<decltype(make())> {
    try {
        return make();
    } catch (const Error& e) {
        if (!std::string_view(e.what()).starts_with("no room")) throw;
        return std::nullopt;
    }
}

/// True if the blocks at the ends of the grid handle the ends of the arrays and wait for no others. This is
/// tested on the problem that `few` makes. For the problem that `many` makes, it follows from the elements
/// per thread.
template <class Sparse>
bool is_done_at_the_ends(const std::function<Sparse()>& few, const std::function<Sparse()>& many) {
    // In a smaller problem relatively more threads may lie beyond the end. A factor of 2 still excludes a
    // loop.
    constexpr double about = 2;
    const auto shares = [](auto p) { return p ? shares_of(*p) : std::nullopt; };
    const auto small = shares(if_there_is_room(few));
    if (!small) return false;
    if (auto p = few(); fault_at_the_ends(p)) return false;
    const auto large = shares(if_there_is_room(many));
    // A loop over more elements has at least about as many threads as before. A grid that fills whole waves
    // may have slightly fewer.
    if (large && large->threads < small->threads / 2)
        FAIL(large->problem << ": " << large->threads << " threads are launched, fewer than the "
                            << small->threads << " for " << small->problem
                            << ": does a number of elements or bytes overflow 32 bits?");
    return large && large->each <= about * small->each;
}

/// Runs the step over arrays of more bytes than 32 bits can count. A GPU runs all blocks. The CPU back end
/// backs only the pages that are written to, and runs the blocks at the ends of the grid if those are enough.
/// A Sparse problem is zero except at its ends; it provides text(), elements(), run(step) and fault().
template <class Sparse>
void require_right_beyond_32_bits(const std::function<Sparse()>& few, const std::function<Sparse()>& many) {
    if (std::string_view(backend_name()) == "cpu") {
        only_where_counted();
        // A loop over so many elements, or blocks that wait for others, would take too long on a CPU. That is
        // not a fault, so the test passes: grading treats a skipped test as not passed.
        if (!is_done_at_the_ends(few, many)) {
            SUCCEED("this is left to a GPU");
            return;
        }
    }
    auto large = if_there_is_room(many);
    if (!large) SKIP("there is no room for it");
    if (const auto fault = fault_at_the_ends(*large)) FAIL(large->text() << ": " << *fault);
    SUCCEED();
}

/// Requires the right result in any order of threads and blocks: backwards, and shuffled with two seeds.
template <class Problem>
void require_right_in_any_order(const Problem& p) {
    for (const Conditions& c : {Conditions{.order = Order::backwards}, Conditions{.order = Order::shuffled},
                                Conditions{.order = Order::shuffled, .seed = 2}})
        require_right(p, {c});
}

/// Requires the right result for two problems in turn: nothing may remain from the first, and no result may
/// depend on what the outputs held before.
template <class First, class Second>
void require_answers_of_their_own(const First& first, const Second& second) {
    require_right(first);
    require_right(second, {.poison = nan_poison});
}

/// Returns the counts of the step under test on the problem.
template <class Problem>
Counts counted(const Problem& p, const Conditions& conditions = {}) {
    only_where_counted();
    return counts_of(try_on(step(), p, {conditions}));
}

inline void only_on_a_gpu() {
    if (std::string_view(backend_name()) != "gpu") SKIP("for a GPU");
}

/// The timed problem of a chapter with problems of type P.
template <class Problem>
struct TimedOn final : TimedProblem {
    typename Problem::Device device;
    TimedOn(const Problem& p, double useful) : device(p, poison) {
        useful_bytes = useful;
        operations = p.operations();
    }
    double solved_by(const Module& step) const override {
        if constexpr (requires { device.solved_by(step); }) return device.solved_by(step);
        return 1;
    }
    void run(const Module& step) override { device.run(step); }
};

}  // namespace kata
