// One problem, tried on a step: what every suite does with a problem of its own.
#pragma once
#include "buffer.hpp"
#include "check/compare.hpp"
#include "check/miscount.hpp"
#include "error.hpp"
#include "judge/suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/interfaces/catch_interfaces_capture.hpp>
#include <cstring>
#include <limits>
#include <string_view>

namespace kata {

/// What rounding to nearest may be off by, relative to the value.
template <class T>
inline constexpr double rounding = std::numeric_limits<T>::epsilon() / 2;

/// As floats NaN: whoever reads what an output held before has it in the result.
inline constexpr std::byte nan_poison{0xFF};

struct Trial {
    Conditions conditions = {};
    std::byte poison = kata::poison;  ///< what outputs hold before
};

/// For problems that are large for the sake of an index or a counter: counts and races are for the smaller
/// ones.
inline const Trial unmetered{{.metered = false}};

/// What is wrong with the first of several buffers, if with any.
template <class... Buffers>
std::optional<std::string> damage_of(const Buffers&... buffers) {
    std::optional<std::string> first;
    ((first = first ? first : buffers.damage()), ...);
    return first;
}

/// What a problem must result in: each element within `bound` of the expected one, or, without bounds,
/// exactly.
struct Expected {
    std::vector<double> values, bound = {};
    Layout layout;

    template <class T>
    std::optional<std::string> difference(const std::vector<T>& got, std::byte poison) {
        layout.poison = poison;
        if (!bound.empty()) return kata::difference<T>(got, values, bound, layout);
        return kata::difference<T>(got, std::vector<T>(values.begin(), values.end()), layout);
    }
};

/// The smallest problem that is too large for asking what a wrong sum of it is made of, which takes dozens of
/// runs.
inline constexpr std::size_t too_large_to_ask = 1 << 16;

/// A number that a step has written; nothing where the poison of `asked` still stands.
template <class T>
std::optional<double> if_written(T value) {
    T untouched;
    std::memset(&untouched, std::to_integer<int>(poison), sizeof untouched);
    if (std::memcmp(&value, &untouched, sizeof value) == 0) return std::nullopt;
    return static_cast<double>(value);
}

/// What `number_in(result)` is after the step has run over another problem, to find out why it was wrong
/// about the first; nothing where the step fails.
template <class Problem, class NumberIn>
std::optional<double> asked(const Module& step, const Problem& p, Conditions conditions, NumberIn number_in) {
    conditions.metered = false;  // dozens of runs, of which nobody reads counts
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

/// Runs the step over a problem, which says:
///   text()                for people, its size
///   Device(problem, poison)   its arrays there: run(step), damage(), result()
///   expected(), outputs(), operations()
///   made_of(step, conditions, result)   what a wrong result is made of, if it can say that
/// Where steps differ in how much of it they do in a run, its Device says solved_by(step), as a TimedProblem.
template <class Problem>
Run try_on(const Module& step, const Problem& p, typename Problem::Device& device, const Trial& trial = {}) {
    auto run = observed_run(
        trial.conditions, [&] { device.run(step); },
        [&]() -> std::optional<std::string> {
            if (auto text = device.damage()) return text;
            const auto result = device.result();
            auto text = p.expected().difference(result, trial.poison);
            if constexpr (requires { p.made_of(step, trial.conditions, result); }) {
                if (!text) return text;
                if (const auto why = p.made_of(step, trial.conditions, result)) *text += "\n" + *why;
            }
            return text;
        });
    run.problem = p.text();
    run.outputs = p.outputs();
    run.operations = p.operations();
    return run;
}

/// The same, where nobody looks at the device afterwards.
template <class Problem>
Run try_on(const Module& step, const Problem& p, const Trial& trial = {}) {
    typename Problem::Device device(p, trial.poison);
    return try_on(step, p, device, trial);
}

template <class Problem>
void require_right(const Problem& p, const Trial& trial = {}) {
    INFO(p.text());
    const auto run = try_on(step(), p, trial);
    if (run.fault) FAIL(*run.fault);
}

/// Whether a step has a thread for every 16 elements or fewer, and none that goes through as many steps as
/// there are elements. Who has few threads, or lets one do the work, in a loop over the whole array, cannot
/// be shown an array of which only the ends are run: it takes too long.
inline bool shares_out(const Counts& c, std::size_t elements) {
    return 16 * c.threads >= elements && c.span < elements;
}

/// Runs the step over arrays that are zero but at their ends, so long that a grid, an index or a count may
/// not reach the last element. It is best the one behind a power of two: the last thread's, or, in a loop
/// over the grid, the first one's. A right step may have blocks that do nothing behind all others, or another
/// order of blocks: before a result is called wrong, the blocks are run that have to do with the ends, unless
/// an array about as long `is_right` whose first and last blocks have its ends. A step whose blocks wait for
/// all others is to be run in other conditions.
inline void require_right_at_ends(const std::function<void(const Module&)>& work,
                                  const std::function<std::optional<std::string>()>& compare,
                                  const Conditions& conditions = {.metered = false, .only_ends = true},
                                  const std::function<bool()>& is_right = {}) {
    auto run = observed_run(
        conditions, [&] { work(step()); }, compare);
    for (const auto search : {Search::some_threads, Search::all_threads}) {
        if (!run.fault || !run.seen.in_part) break;
        if (search == Search::some_threads && is_right && is_right()) break;
        auto searched = conditions;
        searched.search = search;
        run = observed_run(
            searched, [&] { work(step()); }, compare);
    }
    if (run.fault) FAIL(*run.fault);
}

/// Whether a step is right at the ends of an array of which its first blocks and its last ones are run.
inline bool is_right_at_ends(const std::function<void(const Module&)>& work,
                             const std::function<std::optional<std::string>()>& compare) {
    const auto run = observed_run(
        {.metered = false, .only_ends = true}, [&] { work(step()); }, compare);
    return !run.fault;
}

/// To be called first where counts are asked for within a CHECK, which takes a SKIP for an exception.
inline void only_where_counted() {
    if (!counts_available()) SKIP("nothing is counted on this back end");
}

/// What a step starts for a problem of zeros, of which next to nothing is run; nothing where one block has to
/// do too much of it. Fails the test where that block leaves its arrays, and where no block is started.
template <class Sparse>
std::optional<Counts> glanced_at(Sparse& p) {
    const auto run = observed_run(
        {.sample = 1}, [&] { p.run(step()); }, []() -> std::optional<std::string> { return std::nullopt; });
    for (const auto wrong : {"out of bounds", "launch refused"})
        if (run.fault && run.fault->starts_with(wrong)) FAIL(p.text() << ": " << *run.fault);
    if (!run.fault && run.seen.launches == 0) FAIL(p.text() << ": no kernel was launched");
    return run.seen.counts;
}

/// How a step shares out a problem.
struct Shares {
    std::string problem;
    std::uint64_t threads;
    double each;  ///< elements of a thread
};

/// Nothing where the number of threads says nothing of what the step does.
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

/// What `make` makes, if there is room for it.
template <class Make>
auto if_there_is_room(const Make& make) -> std::optional<decltype(make())> {
    try {
        return make();
    } catch (const Error& e) {
        if (!std::string_view(e.what()).starts_with("no room")) throw;
        return std::nullopt;
    }
}

/// Whether the blocks at the ends of the grid are those of the ends of the arrays, and wait for no others: of
/// the problem that `few` makes, and by the share of a thread also of the one that `many` makes.
template <class Sparse>
bool is_done_at_the_ends(const std::function<Sparse()>& few, const std::function<Sparse()>& many) {
    // In a smaller problem more threads may hang over the end; but no loop must have begun since.
    constexpr double about = 2;
    const auto shares = [](auto p) { return p ? shares_of(*p) : std::nullopt; };
    const auto small = shares(if_there_is_room(few));
    if (!small) return false;
    if (auto p = few(); fault_at_the_ends(p)) return false;
    const auto large = shares(if_there_is_room(many));
    // A loop over more elements has about as many threads as before, or more: a grid that is made to fill
    // whole waves may have somewhat fewer.
    if (large && large->threads < small->threads / 2)
        FAIL(large->problem << ": " << large->threads << " threads are launched, fewer than the "
                            << small->threads << " for " << small->problem
                            << ": does a number of elements or bytes run over in 32 bits?");
    return large && large->each <= about * small->each;
}

/// Runs the step over arrays so large that 32 bits do not count their bytes. A GPU runs all; the CPU back end
/// has only those of their pages that somebody writes to, and runs the blocks at the ends of the grid, where
/// these will do. A Sparse problem is zero but at its ends: text(), elements(), run(step), fault().
template <class Sparse>
void require_right_beyond_32_bits(const std::function<Sparse()>& few, const std::function<Sparse()>& many) {
    if (std::string_view(backend_name()) == "cpu") {
        only_where_counted();
        // A loop over so many elements, or blocks that wait for others, would take a CPU too long. That is no
        // fault, so the test passes: who grades takes one that is skipped for one that is not passed.
        if (!is_done_at_the_ends(few, many)) {
            SUCCEED("a GPU is asked");
            return;
        }
    }
    auto large = if_there_is_room(many);
    if (!large) SKIP("there is no room for it");
    if (const auto fault = fault_at_the_ends(*large)) FAIL(large->text() << ": " << *fault);
    SUCCEED();
}

/// The order in which threads and blocks run does not matter: backwards, and shuffled by two seeds.
template <class Problem>
void require_right_in_any_order(const Problem& p) {
    for (const Conditions& c : {Conditions{.order = Order::backwards}, Conditions{.order = Order::shuffled},
                                Conditions{.order = Order::shuffled, .seed = 2}}) {
        INFO((c.order == Order::backwards ? "backwards" : "shuffled by seed " + std::to_string(c.seed)));
        require_right(p, {c});
    }
}

/// Each of two problems gets an answer of its own: none is left from the first, and nothing is made of what
/// the outputs held before.
template <class First, class Second>
void require_answers_of_their_own(const First& first, const Second& second) {
    require_right(first);
    require_right(second, {.poison = nan_poison});
}

/// What the step under test does to the problem, where that is counted.
template <class Problem>
Counts counted(const Problem& p, const Conditions& conditions = {}) {
    only_where_counted();
    return counts_of(try_on(step(), p, {conditions}));
}

/// What the solution of a step does to the problem. Its text is that of no other problem of the running test.
template <class Problem>
const Counts& counted_of(const std::string& name, const Problem& p, const Conditions& conditions = {}) {
    const auto problem = Catch::getResultCapture().getCurrentTestName() + '\n' + p.text() + '\n' +
                         std::to_string(conditions.multiprocessors);
    return remembered_counts(name, std::to_string(std::hash<std::string>()(problem)),
                             [&](const Module& solution) { return try_on(solution, p, {conditions}); });
}

/// The threads of the step under test for a problem, of which next to nothing is run.
template <class Problem>
double threads_for(const Problem& p) {
    only_where_counted();
    typename Problem::Device device(p, poison);
    auto run = observed_run(
        {.sample = 1}, [&] { device.run(step()); }, [] { return std::nullopt; });
    run.problem = p.text();
    // What one block computes in that many steps is not wrong for that.
    if (run.fault && run.fault->starts_with("it takes too long at full size")) run.fault = "" + *run.fault;
    return static_cast<double>(counts_of(run).threads);
}

inline void only_on_a_gpu() {
    if (std::string_view(backend_name()) != "gpu") SKIP("for a GPU");
}

/// The timed problem of a chapter whose problems are P.
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
