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
    // As in 07.
    kata::open();
    // kata: end
}

/// Stores elements col to col + 3 of a row, as far as the matrix has them. col is a multiple of four.
__device__ void store(float* matrix, int height, int width, int row, int col, Pack pack) {
    // kata: begin
    // As in 05.
    kata::open();
    // kata: end
}

__global__ void __launch_bounds__(threads)
    large_tiles(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 07, with one array of Tiles in dynamic shared memory, `stages` of them, and with eight elements
    // of A and four packs of B for each thread to copy. At a place along K a thread reads two packs of A and
    // four of B. Begin the copies of a phase after the products of place 0.
    kata::open();
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 05. Request the tiles' bytes with cudaFuncSetAttribute, and pass them to the launch, too.
    // Also required: any m, n and k from 0 on; where k is 0, C is all zeros.
    kata::open();
    // kata: end
}
