// bfloat16 in both of its spellings, alone and in pairs.
#include "kata.hpp"

#include <cuda_bf16.h>

__global__ void k(__nv_bfloat16* h, __nv_bfloat162* v, float* x) {
    nv_bfloat16 a = __float2bfloat16(x[0]), b = x[1];
    h[0] = __hadd(a, b) + a * b - __hfma(a, b, a) / b + __float2bfloat16_rn(x[2]);
    v[0] = __floats2bfloat162_rn(x[0], x[1]) * __halves2bfloat162(a, b) + __float2bfloat162_rn(2.0f) + __hfma2(v[0], v[1], v[1]);
    const float2 f = __bfloat1622float2(v[0]);
    x[2] = __bfloat162float(a) + f.x + f.y + __low2float(v[0]) + __bfloat162float(hexp(b)) + __bfloat162float(__hmax(a, b));
    h[1] = __shfl_xor_sync(~0u, a, 1) + __ldg(&h[2]);
    atomicAdd(&h[3], a);
    if (a < b || __hgt(a, b)) x[3] = static_cast<float>(a);
    x[4] = __bfloat16_as_ushort(a) + __bfloat162int_rz(b);
}
void f(__nv_bfloat16* h, __nv_bfloat162* v, float* x) { k<<<1, 32>>>(h, v, x); }
