// 15 Clusters: blocks that run side by side share what they fetch, or a tile of C. Beyond the documents;
// cuBLAS launches clusters of two on Hopper. Changed from 14: four blocks, one below the other, multiply the
// same tile of B, and each fetches a quarter of it for all. That pays where rows do not begin at whole lines
// of 128 bytes, as most rows of a box then span two lines. Clusters share tiles along K: those that are left
// over after the last whole wave, or a few tiles with a long K. Each block leaves its sums in its own shared
// memory, and adds up a part of the tile from the shared memory of all.
//
// Needs: sm_90a
#include "bf16.cuh"
#include "hopper.cuh"

using namespace hopper;

constexpr int bk = 64;               // elements along K in a tile
constexpr int group = 16;            // rows of tiles of C that are computed together
constexpr int on_chip = 225 * 1024;  // bytes for stages and results
constexpr int most_shares = 8;       // per tile: as many blocks as a cluster may have on any GPU

/// The stages in turn. A barrier is in its first phase in the first round, of parity 0, and so on.
template <int stages>
struct Stage {
    int index = 0, parity = 0;
    __device__ void operator++() {
        if (++index == stages) index = 0, parity ^= 1;
    }
};

/// The shared memory of a block. It computes bm x bn elements of C at a time; each consumer, a warpgroup that
/// multiplies, 64 rows of them. One more warpgroup, the first, fetches. `results` go from there to C.
template <int consumers_, int bn_, int cluster_, class Results>
struct alignas(1024) Tiles {
    static constexpr int consumers = consumers_, bm = consumers * 64, bn = bn_, cluster = cluster_;
    static constexpr int threads = (1 + consumers) * 128;
    static constexpr int bytes = (bm + bn) * bk * sizeof(bf16);         // per pair of tiles
    static constexpr int stages = (on_chip - sizeof(Results)) / bytes;  // pairs of tiles

    bf16 a[stages][bm][bk];
    bf16 b[stages][bn / 64][bk][64];
    Results results;
    Barrier full[stages], empty[stages];
};
template <int consumers, int bn, int cluster = 1>
using Whole = Tiles<consumers, bn, cluster, Patch[consumers * 4][2]>;
using Share = Tiles<1, 128, 1, float4[64][128 / 4 + 1]>;

/// Returns the row and the column of a tile of C. The high x wide tiles are numbered group by group, and in
/// each group column by column.
__device__ int2 place_in_c(int tile, int high, int wide) {
    const int first = tile / (group * wide) * group, in_group = tile % (group * wide);
    const int rows = min(group, high - first);  // the last group may have fewer
    return {first + in_group % rows, in_group / rows};
}

/// Waits for all threads of the blocks that fetch for one another.
template <class T>
__device__ void sync() {
    if constexpr (T::cluster == 1)
        __syncthreads();
    else
        sync_cluster();
}

/// Initialises the barriers. Those that say that a stage is free wait for all warpgroups that multiply it.
template <class T>
__device__ void start(T& tiles) {
    if (threadIdx.x == 0) {
        for (auto& full : tiles.full) init(full, 1);
        for (auto& empty : tiles.empty) init(empty, T::consumers * T::cluster);
        publish_barriers();
    }
    // No block may fetch for another one, or arrive at its barriers, before these are initialised.
    sync<T>();
}

/// Fetches the pairs of tiles of these phases: A's tile from this row on, and the block's part of B's tile,
/// which begins at this column, for all blocks of the cluster.
template <class T>
__device__ void fetch_phases(T& tiles, Stage<T::stages>& stage, const CUtensorMap& a, const CUtensorMap& b,
                             int row, int col, int first, int last) {
    // kata: begin
    // As 14's producer does for the phases of one tile of C. But of the boxes of B the block fetches only its
    // part, by rank_in_cluster(), with fetch_for_all<T::cluster>: they go to all blocks of the cluster. Each
    // block expects the bytes of a whole pair of tiles.
    kata::open();
    // kata: end
}

/// One warpgroup has multiplied what is in this stage: the blocks that fetch for it may fetch the next.
template <class T>
__device__ void release(T& tiles, int stage) {
    const int t = threadIdx.x % 128;
    // Thread t arrives at the barrier of block t: every block that writes to this stage must hear of it.
    if constexpr (T::cluster == 1) {
        if (t == 0) arrive(tiles.empty[stage]);
    } else {
        if (t < T::cluster) arrive_in(tiles.empty[stage], t);
    }
}

/// Adds the products of `phases` phases to a warpgroup's sums.
template <class T>
__device__ void multiply_phases(T& tiles, Stage<T::stages>& stage, Sum<T::bn>& sum, int phases) {
    // kata: begin
    // As 14's consumers do for the phases of one tile of C, up to when all products are done and the last
    // stage is released.
    kata::open();
    // kata: end
}

/// Computes the first `count` tiles of C, each by a whole cluster.
template <class T>
__global__ void __launch_bounds__(T::threads, 1)
    whole_tiles(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                const __grid_constant__ CUtensorMap c, int m, int n, int k, int count) {
    // kata: begin
    // As 14's kernel, for tiles of T::bm * T::cluster x T::bn elements: a cluster has one of them at a time,
    // and of this a block has T::bm rows, by its rank. At the end a block waits for the others.
    kata::open();
    // kata: end
}

/// Computes `count` tiles of C of height x width elements, from number `first` on: in parts of 64 x 128,
/// each by a cluster of gridDim.y blocks, which have a share of K each.
__global__ void __launch_bounds__(Share::threads, 1)
    shared_tiles(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c,
                 int m, int n, int k, int first, int count, int height, int width) {
    // kata: begin
    // For each part: the first warpgroup fetches the phases of this share of K, the other multiplies them and
    // leaves its sums in tiles.results. When all blocks of the cluster have done so, all their threads share
    // the part's packs out: a thread adds up what the blocks have for a pack, with load_from(), and stores
    // it.
    kata::open();
    // kata: end
}

template <class T>
void compute_whole(const bf16* a, const bf16* b, float* c, int m, int n, int k, int at_once, int count) {
    CUtensorMap map_a, map_b, map_c;
    describe(map_a, a, m, k, T::bm, bk);
    describe(map_b, b, k, n, bk, 64);
    describe(map_c, c, m, n, 16, 32);
    const int clusters = min(at_once, count);
    launch_in_clusters(whole_tiles<T>, clusters * T::cluster, T::threads, sizeof(T), T::cluster, map_a, map_b,
                       map_c, m, n, k, count);
}

/// Computes `count` tiles of height x 256 elements of C, from number `first` on.
void compute_shared(const bf16* a, const bf16* b, float* c, int m, int n, int k, int multiprocessors,
                    int first, int count, int height) {
    CUtensorMap map_a, map_b;
    describe(map_a, a, m, k, Share::bm, bk);
    describe(map_b, b, k, n, bk, 64);
    const int parts = count * (height / Share::bm) * (256 / Share::bn);
    // Clusters do not fit everywhere: up to a fifth of the multiprocessors stays without a block.
    const int shares = max(1, min(most_shares, min(ceil_div(k, bk), multiprocessors * 4 / 5 / parts)));
    launch_in_clusters(shared_tiles, dim3(parts, shares), Share::threads, sizeof(Share), dim3(1, shares),
                       map_a, map_b, c, m, n, k, first, count, height, 256);
}

void gemm_bf16(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    // kata: begin
    // Enough tiles of 128 x 256 for three quarters of the multiprocessors: those that make whole waves by
    // compute_whole, in clusters of two where rows do not begin at whole lines, and the others by
    // compute_shared. Few tiles and a long K: compute_shared for all. Otherwise smaller tiles, as in 14.
    // Also required: as in 13, and any number of multiprocessors.
    kata::open();
    // kata: end
}
