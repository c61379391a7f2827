// Runs a step and says what it did. One interface, two back ends: the CPU back end counts, the GPU is timed.
#pragma once
#include "counts.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kata {

enum class Order { forwards, backwards, shuffled };

/// Which threads show what a block reaches.
enum class Search { none, some_threads, all_threads };

struct Conditions {
    /// In which order the CPU back end runs threads and blocks; shuffled also runs several blocks
    /// alternately.
    Order order = Order::forwards;
    unsigned seed = 1;  ///< of the shuffle
    /// Count only the block with this linear index. The others run, and of what they do nothing is told.
    std::optional<std::uint64_t> only_block = {};
    /// How long one launch may take, in seconds, on the CPU back end of processor time. If not said
    /// otherwise, 5 s on the GPU; on the CPU back end as long as no block takes more than most_steps, which a
    /// slow machine and a busy one count alike, or 20 s where nothing is counted. On the GPU
    /// KATA_KERNEL_SECONDS in the environment makes it more, whatever is said here: under compute-sanitizer
    /// kernels are a hundred times as slow.
    std::optional<double> time_limit = {};
    /// How many steps the threads of a block may take together on the CPU back end, where they are counted; a
    /// tenth of them where all they do is to poll what nobody is left to change. No block of a solution takes
    /// more than three million.
    std::uint64_t most_steps = 40'000'000;
    /// Whether the CPU back end counts and looks for races. That is most of its time, so a problem that is
    /// large for the sake of an index may go without, where smaller ones have shown the rest.
    bool metered = true;
    /// How many blocks run alternately where the order is shuffled: no more than have 20480 threads together,
    /// and no more than two where something is counted. Of more than two any is next. With more of them there
    /// is more that blocks have not told each other yet.
    unsigned resident = 2;
    /// Whether the first block that runs goes no further than its second barrier, and then on when all others
    /// that are resident poll, or after a hundred turns of each. What blocks learn from the first one they
    /// all have to learn from farther away then.
    bool first_held_back = false;
    /// With first_held_back: whether from then on, when the first block goes on, the one that has started
    /// last has its turn, and those before it when it polls. So it is done before them unless it waits for
    /// what they do (Observation::Next).
    bool latest_first = false;
    /// After how many polls, that is atomics and volatile loads since the last barrier, a thread gives up its
    /// turn; a power of two, 64 at most. With 1 others may run between any two of them.
    unsigned polls_per_turn = 64;
    /// How many multiprocessors the CPU back end says that it has. Where they are few, the blocks of a grid
    /// that fills them have much to do, and a small problem is enough to see how they go on.
    int multiprocessors = 132;
    /// Of a launch of more than 16384 blocks or 2^22 threads the CPU back end runs the first four blocks and
    /// the last four only; a GPU runs all. For a problem that is large for the sake of its grid, and zero but
    /// at its ends. To run as many threads, each through ten barriers, takes less than half of the 20 s of a
    /// launch.
    bool only_ends = false;
    /// With only_ends: of any launch of more than four blocks. For a step of which a smaller problem has
    /// shown that it needs no others.
    bool even_of_few = false;
    /// With only_ends: those blocks, too, of which a thread reaches the first or the last elements of a
    /// buffer of a megabyte or more before its first barrier, wherever in the grid they are; 4096 of them at
    /// most. They are looked for with all threads, which may take 20 s, or with the first warp of each block
    /// and the first lane of each other, which is enough where neighbours have neighbouring elements. Of a
    /// launch of more than 2^30 threads they are looked for among the first and the last 2^26, for in a grid
    /// of two dimensions the last element lies anywhere in the last row.
    Search search = Search::none;
    /// The CPU back end counts, and looks for races within, one of so many blocks of a launch, and at least
    /// one; the others run on all cores. What is added up over blocks is given as for all of them.
    std::uint64_t one_in = 1;
    /// Called now and then with the part of a launch's blocks that are done, 0 to 1.
    std::function<void(double)> progress = {};
    /// Of a launch the CPU back end runs some blocks only, spread evenly over the grid, until their threads
    /// have taken so many steps. They are counted as with one_in, for which the others have to run; races are
    /// not looked for. For a problem that is too large to be run. A watcher is shown the first and the last
    /// block, too (watch.hpp). A block that takes half of most_steps ends the launch: the problem may be so
    /// large that who leaves all of it to one block would be taken for one that never ends.
    std::optional<std::uint64_t> sample = {};
};

/// What kernels did by one instruction, or at the beginning of one basic block.
struct Place {
    std::uint32_t code = 0;                ///< tells places apart
    std::uint64_t steps = 0;               ///< as in Counts::work
    std::uint64_t requests = 0;            ///< 0 of a basic block
    std::uint64_t lines = 0, atomics = 0;  ///< of global memory
    std::uint64_t sectors_loaded = 0, sectors_stored = 0;
    std::uint64_t stores = 0;     ///< requests that store to global memory
    std::uint64_t passes = 0;     ///< over the banks of shared memory
    std::uint64_t conflicts = 0;  ///< of these, those because of bank conflicts
    std::uint64_t exchanges = 0;  ///< between the lanes of a warp
};

struct Observation {
    /// Absent where nothing is counted: on the GPU, without g++, under AddressSanitizer, not metered.
    std::optional<Counts> counts;
    /// They were counted on one of so many blocks.
    std::uint64_t one_in = 1;
    /// Races, reads of what nobody wrote: one readable text each, without repetitions.
    std::vector<std::string> findings;
    /// Launches that were for nothing, one readable text each: what they may write holds behind them what it
    /// held before, or behind an earlier launch. To clear what is clear already is not among them.
    std::vector<std::string> idle = {};
    /// Local arrays that the registers of a thread cannot hold, one readable text each.
    std::vector<std::string> spilled = {};
    /// What would explain a wrong result, where it is one.
    std::vector<std::string> hints = {};
    /// The same, of what is nearly always the cause.
    std::vector<std::string> causes = {};
    /// Conditions::latest_first: when a block was done, other than the one that started first, how many of
    /// those that ran with it had started before it and how many behind it, without the first.
    struct Next {
        std::uint64_t overtaken = 0, not_overtaken = 0;
    } next = {};
    /// Whether blocks of a launch were left out, because of Conditions::only_ends.
    bool in_part = false;
    /// Whether matrices were multiplied in fragments, which a GPU does in tensor cores; false on a GPU.
    bool fragments = false;
    /// Kernels that were launched.
    std::uint64_t launches = 0;
    /// The first of them, as "add<<<256, 4>>>"; none on a GPU, where nobody hears their names.
    static constexpr std::size_t launches_named = 3;
    std::vector<std::string> launched = {};
    /// Of those the last ones, behind which nobody has asked CUDA whether they failed; 0 on a GPU, which does
    /// not say.
    std::uint64_t unchecked = 0;
    std::vector<Place> places = {};  ///< where nothing is counted, none
    /// "03_tiled.cu:27": of a place, its line in the source.
    std::function<std::string(const Place&)> line_of = {};
};

/// Calls `work`, which launches kernels, and waits for them. Throws kata::Error where a launch was refused or
/// a thread broke a rule, kata::OpenKata where the step is not written yet. Not to be nested.
Observation observe(const Conditions&, const std::function<void()>& work);

/// "cpu" or "gpu".
const char* backend_name();
/// What runs the kernels, for people: "NVIDIA H100 80GB HBM3, sm_90" or "CPU back end, limits of sm_90".
std::string device_name();
/// Bytes of shared memory that a block of it may have, where it asks for them.
std::size_t most_shared_memory();
/// Whether observations carry counts.
bool counts_available();

}  // namespace kata
