// half and half2: conversions, arithmetic, comparisons, loads, atomics and shuffles.
#include "kata.hpp"

#include <cuda_fp16.h>

__global__ void k(half* h, half2* v, float* x, int* i) {
    half a = __float2half(x[0]), b = x[1], c(3), d = 2.5;
    float wide = a, same = __half2float(b), product = __half2float(a * b);
    a += b * c - a / d;
    if (a > b && !(a == c) && __hlt(a, d) && !__hisnan(a) && a <= b) a = -a;
    h[0] = __hadd(a, b) + __hmul(a, b) + __hsub(a, b) + __hfma(a, b, c) + __hdiv(a, b) + __habs(a) + __hneg(b) + hsqrt(a) + hexp(b);
    h[1] = __hmax(a, b) + __hmin(a, b) + __int2half_rn(i[0]) + __float2half_rn(x[2]) + __float2half_rz(x[2]) + __ushort_as_half(0x3c00);
    v[0] = __halves2half2(a, b) + __float2half2_rn(1.0f) * __floats2half2_rn(x[0], x[1]) + __float22half2_rn(make_float2(1, 2));
    v[1] = __hfma2(v[0], v[0], __hadd2(v[0], __hmul2(v[0], v[1]))) + __half2half2(a) + make_half2(a, b);
    const float2 f = __half22float2(v[1]);
    x[2] = f.x + __low2float(v[0]) + __high2float(v[0]) + __half2float(__low2half(v[0])) + wide + same + product + __half2float(v[0].y);
    i[0] = __half2int_rn(a) + __half2int_rz(b) + __half_as_ushort(c) + static_cast<int>(a) + __hbeq2(v[0], v[1]);
    h[2] = __ldg(&h[3]) + __shfl_down_sync(~0u, a, 1) + __shfl_xor_sync(~0u, v[0], 2).x;
    atomicAdd(&h[4], a);
    atomicAdd(&v[2], v[0]);
    __shared__ half s[32];
    s[threadIdx.x] = h[threadIdx.x];
    __syncthreads();
    h[5] = s[31 - threadIdx.x];
    float4 packed = reinterpret_cast<float4*>(h)[0];
    const half2* pairs = reinterpret_cast<const half2*>(&packed);
    x[3] = __low2float(pairs[0]);
}
void f(half* h, half2* v, float* x, int* i) {
    half on_host = __float2half(1.5f);
    x[0] = __half2float(on_host) + sizeof(__half2) + alignof(half2);
    k<<<1, 32>>>(h, v, x, i);
}
