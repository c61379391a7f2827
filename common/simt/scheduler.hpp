// The threads, warps and blocks of a launch on the CPU back end, and what the meter wants to hear of them.
#pragma once
#include "limits.hpp"
#include "observe.hpp"
#include "simt/copies.hpp"
#include "simt/footprint.hpp"
#include "simt/image.hpp"
#include "simt/runtime.hpp"

#include <algorithm>
#include <array>
#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The built-in variables, which kernels see as constants (cuda.hpp). Only the scheduler writes them.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace simt {

/// The limits that a launch is held to: those of compute capability 9.0.
inline constexpr const char* architecture = "sm_90";
inline constexpr kata::Limits limits{
    1024, {1024, 1024, 64}, {2147483647, 65535, 65535}, 48 * 1024, kata::counted_shared_memory};

/// A thread that has polled so often waits for somebody; a power of two.
inline constexpr unsigned polls_per_turn = 64;

enum class State : unsigned char { fresh, ready, at_barrier, at_collective, at_active_mask, done };

struct alignas(64) Thread {  // what each turn looks at lies in one line of the cache
    State state = State::done;
    bool paused = false;  // gave way although it could go on: its log is full, or it polls
    bool polling = false;
    std::uintptr_t left_at = 0;  // where on its stack it gave up its last turn
    unsigned linear = 0;         // in the block
    uint3 index{};
    boost::context::fiber fiber;
    std::byte* stack = nullptr;

    const char* waits_in = "";  // the function that it waits in, and where that was called
    Site site;
    const void* code = nullptr;  // the call, as a return address
    Collective collective{};
    unsigned mask = 0, partners = 0;  // named in the call, and of these who took part in the last one
    unsigned passed_by = 0;  // the mask of a lane that waited for it at a call to which it came with another
    std::uint64_t value = 0, result = 0;
    int source = 0;
    unsigned polls = 0;
    unsigned busy_turns = 0;  // the last ones, in which it has neither polled nor come to a wait
    // Its last atomic, of a thread that polls: where, what was there before, and whether the one before it
    // has changed anything.
    const void* updated = nullptr;
    unsigned char held[8] = {};
    unsigned updated_bytes = 0;
    const void* updated_in = nullptr;  // its code
    bool changes = false;
    unsigned in_toolkit = 0;  // InToolkits that are there
    Copies copies;

    bool can_go_on() const { return state == State::fresh || state == State::ready; }
    unsigned lane() const { return linear % 32; }
    unsigned warp() const { return linear / 32; }
};

/// Which lanes of a warp wait at a collective, and which have left the kernel; a bit each.
struct Warp {
    unsigned waiting = 0, gone = 0;
    unsigned mask = 0;       // that the first to wait has named
    bool same_mask = false;  // and so has each of the others
};

struct Block {
    unsigned slot = 0;  // which of the places for resident blocks it holds
    std::uint64_t linear = 0;
    uint3 index{};
    std::vector<Thread> threads;
    std::vector<Warp> in_warps;  // what is known of each warp
    std::vector<unsigned> warp_order, lane_order;
    unsigned alive = 0, arrived = 0;
    unsigned barriers = 0;  // passed
    int barrier_count = 0, barrier_result = 0;
    bool started = false;
    std::uint64_t number = 0;        // in the order in which blocks have started, from 1 on
    unsigned turns = 0;              // that it has had since it was to look again
    bool polls = false;              // and waits for somebody, at the end of its last turn
    std::vector<std::byte> dynamic;  // shared memory that the launch asked for
    std::vector<std::byte> saved;    // static shared memory while another block runs

    unsigned warps() const { return (static_cast<unsigned>(threads.size()) + 31) / 32; }
    unsigned lanes(unsigned warp) const {
        return std::min(32u, static_cast<unsigned>(threads.size()) - warp * 32);
    }
};

struct Grid {
    Launch launch;
    Image image;
    dim3 block_dim, grid_dim;
    kata::Conditions conditions;
    std::size_t shared_limit = limits.unasked;  // what a block may use of shared memory
};

/// Listens to a launch. Everything is called on the scheduler's side unless said otherwise.
class Probe {
  public:
    virtual ~Probe() = default;
    virtual void observation_begins(const kata::Conditions&) = 0;
    virtual void observation_ends(kata::Observation&) = 0;
    virtual void launch_begins(const Grid&) = 0;
    virtual void launch_ends() = 0;
    virtual void block_begins(const Block&) = 0;
    virtual void block_ends(const Block&) = 0;
    /// Every thread of the block has passed a barrier.
    virtual void barrier(const Block&) = 0;
    /// The lanes in `mask` have seen what all of them did before.
    virtual void warp_synchronised(const Block&, unsigned warp, unsigned mask) = 0;
    /// Of a sample, before each further block: whether who watches has seen enough.
    virtual bool has_enough() = 0;
    /// Of a sample enough blocks have run. Whether somebody watches who is to see the ends of the grid, too.
    virtual bool sample_ends() = 0;
    /// The warp's lanes have run as far as they could for now.
    virtual void warp_stops(const Block&, unsigned warp) = 0;
    /// On the thread's side: it has come to a barrier or a collective called from `code`.
    virtual void synchronising(const void* code) = 0;
    virtual void fence(const Block&, const Thread&) = 0;
    virtual void atomic(const void* address, unsigned bytes, const void* code, AtomicFor) = 0;
    /// These lanes of a warp have exchanged values, by a call from `code`.
    virtual void exchanged(const Block&, unsigned warp, unsigned lanes, const void* code) = 0;
    /// A compare-and-swap of the running thread has stored its value.
    virtual void swapped() = 0;
    virtual void atomic_load(const void* address, unsigned bytes, const void* code, AtomicFor) = 0;
    virtual void atomic_store(const void* address, unsigned bytes, const void* code, AtomicFor) = 0;
    /// The thread reads through the read-only cache.
    virtual void read_only(const void* address, unsigned bytes, const void* code) = 0;
    /// On the thread's side: it begins to copy into shared memory and reads `read` bytes, of which the answer
    /// is kept as the copy's `mark`; and it has waited for a copy.
    virtual std::uint64_t copy_begins(const void* to, const void* from, unsigned bytes, unsigned read,
                                      const char* name, const void* code) = 0;
    virtual void copy_arrives(const Copy&) = 0;
    /// It has waited for copies that were under way.
    virtual void copies_awaited() = 0;
    /// The line of the step that an instruction of it comes from: "x.cu:12".
    virtual std::string line(const void* code) const = 0;
    /// Of a call in a helper, from its return address: ", called in x.cu:12"; else nothing.
    virtual std::string callers(const void* code) const = 0;
    /// "x.cu:12", where the thread was last; nothing where that is not known.
    virtual std::string last_line(const Block&, const Thread&) const = 0;
    /// What the kernel that runs calls its parameters; nothing where that is not known.
    virtual std::vector<std::string> parameters() const = 0;
    /// What the last launch has reached, of one that may overlap with something (simt/order.hpp), and which
    /// is not asked for again; else nothing.
    virtual Footprint footprint() = 0;
    /// What the threads of the launch have done, in basic blocks and accesses: the same on any machine.
    virtual std::uint64_t steps() const = 0;
    /// Changes as long as threads change memory, or poll another place than just before.
    virtual std::uint64_t news() const = 0;
    /// Whether this launch has read shared memory that nobody wrote. It is then run once more over the same
    /// memory with other garbage in it, and nothing but the difference is told.
    virtual bool in_doubt() const = 0;
    /// Whether all that this launch has stored, and there was something, is zero now.
    virtual bool only_cleared() const = 0;
    virtual void rehearsal_begins() = 0;
    virtual void rehearsal_ends(bool different) = 0;
    /// Outside of kernels: the host reaches device memory, by an instruction of `code`.
    virtual void host_reaches(const void* address, bool writes, const void* code) = 0;
    /// Whether the thread, of the running block, may be resumed, which is then done; else its warp has to be
    /// accounted for first.
    virtual bool takes_turn(const Thread&) = 0;
};

/// The probe of builds whose kernels are instrumented; null elsewhere.
[[gnu::weak]] Probe* meter();
/// That probe where the running observation is metered; null elsewhere.
Probe* listener();
/// How many the running observation says that there are.
int multiprocessors();

/// The thread that is running and its block; null outside a kernel.
extern Thread* running;
extern Block* running_block;

/// Ends the launch with `message`; the running thread does not come back.
[[noreturn]] void give_up(const std::string& message);
/// To be called where memory is not to be had: ends the launch if a thread runs, for nothing can be thrown
/// through what the compiler has instrumented, else throws std::bad_alloc.
[[noreturn]] void out_of_memory();

/// Of the running launch, where it is one of several, which: "\n  in the 2nd launch, in x.cu:12: ...".
std::string which_launch();

/// Lets the other threads run.
void pause();
/// The same, now and then, for a thread that may be waiting for what another one writes. To be called before
/// it looks.
void poll();

/// Buffers in device memory.
struct Allocation {
    Range range;
    std::string name;
    bool written = false;                   // by the host, in whole
    std::uint64_t serial = 0;               // tells it from one that had the same address before
    Range pages;                            // of its mapping what may be reached
    std::string origin = {};                // the line that called cudaMalloc
    std::vector<Range> written_parts = {};  // by the host, in order, and none touches another
};
const std::vector<Allocation>& allocations();  // by address
/// Of an address that lies a multiple of 2³² bytes before one of a large buffer's, which is where an index or
/// an offset in bytes leads that has lost its upper bits: where that is. Else nothing.
std::string lost_upper_bits(std::uintptr_t address);
inline constexpr const char* why_upper_bits_are_lost =
    "\n  the usual cause: an int that overflows, as an offset in bytes that is computed or kept in one, or "
    "an index near the end to which something is added: compute it in size_t";

/// What the host code of a step did in an observation.
struct HostWork {
    std::uint64_t bytes_to_host = 0, bytes_to_device = 0;  // by the copies of the runtime
    std::uint64_t bytes_beside = 0;                        // as in kata::Counts
    std::uint64_t unchecked = 0;  // launches after which nobody has asked for an error
    std::vector<std::string> findings;
};
void host_launches();
/// From here on the host reaches device memory by the runtime's functions alone, until the observation ends;
/// whoever else does is found out. Launches see it, too.
void host_work_begins();
/// Whether the host has filled the variable of the device at this address since its work began.
bool host_has_filled(std::uintptr_t address);
HostWork host_work_ends() noexcept;

/// While it lives, device memory can be reached.
class Reachable {
  public:
    Reachable();
    ~Reachable();
    Reachable(const Reachable&) = delete;
    Reachable& operator=(const Reachable&) = delete;
};

}  // namespace simt
