// 03 Thread tile, 1-D: a thread computes a column of TM = 8 results.
//
// Mirrors SGEMM-1D. Changed from 02: a thread reads an element of B from shared memory once and uses
// it for eight results, and the block's tile of C grows to 64 x 64. Loads per result: K/32 from global
// memory instead of K/16, and 9K/8 from shared memory instead of 2K.
#include "gemm.cuh"

constexpr int bm = 64, bn = 64;  // rows and columns of C that a block computes
constexpr int bk = 8;            // elements along K that are on chip at a time
constexpr int tm = 8;            // results of a thread, one below the other
constexpr int threads = bm * bn / tm;
static_assert(bm * bk == threads && bk * bn == threads, "a thread loads one element of each tile");

__global__ void thread_tile_1d(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // A block is a row of 512 threads: turn threadIdx.x into a place three times. In A's tile (bm x bk) and
    // in B's (bk x bn) it says which element the thread loads, in the tile of C (bm x bn) in which column its
    // tm results lie and which of the groups of tm rows they are. For each phase: load, 0 outside the
    // matrices; barrier; multiply; barrier. Take one element of B at a time and use it for all tm sums. Each
    // result has a guard of its own.
    kata::open();
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // The grid counts tiles of bn columns and bm rows; a block has `threads` threads in a row.
    // Also required: any m, n and k from 0 on; where k is 0, C is all zeros.
    kata::open();
    // kata: end
}
