// The header that every step includes: CUDA C++ on either back end.
//
// A kernel is launched by kernel<<<grid, block, bytes>>>(…), followed by check(cudaGetLastError()). Both back
// ends refuse a launch that no device accepts, and a grid without blocks: host code must handle an empty
// problem itself.
//
// A block has 48 KiB of shared memory for its __shared__ variables plus the `bytes` of the launch. It can
// have more, up to 227 KiB on sm_90, as dynamic shared memory that is requested before the launch:
//
//   check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
#pragma once
#if defined(__NVCC__)
#include "gpu/cuda.hpp"
#else
#include "simt/cuda.hpp"
#endif
#include <concepts>
#include <type_traits>

namespace kata {

/// Throws kata::Error if a call of the CUDA runtime has failed. The message names the line, CUDA's text and,
/// if known, the remedy. A launch itself returns nothing, so each one is followed by
/// check(cudaGetLastError()), which reports what a refused launch requested and what the device has.
inline void check(cudaError_t error, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (error != cudaSuccess) backend::fail(error, file, line);
}

/// Marks a body that is still to be written. The step is then reported as open. Works in host code and, on
/// the CPU back end, in kernels. In a GPU kernel it does nothing: the open() in the host code reports the
/// step.
KATA_HOST_DEVICE inline void open() { backend::open(); }

/// Returns how many pieces of `size` cover `whole`. Neither may be negative. Never overflows.
template <std::integral T>
KATA_HOST_DEVICE constexpr T ceil_div(T whole, std::type_identity_t<T> size) {
    return whole / size + (whole % size != 0);
}

}  // namespace kata

using kata::ceil_div;
using kata::check;
