// needs a GPU: the CPU back end has no cudaEvent_t
#include "kata.hpp"

__global__ void k(float* out, int n) { out[threadIdx.x] = n; }
void f(float* out, int n) {
    cudaEvent_t start;
    cudaEventCreate(&start);
    cudaEventRecord(start);
    k<<<1, 2>>>(out, n);
}
