// Copies from device memory into shared memory that a thread begins, and waits for later.
#pragma once
#include "simt/cuda.hpp"

/// Begins to copy `bytes` (4, 8 or 16), of which the last `zeros` are 0 and not read.
__device__ inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes,
                                               std::size_t zeros = 0, simt::Site site = simt::Site::here()) {
    simt::begin_copy(to, from, bytes, zeros, "__pipeline_memcpy_async", site);
}
/// Makes a group of the copies since the last one.
__device__ inline void __pipeline_commit() { simt::commit_copies(); }
/// Waits until the copies of all but the last `groups` groups have arrived, which only this thread then
/// knows.
__device__ inline void __pipeline_wait_prior(std::size_t groups) {
    simt::wait_for_copies(groups < 8 ? groups : 8);
}
