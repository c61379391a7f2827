// 03 Padded tile: a row of the tile is one word longer than it has elements. Mirrors transposeNoBankConflicts
// in NVIDIA's "An Efficient Matrix Transpose in CUDA C/C++". Changed from 02: the elements of a column are 33
// words apart, and so each lies in another bank. A warp reads a column in one pass over the banks, not in 32.
#include "transposition.cuh"

constexpr int tile = 32;  // rows and columns of a block's elements
constexpr int high = 8;   // rows of threads: each thread has tile / high elements

__global__ void padded_tile(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // As in 02, and in both loops neighbouring lanes reach different banks of shared memory. Only the array
    // has another shape.
    kata::open();
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // As in 02.
    // Also required: as in 02. No bank conflicts, in a tile at the edge either.
    kata::open();
    // kata: end
}
