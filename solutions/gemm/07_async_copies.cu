// 07 Async copies: tiles are copied into shared memory while the block multiplies those before them. Beyond
// the documents; the multistage pipeline of CUTLASS. Changed from 06: what goes into a tile passes through no
// register. A thread begins a copy, and waits for it three tiles later, so a block computes while memory
// answers. The copies go into tiles that no thread reads, so one barrier a tile is enough instead of two.
//
// A copy brings 4, 8 or 16 bytes that are neighbours in both places. Elements of A are not neighbours in its
// transposed tile, and are copied one at a time. Copies past registers need sm_80: before it, the same calls
// load and store at once, which is right and gains less.
#include "gemm.cuh"

#include <cuda_pipeline.h>

constexpr int bm = 128, bn = 128;              // rows and columns of C that a block computes
constexpr int bk = 8;                          // elements along K in a tile
constexpr int stages = 4;                      // pairs of tiles on chip: one in use, the others in flight
constexpr int wm = 64, wn = 32;                // rows and columns of C that a warp computes
constexpr int tm = 8, tn = 8;                  // rows and columns of C that a thread computes
constexpr int rows = wm / tm, cols = wn / tn;  // rows and columns of threads in a warp
constexpr int threads = bm * bn / (tm * tn);
constexpr int wide = 4;  // elements of a pack
static_assert(threads % bk == 0 && bk * bn == threads * wide, "a thread copies a column of A, a pack of B");
static_assert(stages >= 2, "while a pair of tiles is multiplied, another is in flight");
static_assert(rows * cols == 32 && rows % 2 == 0 && cols % 2 == 0,
              "a warp is made of squares of 2 x 2 lanes");

/// Neighbouring elements. The alignment makes a load, a copy or a store of them one instruction.
struct alignas(wide * sizeof(float)) Pack {
    float at[wide];
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

/// With two blocks on a multiprocessor, so with 128 registers for a thread: while one of them is at its
/// barrier, the other multiplies.
__global__ void __launch_bounds__(threads, 2)
    async_copies(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    __shared__ Pack a_s[stages][bk][bm / wide + 1], b_s[stages][bk][bn / wide];
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    // As in 06: squares of 2 x 2 lanes, cols / 2 of them side by side, in the tile of the warp.
    const int lane = threadIdx.x % 32, square = lane / 4, warp = threadIdx.x / 32;
    const int lane_x = square % (cols / 2) * 2 + lane % 2, lane_y = square / (cols / 2) * 2 + lane / 2 % 2;
    const int tx = warp % (bn / wn) * (wn / wide) + lane_x, ty = warp / (bn / wn) * (wm / wide) + lane_y;
    // The thread copies one place along K in every (threads / bk)th row of A, and one pack of B.
    const int a_y = threadIdx.x / bk, a_x = threadIdx.x % bk;
    const int b_y = threadIdx.x / (bn / wide), b_x = threadIdx.x % (bn / wide);

    const int phases = ceil_div(k, bk), col = first_col + b_x * wide;
    // Tested once, and not for each copy: do the matrices have all rows and columns of this block?
    const bool inside = first_row + bm <= m && first_col + bn <= n && n % wide == 0;
    const auto fetch = [&](int phase) {
        const int stage = phase % stages, i = phase * bk;
        // Counted from 0 and not from a_y: nvcc then knows the rounds, and leaves no loop.
        if (inside && i + bk <= k) {
            // An element at a time, because neighbours in a row of A lie in different rows of the transposed
            // tile. Eight threads still copy eight neighbours in a row, a whole sector.
            for (int y = 0; y < bm; y += threads / bk)
                __pipeline_memcpy_async(&a_s[stage][a_x][(a_y + y) / wide].at[(a_y + y) % wide],
                                        &a[(first_row + a_y + y) * k + i + a_x], sizeof(float));
            __pipeline_memcpy_async(&b_s[stage][b_y][b_x], &b[(i + b_y) * n + col], sizeof(Pack));
        } else if (phase < phases) {
            for (int y = 0; y < bm; y += threads / bk)
                begin_copy(a_s[stage][a_x][(a_y + y) / wide].at[(a_y + y) % wide], a, m, k,
                           first_row + a_y + y, i + a_x);
            // Rows of B begin at multiples of 16 bytes only if n is a multiple of four.
            if (n % wide == 0) {
                begin_copy(b_s[stage][b_y][b_x], b, k, n, i + b_y, col);
            } else {
                for (int x = 0; x < wide; ++x)
                    begin_copy(b_s[stage][b_y][b_x].at[x], b, k, n, i + b_y, col + x);
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
        // Into the tiles of the phase before, which every thread has multiplied before the barrier.
        fetch(phase + stages - 1);
        const int stage = phase % stages;
#pragma unroll
        for (int i = 0; i < bk; ++i) {
            Pack a_i[tm / wide], b_i[tn / wide];
            for (int r = 0; r < tm / wide; ++r) a_i[r] = a_s[stage][i][ty + r * rows];
            for (int s = 0; s < tn / wide; ++s) b_i[s] = b_s[stage][i][tx + s * cols];
            for (int r = 0; r < tm; ++r) {
                for (int s = 0; s < tn; ++s)
                    sum[r][s / wide].at[s % wide] += a_i[r / wide].at[r % wide] * b_i[s / wide].at[s % wide];
            }
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
    async_copies<<<grid, threads>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
    // kata: end
}
