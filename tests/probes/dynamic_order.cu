// __shared__ extern, and extern T __shared__.
#include "kata.hpp"

__global__ void k1(float* out) {
    __shared__ extern float s[];
    s[threadIdx.x] = 1;
    __syncthreads();
    out[0] = s[0];
}
void f1(float* out) { k1<<<1, 32, 1024>>>(out); }
__global__ void k(float* out) {
    extern float __shared__ t[];
    t[threadIdx.x] = 1;
    __syncthreads();
    out[0] = t[0];
}
void f(float* out) { k<<<1, 32, 1024>>>(out); }
