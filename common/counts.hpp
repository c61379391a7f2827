// What a launch moved and did, counted over its warps. Exact, and the same on every run of the same kernel.
#pragma once
#include <cstdint>

namespace kata {

/// The accesses of one kind to one memory. A request is one warp executing one instruction once.
struct Traffic {
    std::uint64_t accesses = 0;  ///< by single threads
    std::uint64_t bytes = 0;     ///< asked for: accesses times their width
    std::uint64_t distinct = 0;  ///< bytes without those that other lanes of the request asked for too
    std::uint64_t requests = 0;
    /// Global memory: 32-byte sectors touched. Shared memory: passes over the 32 banks, of 4 bytes each.
    std::uint64_t transactions = 0;

    bool operator==(const Traffic&) const = default;
    Traffic& operator+=(const Traffic&);
    void scale(double times);
};

/// What the makespan is counted for: about the GPU of a laptop, which most kernels keep busy whatever their
/// tiles and blocks. A larger one would ask more parallelism of a problem than one has that is counted in a
/// moment.
namespace machine {
inline constexpr unsigned multiprocessors = 16;
inline constexpr unsigned issued_together = 4;  ///< steps, of different warps of one multiprocessor
/// After so many steps of others comes the next one of a warp: 32 warps keep a multiprocessor busy, half of
/// what it holds.
inline constexpr unsigned latency = 8;
}  // namespace machine

struct Counts {
    Traffic global_load, global_store, global_atomic;
    Traffic shared_load, shared_store, shared_atomic;
    Traffic constant_load;

    std::uint64_t barriers = 0;           ///< __syncthreads passed, summed over blocks
    std::uint64_t same_address = 0;       ///< atomics that had to wait for another lane of their request
    std::uint64_t bank_conflicts = 0;     ///< shared passes beyond those that the width of the request needs
    std::uint64_t lane_basic_blocks = 0;  ///< basic blocks executed, summed over lanes
    std::uint64_t basic_blocks = 0;       ///< basic blocks executed, summed over warps
    std::uint64_t swaps = 0;              ///< compare-and-swaps that have stored their value
    std::uint64_t exchanges = 0;          ///< shuffles, votes and their like, summed over warps
    std::uint64_t blocks = 0;
    std::uint64_t threads = 0;
    std::uint64_t launches = 0;
    /// Copied by the host code of the step, by cudaMemcpy and its like, from the device and to it.
    std::uint64_t bytes_to_host = 0, bytes_to_device = 0;
    /// Of the device's own memory read and written by such copies within it, and written by cudaMemset: what
    /// memory moves beside the kernels.
    std::uint64_t bytes_beside = 0;

    /// Lines of 128 bytes that requests of global memory touch: the fewer, the better coalesced. A request of
    /// one address has none, for nothing about it could be better.
    std::uint64_t lines = 0;

    /// How often a warp begins to load from global memory: at its first load, and at the first behind each
    /// barrier and each exchange between its lanes, for who exchanges what it has loaded waits for it. Loads
    /// of one such phase may be under way together; those of two never are. Polls are none of these loads.
    std::uint64_t load_phases = 0;
    /// Bytes of global memory that go into shared memory and are waited for with nothing else to do: of
    /// loads, those that a warp stores there before it has read there again; of asynchronous copies, those
    /// that a thread waits for before it has read there, or come to a barrier, since it began them, unless
    /// it is in a warp that only copies while others only read there. What is loaded or copied while other
    /// tiles are multiplied is not among them.
    std::uint64_t waited_for = 0;

    /// What asynchronous copies into shared memory were still to bring when their block came to a barrier,
    /// summed over barriers. It sees a wait for all copies that `waited_for` takes for a late one, as the
    /// thread has read some number from shared memory; and it is 0 of kernels without barriers.
    std::uint64_t bytes_ahead = 0;
    /// How often a thread has waited for copies that were under way: 0 where there are none to be ahead.
    std::uint64_t copy_waits = 0;

    // How long it takes, in the terms of scheduling. The unit is a step of a warp: a basic block, or what the
    // machine serves at once of a memory request, which is a line of global memory, a pass over the banks of
    // shared memory (for atomics: of one lane a word) or an address of constant memory. Whoever polls takes
    // one round, however many it takes here. Launches follow each other: all of these add up.

    std::uint64_t work = 0;  ///< steps, summed over warps
    /// Steps that must follow one another, on a device without end: along a warp, at a barrier from the
    /// block's latest warp on, and from whoever writes a word of global memory to whoever reads it. Never
    /// less than the contention.
    std::uint64_t span = 0;
    /// Steps until a small device is done (kata::machine): never less than its busiest multiprocessor needs
    /// for the blocks that it is given, nor than the longest chain with its latency.
    std::uint64_t makespan = 0;
    /// Of these, what the busiest multiprocessor needs for its blocks, whatever waits for what: how the work
    /// is shared out, and nothing else.
    std::uint64_t busiest = 0;
    /// What the work would be if every warp of a block had as much as the busiest one of it.
    std::uint64_t evened = 0;
    /// The most atomics on one address of global memory, which wait for one another.
    std::uint64_t contention = 0;

    bool operator==(const Counts&) const = default;
    Counts& operator+=(const Counts&);
    /// Of what has been counted on some blocks, makes what it would be for so many times as many: of all that
    /// is added up over blocks, and of nothing else.
    void scale(double times);

    /// How many warps could be kept busy: work over span.
    double parallelism() const {
        return span == 0 ? 1.0 : static_cast<double>(work) / static_cast<double>(span);
    }

    /// Distinct bytes over bytes moved, 0 to 1; 1 where nothing was moved.
    static double efficiency(const Traffic& global) {
        return global.transactions == 0
                   ? 1.0
                   : static_cast<double>(global.distinct) / (32.0 * static_cast<double>(global.transactions));
    }
    double load_efficiency() const { return efficiency(global_load); }
    double store_efficiency() const { return efficiency(global_store); }

    /// Active lanes in a basic block that a warp executes, 0 to 32.
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
/// Added up over blocks, so that a sample of blocks tells them for all.
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
