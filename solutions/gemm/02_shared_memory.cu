// 02 Shared memory: a block walks along K with a tile of A and a tile of B on chip.
//
// The step that SGEMM-1D starts from and does not list. Changed from 01: an element that a block
// has loaded serves a whole row or column of its threads.
// Loads per result: K/16 from global memory instead of 2K, and 2K from shared memory.
#include "gemm.cuh"

constexpr int tile = 32;  // threads, and elements of each tile, per side

__global__ void shared_memory(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    __shared__ float a_s[tile][tile], b_s[tile][tile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * tile + ty, col = blockIdx.x * tile + tx;  // the thread's result
    float sum = 0.0f;
    // All threads take part in all phases, those without a result, too: others need what they load.
    for (int phase = 0; phase < ceil_div(k, tile); ++phase) {
        // The tile of A keeps to the block's rows and moves right, that of B keeps to its columns and
        // moves down. Neighbouring threads load neighbouring elements of both.
        const int a_col = phase * tile + tx, b_row = phase * tile + ty;
        // Elements outside are 0 and add nothing. Rows and columns are tested separately: beyond the end
        // of a row of A lies the next row, not nothing.
        a_s[ty][tx] = row < m && a_col < k ? a[row * k + a_col] : 0.0f;
        b_s[ty][tx] = b_row < k && col < n ? b[b_row * n + col] : 0.0f;
        __syncthreads();  // a thread multiplies what others have loaded
        // The threads of a warp share ty: one element of A for all of them, 32 neighbours of B.
        for (int i = 0; i < tile; ++i) sum += a_s[ty][i] * b_s[i][tx];
        __syncthreads();  // every thread has used these tiles before the next overwrite them
    }
    if (row < m && col < n) c[row * n + col] = sum;
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, tile), ceil_div(m, tile));
    shared_memory<<<grid, dim3(tile, tile)>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
    // kata: end
}
