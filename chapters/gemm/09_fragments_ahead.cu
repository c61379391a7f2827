// 09 Fragments ahead: a thread reads what it multiplies at the next place along K, its fragments, before it
// multiplies those of this place. Beyond the documents; so does CUTLASS, whose warps have two sets of
// fragments. Changed from 08: there are two sets here, too. At the last place of a tile the first fragments
// of the next one are read, right after the barrier. The kernel no longer works out from the number of the
// phase in which stage the tiles are and where the next copies come from, but keeps both and moves them on.
// No product should wait for shared memory then. On an H100 that gains nothing over 08: 1.001 times.
//
// Needs: sm_80
#include "gemm.cuh"

#include <cuda_pipeline.h>

constexpr int bm = 128, bn = 256;              // rows and columns of C that a block computes
constexpr int bk = 16;                         // elements along K in a tile
constexpr int stages = 4;                      // pairs of tiles on chip: one in use, the others on their way
constexpr int wm = 64, wn = 64;                // of the block's results, a warp's
constexpr int tm = 8, tn = 16;                 // of these, a thread's
constexpr int rows = wm / tm, cols = wn / tn;  // of threads in a warp
constexpr int threads = bm * bn / (tm * tn);
constexpr int wide = 4;                                               // elements of a pack
constexpr int a_rows = threads / bk, b_rows = threads / (bn / wide);  // of the tiles, copied at a time
static_assert(bm % a_rows == 0 && bk % b_rows == 0, "all threads copy as much");
static_assert(stages >= 2, "while a pair of tiles is multiplied, another is on its way");
static_assert(bk % 2 == 0, "the first fragments of each tile go into the same of two sets");
static_assert(rows * cols == 32 && rows % 2 == 0 && cols % 2 == 0,
              "a warp is made of squares of 2 x 2 lanes");

/// Neighbouring elements. The alignment is what makes a load, a copy or a store of them one.
struct alignas(wide * sizeof(float)) Pack {
    float at[wide];
};

/// A stage: a tile of A, transposed, and one of B.
struct Tiles {
    Pack a[bk][bm / wide + 1], b[bk][bn / wide];
};

/// Begins to copy element col of a row of a matrix of height x width, or the pack that begins there, to
/// shared memory; zeros, if the matrix has no such element.
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

/// The stage that is next in turn.
__device__ int behind(int stage) { return stage + 1 < stages ? stage + 1 : 0; }

__global__ void __launch_bounds__(threads)
    fragments_ahead(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 08, with two sets of the packs that are multiplied at a place along K, for even and for odd
    // places. Read those of the next place into one set before you multiply those of this place from the
    // other. After the last place of a tile comes the first one of the next: wait, and meet at the barrier,
    // before you read it. The very first place is read before the loop over phases. Keep the stage that is
    // multiplied, the one that is filled, and pointers to what is copied next, and move them on.
    kata::open();
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 08.
    kata::open();
    // kata: end
}
