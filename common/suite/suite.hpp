// What the suite of a chapter is made of, and what it is told on its command line.
#pragma once
#include "observe.hpp"
#include "suite/module.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kata {

/// What a claim compares. All but `time` are counted on the CPU back end, for a problem that the chapter
/// chooses.
enum class Quantity {
    bytes_loaded,
    bytes_stored,
    sectors_loaded,
    sectors_stored,
    global_requests,
    threads,
    shared_accesses,
    shared_passes,
    atomics,
    barriers,
    barriers_a_block,  ///< of all launches, over the blocks of all launches
    basic_blocks,
    work,
    span,
    time
};

/// "Step `better` needs at most 1 / `least` of the `quantity` that step `worse` needs."
struct Claim {
    enum class Standing {
        asserted,  ///< tested
        refuted,   ///< a document says so and today's hardware does not: tested only where asked for
    };
    const char* better;
    const char* worse;
    Quantity quantity;
    double least;
    const char* why;     ///< a sentence for whom the claim fails
    const char* source;  ///< who says so
    Standing standing = Standing::asserted;
    std::optional<int> variant = {};  ///< of the timed problem
    /// "sm_90" where the margin is too thin to be promised on devices on which nobody measured it.
    const char* only_on = nullptr;
};

/// One run of a step over a problem, as the ladder shows it.
struct Run {
    std::optional<std::string> fault;  ///< why the step is wrong
    std::string problem = {};          ///< its size, for people
    Observation seen;
    double outputs = 0;     ///< elements of the result
    double operations = 0;  ///< that the problem needs

    /// Adds what another right run did.
    Run& operator+=(const Run&);
};

/// A problem large enough to be timed.
struct TimedProblem {
    double useful_bytes = 0;  ///< that any run must move: each input read once, each output written once
    double operations = 0;    ///< to solve it once
    virtual ~TimedProblem() = default;
    /// How often a run of the step solves the problem: more than once where a step does at once what others
    /// take several runs for. Times are told, and compared, for solving it once.
    virtual double solved_by(const Module&) const { return 1; }
    /// Runs the step once, and nothing but the step.
    virtual void run(const Module&) = 0;
};

/// What a step did to a problem that is small enough to be drawn, and the picture that explains most.
struct Sketch {
    Run run;
    std::string problem;
    const char* picture;  ///< as common/front/pictures.py calls it
    /// Of buffers: planes before rows before columns.
    std::vector<std::pair<std::string, std::vector<int>>> shapes = {};
};

/// A file that the reader brought, and how a step is to run over it.
struct Brought {
    std::filesystem::path in, out;
    bool full = false;                          ///< count all blocks, however long it takes
    std::function<void(double)> progress = {};  ///< is told the part that is done, 0 to 1

    /// Of one of several runs that result in so many outputs together.
    Conditions conditions(double outputs, int run = 0, int runs = 1) const;
};

/// What was run instead of the timed problem.
struct AtScale {
    double operations = 0;
    /// How often the timed problem does the same, each time with blocks as many and as large: where a block
    /// of it takes seconds on the CPU back end.
    double times = 1;
};

/// A chapter's own part of the machine.
struct Chapter {
    const char* name;
    const char* problem;        ///< what the ladder runs, in words
    const char* timed_problem;  ///< and what it times
    std::span<const Claim> claims;
    /// The step that `step` is to better, or "" where it begins a ladder. If null it is the step before, for
    /// a chapter of one problem.
    std::function<std::string(const std::string& step)> betters = {};

    /// Runs the step once over the ladder's problem, compares the result and counts.
    std::function<Run(const Module&)> ladder;
    /// Runs the step over the problem of what is counted, compares the result and counts. Large enough that
    /// each solution has a block for every multiprocessor of kata::machine, better two, or nobody would see
    /// how its work is shared out.
    std::function<Run(const Module&)> count;
    /// A name of that problem, where it is another one for some step under test: what is counted on one says
    /// nothing of the other. Null where there is only one.
    std::function<std::string()> counted_problem = {};
    /// Runs the step over a problem of few blocks.
    std::function<Sketch(const Module&)> sketch = {};
    /// Makes the problem of the timed claims, on the device; or a variant of it that the chapter's lesson
    /// times too, under a number that says something in the chapter.
    std::function<std::unique_ptr<TimedProblem>(std::optional<int> variant)> timed;
    /// Runs the step once over the timed problem, or a variant of it, in memory of the size of that and
    /// without its data. For an observation that samples blocks.
    std::function<AtScale(const Module&, std::optional<int> variant)> at_scale = {};
    /// Keys of the counted columns that the ladder shows; those of ladder.cpp.
    std::vector<std::string> columns = {"bytes_loaded",   "bytes_stored", "sectors",  "load_efficiency",
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
/// Which step it is, or pretends to be: "03_tiled" also of the wrong kernel 03_tiled.no_barrier.
std::string step_name();
/// Its module. Throws Error when it has not been built, or is older than its source.
const Module& step();
/// The solution of another step of the chapter.
const Module& rival(const std::string& name);
std::filesystem::path rival_path(const std::string& name);
/// Whether there is one of the step, which is not it. It need not be a module that can be loaded: where a
/// class is graded, its counts are remembered, and the file only stands for it.
bool has_own_solution();

/// What is claimed in vain, and beside it what the solutions count: for who runs the step or the tour.
std::string as_counted(const Claim&, double better, double worse);

/// Empty where the claims have a counted one about these two steps, if both can be counted, and, where the
/// later one has been timed, a timed one, whichever of the two is said to be the better one and whether it
/// is; else what is missing.
std::string unclaimed(std::span<const Claim>, std::string_view earlier, std::string_view later,
                      bool has_been_timed, bool can_be_counted = true);

/// The quantity in the counts of a run; not for `time`.
double value_of(Quantity, const Counts&);

/// The most that a step may need that is held to a claim. The solution is held to what the claim says; a
/// student's step may need half more than the solution, if that is less than the step needs that it is
/// compared with.
double most_of(const Claim&, double worse, std::optional<double> solution);

/// Empty where a step holds a claim that needs `better` of what it is about, else what is wrong, in a few
/// lines. `worse` is what the step has that it is compared with, `solution` what its own solution has, for
/// who is not that.
std::optional<std::string> broken(const Claim&, double better, double worse,
                                  std::optional<double> solution = {});

/// "gained: barriers 640, 1/4 of the 2560 in 04_hierarchical", of a claim that holds.
std::string gained(const Claim&, double better, double worse);
/// A claim that a step holds, and what the two steps need.
struct Gain {
    const Claim* claim;
    double better, worse;
};
/// Of what the step holds, up to three that tell most against the nearest step before it, in words.
std::vector<std::string> most_telling(std::string_view step, std::vector<Gain>);

/// How a solution fared against that of the step before it, on a GPU of this name.
struct Timed {
    std::string device;
    double times_as_fast;
};
/// Whether a step has all that a later one gains over it, by the claims that are counted, and a GPU was
/// clearly slower with that; in words, without the full stop. `timed` is asked about the later step.
std::optional<std::string> remark_on_idea(std::span<const Claim>, std::string_view step, const Counts& mine,
                                          const std::function<const Counts&(const std::string&)>& of_solution,
                                          const std::function<std::optional<Timed>(std::string_view)>& timed);

/// "most in 03_tiled.cu:27: 8192, for each warp that executes it 32.0", of what the run's kernels did there;
/// empty where they did nothing of the kind.
std::string where_most(const Run&, std::uint64_t Place::*what);

/// Chapter::count, which is run once for each module. Throws Error where the step is wrong.
const Run& counted_run(const Module&);
/// What Chapter::count counts of the solution of a step. Remembered from an earlier process where nothing
/// has been built since.
const Counts& counts_of_solution(const std::string& name);

/// Why a right step fails a test all the same: it needs more of something than it may, or has less.
struct Shortfall {
    std::string text;  ///< for who reads the failure
    double share;      ///< of what it needs, how much it may need: from 0 to 1
};
/// Fails the test that runs, which goes on. Whoever grades tells such a step from a wrong one, so every test
/// that a right step fails for what it needs says so here.
void fall_short(const Shortfall&);
/// Fails the test that runs where a right step needs more than `most`, in the words "WHAT / COUNTED: now 7,
/// at most 5REMARK"; or where it has less than `least`.
void require_at_most(double most, double now, const std::string& what, const std::string& counted,
                     const std::string& remark = "");
void require_at_least(double least, double now, const std::string& what, const std::string& counted);

/// What the step needs much more of than its own solution, with the most that it may, in a few lines each;
/// the worst first.
std::vector<Shortfall> worse_than_solution(const Run& step, const Counts& theirs);
/// Which line of a step that passes has bank conflicts that its solution has not, enough to be worth a look;
/// in words, without the full stop.
std::optional<std::string> remark_on_banks(const Run& step, const Counts& theirs);
/// How many times as long as its own solution a step may take on a GPU.
inline constexpr double slowest = 2.0;
/// A share that was timed, in tenths: it must not differ from one grading to the next.
double share_of_time(double share);

/// What a right run did. Throws Error where it was wrong.
const Counts& counts_of(const Run&);

/// Runs `work`, which runs a step, and says what it did and what is wrong with it, if anything: a broken
/// rule, a race, and last what `compare` finds, to which a step that launched nothing is an explanation.
Run observed_run(const Conditions&, const std::function<void()>& work,
                 const std::function<std::optional<std::string>()>& compare);

}  // namespace kata
