// 10 Products ahead: exponentials are computed while tensor cores multiply. Beyond the documents; the model
// is FlashAttention-3, Shah and others, 2024. Changed from 09: a consumer begins the scores of a tile, and
// then the results of the previous tile. While the latter are multiplied, it computes the former's weights.
// As in gemm 14, a block stays for many tiles of queries, and fetches the next ones while it stores; causal
// ones are dealt out so that all blocks have about as much. Results are rescaled only if the largest score
// has risen by much; until then weights may exceed 1, which does no harm.
//
// Needs: sm_90a
#include "bf16.cuh"
#include "hopper.cuh"

using namespace hopper;

constexpr int consumers = 2, threads = (1 + consumers) * 128;
constexpr int queries = consumers * 64;  // per block, at a time
constexpr int keys = 128;                // per tile
constexpr int stages = 2;                // tiles of K, and as many of V
constexpr float allowed = 8;             // a weight is at most 2 to this power

/// The shared memory of a block. A tile is boxes of 64 columns, side by side.
template <int d>
struct alignas(1024) Tiles {
    bf16 q[d / 64][queries][64], k[stages][d / 64][keys][64], v[stages][d / 64][keys][64];
    Barrier full_q, empty_q, full_k[stages], full_v[stages], empty_k[stages], empty_v[stages];
};

/// The stages in turn. A barrier is in its first phase in the first round, of parity 0, and so on.
struct Stage {
    int index = 0, parity = 0;
    __device__ void operator++() {
        if (++index == stages) index = 0, parity ^= 1;
    }
};

/// Announces a tile, and fetches it: the rows of a head from this one on.
template <int boxes, int rows>
__device__ void fetch_tile(bf16 (&tile)[boxes][rows][64], const CUtensorMap& heads, int head, int row,
                           Barrier& full) {
    expect(full, sizeof tile);
    for (int i = 0; i < boxes; ++i) fetch(tile[i], heads, i * 64, row, head, full);
}

/// One thread arrives for its warpgroup, which is done with a tile.
__device__ void release(Barrier& empty) {
    if (threadIdx.x % 128 == 0) arrive(empty);
}

/// The work of a block at a time: some queries of a head, and the tiles of keys that they see.
struct Work {
    int head, first_query, tiles;
};

/// Returns the number of the tile that the block computes in this round. The tiles of queries of all heads
/// are numbered together.
__device__ int number_in(int round, bool causal) {
    // kata: begin
    // Each round has as many numbers as there are blocks. In which order are they dealt?
    kata::open();
    return {};
    // kata: end
}

/// Returns the work that has this number.
__device__ Work work_of(int number, int heads, int n, bool causal) {
    // kata: begin
    // If attention is not causal, head by head. Otherwise the last queries of all heads first.
    kata::open();
    return {};
    // kata: end
}

template <int d>
__global__ void __launch_bounds__(threads, 1)
    products_ahead(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                   const __grid_constant__ CUtensorMap v, float* out, int heads, int n, bool causal) {
    // kata: begin
    // As in 09, with one more barrier, by which consumers release Q. Producer and consumers go through the
    // same rounds, and stages go on from one to the next. The producer fetches the keys of a tile before the
    // values of the tile before. A consumer begins the scores of the first tile, waits, and computes its
    // weights. Then, for each further tile: it begins the scores, waits for the values of the tile before,
    // begins the results, waits for the scores only, computes the weights, waits for the keys of the next
    // tile, and only then for the results, which it multiplies if a factor is not 1. Pairs are made when no
    // product needs the old ones any more. The results of the last tile come after the loop.
    kata::open();
    // kata: end
}

template <int d>
void attend_bf16(const bf16* q, const bf16* k, const bf16* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    // As in 09, but with no more blocks than multiprocessors.
    // Also required: as in 09.
    kata::open();
    // kata: end
}
