// The intrinsics of floats: each way of rounding, conversions, and functions that are fast on a GPU.
#include "kata.hpp"

__global__ void k(float* x, double* d, int* i, unsigned* u) {
    x[0] = __fadd_rn(x[0], x[1]) + __fsub_rz(x[0], x[1]) + __fmul_ru(x[0], x[1]) + __fdiv_rd(x[0], x[1]);
    x[1] = __fmaf_rn(x[0], x[1], x[2]) + __fmaf_rz(x[0], x[1], x[2]) + __frcp_rn(x[0]) + __fsqrt_rz(x[0]) + __frsqrt_rn(x[0]);
    x[2] = rsqrtf(x[0]) + rcbrtf(x[0]) + fdividef(x[0], x[1]) + __fdividef(x[0], x[1]) + __saturatef(x[0]) + sinpif(x[0]) + cospif(x[0]);
    x[3] = __expf(x[0]) + __exp10f(x[0]) + __logf(x[0]) + __log2f(x[0]) + __log10f(x[0]) + __sinf(x[0]) + __cosf(x[0]) + __tanf(x[0]) + __powf(x[0], x[1]);
    __sincosf(x[0], &x[4], &x[5]);
    sincosf(x[0], &x[4], &x[5]);
    x[6] = exp2f(x[0]) + exp10f(x[0]) + log1pf(x[0]) + expm1f(x[0]) + fminf(x[0], x[1]) + hypotf(x[0], x[1]) + erff(x[0]);
    i[0] = __float2int_rn(x[0]) + __float2int_rz(x[0]) + __float2int_ru(x[0]) + __float2int_rd(x[0]) + __double2int_rn(d[0]);
    u[0] = __float2uint_rn(x[0]) + __float2uint_rz(x[0]) + __float_as_uint(x[0]);
    x[7] = __int2float_rn(i[0]) + __int2float_rz(i[0]) + __uint2float_rn(u[0]) + __double2float_rn(d[0]) + __uint_as_float(u[0]);
    d[0] = rsqrt(d[0]) + __dadd_rn(d[0], d[1]) + __dmul_rn(d[0], d[1]) + __fma_rn(d[0], d[1], d[2]) + __dsqrt_rn(d[0]) +
           __hiloint2double(__double2hiint(d[0]), __double2loint(d[0])) + __int2double_rn(i[0]);
}
void f(float* x, double* d, int* i, unsigned* u) { k<<<1, 1>>>(x, d, i, u); }
