// half: 5 exponent bits and 10 fraction bits.
#pragma once
#include "simt/narrow.hpp"

namespace simt {
using Binary16 = Format<5, 10>;
}
using __half = simt::Narrow<simt::Binary16>;
using __half2 = simt::Narrow2<simt::Binary16>;
using half = __half;
using half2 = __half2;

SIMT_NARROW_NAMES(half, __half, __half2, simt::Binary16)
__host__ __device__ inline __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
__host__ __device__ inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
__host__ __device__ inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
