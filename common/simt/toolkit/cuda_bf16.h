// bfloat16: the upper half of a float, with 8 exponent bits and 7 fraction bits.
#pragma once
#include "simt/narrow.hpp"

namespace simt {
using Bfloat16 = Format<8, 7>;
}
using __nv_bfloat16 = simt::Narrow<simt::Bfloat16>;
using __nv_bfloat162 = simt::Narrow2<simt::Bfloat16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

SIMT_NARROW_NAMES(bfloat16, __nv_bfloat16, __nv_bfloat162, simt::Bfloat16)
__host__ __device__ inline __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return {v.y, v.x}; }
__host__ __device__ inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
    return {a.x, b.x};
}
__host__ __device__ inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
    return {a.y, b.y};
}
