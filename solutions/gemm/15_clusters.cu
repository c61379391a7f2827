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
    // Each block fetches its own share of B's boxes, and all blocks of the cluster get all of them.
    constexpr int boxes = T::bn / 64 / T::cluster;
    const int rank = T::cluster > 1 ? rank_in_cluster() : 0;
    for (int phase = first; phase < last; ++phase, ++stage) {
        auto& full = tiles.full[stage.index];
        // The consumers of all blocks of the cluster arrive here: a box that is fetched for all is also
        // written to their stages. In the first round, the phase before it counts as ended.
        wait(tiles.empty[stage.index], stage.parity ^ 1);  // returns at once in round 0
        // All that arrives in this block: its tile of A and the boxes of B from all blocks. Boxes of
        // another block may come first; the phase cannot end before this arrival.
        expect(full, T::bytes);
        fetch(tiles.a[stage.index], a, phase * bk, row, full);
        for (int i = rank * boxes; i < (rank + 1) * boxes; ++i)
            fetch_for_all<T::cluster>(tiles.b[stage.index][i], b, col + i * 64, phase * bk, full);
    }
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
    const int consumer = threadIdx.x / 128 - 1;
    int before = 0;  // the stage of the phase before
    for (int phase = 0; phase < phases; ++phase, ++stage) {
        wait(tiles.full[stage.index], stage.parity);
        begin_products();
        for (int i = 0; i < bk / 16; ++i)
            multiply(sum, tile_of_a(tiles.a[stage.index][consumer * 64]) + i * 2,
                     tile_of_b(tiles.b[stage.index], sizeof tiles.b[0][0]) + i * 128);
        end_products();
        // As in 14: the products of the phase before are done, and their stage is free.
        wait_products<1>();
        if (phase > 0) release(tiles, before);
        before = stage.index;
    }
    wait_products<0>();
    release(tiles, before);
    // kata: end
}

/// Computes the first `count` tiles of C, each by a whole cluster.
template <class T>
__global__ void __launch_bounds__(T::threads, 1)
    whole_tiles(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                const __grid_constant__ CUtensorMap c, int m, int n, int k, int count) {
    // kata: begin
    alignas(1024) extern __shared__ unsigned char memory[];
    T& tiles = reinterpret_cast<T&>(memory);
    start(tiles);
    const int phases = ceil_div(k, bk), high = ceil_div(m, T::bm * T::cluster), wide = ceil_div(n, T::bn);
    const int rank = T::cluster > 1 ? rank_in_cluster() : 0, clusters = gridDim.x / T::cluster;
    Stage<T::stages> stage;
    if (threadIdx.x < 128) {
        // As in 14, 40 + 2 * 232 = 3 * 168. No thread returns early here: all must come to the last
        // sync<T>().
        give_registers<40>();
        if (threadIdx.x == 0)
            for (int tile = blockIdx.x / T::cluster; tile < count; tile += clusters) {
                const auto [row, col] = place_in_c(tile, high, wide);
                fetch_phases(tiles, stage, a, b, (row * T::cluster + rank) * T::bm, col * T::bn, 0, phases);
            }
    } else {
        take_registers<232>();
        // Warps 0 to 3 are the producer.
        const int warp = threadIdx.x / 32 - 4;
        for (int tile = blockIdx.x / T::cluster; tile < count; tile += clusters) {
            const auto [row, col] = place_in_c(tile, high, wide);
            Sum<T::bn> sum = {};
            multiply_phases(tiles, stage, sum, phases);
            put(c, (row * T::cluster + rank) * T::bm + warp * 16, col * T::bn, sum, tiles.results[warp]);
        }
        wait_puts<0>();  // shared memory is the block's only as long as it runs
    }
    sync<T>();  // nor may a block end while another one fetches for it
    // kata: end
}

/// Computes `count` tiles of C of height x width elements, from number `first` on: in parts of 64 x 128,
/// each by a cluster of gridDim.y blocks, which have a share of K each.
__global__ void __launch_bounds__(Share::threads, 1)
    shared_tiles(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c,
                 int m, int n, int k, int first, int count, int height, int width) {
    // kata: begin
    alignas(1024) extern __shared__ unsigned char memory[];
    Share& tiles = reinterpret_cast<Share&>(memory);
    start(tiles);
    const int phases = ceil_div(k, bk), shares = gridDim.y, share = blockIdx.y;
    // Rounded so that the shares differ by one phase at most, and none is missing.
    const int begin = phases * share / shares, end = phases * (share + 1) / shares;
    const int across = width / Share::bn, parts = height / Share::bm * across;  // per tile
    Stage<Share::stages> stage;
    // The same parts in all blocks of a cluster, which differ in blockIdx.y: all come to each sync_cluster().
    for (int part = blockIdx.x; part < count * parts; part += gridDim.x) {
        const auto [tile_row, tile_col] =
            place_in_c(first + part / parts, ceil_div(m, height), ceil_div(n, width));
        const int row = tile_row * height + part % parts / across * Share::bm;
        const int col = tile_col * width + part % parts % across * Share::bn;
        if (threadIdx.x < 128) {
            if (threadIdx.x == 0) fetch_phases(tiles, stage, a, b, row, col, begin, end);
        } else {
            Sum<Share::bn> sum = {};
            multiply_phases(tiles, stage, sum, end - begin);
            const int t = threadIdx.x - 128;
            // The place where Sum says that thread t has element [4 * j + 2 * h + i]. Packs of four are read
            // later, and two threads fill one, each a half. The empty pack after each row is there against
            // bank conflicts.
            for (int j = 0; j < Share::bn / 8; ++j)
                for (int h = 0; h < 2; ++h) {
                    float4& to = tiles.results[t / 32 * 16 + t % 32 / 4 + 8 * h][2 * j + t % 4 / 2];
                    (&reinterpret_cast<float2&>(to))[t % 2] = {sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]};
                }
        }
        // The sums of all blocks must be there before any block adds them up.
        sync_cluster();
        constexpr int packs = Share::bn / 4;
        // The threads of all blocks of the cluster together go through the packs of the part.
        for (int i = share * Share::threads + threadIdx.x; i < Share::bm * packs;
             i += shares * Share::threads) {
            const int y = i / packs, x = i % packs;
            float4 sum = {};
            // In the order of K in every run. Unrolled, with a bound that is known, so that the loads of all
            // blocks are in flight together.
#pragma unroll
            for (int from = 0; from < most_shares; ++from)
                if (from < shares) {
                    const float4 more = load_from(tiles.results[y][x], from);
                    sum = {sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w};
                }
            if (row + y < m && col + x * 4 < n)
                *reinterpret_cast<float4*>(&c[static_cast<size_t>(row + y) * n + col + x * 4]) = sum;
        }
        sync_cluster();  // before anything of this is overwritten, or the block ends
    }
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
    if (m == 0 || n == 0) return;
    if (k == 0) {
        check(cudaMemset(c, 0, sizeof(float) * m * n));
        return;
    }
    int device, multiprocessors;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const auto tiles = [&](int high, int wide) { return ceil_div(m, high) * ceil_div(n, wide); };
    if (4 * tiles(128, 256) >= 3 * multiprocessors) {
        const bool whole_lines = k % 64 == 0 && n % 64 == 0;
        using One = Whole<2, 256>;
        using Four = Whole<2, 256, 4>;
        const int cluster = whole_lines ? One::cluster : Four::cluster;
        const int at_once =
            whole_lines ? multiprocessors
                        : clusters_at_once(whole_tiles<Four>, Four::threads, sizeof(Four), Four::cluster);
        const int all = tiles(cluster * 128, 256);
        int left = all % at_once;
        // Tiles left over are cut along K only if at least half of the blocks would otherwise be idle.
        if (2 * left > at_once) left = 0;  // as good as a whole wave
        const auto compute = whole_lines ? compute_whole<One> : compute_whole<Four>;
        if (left < all) compute(a, b, c, m, n, k, at_once, all - left);
        if (left > 0) compute_shared(a, b, c, m, n, k, multiprocessors, all - left, left, cluster * 128);
    } else if (3 * tiles(64, 128) <= multiprocessors && k >= 32 * bk) {
        compute_shared(a, b, c, m, n, k, multiprocessors, 0, tiles(128, 256), 128);
    } else if (4 * tiles(64, 128) >= 3 * multiprocessors) {
        compute_whole<Whole<1, 128>>(a, b, c, m, n, k, multiprocessors, tiles(64, 128));
    } else {
        compute_whole<Whole<1, 64>>(a, b, c, m, n, k, multiprocessors, tiles(64, 64));
    }
    // kata: end
}
