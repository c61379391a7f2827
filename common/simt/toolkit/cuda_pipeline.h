// Asynchronous copies from device memory into shared memory.
#pragma once
#include "simt/cuda.hpp"

/// Begins to copy `bytes` (4, 8 or 16). The last `zeros` of them are 0 and not read.
__device__ inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes,
                                               std::size_t zeros = 0, simt::Site site = simt::Site::here()) {
    simt::begin_copy(to, from, bytes, zeros, "__pipeline_memcpy_async", site);
}
/// Commits the copies since the last commit as a group.
__device__ inline void __pipeline_commit() { simt::commit_copies(); }
/// Waits until the copies of all but the last `groups` groups have arrived. They are visible to this thread
/// only.
__device__ inline void __pipeline_wait_prior(std::size_t groups) {
    simt::wait_for_copies(groups < 8 ? groups : 8);
}
