// Blocks of 256 threads, half a block apart: every element is added by two blocks. The sums are right, since
// both write the same; nobody may count on that.
//
// Rejected: race in global memory
// On a GPU: nothing
#include "grids.cuh"

constexpr int block = 256;  // threads

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * (blockDim.x / 2) + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* c, int n) {
    if (n == 0) return;
    add<<<ceil_div(n, block / 2), block>>>(a, b, c, n);
    check(cudaGetLastError());
}
