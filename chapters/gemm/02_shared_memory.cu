// 02 Shared memory: a block walks along K with a tile of A and a tile of B on chip.
//
// The step that SGEMM-1D starts from and does not list. Changed from 01: an element that a block
// has loaded serves a whole row or column of its threads.
// Loads per result: K/16 from global memory instead of 2K, and 2K from shared memory.
#include "gemm.cuh"

constexpr int tile = 32;  // threads, and elements of each tile, per side

__global__ void shared_memory(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // Two arrays of tile x tile floats in shared memory. For each phase, of which there are ceil_div(k,
    // tile): each thread loads one element of A's tile and one of B's, 0 where row or column lie outside the
    // matrix; a barrier; tile products from shared memory; another barrier, before the tiles are overwritten.
    // No thread may leave before the last barrier. Store at the end, if the element exists.
    kata::open();
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 01; the block is as large as the tile.
    // Also required: any m, n and k from 0 on; where k is 0, C is all zeros.
    kata::open();
    // kata: end
}
