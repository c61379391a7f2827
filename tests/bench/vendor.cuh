// What the vendor's kernels have in common.
#pragma once
#include "kata.hpp"

#include <cstddef>

/// Calls call(scratch, bytes) with memory of the device. First with null: a call of CUB then says how much it
/// needs and does nothing else. What is there from an earlier call serves again, so that no call that is
/// timed waits for memory.
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
