// __align__ in front of extern __shared__, and between type and name.
#include "kata.hpp"

__global__ void k1(float* out) {
    __align__(16) extern __shared__ float s[];
    s[threadIdx.x] = 1;
    __syncthreads();
    out[0] = s[0];
}
void f1(float* out) { k1<<<1, 32, 1024>>>(out); }
__global__ void k(float* out) {
    extern __shared__ float __align__(16) t[];
    t[threadIdx.x] = 1;
    __syncthreads();
    out[0] = t[0];
}
void f(float* out) { k<<<1, 32, 1024>>>(out); }
