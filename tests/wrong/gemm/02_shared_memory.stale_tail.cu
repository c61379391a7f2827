// Beyond the end of K the tiles keep what the phase before has left there.
//
// Rejected: read of what nobody has written
// On a GPU: elements differ
#include "gemm.cuh"

constexpr int tile = 32;  // threads, and elements of each tile, per side

__global__ void shared_memory(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_s[tile][tile], b_s[tile][tile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * tile + ty, col = blockIdx.x * tile + tx;
    float sum = 0.0f;
    for (int phase = 0; phase < ceil_div(k, tile); ++phase) {
        // Rows and columns are tested apart: beyond the end of a row of A lies the next row, not nothing.
        const int a_col = phase * tile + tx, b_row = phase * tile + ty;
        if (row < m && a_col < k) a_s[ty][tx] = a[row * k + a_col];
        if (b_row < k && col < n) b_s[ty][tx] = b[b_row * n + col];
        __syncthreads();
        for (int i = 0; i < tile; ++i) sum += a_s[ty][i] * b_s[i][tx];
        __syncthreads();  // the next tiles overwrite these
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, tile), ceil_div(m, tile));
    shared_memory<<<grid, dim3(tile, tile)>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
