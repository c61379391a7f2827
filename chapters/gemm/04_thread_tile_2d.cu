// 04 Thread tile, 2-D: a thread computes a square of TM x TN = 8 x 8 results.
//
// SGEMM-1D announces it at its end and does not list it. Changed from 03: what a thread has read
// of a row and of a column serves a whole square, 64 products for 16 elements, and the block's tile
// grows to 128 x 128. Loads per result: K/64 from global memory instead of K/32, and K/4 from shared
// memory instead of 9K/8.
//
// The square is spread over the block's tile: a thread's results lie 16 rows and 16 columns apart. So
// sixteen neighbouring threads read neighbouring elements of B, without bank conflicts, and store
// neighbouring elements of C; with eight results side by side these would lie eight elements apart.
#include "gemm.cuh"

constexpr int bm = 128, bn = 128;              // rows and columns of C that a block computes
constexpr int bk = 8;                          // elements along K that are on chip at a time
constexpr int tm = 8, tn = 8;                  // rows and columns of results of a thread
constexpr int rows = bm / tm, cols = bn / tn;  // rows and columns of threads in a block
constexpr int threads = rows * cols;
static_assert(threads % bk == 0 && threads % bn == 0, "in each round of loading a thread keeps its column");

__global__ void thread_tile_2d(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // A block has rows x cols threads in a row, and each computes tm x tn results: rows ty, ty + rows, … and
    // columns tx, tx + cols, … of the block's tile. The tiles of A and B have more elements than the block
    // has threads: load them in steps of the block. Then for each of the bk places along K: tm elements of A
    // and tn of B into local arrays, and each with each. The guards are those of 03.
    kata::open();
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 03, with larger tiles.
    // Also required: any m, n and k from 0 on; where k is 0, C is all zeros.
    kata::open();
    // kata: end
}
