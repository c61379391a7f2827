// As in the next step of CUTLASS's ladder: the elements for the next place along K are read from shared
// memory while those of this one are multiplied. The last row of A and the last column of B are repeated past
// the end, and those results are not stored. It has plain arrays of floats, and one template makes two
// kernels, one of them for rows of B that are not aligned.
#include "gemm.cuh"

#include <cuda_pipeline.h>

constexpr int bm = 128, bn = 128;              // rows and columns of C that a block computes
constexpr int bk = 8;                          // elements along K that are on chip at a time
constexpr int wm = 64, wn = 32;                // rows and columns of results of a warp
constexpr int tm = 8, tn = 8;                  // rows and columns of results of a thread
constexpr int stages = 4;                      // pairs of tiles on chip: one in use, the others in flight
constexpr int rows = wm / tm, cols = wn / tn;  // rows and columns of threads of a warp
constexpr int threads = bm * bn / (tm * tn);
static_assert(rows * cols == 32);

template <int width>
__global__ void __launch_bounds__(threads)
    async_pipeline(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ alignas(16) float a_s[stages][bk][bm + 4], b_s[stages][bk][bn];
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int tx = warp % (bn / wn) * wn + (lane / 4 % 2 * 2 + lane % 2) * 4;
    const int ty = warp / (bn / wn) * wm + (lane / 8 * 2 + lane / 2 % 2) * 4;

    // Begins to copy a pair of tiles, and zeros past the end of K. The copy transposes A, four bytes at a
    // time. The last row of A and the last column of B are repeated past the end, and those results are not
    // stored.
    const auto fetch = [&](int phase) {
        const int stage = phase % stages;
        for (int first = 0; first < bm * bk; first += threads) {
            const int y = (first + threadIdx.x) / bk, x = threadIdx.x % bk;
            const int row = min(first_row + y, m - 1), col = phase * bk + x;
            const bool inside = col < k;
            __pipeline_memcpy_async(&a_s[stage][x][y], &a[inside ? row * k + col : 0], 4, inside ? 0 : 4);
        }
        for (int first = 0; first < bk * bn; first += threads * width) {
            const int i = first + threadIdx.x * width, y = i / bn, x = i % bn;
            const int row = phase * bk + y, col = min(first_col + x, n - width);
            const bool inside = row < k;
            __pipeline_memcpy_async(&b_s[stage][y][x], &b[inside ? row * n + col : 0], 4 * width,
                                    inside ? 0 : 4 * width);
        }
        __pipeline_commit();
    };
    // The fragments of this thread in row i of the tiles.
    alignas(16) float a_i[2][tm], b_i[2][tn];
    const auto read = [&](int stage, int i) {
        for (int r = 0; r < tm; r += 4)
            *reinterpret_cast<float4*>(&a_i[i % 2][r]) =
                *reinterpret_cast<float4*>(&a_s[stage][i][ty + r * rows]);
        for (int s = 0; s < tn; s += 4)
            *reinterpret_cast<float4*>(&b_i[i % 2][s]) =
                *reinterpret_cast<float4*>(&b_s[stage][i][tx + s * cols]);
    };

    float sum[tm][tn] = {};
    for (int phase = 0; phase < stages - 1; ++phase) fetch(phase);
    __pipeline_wait_prior(stages - 2);
    __syncthreads();
    read(0, 0);
    for (int phase = 0; phase < ceil_div(k, bk); ++phase) {
        fetch(phase + stages - 1);  // beyond the end of K, zeros
#pragma unroll
        for (int i = 0; i < bk; ++i) {
            if (i < bk - 1) {
                read(phase % stages, i + 1);
            } else {
                __pipeline_wait_prior(stages - 2);  // this thread's part of the next tiles has arrived
                __syncthreads();  // so have all parts, and what the next copies overwrite has been read
                read((phase + 1) % stages, 0);
            }
            for (int r = 0; r < tm; ++r)
                for (int s = 0; s < tn; ++s) sum[r][s] += a_i[i % 2][r] * b_i[i % 2][s];
        }
    }

    for (int r = 0; r < tm; ++r)
        for (int s = 0; s < tn; s += width) {
            const int row = first_row + ty + r / 4 * 4 * rows + r % 4;
            const int col = first_col + tx + s / 4 * 4 * cols + s % 4;
            if (row >= m || col >= n) continue;
            if constexpr (width == 4)
                *reinterpret_cast<float4*>(&c[row * n + col]) =
                    make_float4(sum[r][s], sum[r][s + 1], sum[r][s + 2], sum[r][s + 3]);
            else
                c[row * n + col] = sum[r][s];
        }
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;  // a grid without blocks cannot be launched
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    // Only if n is a multiple of four does every row of B begin at a multiple of 16 bytes.
    const auto kernel = n % 4 == 0 ? async_pipeline<4> : async_pipeline<1>;
    kernel<<<grid, threads>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
