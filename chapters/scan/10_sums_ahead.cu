// 10 Sums ahead: blocks stay, and publish the sum of a tile long before they scan it. Beyond the documents;
// CUB's newer scan, decoupled lookahead, is made of these ideas (CUDA 13.0 has the older one). Changed from
// 09: there are as many blocks as the GPU runs at a time, and each takes tile after tile. Asynchronous copies
// bring the next ones into shared memory meanwhile, so the memory is never idle. A block adds up each tile
// two rounds before it scans it. When the others need that sum, it has long been published, and hardly any
// block waits. A block knows the sum of all before its last tile, so it adds only the sums of later tiles:
// there is no prefix to look back for.
//
// Needs: sm_90, 193 KiB
#include "messages.cuh"

#include <cuda_pipeline.h>

constexpr int warps = 16;  // warps that scan; one more adds up the sums of other blocks
constexpr int threads = 32 * (warps + 1);
constexpr int rows = 6;                   // rows of a tile that a warp scans
constexpr int packs = warps * rows * 32;  // per tile
constexpr int stages = 4;  // tiles of a block on chip: one is scanned, two are summed, one is in flight
constexpr int ahead = 2;   // a tile is summed so many tiles before it is scanned
static_assert(stages >= ahead + 2, "a tile is in flight before it is summed");

/// As many elements as one load takes. The alignment makes it one load.
template <class T>
struct alignas(16) Pack {
    static constexpr int width = 16 / sizeof(T);
    T x[width];
};
template <class T>
constexpr int tile = packs* Pack<T>::width;  // elements

/// Returns the values of lanes 0 up to this one, combined.
template <class T, class Op>
__device__ T scan_warp(T value, Op op) {
    // kata: begin
    // As in 08.
    kata::open();
    return value;
    // kata: end
}

/// Returns the sums that tiles `begin` up to `end`, without that one, have published, combined; for all lanes
/// of the warp that calls it.
template <class T, class Op>
__device__ T sum_of_tiles(Word* status, int begin, int end, Op op) {
    // kata: begin
    // Each lane observes one of 32 neighbouring tiles, and one of the next 32, …: five of them, so that five
    // loads are in flight. All lanes go on together, once all these tiles have published something; a lane
    // has the identity for a tile at `end` or beyond. Combine each 32 by shuffles, and then their sums, from
    // left to right. Where tiles are left, all of it again.
    kata::open();
    return op.identity();
    // kata: end
}

/// Begins to copy the elements from i on to the pack; past the end of the input, identities.
template <class T, class Op>
__device__ void begin_copy(Pack<T>& to, const T* in, int i, int n, Op op) {
    // kata: begin
    // One asynchronous copy of 16 bytes where all elements exist; where the input ends, plain stores to the
    // elements of the pack.
    kata::open();
    // kata: end
}

/// Stores the elements from i on, up to the end of the output.
template <class T>
__device__ void store(T* out, int i, int n, Pack<T> pack) {
    // kata: begin
    // As in 09.
    kata::open();
    // kata: end
}

// `taken` counts the tiles that blocks have taken. A tile of the input has a number; the block counts its own
// by k, from 0 on.
template <class T, class Op>
__global__ void __launch_bounds__(threads)
    sums_ahead(const T* in, T* out, int n, Kind kind, Word* status, int* taken, Op op) {
    // kata: begin
    // Shared memory: as many tiles as there are stages, dynamic; the sums of the warps for ahead + 2 tiles;
    // the sum before a tile; the numbers of stages + 2 tiles. The block goes through rounds k = -stages,
    // -stages + 1, … In round k, as far as there are such tiles:
    //   - the last warp draws the number of tile k + stages from `taken`. It adds what the tiles from the
    //     block's last one on, up to tile k, have published to the sum before the last one;
    //   - a thread of the others begins to copy its packs of tile k + stages - 1, which are a group. It waits
    //     for its copies of tile k + ahead, and goes through its rows as in 09. Each warp leaves its sum;
    //   - after the only barrier the last warp scans the warps' sums of tile k + ahead and publishes the sum
    //     of the tile as an aggregate; the others scan tile k from shared memory and store it.
    // The sum before each pack of a thread is needed `ahead` rounds later: keep it in registers. No block
    // takes more than its share of the tiles: blocks that start late are to find some.
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    // Clear the states and the counter. A block needs more dynamic shared memory than it gets by default:
    // request it with cudaFuncSetAttribute. The grid has as many blocks as the GPU runs at a time
    // (cudaOccupancyMaxActiveBlocksPerMultiprocessor, cudaDevAttrMultiProcessorCount), and no more than
    // there are tiles.
    // Also required: as in 09, and any number of multiprocessors.
    kata::open();
    // kata: end
}
