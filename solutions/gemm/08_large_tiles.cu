// 08 Large tiles: a block computes 128 x 256 results, and a thread 8 x 16. Beyond the documents; CUTLASS has
// kernels of this form. Changed from 07: with 8 x 16 results a thread reads 6 packs for 128 products, where
// it read 4 for 64, and the block needs three quarters of the elements for each of its results. The sums fill
// 128 registers, which leaves a multiprocessor room for one block only. Tiles are twice as deep, with half as
// many barriers, and copies begin after the products of a tile's first place, so that the first thing after a
// barrier is to multiply. On an H100 that is 1.14 times as fast.
//
// Needs: sm_80
#include "gemm.cuh"

#include <cuda_pipeline.h>

constexpr int bm = 128, bn = 256;              // rows and columns of C that a block computes
constexpr int bk = 16;                         // elements along K in a tile
constexpr int stages = 4;                      // pairs of tiles on chip: one in use, the others in flight
constexpr int wm = 64, wn = 64;                // rows and columns of C that a warp computes
constexpr int tm = 8, tn = 16;                 // rows and columns of C that a thread computes
constexpr int rows = wm / tm, cols = wn / tn;  // rows and columns of threads in a warp
constexpr int threads = bm * bn / (tm * tn);
constexpr int wide = 4;                                               // elements of a pack
constexpr int a_rows = threads / bk, b_rows = threads / (bn / wide);  // rows of each tile copied at a time
static_assert(bm % a_rows == 0 && bk % b_rows == 0, "all threads copy the same number of elements");
static_assert(stages >= 2, "while a pair of tiles is multiplied, another is in flight");
static_assert(rows * cols == 32 && rows % 2 == 0 && cols % 2 == 0,
              "a warp is made of squares of 2 x 2 lanes");

/// Neighbouring elements. The alignment makes a load, a copy or a store of them one instruction.
struct alignas(wide * sizeof(float)) Pack {
    float at[wide];
};

/// A stage: a tile of A, transposed, and one of B.
struct Tiles {
    Pack a[bk][bm / wide + 1], b[bk][bn / wide];
};

/// Begins to copy element (row, col) of a matrix, or the pack that begins there, to shared memory. Stores
/// zeros if the matrix, which is height x width, has no such element.
template <typename T>
__device__ void begin_copy(T& to, const float* matrix, int height, int width, int row, int col) {
    // kata: begin
    const bool inside = row < height && col < width;
    // The last argument says how many bytes are not read and become 0. The address must be valid anyway.
    __pipeline_memcpy_async(&to, &matrix[inside ? row * width + col : 0], sizeof(T), inside ? 0 : sizeof(T));
    // kata: end
}

/// Stores elements col to col + 3 of a row, as far as the matrix has them. col is a multiple of four.
__device__ void store(float* matrix, int height, int width, int row, int col, Pack pack) {
    // kata: begin
    if (row >= height || col >= width) return;
    float* const first = &matrix[row * width + col];
    if (width % wide == 0) {
        *reinterpret_cast<Pack*>(first) = pack;
    } else {
        for (int i = 0; i < wide; ++i)
            if (col + i < width) first[i] = pack.at[i];
    }
    // kata: end
}

__global__ void __launch_bounds__(threads)
    large_tiles(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    extern __shared__ Tiles tiles[];  // stages of them, more than a block has by default
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    // As in 06: squares of 2 x 2 lanes, cols / 2 of them side by side, in the tile of the warp.
    const int lane = threadIdx.x % 32, square = lane / 4, warp = threadIdx.x / 32;
    const int lane_x = square % (cols / 2) * 2 + lane % 2, lane_y = square / (cols / 2) * 2 + lane / 2 % 2;
    const int tx = warp % (bn / wn) * (wn / wide) + lane_x, ty = warp / (bn / wn) * (wm / wide) + lane_y;
    // The first element of A and the first pack of B that the thread copies.
    const int a_y = threadIdx.x / bk, a_x = threadIdx.x % bk;
    const int b_y = threadIdx.x / (bn / wide), b_x = threadIdx.x % (bn / wide);

    const int phases = ceil_div(k, bk), col = first_col + b_x * wide;
    // As in 07: tested once for all copies, whose number nvcc must know.
    const bool inside = first_row + bm <= m && first_col + bn <= n && n % wide == 0;
    const auto fetch = [&](int phase) {
        Tiles& to = tiles[phase % stages];
        const int i = phase * bk;
        if (inside && i + bk <= k) {
            // All threads together copy a_rows rows of A and b_rows rows of B at a time. Neighbouring threads
            // copy neighbours in a row, so that sectors are used whole.
            for (int y = 0; y < bm; y += a_rows)
                __pipeline_memcpy_async(&to.a[a_x][(a_y + y) / wide].at[(a_y + y) % wide],
                                        &a[(first_row + a_y + y) * k + i + a_x], sizeof(float));
            for (int y = 0; y < bk; y += b_rows)
                __pipeline_memcpy_async(&to.b[b_y + y][b_x], &b[(i + b_y + y) * n + col], sizeof(Pack));
        } else if (phase < phases) {
            for (int y = 0; y < bm; y += a_rows)
                begin_copy(to.a[a_x][(a_y + y) / wide].at[(a_y + y) % wide], a, m, k, first_row + a_y + y,
                           i + a_x);
            for (int y = 0; y < bk; y += b_rows) {
                if (n % wide == 0) {
                    begin_copy(to.b[b_y + y][b_x], b, k, n, i + b_y + y, col);
                } else {
                    for (int x = 0; x < wide; ++x)
                        begin_copy(to.b[b_y + y][b_x].at[x], b, k, n, i + b_y + y, col + x);
                }
            }
        }
        __pipeline_commit();  // after the end of K, too: the wait counts groups
    };
    // One stage stays free. The loop fills it after its first barrier.
    for (int phase = 0; phase < stages - 1; ++phase) fetch(phase);

    Pack sum[tm][tn / wide] = {};
    for (int phase = 0; phase < phases; ++phase) {
        // stages - 1 groups are in flight, those of this phase and of the stages - 2 after it. The oldest
        // must be there.
        __pipeline_wait_prior(stages - 2);  // this thread's copies for this phase have arrived …
        __syncthreads();                    // … and so have those of the others
        const Tiles& from = tiles[phase % stages];
#pragma unroll
        for (int i = 0; i < bk; ++i) {
            Pack a_i[tm / wide], b_i[tn / wide];
            for (int r = 0; r < tm / wide; ++r) a_i[r] = from.a[i][ty + r * rows];
            for (int s = 0; s < tn / wide; ++s) b_i[s] = from.b[i][tx + s * cols];
            for (int r = 0; r < tm; ++r) {
                for (int s = 0; s < tn; ++s)
                    sum[r][s / wide].at[s % wide] += a_i[r / wide].at[r % wide] * b_i[s / wide].at[s % wide];
            }
            // Into the tiles of the phase before. After the products of place 0: a thread that comes from
            // the barrier multiplies first.
            if (i == 0) fetch(phase + stages - 1);
        }
    }

    for (int r = 0; r < tm; ++r) {
        const int row = first_row + (ty + r / wide * rows) * wide + r % wide;
        for (int s = 0; s < tn / wide; ++s)
            store(c, m, n, row, first_col + (tx + s * cols) * wide, sum[r][s]);
    }
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    // 99 328 bytes, where a kernel has 49 152 unless the host raises its limit.
    constexpr int bytes = stages * sizeof(Tiles);
    check(cudaFuncSetAttribute(large_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    large_tiles<<<grid, threads, bytes>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
    // kata: end
}
