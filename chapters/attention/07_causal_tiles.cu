// 07 Causal tiles: tiles that no query of the block sees are left out. Beyond the documents; the model is
// FlashAttention-2, Dao, 2023. Changed from 06: if query i sees keys 0 to i only, a block ends with the tile
// of its last query. That is about half of all tiles. The last block of a head has most of them, and the
// first one fewest: those with most start first, and the short ones fill the gaps in the end.
#include "attention.cuh"

constexpr int side = 16;  // threads along a side of the square
constexpr int threads = side * side;
constexpr int rows = 4, columns = 2;  // queries and keys of a thread
constexpr int queries = rows * side;  // per block
constexpr int keys = columns * side;  // per tile

/// The shared memory of a block: more than 48 KiB if d is 128.
/// Rows are padded, so that the two rows of queries of a warp are in different banks.
/// So are the elements of a column of K.
template <int d>
struct Tiles {
    float q[queries][d + 1], kv[keys][d + 1], weights[queries][keys + side];
};

template <int d>
__global__ void __launch_bounds__(threads)
    causal_tiles(const float* q, const float* k, const float* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    // As in 06, for the block's head and tile of queries, which you compute from blockIdx.x: the last tiles
    // of all heads come first. Where does the loop over the tiles of keys end?
    kata::open();
    // kata: end
}

template <int d>
void attend(const float* q, const float* k, const float* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    // As in 06, with a grid of one dimension.
    // Also required: from 0 to 65535 heads, any n from 0 on, with or without `causal`; q, k and v are only
    // read.
    kata::open();
    // kata: end
}
