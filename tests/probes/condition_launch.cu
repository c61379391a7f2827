// A launch only where nvcc compiles, and a kernel in two forms.
#include "kata.hpp"

#ifdef __CUDA_ARCH__
__global__ void k(float* out) { out[0] = 1; }
#else
__global__ void k(float* out) { out[0] = 1; }
#endif
void f(float* out) {
#ifdef __CUDACC__
    k<<<1, 2>>>(
#else
    k<<<1, 3>>>(
#endif
        out);
}
