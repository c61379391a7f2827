// The host adds: on a GPU it cannot reach these arrays, and the program ends.
//
// Rejected: the host reads "a", which is device memory
// On a GPU: nothing
#include "grids.cuh"

constexpr int block = 256;  // threads

__global__ void add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* c, int n) {
    if (n == 0) return;
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
    add<<<ceil_div(n, block), block>>>(a, b, c, n);
    check(cudaGetLastError());
}
