// Asynchronous copies into shared memory by the threads of a group.
#pragma once
#include "../cooperative_groups.h"
#include "../cuda_pipeline.h"

namespace simt {

/// Copies `bytes` in pieces of 16, 8 or 4, as the alignment allows; other bytes are copied synchronously.
/// Each of the `threads` calls it with its rank.
__device__ inline void copy_together(unsigned long long rank, unsigned long long threads, void* to,
                                     const void* from, std::size_t bytes, const Arrivals* barrier,
                                     Site site) {
    const auto bits =
        reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes | 16;
    const std::size_t piece = bits & -bits;
    auto* const destination = reinterpret_cast<char*>(to);
    const auto* const source = reinterpret_cast<const char*>(from);
    for (std::size_t at = rank * piece; at < bytes; at += threads * piece) {
        if (piece >= 4)
            begin_copy(destination + at, source + at, piece, 0, "memcpy_async", site, barrier);
        else
            for (std::size_t i = 0; i < piece; ++i) destination[at + i] = source[at + i];
    }
}

}  // namespace simt

namespace cooperative_groups {

template <class Group, class T>
__device__ void memcpy_async(const Group& group, T* to, const T* from, std::size_t bytes,
                             simt::Site site = simt::Site::here()) {
    simt::copy_together(group.thread_rank(), group.size(), to, from, bytes, nullptr, site);
    simt::commit_copies();
}
/// Copies as many elements as both have.
template <class Group, class T>
__device__ void memcpy_async(const Group& group, T* to, std::size_t to_count, const T* from,
                             std::size_t from_count, simt::Site site = simt::Site::here()) {
    memcpy_async(group, to, from, (to_count < from_count ? to_count : from_count) * sizeof(T), site);
}
/// Waits until the group's copies have arrived, except those of the last `Stage` calls.
template <unsigned Stage, class Group>
__device__ void wait_prior(const Group& group, simt::Site site = simt::Site::here()) {
    simt::wait_for_copies(Stage);
    group.sync(site);
}
template <class Group>
__device__ void wait(const Group& group, simt::Site site = simt::Site::here()) {
    wait_prior<0>(group, site);
}

}  // namespace cooperative_groups
