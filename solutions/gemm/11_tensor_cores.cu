// 11 Tensor cores: a warp multiplies fragments of 16 x 16 elements, each product one call of all its lanes
// together. Beyond the documents; after NVIDIA's sample cudaTensorCoreGemm and the chapter "Warp Matrix
// Functions" of the CUDA C++ Programming Guide. Changed from the steps before: A and B are bfloat16, of 8
// significant bits, and the products are a tensor core's, which adds them up in float. The hardware decides
// which lane holds which element of a fragment. So A need not be transposed on chip, and a thread does not
// know the rows and columns of its results. An element has two bytes, and rows begin at multiples of 16
// bytes: every copy brings eight elements, and each pack of eight is inside the matrix or outside.
//
// Needs: sm_80
#include "bf16.cuh"

#include <cuda_pipeline.h>
#include <mma.h>

constexpr int bm = 128, bn = 128;  // rows and columns of C that a block computes
constexpr int bk = 32;             // elements along K in a tile
constexpr int stages = 2;          // pairs of tiles on chip: one in use, the other in flight
constexpr int wm = 64, wn = 64;    // rows and columns of C that a warp computes
constexpr int side = 16;           // rows and columns of a fragment
constexpr int threads = bm / wm * (bn / wn) * 32;
constexpr int wide = 8;  // elements of a pack of 16 bytes
// After each row of a tile. Eight rows that are read at once, 16 bytes of each, then lie in all 32 banks.
constexpr int padding = wide;

using namespace nvcuda;
using FragmentOfA = wmma::fragment<wmma::matrix_a, side, side, side, bf16, wmma::row_major>;
using FragmentOfB = wmma::fragment<wmma::matrix_b, side, side, side, bf16, wmma::row_major>;
using Sum = wmma::fragment<wmma::accumulator, side, side, side, float>;

/// Begins to copy the tile at (first_row, first_col) of a matrix of height x width, with zeros for what the
/// matrix does not have. first_col and width are multiples of eight.
template <int rows, int cols>
__device__ void begin_copies(bf16 (&tile)[rows][cols + padding], const bf16* matrix, int height, int width,
                             int first_row, int first_col) {
    // kata: begin
    // i counts elements of the tile without padding. Neighbouring threads copy neighbouring packs of a row.
    for (int i = threadIdx.x * wide; i < rows * cols; i += threads * wide) {
        const int y = i / cols, x = i % cols, row = first_row + y, col = first_col + x;
        // True for the whole pack: col and width are multiples of eight. Zeros are needed along K, where they
        // are multiplied by the other factor. The address must be valid all the same.
        const bool inside = row < height && col < width;
        constexpr int bytes = wide * sizeof(bf16);
        __pipeline_memcpy_async(&tile[y][x], &matrix[inside ? row * width + col : 0], bytes,
                                inside ? 0 : bytes);
    }
    // kata: end
}

/// Stores a fragment at (row, col) of a matrix of height x width, as far as it has these elements, by way of
/// a patch of shared memory that no other warp uses.
__device__ void store(float* matrix, int height, int width, int row, int col, const Sum& sum,
                      float (&patch)[side][side]) {
    // kata: begin
    // The same condition in all lanes: they must make each call together.
    if (row + side <= height && col + side <= width) {
        wmma::store_matrix_sync(&matrix[row * width + col], sum, width, wmma::mem_row_major);
        return;
    }
    // CUDA does not say which lane has which element, so the rows and columns are known in memory only.
    wmma::store_matrix_sync(&patch[0][0], sum, side, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x % 32; i < side * side; i += 32) {
        const int y = i / side, x = i % side;
        if (row + y < height && col + x < width) matrix[(row + y) * width + col + x] = patch[y][x];
    }
    __syncwarp();  // before the patch is written again
    // kata: end
}

__global__ void __launch_bounds__(threads, 2)
    tensor_cores(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    // kata: begin
    // Tensor cores load and store from multiples of 32 bytes on.
    alignas(32) __shared__ bf16 a_s[stages][bm][bk + padding], b_s[stages][bk][bn + padding];
    alignas(32) __shared__ float patches[threads / 32][side][side];
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    const int warp = threadIdx.x / 32;
    // The warps stand in rows of bn / wn: where the results of this one begin in the block's tile.
    const int wy = warp / (bn / wn) * wm, wx = warp % (bn / wn) * wn;

    const int phases = ceil_div(k, bk);
    const auto fetch = [&](int phase) {
        if (phase < phases) {
            begin_copies<bm, bk>(a_s[phase % stages], a, m, k, first_row, phase * bk);
            begin_copies<bk, bn>(b_s[phase % stages], b, k, n, phase * bk, first_col);
        }
        // A group is committed after the end of K, too, as in 07, because the wait counts groups.
        __pipeline_commit();
    };
    for (int phase = 0; phase < stages - 1; ++phase) fetch(phase);

    Sum sum[wm / side][wn / side];
    for (auto& row : sum)
        for (auto& fragment : row) wmma::fill_fragment(fragment, 0.0f);
    for (int phase = 0; phase < phases; ++phase) {
        // With two stages none may be in flight: the tiles of this phase are the latest group.
        __pipeline_wait_prior(stages - 2);
        __syncthreads();
        // Into the stage that all warps have multiplied before the barrier. It arrives during the products
        // below.
        fetch(phase + stages - 1);
        const int stage = phase % stages;
        // All fragments of a place are loaded before they are multiplied: each serves a row or a column of
        // the sum, and is loaded once.
#pragma unroll
        for (int i = 0; i < bk; i += side) {
            FragmentOfA a_i[wm / side];
            FragmentOfB b_i[wn / side];
            for (int r = 0; r < wm / side; ++r)
                wmma::load_matrix_sync(a_i[r], &a_s[stage][wy + r * side][i], bk + padding);
            for (int s = 0; s < wn / side; ++s)
                wmma::load_matrix_sync(b_i[s], &b_s[stage][i][wx + s * side], bn + padding);
            for (int r = 0; r < wm / side; ++r)
                for (int s = 0; s < wn / side; ++s) wmma::mma_sync(sum[r][s], a_i[r], b_i[s], sum[r][s]);
        }
    }

#pragma unroll
    for (int r = 0; r < wm / side; ++r)
#pragma unroll
        for (int s = 0; s < wn / side; ++s)
            store(c, m, n, first_row + wy + r * side, first_col + wx + s * side, sum[r][s], patches[warp]);
    // kata: end
}

void gemm_bf16(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    // kata: begin
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    tensor_cores<<<grid, threads>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
    // kata: end
}
