// 09 Fragments ahead: a thread reads what it multiplies at the next place along K, its fragments, before it
// multiplies those of this place. Beyond the documents; CUTLASS does so, too, with two sets of fragments for
// each warp. Changed from 08: there are two sets here, too. At the last place of a tile the first fragments
// of the next one are read, right after the barrier. Other delays are gone: copies no longer begin all at
// place 0, but one at a place, and none tests whether its element exists. Products go down a column of
// results and up the next, so that each shares a factor with the one before. On an H100 all that is 1.11
// times as fast.
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
constexpr int wide = 4;               // elements of a pack
constexpr int a_rows = threads / bk;  // rows of a tile of A that are copied at a time
static_assert(bm % a_rows == 0 && a_rows % wide == 0, "threads copy equally many elements, in whole packs");
static_assert(stages >= 2, "while a pair of tiles is multiplied, another is in flight");
static_assert(bk % 2 == 0, "the first fragments of each tile go into the same of two sets");
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

/// Begins to copy an element, or a pack, to shared memory. Stores zeros for those outside of the matrix.
template <typename T>
__device__ void begin_copy(float* to, const float* from, bool zeros) {
    // kata: begin
    // As in 07, but the caller says whether it is zeros.
    kata::open();
    // kata: end
}

/// Returns the same sums in other registers, because a pack is stored from four neighbouring ones. If the
/// sums had to stay in these, more products would have both factors and their sum in one register bank. nvcc
/// cannot leave out the addition, as -0 + 0 is 0.
__device__ Pack elsewhere(Pack sum) {
    for (int i = 0; i < wide; ++i) sum.at[i] += 0.0f;
    return sum;
}

/// Stores elements col to col + 3 of a row, as far as the matrix has them. col is a multiple of four.
__device__ void store(float* matrix, int height, int width, int row, int col, Pack pack) {
    // kata: begin
    // As in 05.
    kata::open();
    // kata: end
}

/// Unit is what a copy of B brings: a Pack, or a float where rows of B do not begin at multiples of 16 bytes.
template <typename Unit>
__global__ void __launch_bounds__(threads)
    fragments_ahead(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 08, with two sets of the packs that are multiplied at a place along K, for even and for odd
    // places. Read those of the next place into one set before you multiply those of this place from the
    // other. After the last place of a tile comes the first one of the next: wait, and meet at the barrier,
    // before you read it. The very first place is read before the loop over phases. Begin as few of the
    // copies at each place as will do. They need no test if a row or column past the end of C is its last
    // one, and if the first tile has the part of K that fills no whole tile, and zeros: that one is copied
    // before the loop. Keep pointers to where copies come from and go to, and move them on. Products of a
    // column of results go from its first row to its last, and those of the next column back. Store what
    // elsewhere() returns.
    kata::open();
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 08.
    // Also required: any m, n and k from 0 on; where k is 0, C is all zeros.
    kata::open();
    // kata: end
}
