// CUDA C++ as nvcc reads it, and what kata.hpp asks of a back end. Whatever can fail is defined in the
// suite's executable (device.cpp): a step is a module with hidden symbols, and kata::Error must have one type
// for all.
#pragma once
#include <cuda_runtime.h>

#define KATA_HOST_DEVICE __host__ __device__

namespace kata::backend {

/// Throws kata::Error: what CUDA says of the error, and where it was met.
[[noreturn, gnu::visibility("default")]] void fail(cudaError_t error, const char* file, int line);

/// Throws kata::OpenKata.
[[noreturn, gnu::visibility("default")]] void stop_at_open();

KATA_HOST_DEVICE inline void open() {
#if !defined(__CUDA_ARCH__)
    stop_at_open();
#endif
}

}  // namespace kata::backend
