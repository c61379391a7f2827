// alignas in front of extern __shared__.
#include "kata.hpp"

__global__ void k(float* out) {
    alignas(16) extern __shared__ char s[];
    s[threadIdx.x] = 1;
    __syncthreads();
    out[0] = s[0];
}
void f(float* out) { k<<<1, 32, 1024>>>(out); }
