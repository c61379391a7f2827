// The threads of the last block that have no element add beyond the end.
//
// Rejected: out of bounds
#include "grids.cuh"

constexpr int block = 256;  // threads

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* c, int n) {
    if (n == 0) return;
    add<<<ceil_div(n, block), block>>>(a, b, c, n);
    check(cudaGetLastError());
}
