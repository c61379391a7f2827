// Loads and stores with cache hints.
#include "kata.hpp"

__global__ void k(float4* v, unsigned char* bytes, const float* __restrict__ in, unsigned long long* u) {
    v[0] = __ldcs(&v[1]);
    __stcs(&v[0], __ldcg(&v[2]));
    __stcg(&bytes[0], __ldca(&bytes[1]));
    __stwb(&u[0], __ldcv(&u[1]));
    __stwt(&u[2], __ldlu(&u[1]));
    v[3].x = __ldg(in) + __ldcs(in + 1);
}
void f(float4* v, unsigned char* bytes, const float* in, unsigned long long* u) { k<<<1, 1>>>(v, bytes, in, u); }
