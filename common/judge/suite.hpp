// The suite of a chapter: what the chapter adds to the judge, and which step is under test.
#pragma once
#include "judge/module.hpp"
#include "judge/run.hpp"
#include "judge/step.hpp"
#include "observe.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kata {

/// A problem large enough to be timed.
struct TimedProblem {
    double useful_bytes = 0;  ///< that any run must move: each input read once, each output written once
    double operations = 0;    ///< to solve it once
    virtual ~TimedProblem() = default;
    /// How often a run of the step solves the problem: more than once where a step does at once what others
    /// take several runs for. Times are reported, and compared, for solving it once.
    virtual double solved_by(const Module&) const { return 1; }
    /// Runs the step once, and nothing but the step.
    virtual void run(const Module&) = 0;
};

/// What a step did to a problem that is small enough to be drawn, and the picture that explains most.
struct Sketch {
    Run run;
    std::string problem;
    const char* picture;  ///< as the pictures of common/front are called
    /// Shapes of buffers: planes before rows before columns.
    std::vector<std::pair<std::string, std::vector<int>>> shapes = {};
};

/// A file that the reader brought, and how a step is to run over it.
struct Brought {
    std::filesystem::path in, out;
    bool full = false;                          ///< count all blocks, however long it takes
    std::function<void(double)> progress = {};  ///< called with the part that is done, 0 to 1

    /// The conditions of one of several runs that produce so many outputs together.
    Conditions conditions(double outputs, int run = 0, int runs = 1) const;
};

/// What was run instead of the timed problem.
struct AtScale {
    double operations = 0;
    /// How often the timed problem does the same, each time with blocks as many and as large: where a block
    /// of it takes seconds on the CPU back end.
    double times = 1;
};

/// A problem on which every step is counted, and compared with its own solution.
struct Shape {
    std::string_view name;
    /// Runs the step, compares the result and counts.
    std::function<Run(const Module&)> run;
    std::string_view traits = "";  ///< tags of the steps that it is for
    bool judged = true;            ///< false: counted for ideas and for the figures of a lesson only
};

/// What a chapter adds to the judge.
struct Chapter {
    const char* name;
    const char* problem;        ///< the problem of the ladder, in words
    const char* timed_problem;  ///< the problem that the ladder times
    std::span<const Step> steps;
    /// Runs the step once over the ladder's problem, compares the result and counts.
    std::function<Run(const Module&)> ladder;
    /// The first that is for a step is its base: claims are counted on it, and it gives each solution a block
    /// for every multiprocessor of kata::machine, better two; with fewer, nobody sees how work is shared out.
    std::vector<Shape> shapes;
    /// Runs the step over a problem of few blocks.
    std::function<Sketch(const Module&)> sketch = {};
    /// Makes the problem of the timed claims, on the device; or a variant of it that the chapter's lesson
    /// times too, under a number that means something in the chapter.
    std::function<std::unique_ptr<TimedProblem>(std::optional<int> variant)> timed;
    /// Runs the step once over the timed problem, or a variant of it, in memory of the size of that and
    /// without its data. For an observation that samples blocks.
    std::function<AtScale(const Module&, std::optional<int> variant)> at_scale = {};
    /// Keys of the counters that the ladder shows.
    std::vector<std::string_view> columns = {"bytes_loaded",   "bytes_stored", "sectors",  "load_efficiency",
                                             "bank_conflicts", "barriers",     "intensity"};
    /// Throws Error, in one line, for a file that on_file cannot read.
    std::function<void(const std::filesystem::path&)> check_file = {};
    /// Runs the step over a file that the reader brought, and writes what came out. Null where there is
    /// nothing to see.
    std::function<Run(const Module&, const Brought&)> on_file = {};
};
/// Each suite, in tests/, binds this to a Chapter of its own, defined outside of this namespace: within it,
/// what its lambdas call would be looked up here first.
extern const Chapter& chapter;

/// The step under test.
struct Subject {
    std::filesystem::path module;
    std::filesystem::path source;
    std::string rivals;  ///< what the paths of the solutions' modules begin with
    bool is_solution = false;
    int verdicts = 1;  ///< on each timed claim
};
const Subject& subject();
/// The name of the step that it is, or pretends to be: "03_tiled" also for the mistake 03_tiled.no_barrier.
std::string step_name();
/// Its row. Throws Error where the chapter has none.
const Step& this_step();
/// The row of that name. Throws Error where the chapter has none.
const Step& step_called(std::string_view name);
/// Its module. Throws Error when it has not been built, or is older than its source.
const Module& step();
/// The solution of another step of the chapter.
const Module& rival(const std::string& name);
std::filesystem::path rival_path(const std::string& name);
/// True if the step under test has a solution and is not that solution. The module need not be one that can
/// be loaded: where a class is graded its counts are remembered, and the file only stands for it.
bool has_own_solution();

/// The shape on which claims about the step under test are counted.
const Shape& base_shape();
const Shape& base_shape_of(const Module&);
/// The shape of that name. Throws Error where the chapter has none.
const Shape& shape_called(std::string_view name);
/// The judged shapes that are for the step under test, the base first.
std::vector<const Shape*> judged_shapes();
/// The step under test on a shape, which is run once. Throws Error where it is wrong.
const Run& counted_run(const Shape&);
/// The counts of a step's solution on a problem, which `count` runs. Remembered under the name of the problem
/// from an earlier process where nothing has been built since: a class is graded where no solution can be
/// loaded.
const Counts& remembered_counts(const std::string& step, const std::string& problem,
                                const std::function<Run(const Module&)>& count);
/// The same on a shape.
const Counts& counts_of_solution(std::string_view step, const Shape&);
/// Both, as ideas ask for them.
const Counted& counted();

/// Why a right step fails a test all the same: it needs more of something than it may, or has less.
struct Shortfall {
    std::string text;  ///< for the author of the step
    double share;      ///< the part of what it needs that it may need: from 0 to 1
};
/// Fails the test that runs, which goes on. Every test that a right step fails for what it needs says so
/// here, so that a record can tell it from a wrong one.
void fall_short(const Shortfall&);
/// Fails the test that runs where a right step needs more than `most`, in the words "WHAT\n  COUNTED: now 7,
/// at most 5REMARK"; or where it has less than `least`.
void require_at_most(double most, double now, const std::string& what, const std::string& counted,
                     const std::string& remark = "");
void require_at_least(double least, double now, const std::string& what, const std::string& counted);
/// Adds to the record of the running test what is no fault of a step, and yet good to know.
void note(const std::string& text);
/// Adds to the record of the running test what the step has gained.
void note_gain(const std::string& text);

/// Runs `work`, which runs a step, and says what it did and what is wrong with it, if anything: a broken
/// rule, a race, and last what `compare` finds, which a step that launched nothing explains.
Run observed_run(const Conditions&, const std::function<void()>& work,
                 const std::function<std::optional<std::string>()>& compare);

}  // namespace kata
