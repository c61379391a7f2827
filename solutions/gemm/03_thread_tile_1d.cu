// 03 Thread tile, 1-D: a thread computes a column of TM = 8 results.
//
// Mirrors SGEMM-1D. Changed from 02: a thread reads an element of B from shared memory once and uses
// it for eight results, and the block's tile of C grows to 64 x 64. Loads per result: K/32 from global
// memory instead of K/16, and 9K/8 from shared memory instead of 2K.
#include "gemm.cuh"

constexpr int bm = 64, bn = 64;  // rows and columns of C that a block computes
constexpr int bk = 8;            // elements along K that are on chip at a time
constexpr int tm = 8;            // results of a thread, one below the other
constexpr int threads = bm * bn / tm;
static_assert(bm * bk == threads && bk * bn == threads, "a thread loads one element of each tile");

__global__ void thread_tile_1d(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    __shared__ float a_s[bm][bk], b_s[bk][bn];
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;  // where the tile of C begins
    // The block is a row of threads, which take three shapes. To compute: bn columns, and one row for
    // every tm rows of the tile. The thread has column tx and rows ty * tm to ty * tm + tm - 1.
    const int tx = threadIdx.x % bn, ty = threadIdx.x / bn;
    // To load: that of each tile. Neighbouring threads take neighbouring elements of a row, which is 8
    // elements long in A's tile and 64 in B's.
    const int a_x = threadIdx.x % bk, a_y = threadIdx.x / bk;
    const int b_x = threadIdx.x % bn, b_y = threadIdx.x / bn;

    float sum[tm] = {};  // in registers, once the loops over it are unrolled
    for (int phase = 0; phase < ceil_div(k, bk); ++phase) {
        const int a_row = first_row + a_y, a_col = phase * bk + a_x;
        const int b_row = phase * bk + b_y, b_col = first_col + b_x;
        a_s[a_y][a_x] = a_row < m && a_col < k ? a[a_row * k + a_col] : 0.0f;
        b_s[b_y][b_x] = b_row < k && b_col < n ? b[b_row * n + b_col] : 0.0f;
        __syncthreads();  // a thread multiplies what others have loaded
        // The place along K is the outer loop, so that what is read of B stays at hand for all results.
        for (int i = 0; i < bk; ++i) {
            const float b_i = b_s[i][tx];
            for (int r = 0; r < tm; ++r) sum[r] += a_s[ty * tm + r][i] * b_i;
        }
        __syncthreads();  // every thread has used these tiles before the next overwrite them
    }

    const int row = first_row + ty * tm, col = first_col + tx;
    for (int r = 0; r < tm; ++r) {
        if (row + r < m && col < n) c[(row + r) * n + col] = sum[r];  // C may end within the column
    }
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));  // counts tiles, which are larger than the block
    thread_tile_1d<<<grid, threads>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
    // kata: end
}
