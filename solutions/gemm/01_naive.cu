// 01 Naive: a thread computes one element of C, everything comes from global memory.
//
// Mirrors PMPP-grids 3.4, figure 3.11, for matrices of any shape: A is m x k and B is k x n.
// Global loads per result: 2K, 8 bytes for two operations.
#include "gemm.cuh"

constexpr int block = 32;  // threads per side

__global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // x counts columns: the 32 threads of a warp read 32 neighbouring elements of B, and all of them the
    // same element of A.
    const int row = blockIdx.y * block + threadIdx.y;
    const int col = blockIdx.x * block + threadIdx.x;
    if (row >= m || col >= n) return;  // the grid covers whole blocks, the matrix need not
    float sum = 0.0f;                  // in a register: C is written only once, and never read
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    if (m == 0 || n == 0) return;  // a grid without blocks is an error; k = 0 is not: it is a sum of nothing
    // Rounded up: the last row and column of blocks may hang over C. x counts columns here, too.
    const dim3 grid(ceil_div(n, block), ceil_div(m, block));
    naive<<<grid, dim3(block, block)>>>(a, b, c, m, n, k);
    check(cudaGetLastError());  // a launch returns nothing: this says whether it was refused
    // kata: end
}
