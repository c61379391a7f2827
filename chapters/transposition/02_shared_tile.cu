// 02 Shared tile: a block turns its tile round in shared memory. Mirrors transposeCoalesced in NVIDIA's
// "An Efficient Matrix Transpose in CUDA C/C++". Changed from 01: a warp loads a row of the tile and stores a
// row of the result, which is a column of the tile. One line loaded, one line stored, not 32. But the lanes
// that read a column of the tile meet in one bank of shared memory.
#include "transposition.cuh"

constexpr int tile = 32;  // rows and columns of a block's elements
constexpr int high = 8;   // rows of threads: each thread has tile / high elements

__global__ void shared_tile(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // A tile of shared memory for the square. The threads load it row by row, as in 01. After a barrier they
    // store the result row by row, too, each row from a column of the tile. Either square may reach beyond
    // its own matrix: check loads against the size of the input, stores against that of the result.
    kata::open();
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // As in 01.
    // Also required: as in 01. A warp reaches one line of memory, when it loads and when it stores.
    kata::open();
    // kata: end
}
