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
    // As in 07, in a loop over the packs of the tile: number threadIdx.x, and every `threads`th after it. A
    // pack is inside the matrix or outside, never both.
    kata::open();
    // kata: end
}

/// Stores a fragment at (row, col) of a matrix of height x width, as far as it has these elements, by way of
/// a patch of shared memory that no other warp uses.
__device__ void store(float* matrix, int height, int width, int row, int col, const Sum& sum,
                      float (&patch)[side][side]) {
    // kata: begin
    // wmma::store_matrix_sync() stores all 16 x 16 elements, from an address on, in rows that are `width`
    // apart. It will do where the matrix has them all. Elsewhere store to the patch, wait for the warp, let
    // each lane take every 32nd element of it, and wait again before the patch is used again.
    kata::open();
    // kata: end
}

__global__ void __launch_bounds__(threads, 2)
    tensor_cores(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    // kata: begin
    // Tiles, stages and phases as in 07: wait for your copies, then for the block, then begin the copies of
    // the next phase. Each row of a tile has `padding` elements more than are used, which load_matrix_sync()
    // must know. The sum of a warp is 4 x 4 fragments, cleared first. For every 16 places along K a warp
    // loads four fragments of A and four of B, and multiplies each of A by each of B. In the end it stores
    // the fragments of its sum.
    kata::open();
    // kata: end
}

void gemm_bf16(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 02, with this step's tiles and threads.
    // Also required: any m from 0 on; n and k are multiples of 8, also 0.
    kata::open();
    // kata: end
}
