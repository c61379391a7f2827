// refused: nvcc takes no alignas after extern
#include "kata.hpp"

__global__ void k(float* out) {
    extern __shared__ alignas(float4) char s[];
    s[threadIdx.x] = 1;
    __syncthreads();
    out[0] = s[0];
}
void f(float* out) { k<<<1, 32, 1024>>>(out); }
