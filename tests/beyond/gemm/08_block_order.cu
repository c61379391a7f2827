// 08 Small blocks: a block computes 64 x 128 results, four blocks share a multiprocessor, and they start in
// groups.
//
// Changed against tests/styles/gemm/07_async_copies.fragments_ahead.cu, here called 07: while one block waits
// at its barrier, others compute, and the last wave of blocks is finer. Matrices with fewer tiles than the
// GPU has multiprocessors get still smaller ones; where rows of B are no multiple of four elements, the
// copies are many and a large tile is worth more. Blocks start in groups that share rows of A and columns of
// B. That gains nothing here, where the products take long and four loads of five hit L2 in any order; it
// pays in step 10. NVIDIA H100 80GB HBM3, of cuBLAS: 1024³ 0.95 (07: 0.58), 2048³ 0.85, 4096³ 0.87, 5000³
// 0.96 (0.91), 8192³ 0.89, 8192 x 8192 x 256 0.99 (0.92), 4095³ 0.86, 4097³ 0.81.
#include "gemm.cuh"

#include <cuda_pipeline.h>

constexpr int group = 8;           // rows of blocks that are worked off together
constexpr int bk = 8;              // elements along K that are on chip at a time
constexpr int tm = 8;              // rows of results of a thread
constexpr int stages = 3;          // pairs of tiles on chip: one in use, the others on their way
constexpr int rows = 8, cols = 4;  // of threads in a warp

// bm x bn results of a block, tm x tn of a thread
template <int bm, int bn, int tn, int width>
__global__ void __launch_bounds__(bm* bn / (tm * tn))
    block_order(const float* a, const float* b, float* c, int m, int n, int k) {
    constexpr int threads = bm * bn / (tm * tn), wm = rows * tm, wn = cols * tn;
    __shared__ alignas(16) float a_s[stages][bk][bm + 4], b_s[stages][bk][bn];
    // Blocks start in the order of their indices: down a column of the group, then down the next.
    const int per_group = group * ceil_div(n, bn), in_group = blockIdx.x % per_group;
    const int group_row = blockIdx.x / per_group * group;
    const int group_rows = min(group, ceil_div(m, bm) - group_row);  // the last group may be lower
    const int first_row = (group_row + in_group % group_rows) * bm, first_col = in_group / group_rows * bn;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int tx = warp % (bn / wn) * wn + lane % cols * 4;
    const int ty = warp / (bn / wn) * wm + lane / cols * 4;

    // Begins to copy a pair of tiles, and zeros beyond the end of K. A is transposed on the way, four bytes
    // at a time. Beyond the last row of A and the last column of B, copies of them: what they give is not
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
    // The fragments that row i of the tiles consists of, to this thread
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
                __pipeline_wait_prior(stages - 2);  // this thread's part of the next tiles is there
                __syncthreads();  // everybody's is, and nobody reads any more what the next copies overwrite
                read((phase + 1) % stages, 0);
            }
            for (int r = 0; r < tm; ++r)
                for (int s = 0; s < tn; ++s) sum[r][s] += a_i[i % 2][r] * b_i[i % 2][s];
        }
    }

    for (int r = 0; r < tm; ++r)
        for (int s = 0; s < tn; ++s) {
            const int row = first_row + ty + r / 4 * 4 * rows + r % 4;
            const int col = first_col + tx + s / 4 * 4 * cols + s % 4;
            if (row < m && col < n) c[row * n + col] = sum[r][s];
        }
}

template <int bm, int bn, int tn>
void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
    // Only if n is a multiple of four does every row of B begin at a multiple of 16 bytes.
    const auto kernel = n % 4 == 0 ? block_order<bm, bn, tn, 4> : block_order<bm, bn, tn, 1>;
    kernel<<<ceil_div(m, bm) * ceil_div(n, bn), bm * bn / (tm * tn)>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;  // a grid without blocks cannot be launched
    const auto blocks = [&](int bm, int bn) { return ceil_div(m, bm) * ceil_div(n, bn); };
    if (n % 4 != 0 && blocks(128, 128) >= 128)
        multiply<128, 128, 8>(a, b, c, m, n, k);
    else if (blocks(64, 128) >= 128)
        multiply<64, 128, 8>(a, b, c, m, n, k);
    else
        multiply<64, 64, 8>(a, b, c, m, n, k);
}
