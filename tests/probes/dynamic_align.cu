// extern __shared__ with __align__.
#include "kata.hpp"

__global__ void k(float* out) {
    extern __shared__ __align__(16) unsigned char raw[];
    float* s = reinterpret_cast<float*>(raw);
    s[threadIdx.x] = 1;
    __syncthreads();
    out[0] = s[0];
}
void f(float* out) { k<<<1, 32, 1024>>>(out); }
