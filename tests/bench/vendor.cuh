// Shared by the vendor's kernels.
#pragma once
#include "kata.hpp"

#include <cstddef>

/// Calls call(scratch, bytes) with device memory. The first call gets null: CUB then returns the size that it
/// needs and does nothing else. Memory of an earlier call is used again, so that no timed call waits for an
/// allocation.
inline void with_scratch(const auto& call) {
    static void* scratch = nullptr;
    static std::size_t size = 0;
    std::size_t needed = 0;
    kata::check(call(nullptr, needed));
    if (needed > size) {
        kata::check(cudaFree(scratch));
        scratch = nullptr;
        kata::check(cudaMalloc(&scratch, needed));
        size = needed;
    }
    kata::check(call(scratch, needed));
}
