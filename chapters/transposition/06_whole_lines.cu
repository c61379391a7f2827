// 06 Whole lines: a warp stores from where a line of memory begins, whatever the size of the matrix. Beyond
// the documents. Changed from 05: in a matrix of odd sizes, each row of the result begins elsewhere in a line
// of 128 bytes. A block stores, from each row, the lines that begin among its own elements, so it also loads
// up to 31 rows above its tile and leaves as many below to the next block. Tiles of 64 rows have fewer rows
// above them.
#include "transposition.cuh"

constexpr int tile = 64;      // elements of a row of the result that a block stores
constexpr int line = 32;      // elements of a line
constexpr int threads = 256;  // per block
constexpr int wide = 4;       // elements of a load or a store

/// `n` is the size of a pack, `across` the number of columns of a block.
template <int n, int across>
__global__ void __launch_bounds__(threads)
    whole_lines(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
    // kata: begin
    // As in 05, with a tile of `tile` rows of the matrix and `line` more above them. Load what is needed of
    // it. Each row of the result begins somewhere in a line; store from it the `tile` elements that begin at
    // a line, the first of them up to line - 1 elements above the tile.
    kata::open();
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // As in 05, with blocks of 64 columns for packs of `wide` elements and of 32 for single ones. The last
    // line of a row may begin in a tile below the last row.
    // Also required: any sizes. Stores of odd sizes fill whole lines, except at both ends of a row.
    kata::open();
    // kata: end
}
