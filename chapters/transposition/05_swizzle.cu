// 05 Swizzle: a row of the tile has its packs in an order of its own. Beyond the documents; the model is the
// swizzled layout of CUTLASS. Changed from 04: without padding, rows begin at multiples of 16 bytes, so that
// a pack is stored into the tile at once, like everywhere else. Pack p of row r stands in place p XOR r / n:
// n rows have the same order, and the packs of a column are in different banks.
#include "transposition.cuh"

constexpr int tile = 32;      // rows and columns of a block's elements
constexpr int threads = 256;  // per block
constexpr int wide = 4;       // elements of a load or a store

template <int n>
__global__ void __launch_bounds__(threads)
    swizzle(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
    // kata: begin
    // As in 04, with a tile of packs and no padding. A pack of the matrix is stored into the tile at once.
    // Its place in its row depends on the row: XOR of the number of the pack and that of the row divided by
    // n. A read of an element finds its pack there.
    kata::open();
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // As in 04.
    // Also required: as in 04. A pack goes into the tile in one store, and there are no bank conflicts.
    kata::open();
    // kata: end
}
