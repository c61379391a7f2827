// Runs a step and returns what it did. Two back ends share the interface: the CPU back end counts, the GPU
// keeps time.
#pragma once
#include "counts.hpp"
#include "launching.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kata {

enum class Order { forwards, backwards, shuffled };

struct Conditions {
    /// The order in which the CPU back end runs threads and blocks. If shuffled, several blocks also run
    /// alternately.
    Order order = Order::forwards;
    unsigned seed = 1;  ///< of the shuffle
    /// Counts only the block with this linear index. The others run, but are not reported.
    std::optional<std::uint64_t> only_block = {};
    /// The time limit of a launch in seconds; on the CPU back end, of processor time. Defaults to 5 s on the
    /// GPU. On the CPU back end there is by default no limit other than most_steps, which does not depend on
    /// the speed and load of the machine, or 20 s if nothing is counted. On the GPU KATA_KERNEL_SECONDS in
    /// the environment raises any limit, because kernels are a hundred times slower under compute-sanitizer.
    std::optional<double> time_limit = {};
    /// The number of steps that the threads of a block may take together on the CPU back end, if steps are
    /// counted. A tenth of it for threads that only poll memory that no other thread will change. No block of
    /// a solution takes more than three million.
    std::uint64_t most_steps = 40'000'000;
    /// True if the CPU back end counts and looks for races. That takes most of its time, so a problem that is
    /// large only to test an index may run without it, once smaller problems have shown the rest.
    bool metered = true;
    /// The number of blocks that run alternately in shuffled order: at most as many as have 20480 threads
    /// together, and at most two if anything is counted. Among more than two, the next one is random. The
    /// more there are, the less each knows of the others' results.
    unsigned resident = 2;
    /// Suspends the first block at its second barrier until all other resident blocks poll, or have had a
    /// hundred turns each. Blocks then cannot rely on the results of the first one and must look back
    /// farther.
    bool first_held_back = false;
    /// With first_held_back: once the first block continues, the block that started last runs, and an earlier
    /// one only while it polls. It therefore ends before the others unless it waits for their results
    /// (Observation::Next).
    bool latest_first = false;
    /// The number of polls, which are atomics and volatile loads since the last barrier, after which a thread
    /// gives up its turn; a power of two, at most 64. With 1, others may run between any two polls.
    unsigned polls_per_turn = 64;
    /// The number of multiprocessors that the CPU back end reports. If there are few, the blocks of a grid
    /// that fills them have much to do, and a small problem shows how they proceed.
    int multiprocessors = 132;
    /// Makes the CPU back end run only the first two and the last six blocks of a launch of more than 16384
    /// blocks or 2^22 threads. A GPU runs all. For a problem that is large only to test its grid, and is zero
    /// except at its ends. Running that many threads, through ten barriers each, takes less than half of a
    /// launch's 20 s.
    bool only_ends = false;
    /// With only_ends: applies to any launch of more than eight blocks. For a step that a smaller problem has
    /// shown to need no other blocks.
    bool even_of_few = false;
    /// Makes the CPU back end count only one in this many blocks of a launch, at least one, and look for
    /// races within those. The others run on all cores. Counts that are summed over blocks are extrapolated
    /// to all.
    std::uint64_t one_in = 1;
    /// True if a caller works in the default stream before and after, such as copying inputs and results, and
    /// the work must be ordered with it. A whole program has no caller.
    bool has_caller = true;
    /// Called now and then with the fraction of a launch's blocks that are done, 0 to 1.
    std::function<void(double)> progress = {};
    /// Makes the CPU back end run only some blocks of a launch, spread evenly over the grid, until their
    /// threads have taken this many steps. They are counted as with one_in, which runs the others, too. Races
    /// are not looked for. For a problem that is too large to run. A watcher also sees the first and the last
    /// block (watch.hpp). A block that takes half of most_steps ends the launch: in such a large problem, a
    /// step that leaves everything to one block would otherwise look like one that never ends.
    std::optional<std::uint64_t> sample = {};
};

/// The work of kernels by one instruction, or at the start of one basic block.
struct Place {
    std::uint32_t code = 0;                ///< identifies the place
    std::uint64_t steps = 0;               ///< as in Counts::work
    std::uint64_t requests = 0;            ///< 0 for a basic block
    std::uint64_t lines = 0, atomics = 0;  ///< of global memory
    std::uint64_t sectors_loaded = 0, sectors_stored = 0;
    std::uint64_t stores = 0;     ///< requests that store to global memory
    std::uint64_t passes = 0;     ///< over the banks of shared memory
    std::uint64_t conflicts = 0;  ///< passes caused by bank conflicts
    std::uint64_t exchanges = 0;  ///< between the lanes of a warp
    std::uint64_t again = 0;      ///< requests whose first lane accesses the address of its request before
    std::uint64_t words = 0;      ///< words of global memory that an atomic here updates first in a launch
    /// The largest number of atomics on one word of global memory in a launch, if the last of them is here.
    std::uint64_t on_one_word = 0;
    unsigned bytes = 0;  ///< bytes that a lane accesses at a time
    /// The distance in bytes between neighboring lanes, and the number of requests with this distance. Taken
    /// from the first request with extra lines or bank conflicts in which three quarters of the lanes have
    /// the same one.
    std::int64_t distance = 0;
    std::uint64_t requests_with_distance = 0;
};

/// Two threads whose accesses to an array in global memory nothing orders.
struct Race {
    std::uint64_t launch;  ///< number of the launch, counted from 0
    std::string array;
    struct Thread {
        std::uint64_t block;
        unsigned thread;
    };
    std::array<Thread, 2> threads;
};

struct Observation {
    /// Empty if nothing is counted: on the GPU, without g++, under AddressSanitizer, not metered.
    std::optional<Counts> counts;
    /// The counts come from one in this many blocks.
    std::uint64_t one_in = 1;
    /// Races and reads of unwritten memory, one readable text each, without repetitions.
    std::vector<std::string> findings;
    std::optional<Race> race = {};  ///< the first one in global memory, if it is the first finding
    /// Memory, streams and events that the host code has not given back, one readable text each.
    std::vector<std::string> kept = {};
    /// Launches without effect, one readable text each: the memory that they may write holds the same as
    /// before, or as after an earlier launch. Clearing memory that is already clear does not count.
    std::vector<std::string> idle = {};
    /// Local arrays that the registers of a thread cannot hold, one readable text each.
    std::vector<std::string> spilled = {};
    /// Facts that explain the result if it is wrong.
    std::vector<std::string> causes = {};
    /// With Conditions::latest_first, when the first block ends other than the one that started first: the
    /// number of resident blocks that started before it and after it, without the one that started first.
    struct Next {
        std::uint64_t overtaken = 0, not_overtaken = 0;
    } next = {};
    /// True if blocks of a launch were left out because of Conditions::only_ends.
    bool in_part = false;
    /// True if matrices were multiplied in fragments, which a GPU does in tensor cores. Always false on a
    /// GPU.
    bool fragments = false;
    /// The number of launches.
    std::uint64_t launches = 0;
    /// The first launches. Empty on a GPU, where they are unknown.
    static constexpr std::size_t launches_named = 3;
    std::vector<Launching> launched = {};
    /// The number of launches at the end that no cudaGetLastError() followed. Always 0 on a GPU, where this
    /// is unknown.
    std::uint64_t unchecked = 0;
    std::vector<Place> places = {};  ///< empty if nothing is counted
    /// Returns the line of a place in the source: "03_tiled.cu:27".
    std::function<std::string(const Place&)> line_of = {};
};

/// Calls `work`, which launches kernels, and waits for them. Throws kata::Error if a launch was refused or a
/// thread broke a rule, and kata::OpenKata if the step is not written yet. Must not be nested.
Observation observe(const Conditions&, const std::function<void()>& work);

/// Replaces observe() in a judge that runs steps in processes of their own; otherwise null.
inline Observation (*observe_elsewhere)(const Conditions&, const std::function<void()>& work) = nullptr;

/// While it lives, the CPU back end launches the kernels of each observation with the grids, blocks and
/// shared memory of these launches, in their order.
class LaunchedAs {
  public:
    explicit LaunchedAs(const std::vector<Launching>& others) { current = &others; }
    ~LaunchedAs() { current = nullptr; }
    LaunchedAs(const LaunchedAs&) = delete;
    LaunchedAs& operator=(const LaunchedAs&) = delete;

    inline static const std::vector<Launching>* current = nullptr;
};

/// Returns "cpu" or "gpu".
const char* backend_name();
/// Returns the device for messages: "NVIDIA H100 80GB HBM3, sm_90" or "CPU back end, limits of sm_90".
std::string device_name();
/// Returns the bytes of shared memory that a block may request on it.
std::size_t most_shared_memory();
/// True if observations have counts.
bool counts_available();

}  // namespace kata
