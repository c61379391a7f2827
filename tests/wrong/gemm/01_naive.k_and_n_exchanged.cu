// The rows of B are taken to be k elements long.
//
// Rejected: elements differ
#include "gemm.cuh"

constexpr int block = 32;  // threads per side

__global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * block + threadIdx.y;
    const int col = blockIdx.x * block + threadIdx.x;
    if (row >= m || col >= n) return;  // the grid covers whole blocks, the matrix need not
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * k + col];
    c[row * n + col] = sum;
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, block), ceil_div(m, block));
    naive<<<grid, dim3(block, block)>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
