// The counts of a launch, summed over its warps. Exact, and the same in every run of the same kernel.
#pragma once
#include <cstdint>

namespace kata {

/// The accesses of one kind to one memory. A request is one warp executing one instruction once.
struct Traffic {
    std::uint64_t accesses = 0;  ///< by single threads
    std::uint64_t bytes = 0;     ///< requested: accesses times their width
    std::uint64_t distinct = 0;  ///< bytes without those that other lanes of the same request also request
    std::uint64_t requests = 0;
    /// Global memory: 32-byte sectors touched. Shared memory: passes over the 32 banks, of 4 bytes each.
    std::uint64_t transactions = 0;

    bool operator==(const Traffic&) const = default;
    Traffic& operator+=(const Traffic&);
    void scale(double times);
};

/// The model GPU that the makespan is counted for: about the GPU of a laptop, which most kernels keep busy
/// whatever their tiles and blocks. A larger GPU would need more parallelism than there is in a problem that
/// can be counted quickly.
namespace machine {
inline constexpr unsigned multiprocessors = 16;
inline constexpr unsigned issued_together = 4;  ///< steps, of different warps of one multiprocessor
/// Steps of other warps between two steps of a warp: 32 warps keep a multiprocessor busy, half of what it
/// holds.
inline constexpr unsigned latency = 8;
}  // namespace machine

struct Counts {
    Traffic global_load, global_store, global_atomic;
    Traffic shared_load, shared_store, shared_atomic;
    Traffic constant_load;

    std::uint64_t barriers = 0;           ///< __syncthreads passed, summed over blocks
    std::uint64_t same_address = 0;       ///< atomics that had to wait for another lane of their request
    std::uint64_t bank_conflicts = 0;     ///< shared passes beyond the minimum for the width of the request
    std::uint64_t lane_basic_blocks = 0;  ///< basic blocks executed, summed over lanes
    std::uint64_t basic_blocks = 0;       ///< basic blocks executed, summed over warps
    std::uint64_t swaps = 0;              ///< compare-and-swaps that have stored their value
    std::uint64_t exchanges = 0;          ///< shuffles, votes and similar instructions, summed over warps
    std::uint64_t blocks = 0;
    std::uint64_t threads = 0;
    std::uint64_t launches = 0;
    /// Bytes that the host code of the step copies from the device and to it, by cudaMemcpy and similar
    /// functions.
    std::uint64_t bytes_to_host = 0, bytes_to_device = 0;
    /// Bytes of device memory that such copies read and write within the device, and that cudaMemset writes:
    /// memory traffic outside kernels.
    std::uint64_t bytes_beside = 0;

    /// Lines of 128 bytes touched by requests to global memory: fewer lines mean better coalescing. A request
    /// to a single address counts none, because it cannot be improved.
    std::uint64_t lines = 0;

    /// The number of times that a warp begins to load from global memory: at its first load, and at the first
    /// after each barrier and each exchange between its lanes, because an exchange of loaded values waits for
    /// the loads. Loads of one phase may be in flight together; loads of two phases never are. Polls do not
    /// count.
    std::uint64_t load_phases = 0;
    /// Bytes moved from global to shared memory while the warp does nothing else. For loads: bytes stored to
    /// shared memory before the warp reads it again. For asynchronous copies: bytes that a thread waits for
    /// without having read shared memory or passed a barrier since it began the copy, unless its warp only
    /// copies while others only read. Bytes that arrive while other tiles are multiplied are not included.
    std::uint64_t waited_for = 0;

    /// Bytes of asynchronous copies still in flight when their block passes a barrier, summed over barriers.
    /// Shows a wait for all copies, which `waited_for` misses if the thread has read anything from shared
    /// memory in between. 0 for kernels without barriers.
    std::uint64_t bytes_ahead = 0;
    /// How often a thread has waited for copies in flight. If 0, no copies can be ahead.
    std::uint64_t copy_waits = 0;

    // Time, in terms of scheduling. The unit is a step of a warp: a basic block, or the part of a memory
    // request that the machine serves at once, which is a line of global memory, a pass over the banks of
    // shared memory (for atomics: of one lane per word) or an address of constant memory. A poll counts as
    // one round, however many it takes here. Launches follow one another, so all of these add up.

    std::uint64_t work = 0;  ///< steps, summed over warps
    /// Steps that must follow one another on a device with unlimited resources: along a warp, after the
    /// latest warp of the block at a barrier, and from the writer of a word of global memory to its reader.
    /// At least the contention.
    std::uint64_t span = 0;
    /// Steps until a small device (kata::machine) is done: at least the steps of its busiest multiprocessor,
    /// and at least the longest chain with its latency.
    std::uint64_t makespan = 0;
    /// The steps of the busiest multiprocessor alone, without any waiting: shows only how the work is
    /// distributed.
    std::uint64_t busiest = 0;
    /// The work if every warp of a block had as much as the busiest one.
    std::uint64_t evened = 0;
    /// The largest number of atomics on one address of global memory, which are serialized.
    std::uint64_t contention = 0;

    bool operator==(const Counts&) const = default;
    Counts& operator+=(const Counts&);
    /// Extrapolates the counts of some blocks to `times` as many: scales everything that is summed over
    /// blocks, and nothing else.
    void scale(double times);

    /// Returns how many warps could be kept busy: work divided by span.
    double parallelism() const {
        return span == 0 ? 1.0 : static_cast<double>(work) / static_cast<double>(span);
    }

    /// Returns the distinct bytes divided by the bytes moved, 0 to 1; 1 if none were moved.
    static double efficiency(const Traffic& global) {
        return global.transactions == 0
                   ? 1.0
                   : static_cast<double>(global.distinct) / (32.0 * static_cast<double>(global.transactions));
    }
    double load_efficiency() const { return efficiency(global_load); }
    double store_efficiency() const { return efficiency(global_store); }

    /// Returns the average number of active lanes when a warp executes a basic block, 0 to 32.
    double active_lanes() const {
        return basic_blocks == 0 ? 0.0
                                 : static_cast<double>(lane_basic_blocks) / static_cast<double>(basic_blocks);
    }
};

inline std::uint64_t scaled(std::uint64_t count, double times) {
    return static_cast<std::uint64_t>(static_cast<double>(count) * times + 0.5);
}

namespace counts {

inline constexpr std::uint64_t Traffic::*of_traffic[] = {
    &Traffic::accesses, &Traffic::bytes, &Traffic::distinct, &Traffic::requests, &Traffic::transactions};
inline constexpr Traffic Counts::*traffic[] = {
    &Counts::global_load,  &Counts::global_store,  &Counts::global_atomic, &Counts::shared_load,
    &Counts::shared_store, &Counts::shared_atomic, &Counts::constant_load};
/// Summed over blocks, so that a sample of blocks represents all.
inline constexpr std::uint64_t Counts::*over_blocks[] = {
    &Counts::barriers,     &Counts::same_address, &Counts::bank_conflicts, &Counts::lane_basic_blocks,
    &Counts::basic_blocks, &Counts::blocks,       &Counts::threads,        &Counts::lines,
    &Counts::load_phases,  &Counts::waited_for,   &Counts::bytes_ahead,    &Counts::copy_waits,
    &Counts::swaps,        &Counts::exchanges,    &Counts::work,           &Counts::evened};
inline constexpr std::uint64_t Counts::*over_launches[] = {
    &Counts::launches, &Counts::bytes_to_host, &Counts::bytes_to_device, &Counts::bytes_beside,
    &Counts::span,     &Counts::makespan,      &Counts::busiest,         &Counts::contention};

}  // namespace counts

inline Traffic& Traffic::operator+=(const Traffic& o) {
    for (const auto field : counts::of_traffic) this->*field += o.*field;
    return *this;
}

inline void Traffic::scale(double times) {
    for (const auto field : counts::of_traffic) this->*field = scaled(this->*field, times);
}

inline void Counts::scale(double times) {
    for (const auto field : counts::traffic) (this->*field).scale(times);
    for (const auto field : counts::over_blocks) this->*field = scaled(this->*field, times);
}

inline Counts& Counts::operator+=(const Counts& o) {
    for (const auto field : counts::traffic) this->*field += o.*field;
    for (const auto field : counts::over_blocks) this->*field += o.*field;
    for (const auto field : counts::over_launches) this->*field += o.*field;
    return *this;
}

}  // namespace kata
