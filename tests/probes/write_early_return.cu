// A barrier behind an early return and in a branch.
#include "kata.hpp"

__global__ void k(float* out, int n) {
    __shared__ float s[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = out[i];
    __syncthreads();
    if (n > 4) {
        __syncthreads();
        out[i] = s[blockDim.x - 1 - threadIdx.x];
    }
}
void f(float* out, int n) { k<<<1, 64>>>(out, n); }
