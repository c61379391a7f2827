// CUDA C++ as nvcc compiles it, and what kata.hpp requires of a back end. Functions that throw are defined in
// the suite's executable (backend.cpp): a step is a module with hidden symbols, and kata::Error must be one
// type for all.
#pragma once
#include <cuda_runtime.h>

#define KATA_HOST_DEVICE __host__ __device__

namespace kata::backend {

/// Throws kata::Error with CUDA's text for the error, and its place.
[[noreturn, gnu::visibility("default")]] void fail(cudaError_t error, const char* file, int line);

/// Throws kata::OpenKata.
[[noreturn, gnu::visibility("default")]] void stop_at_open();

KATA_HOST_DEVICE inline void open() {
#if !defined(__CUDA_ARCH__)
    stop_at_open();
#endif
}

}  // namespace kata::backend
