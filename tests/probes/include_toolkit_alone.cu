// CUDA without a header of this repository, as in a program of one's own.
#include <cuda_runtime.h>
__global__ void k(float* out, int n) { out[threadIdx.x] = n; }
void f(float* out, int n) { k<<<1, 2>>>(out, n); }
