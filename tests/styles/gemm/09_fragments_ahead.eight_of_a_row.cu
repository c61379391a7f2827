// Of A's tile eight neighbours of a row at a time, one sector, which go into eight banks: no bank conflicts, in two loops more. The place
// along K at which copies begin is in the middle of a tile, and the kernel tells nvcc nothing of its threads.
#include "gemm.cuh"

#include <cuda_pipeline.h>

constexpr int bm = 128, bn = 256;              // rows and columns of C that a block computes
constexpr int bk = 16;                         // elements along K in a tile
constexpr int stages = 3;                      // pairs of tiles on chip: one in use, the others on their way
constexpr int wm = 64, wn = 64;                // of the block's results, a warp's
constexpr int tm = 8, tn = 16;                 // of these, a thread's
constexpr int rows = wm / tm, cols = wn / tn;  // of threads in a warp
constexpr int threads = bm * bn / (tm * tn);
constexpr int wide = 4;  // elements of a pack


static_assert(rows * cols == 32 && rows % 2 == 0 && cols % 2 == 0,
              "a warp is made of squares of 2 x 2 lanes");

/// Neighbouring elements. The alignment is what makes a load, a copy or a store of them one.
struct alignas(wide * sizeof(float)) Pack {
    float at[wide];
};

struct Tiles {
    Pack a[bk][bm / wide + 1], b[bk][bn / wide];
};

/// Begins to copy element col of a row of a matrix of height x width, or the pack that begins there, to
/// shared memory; zeros, if the matrix has no such element.
template <typename T>
__device__ void begin_copy(T& to, const float* matrix, int height, int width, int row, int col) {
    const bool inside = row < height && col < width;
    // The last argument is how many bytes are not read and 0. The address must be a right one all the same.
    __pipeline_memcpy_async(&to, &matrix[inside ? row * width + col : 0], sizeof(T), inside ? 0 : sizeof(T));
}

/// Stores elements col to col + 3 of a row, as far as the matrix has them. col is a multiple of four.
__device__ void store(float* matrix, int height, int width, int row, int col, Pack pack) {
    if (row >= height || col >= width) return;
    float* const first = &matrix[row * width + col];
    if (width % wide == 0) {
        *reinterpret_cast<Pack*>(first) = pack;
    } else {
        for (int i = 0; i < wide; ++i)
            if (col + i < width) first[i] = pack.at[i];
    }
}

__global__ void async_copies(const float* a, const float* b, float* c, int m, int n, int k) {
    extern __shared__ Tiles tiles[];  // stages of them
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    const int lane = threadIdx.x % 32, square = lane / 4, warp = threadIdx.x / 32;
    const int lane_x = square % (cols / 2) * 2 + lane % 2, lane_y = square / (cols / 2) * 2 + lane / 2 % 2;
    const int tx = warp % (bn / wn) * (wn / wide) + lane_x, ty = warp / (bn / wn) * (wm / wide) + lane_y;
    // Of A one place along K in every 32nd row, and the one that is eight further; of B a pack in every fourth row.
    const int a_y = threadIdx.x / 8, a_x = threadIdx.x % 8;
    const int b_y = threadIdx.x / (bn / wide), b_x = threadIdx.x % (bn / wide);

    const int phases = ceil_div(k, bk), col = first_col + b_x * wide;
    const bool whole = first_row + bm <= m && first_col + bn <= n && n % wide == 0;
    const auto fetch = [&](int phase) {
        if (phase < phases) {
            Tiles& to = tiles[phase % stages];
            const int i = phase * bk;
            for (int x = 0; x < bk; x += 8) {
                for (int y = 0; y < bm; y += threads / 8) {
                    float& at = to.a[a_x + x][(a_y + y) / wide].at[(a_y + y) % wide];
                    if (whole && i + bk <= k)
                        __pipeline_memcpy_async(&at, &a[(first_row + a_y + y) * k + i + a_x + x], sizeof(float));
                    else
                        begin_copy(at, a, m, k, first_row + a_y + y, i + a_x + x);
                }
            }
            for (int y = 0; y < bk; y += threads / (bn / wide)) {
                if (whole && i + bk <= k) {
                    __pipeline_memcpy_async(&to.b[b_y + y][b_x], &b[(i + b_y + y) * n + col], sizeof(Pack));
                } else if (n % wide == 0) {
                    begin_copy(to.b[b_y + y][b_x], b, k, n, i + b_y + y, col);
                } else {
                    for (int x = 0; x < wide; ++x) begin_copy(to.b[b_y + y][b_x].at[x], b, k, n, i + b_y + y, col + x);
                }
            }
        }
        __pipeline_commit();  // behind the end of K, too: whoever waits counts groups
    };
    for (int phase = 0; phase < stages - 1; ++phase) fetch(phase);
    Pack a_i[2][tm / wide], b_i[2][tn / wide];
    const auto read = [&](int phase, int i) {
        const Tiles& from = tiles[phase % stages];
        for (int r = 0; r < tm / wide; ++r) a_i[i % 2][r] = from.a[i][ty + r * rows];
        for (int s = 0; s < tn / wide; ++s) b_i[i % 2][s] = from.b[i][tx + s * cols];
    };

    Pack sum[tm][tn / wide] = {};
    __pipeline_wait_prior(stages - 2);
    __syncthreads();
    read(0, 0);
    for (int phase = 0; phase < phases; ++phase) {
#pragma unroll
        for (int i = 0; i < bk; ++i) {
            if (i < bk - 1) {
                read(phase, i + 1);
            } else {
                __pipeline_wait_prior(stages - 2);
                __syncthreads();
                read(phase + 1, 0);
            }
            if (i == bk / 2) fetch(phase + stages - 1);
            for (int r = 0; r < tm; ++r) {
                for (int s = 0; s < tn; ++s)
                    sum[r][s / wide].at[s % wide] += a_i[i % 2][r / wide].at[r % wide] * b_i[i % 2][s / wide].at[s % wide];
            }
        }
    }

    for (int r = 0; r < tm; ++r) {
        const int row = first_row + (ty + r / wide * rows) * wide + r % wide;
        for (int s = 0; s < tn / wide; ++s)
            store(c, m, n, row, first_col + (tx + s * cols) * wide, sum[r][s]);
    }
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    constexpr int bytes = stages * sizeof(Tiles);
    check(cudaFuncSetAttribute(async_copies, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    async_copies<<<grid, threads, bytes>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
