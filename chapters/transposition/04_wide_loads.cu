// 04 Wide loads: a thread loads and stores four elements at a time. Beyond the documents; the model is grids
// 07. Changed from 03: a warp covers four rows of the tile at once, in a quarter of the loads and stores of
// global memory, and a thread has one round instead of four. Only matrices whose sizes are multiples of four
// have rows that begin at multiples of 16 bytes; others take one element at a time, as in 03.
#include "transposition.cuh"

constexpr int tile = 32;      // rows and columns of a block's elements
constexpr int threads = 256;  // per block
constexpr int wide = 4;       // elements of a load or a store

template <int n>
__global__ void __launch_bounds__(threads)
    wide_loads(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
    // kata: begin
    // As in 03, by packs of n neighbouring elements. tile / n threads, side by side, load the packs of a row,
    // each by one load, by way of reinterpret_cast. In shared memory elements are stored one by one. A row of
    // the result has packs, too: each collects n elements of a column of the tile and is stored at once.
    kata::open();
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // As in 03, with blocks of `threads` threads in a line. wide_loads<wide> where every row of both matrices
    // begins at a multiple of `wide` elements, wide_loads<1> elsewhere.
    // Also required: as in 03. No bank conflicts, whatever n is.
    kata::open();
    // kata: end
}
