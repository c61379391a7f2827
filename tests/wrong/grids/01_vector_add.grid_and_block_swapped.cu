// Grid and block are exchanged: right as long as there are no more blocks than a block may have threads.
//
// Rejected: launch refused
#include "grids.cuh"

constexpr int block = 256;  // threads

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* c, int n) {
    if (n == 0) return;
    add<<<block, ceil_div(n, block)>>>(a, b, c, n);
    check(cudaGetLastError());
}
