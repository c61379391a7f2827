// 06 Register tiles: a thread computes several scores, and several elements of O, at a time. Beyond the
// documents; the model is gemm 04. Changed from 05: the block's 256 threads are a square of 16 x 16. A thread
// has four queries and two keys of a tile, so that what it reads of a query serves two scores, and what it
// reads of a key four. Then it has the same queries and every sixteenth column of O. The weights that it
// needs there are computed by its neighbours in a row of the square, and pass through shared memory. A block
// has twice the queries of 05, and so K and V are loaded half as often.
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
    register_tiles(const float* q, const float* k, const float* v, float* out, int n, bool causal) {
    // kata: begin
    // As in 05, with other shares. For the scores, read the thread's four queries and two keys at place i of
    // their rows into registers, and multiply each by each. The largest score of a query, and in the end its
    // sum, is over 16 neighbouring lanes. Store the weights to shared memory; then read the four weights and
    // the d / 16 values of key j into registers, and multiply each by each.
    kata::open();
    // kata: end
}

template <int d>
void attend(const float* q, const float* k, const float* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    // A block for each 64 queries of each head. More than 48 KiB of shared memory must be requested first:
    // cudaFuncSetAttribute.
    // Also required: from 0 to 65535 heads, any n from 0 on, with or without `causal`; q, k and v are only
    // read.
    kata::open();
    // kata: end
}
