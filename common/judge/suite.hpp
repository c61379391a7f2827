// The suite of a chapter: the chapter's own part of the judge, and the step under test.
#pragma once
#include "judge/module.hpp"
#include "judge/run.hpp"
#include "judge/step.hpp"
#include "observe.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kata {

/// A problem large enough to be timed.
struct TimedProblem {
    double useful_bytes = 0;  ///< the minimum to move: each input read once, each output written once
    double operations = 0;    ///< needed to solve it once
    virtual ~TimedProblem() = default;
    /// Returns how often a run of the step solves the problem. More than 1 if one run of the step does the
    /// work of several runs of other steps. Times are reported and compared per solution.
    virtual double solved_by(const Module&) const { return 1; }
    /// Runs the step once. Does nothing else.
    virtual void run(const Module&) = 0;
};

/// A run over a problem small enough to draw, and the picture that explains it best.
struct Sketch {
    Run run;
    std::string problem;
    const char* picture;  ///< the name of a picture in common/front
    /// Extents of the buffers: planes, then rows, then columns.
    std::vector<std::pair<std::string, std::vector<int>>> shapes = {};
};

/// An input file that the reader supplies, and how to run a step over it.
struct Brought {
    std::filesystem::path in, out;
    bool full = false;                          ///< count all blocks, however long it takes
    std::function<void(double)> progress = {};  ///< called with the fraction done, 0 to 1

    /// Returns the conditions for run number `run` of `runs`, which produce `outputs` elements together.
    Conditions conditions(double outputs, int run = 0, int runs = 1) const;
};

/// The problem that was run in place of the timed problem.
struct AtScale {
    double operations = 0;
    /// How often the timed problem repeats this one, each time with as many blocks of the same size. Larger
    /// than 1 if a block of the timed problem takes seconds on the CPU back end.
    double times = 1;
};

/// A problem on which every step is counted and compared with its own solution.
struct Shape {
    std::string_view name;
    /// Runs the step, compares the result, and counts.
    std::function<Run(const Module&)> run;
    std::string_view traits = "";  ///< tags of the steps that it applies to
    bool judged = true;            ///< false: counted only for ideas and for the figures of a lesson
    /// True if it is larger than the others, and replaces them for a step whose grids do not grow with the
    /// problem.
    bool for_fixed_grids = false;
};

/// The chapter's own part of the judge.
struct Chapter {
    const char* name;
    const char* problem;        ///< the problem of the ladder, in words
    const char* timed_problem;  ///< the problem that the ladder times
    std::span<const Step> steps;
    /// Runs the step once over the ladder's problem, compares the result, and counts.
    std::function<Run(const Module&)> ladder;
    /// The first shape that applies to a step is its base: claims are counted on it. It gives each solution
    /// at least one block per multiprocessor of kata::machine, preferably two. With fewer blocks the
    /// distribution of work does not show.
    std::vector<Shape> shapes;
    /// Runs the step over a problem of a few blocks.
    std::function<Sketch(const Module&)> sketch = {};
    /// Creates the timed problem on the device, or a variant of it that the chapter's lesson also times. The
    /// chapter defines what the number of the variant means.
    std::function<std::unique_ptr<TimedProblem>(std::optional<int> variant)> timed;
    /// Runs the step once over the timed problem or a variant of it, in memory of the same size but without
    /// its data. Used by observations that sample blocks.
    std::function<AtScale(const Module&, std::optional<int> variant)> at_scale = {};
    /// Keys of the counters that the ladder shows.
    std::vector<std::string_view> columns = {"bytes_loaded",   "bytes_stored", "sectors",  "load_efficiency",
                                             "bank_conflicts", "barriers",     "intensity"};
    /// Throws Error, with a message of one line, for a file that on_file cannot read.
    std::function<void(const std::filesystem::path&)> check_file = {};
    /// Runs the step over the reader's file and writes the result. Null if there is nothing to show.
    std::function<Run(const Module&, const Brought&)> on_file = {};
};
/// Each suite in tests/ binds this to its own Chapter. That is defined outside this namespace, because names
/// that its lambdas call would otherwise be looked up here first.
extern const Chapter& chapter;

/// The step under test.
struct Subject {
    std::filesystem::path module;
    std::filesystem::path source;
    std::string rivals;  ///< common prefix of the paths of the solutions' modules
    bool is_solution = false;
    int verdicts = 1;               ///< for each timed claim
    std::string rejected_for = {};  ///< the reason for which a mistake must be rejected, if that is all
};
const Subject& subject();
/// True if the step need only be rejected for a reason, and the text states it. Nobody would read a further
/// explanation.
inline bool says_enough(const std::string& text) {
    const auto& reason = subject().rejected_for;
    return !reason.empty() && text.find(reason) != text.npos;
}
/// Returns the name of the step under test: "03_tiled" also for the mistake 03_tiled.no_barrier.
std::string step_name();
/// Returns the row of the step under test. Throws Error if the chapter has none.
const Step& this_step();
/// Returns the row with this name. Throws Error if the chapter has none.
const Step& step_called(std::string_view name);
/// Returns the module under test. Throws Error if it has not been built or is older than its source.
const Module& step();
/// Returns the names of the solutions that the step under test is compared with, its own among them. Only
/// these are built for it.
const std::set<std::string>& compared_with();
/// Returns one of them.
const Module& rival(const std::string& name);
std::filesystem::path rival_path(const std::string& name);
/// True if the step under test has a solution and is not that solution. The solution's module need not be
/// loadable: grading uses remembered counts, and the file only marks that the solution exists.
bool has_own_solution();
/// Returns that solution; null if there is none, or if it cannot be loaded.
const Module* own_solution();

const Shape& base_shape_of(const Module&);
/// Returns the shape with this name. Throws Error if the chapter has none.
const Shape& shape_called(std::string_view name);
/// Returns the judged shapes that apply to a step, the base first; or those for fixed grids.
std::vector<const Shape*> judged_shapes_of(const Step&, bool fixed_grids);
/// Returns the run of the step under test on a shape. Runs it once. Throws Error if the result is wrong.
const Run& counted_run(const Shape&);
/// Returns the counts of a step's solution on a shape. They are remembered across processes until something
/// is rebuilt. Grading relies on this: no solution can be loaded there.
const Counts& counts_of_solution(std::string_view step, const Shape&);
/// Returns the interface through which ideas read both.
const Counted& counted();

/// The reason why a correct step fails a test: it needs more of something than it may, or has less than it
/// must.
struct Shortfall {
    std::string text;       ///< for the author of the step
    double share;           ///< the limit divided by the value, or the reverse for a minimum: from 0 to 1
    bool of_chain = false;  ///< the text is about the longest chain
};
/// Fails the running test, which continues. Every test that a correct step fails for its cost must call this,
/// so that the record distinguishes such a step from a wrong one.
void fall_short(const Shortfall&);
/// Adds a remark to the record of the running test that is useful to know but not a fault of the step.
void note(const std::string& text);
/// Adds a gain of the step to the record of the running test.
void note_gain(const std::string& text);

/// Runs `work`, which runs a step. Returns what it did and what is wrong with it, if anything: a broken rule,
/// a race, or otherwise what `compare` finds. A step that launched nothing is reported as such.
Run observed_run(const Conditions&, const std::function<void()>& work,
                 const std::function<std::optional<std::string>(const Observation&)>& compare);
inline Run observed_run(const Conditions& conditions, const std::function<void()>& work,
                        const std::function<std::optional<std::string>()>& compare) {
    return observed_run(conditions, work, [&](const Observation&) { return compare(); });
}

/// If the solution launches as often, returns the lines that launch in another way than the solution does:
/// "01_basic.cu:30 launched <<<1, 1024>>>"; empty if there are none.
std::string launched_otherwise(const Observation& step, const Observation& solution);

}  // namespace kata
