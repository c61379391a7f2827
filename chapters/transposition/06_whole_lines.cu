// 06 Whole lines: a warp stores from where a line of memory begins, whatever the size of the matrix. Beyond
// the documents. Changed from 05: in a matrix of odd sizes, each row of the result begins elsewhere in a line
// of 128 bytes. A block stores, from each row, the lines that begin among its own elements, so it also loads
// up to 31 rows above its tile and leaves as many below to the next block. Rows of odd length begin anywhere
// in a pack, too: packs are loaded and stored where memory has them, and meet shifted in the tile. Blocks are
// numbered down the matrix first. On an H200 at 16383 rows, packs got from 0.78 of a copy to 0.86, and this
// order to 0.91, with registers for all loads of a thread (0.72 without the 4 in the launch bounds). At 16384
// rows, all together got from 0.92 to 0.97.
#include "transposition.cuh"

constexpr int tile = 64;      // rows of the matrix whose elements a block stores, and its columns at most
constexpr int line = 32;      // elements of a line
constexpr int threads = 256;  // of a block
constexpr int wide = 4;       // elements of a load or a store

/// `across` is the number of columns of a block: all that are in the packs of its rows.
__global__ void __launch_bounds__(threads, 4)
    whole_lines(const float* __restrict__ in, float* __restrict__ out, int rows, int columns, int across) {
    // kata: begin
    // As in 05, with `line` rows of the matrix above the tile, and blocks numbered down the matrix first.
    // Load packs where they begin in memory, up to three elements before the block's columns. Each row of the
    // result begins somewhere in a line; store from it the `tile` elements that begin at a line, the first of
    // them up to line - 1 elements above the tile. Single elements only where a row or the matrix ends.
    kata::open();
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // A block has as many columns as its 16 packs hold wherever its rows begin. The last line of a row may
    // begin in a tile below the last row.
    // Also required: any sizes. Stores of odd sizes fill whole lines, except at both ends of a row.
    kata::open();
    // kata: end
}
