// The guards of SGEMM-1D: they test the index into the whole matrix. Beyond the end of a row of A lies the
// next row, whose elements meet the zeros of B: right until one of them is infinite.
//
// Rejected: NaN
#include "gemm.cuh"

constexpr int bm = 64, bn = 64;  // rows and columns of C that a block computes
constexpr int bk = 8;            // elements along K that are on chip at a time
constexpr int tm = 8;            // results of a thread, one below the other
constexpr int threads = bm * bn / tm;
static_assert(bm * bk == threads && bk * bn == threads, "a thread loads one element of each tile");

__global__ void thread_tile_1d(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_s[bm][bk], b_s[bk][bn];
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    // What the thread computes: column tx of the block's tile, rows ty to ty + tm - 1.
    const int tx = threadIdx.x % bn, ty = threadIdx.x / bn * tm;
    // What it loads. Neighbouring threads take neighbouring elements of a row, of eight in A and of 64 in B.
    const int a_x = threadIdx.x % bk, a_y = threadIdx.x / bk;
    const int b_x = threadIdx.x % bn, b_y = threadIdx.x / bn;

    float sum[tm] = {};
    for (int phase = 0; phase < ceil_div(k, bk); ++phase) {
        const int a_row = first_row + a_y, a_col = phase * bk + a_x;
        const int b_row = phase * bk + b_y, b_col = first_col + b_x;
        a_s[a_y][a_x] = a_row * k + a_col < m * k ? a[a_row * k + a_col] : 0.0f;
        b_s[b_y][b_x] = b_row * n + b_col < k * n ? b[b_row * n + b_col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < bk; ++i) {
            const float b_i = b_s[i][tx];
            for (int r = 0; r < tm; ++r) sum[r] += a_s[ty + r][i] * b_i;
        }
        __syncthreads();
    }

    const int row = first_row + ty, col = first_col + tx;
    for (int r = 0; r < tm; ++r)
        if (row + r < m && col < n) c[(row + r) * n + col] = sum[r];
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    thread_tile_1d<<<grid, threads>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
