// 06 Warp tile: a warp computes 64 x 32 results, its lanes in squares of 2 x 2. Beyond the documents; the
// warp tile of CUTLASS, which also lays out its lanes so. Changed from 05: which thread has which results,
// and nothing else. In 05 a warp has 16 x 128 results, and the lanes that want the same pack of B are half a
// warp apart. In a square, neighbouring lanes want the same pack of A, and lanes two apart the same pack of
// B: packs that lanes share in such pairs are served to half of a warp at a time, and not to a quarter. So a
// place along K takes 8 passes over shared memory instead of 12.
#include "gemm.cuh"

constexpr int bm = 128, bn = 128;              // rows and columns of C that a block computes
constexpr int bk = 8;                          // elements along K that are on chip at a time
constexpr int wm = 64, wn = 32;                // rows and columns of C that a warp computes
constexpr int tm = 8, tn = 8;                  // rows and columns of C that a thread computes
constexpr int rows = wm / tm, cols = wn / tn;  // rows and columns of threads in a warp
constexpr int threads = bm * bn / (tm * tn);
constexpr int wide = 4;  // elements of a pack
static_assert(bm * bk == threads * wide && bk * bn == threads * wide, "a thread loads one pack of each tile");
static_assert(rows * cols == 32 && rows % 2 == 0 && cols % 2 == 0,
              "a warp is made of squares of 2 x 2 lanes");

/// Neighbouring elements. The alignment makes a load or a store of them one instruction.
struct alignas(wide * sizeof(float)) Pack {
    float at[wide];
};

/// Elements col to col + 3 of a row of a matrix of height x width, 0 for those outside it. col is a multiple
/// of four.
__device__ Pack load(const float* matrix, int height, int width, int row, int col) {
    // kata: begin
    // As in 05.
    kata::open();
    return {};
    // kata: end
}

/// Stores to the same elements, as far as the matrix has them.
__device__ void store(float* matrix, int height, int width, int row, int col, Pack pack) {
    // kata: begin
    // As in 05.
    kata::open();
    // kata: end
}

__global__ void warp_tile(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 05 but for tx and ty, which say which packs the thread multiplies. From its number in the block
    // follows its warp, and from that the warp's tile of wm x wn results in the block's tile; from its lane,
    // its place among rows x cols threads. Every four lanes form a square: lanes 4i and 4i + 1 side by side,
    // 4i + 2 and 4i + 3 below them, and squares one after the other in rows of cols / 2. The thread's packs
    // are rows and cols apart, as before. Its loads from global memory are those of 05.
    kata::open();
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 05.
    // Also required: any m, n and k from 0 on; where k is 0, C is all zeros.
    kata::open();
    // kata: end
}
