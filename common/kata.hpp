// What every step includes: CUDA C++ on either back end.
//
// A kernel is launched by kernel<<<grid, block, bytes>>>(…), with check(cudaGetLastError()) behind it. What
// no device takes is refused on both back ends, and so is a grid without blocks: an empty problem is the host
// code's to notice.
//
// A block has 48 KiB of shared memory for its __shared__ variables and the `bytes` of the launch together. It
// gets more, on sm_90 up to 227 KiB, as dynamic shared memory that was asked for before the launch:
//
//   check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
#pragma once
#if defined(__CUDACC__)
#include "gpu/cuda.hpp"
#else
#include "simt/cuda.hpp"
#endif
#include <concepts>
#include <type_traits>

namespace kata {

/// Throws kata::Error where a call of the CUDA runtime has failed: the line, what CUDA says of it, and what
/// to do about it where that is known. A launch returns nothing itself, so behind each stands
/// check(cudaGetLastError()), which says what a refused launch had asked for and what the device has.
inline void check(cudaError_t error, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (error != cudaSuccess) backend::fail(error, file, line);
}

/// Stands in a body that is still to be written; the step is then reported as open. On the host and, on the
/// CPU back end, in a kernel; in a GPU kernel it does nothing, and the host's open() speaks for the step.
KATA_HOST_DEVICE inline void open() { backend::open(); }

/// How many pieces of `size` cover `whole`, neither of them negative. Never overflows.
template <std::integral T>
KATA_HOST_DEVICE constexpr T ceil_div(T whole, std::type_identity_t<T> size) {
    return whole / size + (whole % size != 0);
}

}  // namespace kata

using kata::ceil_div;
using kata::check;
