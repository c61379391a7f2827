// The threads, warps and blocks of a launch.
#pragma once
#include "simt/runtime.hpp"

#include <algorithm>
#include <array>
#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

// The built-in variables, which kernels see as constants (cuda.hpp). Only the scheduler writes them.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
extern "C" std::byte* simt_dynamic_shared;

namespace simt {

/// A thread that has polled this often waits for another one; a power of two.
inline constexpr unsigned polls_per_turn = 64;

enum class State : unsigned char {
    fresh,
    ready,
    at_barrier,
    at_collective,
    at_active_mask,
    at_arrivals,
    arrived,
    done
};

/// An asynchronous copy into shared memory that its thread has not yet waited for.
struct Copy {
    std::byte* to;
    unsigned bytes, read;  // bytes written, and how many of them were read
    std::size_t group;
    const void* code;                 // where the copy was called
    std::uint64_t mark;               // returned by Probe::copy_begins()
    std::array<std::byte, 16> value;  // the bytes to copy, as they were at the call
    const Arrivals* barrier;          // at which it arrives; null if its thread waits for it
};

/// The copies of one thread.
struct Copies {
    std::vector<Copy> in_flight;
    std::size_t groups = 0;  // groups that the thread has committed
};

struct alignas(64) Thread {  // members that every turn reads lie in one cache line
    State state = State::done;
    bool paused = false;  // gave way although it could go on: its log is full, or it polls
    bool polling = false;
    std::uintptr_t left_at = 0;  // its stack pointer at the end of its last turn
    unsigned linear = 0;         // its linear index in the block
    uint3 index{};
    boost::context::fiber fiber;
    std::byte* stack = nullptr;

    const char* waits_in = "";  // the function that it waits in, and where that was called
    Site site;
    const void* code = nullptr;  // the return address of that call
    Collective collective{};
    unsigned mask = 0;       // the mask that the call names
    unsigned partners = 0;   // lanes of the mask that took part in the last call
    unsigned active = 0;     // returned by its last __activemask()
    unsigned passed_by = 0;  // mask of a lane that waited for it when it named another mask
    std::uint64_t value = 0, result = 0;
    int source = 0;
    unsigned polls = 0;
    unsigned busy_turns = 0;  // consecutive turns without a poll or a wait
    // The last atomic of a thread that polls: its address, the value before it, its code, and whether the
    // atomic before it changed anything.
    const void* updated = nullptr;
    unsigned char held[8] = {};
    unsigned updated_bytes = 0;
    const void* updated_in = nullptr;
    bool changes = false;
    unsigned in_toolkit = 0;  // InToolkit objects alive
    Copies copies;

    bool can_go_on() const { return state == State::fresh || state == State::ready; }
    unsigned lane() const { return linear % 32; }
    unsigned warp() const { return linear / 32; }
};

/// The lanes of a warp that wait at a collective, and those that have left the kernel; a bit each.
struct Warp {
    unsigned waiting = 0, gone = 0;
    unsigned arrived = 0;    // lanes that stop until the other lanes have run, so that all go on together
    unsigned mask = 0;       // the mask that the first waiting lane names
    bool same_mask = false;  // true if all waiting lanes name this mask
};

/// Allocates dynamic shared memory where GPUs have it, if a kernel has no other: at multiples of 1024 bytes.
template <class T>
struct SharedMemory {
    using value_type = T;
    static constexpr std::align_val_t alignment{1024};
    T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), alignment)); }
    void deallocate(T* memory, std::size_t) { ::operator delete(memory, alignment); }
    bool operator==(const SharedMemory&) const { return true; }
};

struct Block {
    unsigned slot = 0;  // its index among the resident blocks
    std::uint64_t linear = 0;
    uint3 index{};
    std::vector<Thread> threads;
    std::vector<Warp> in_warps;
    std::vector<unsigned> warp_order, lane_order;
    unsigned alive = 0, arrived = 0;
    unsigned barriers = 0;  // barriers that the block has passed
    int barrier_count = 0, barrier_result = 0;
    bool started = false;
    std::uint64_t number = 0;                                 // in the order in which blocks started, from 1
    unsigned turns = 0;                                       // turns since look_again()
    bool polls = false;                                       // true if it polled at the end of its last turn
    std::vector<std::byte, SharedMemory<std::byte>> dynamic;  // the shared memory that the launch requests
    std::vector<std::byte> saved;                             // static shared memory while another block runs

    unsigned warps() const { return (static_cast<unsigned>(threads.size()) + 31) / 32; }
    unsigned lanes(unsigned warp) const {
        return std::min(32u, static_cast<unsigned>(threads.size()) - warp * 32);
    }
};

/// The running thread and its block; null outside kernels.
extern Thread* running;
extern Block* running_block;

/// The phase of the barrier ends: the copies of the block that it counts have arrived.
void land_copies(Block&, const Arrivals*);

// For code that runs on behalf of a thread.

/// Ends the launch with `message`. Does not return: the running thread is abandoned.
[[noreturn]] void give_up(const std::string& message);
/// Called when memory cannot be allocated. Ends the launch if a thread runs, because instrumented code cannot
/// be unwound; otherwise throws std::bad_alloc.
[[noreturn]] void out_of_memory();
/// Lets the other threads run.
void pause();
/// Called before a thread reads memory that another thread may write: pauses every now and then.
void poll();
/// If the step has launched more than once, says which launch is running: "\n  in the 2nd launch, …".
std::string which_launch();

}  // namespace simt
