// 04 Thread tile, 2-D: a thread computes a square of TM x TN = 8 x 8 results.
//
// SGEMM-1D announces it at its end and does not list it. Changed from 03: what a thread has read
// of a row and of a column serves a whole square, 64 products for 16 elements, and the block's tile
// grows to 128 x 128. Loads per result: K/64 from global memory instead of K/32, and K/4 from shared
// memory instead of 9K/8.
//
// The square is spread over the block's tile: a thread's results lie 16 rows and 16 columns apart. So
// sixteen neighbouring threads read neighbouring elements of B, without bank conflicts, and store
// neighbouring elements of C; with eight results side by side these would lie eight elements apart.
#include "gemm.cuh"

constexpr int bm = 128, bn = 128;              // rows and columns of C that a block computes
constexpr int bk = 8;                          // elements along K that are on chip at a time
constexpr int tm = 8, tn = 8;                  // rows and columns of results of a thread
constexpr int rows = bm / tm, cols = bn / tn;  // rows and columns of threads in a block
constexpr int threads = rows * cols;
static_assert(threads % bk == 0 && threads % bn == 0, "in each round of loading a thread keeps its column");

__global__ void thread_tile_2d(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    __shared__ float a_s[bm][bk], b_s[bk][bn];
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    // The thread has rows ty, ty + rows, … and columns tx, tx + cols, … of the block's tile.
    const int tx = threadIdx.x % cols, ty = threadIdx.x / cols;

    float sum[tm][tn] = {};  // in registers, once the loops over it are unrolled
    for (int phase = 0; phase < ceil_div(k, bk); ++phase) {
        // A tile has four elements for each thread: four rounds. They are counted from 0 and not from the
        // thread's place, so that the compiler knows how many there are.
        for (int first = 0; first < bm * bk; first += threads) {
            const int y = (first + threadIdx.x) / bk, x = threadIdx.x % bk;
            const int row = first_row + y, col = phase * bk + x;
            a_s[y][x] = row < m && col < k ? a[row * k + col] : 0.0f;
        }
        for (int first = 0; first < bk * bn; first += threads) {
            const int y = (first + threadIdx.x) / bn, x = threadIdx.x % bn;
            const int row = phase * bk + y, col = first_col + x;
            b_s[y][x] = row < k && col < n ? b[row * n + col] : 0.0f;
        }
        __syncthreads();  // a thread multiplies what others have loaded
        for (int i = 0; i < bk; ++i) {
            // Read into registers first: each element then serves a row or a column of the square.
            float a_i[tm], b_i[tn];
            for (int r = 0; r < tm; ++r) a_i[r] = a_s[ty + r * rows][i];
            for (int s = 0; s < tn; ++s) b_i[s] = b_s[i][tx + s * cols];
            for (int r = 0; r < tm; ++r) {
                for (int s = 0; s < tn; ++s) sum[r][s] += a_i[r] * b_i[s];
            }
        }
        __syncthreads();  // every thread has used these tiles before the next overwrite them
    }

    for (int r = 0; r < tm; ++r) {
        for (int s = 0; s < tn; ++s) {
            const int row = first_row + ty + r * rows, col = first_col + tx + s * cols;
            if (row < m && col < n) c[row * n + col] = sum[r][s];
        }
    }
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    thread_tile_2d<<<grid, threads>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
    // kata: end
}
