// 09 Warpgroups: they compute both products, and no score leaves the registers. Beyond the documents;
// the model is FlashAttention-3, Shah and others, 2024. Changed from 08: TMA brings tiles of Q, K and V, as
// in gemm 14. One warpgroup, the producer, fetches; two consumers have 64 queries each. It is known which
// thread has which element of wgmma's sum, so the softmax is computed where the scores are. And wgmma takes
// its left factor from registers, too, in the same places: two weights that are neighbours become a pair of
// bfloat16.
//
// Needs: sm_90a
#include "bf16.cuh"
#include "hopper.cuh"

using namespace hopper;

constexpr int consumers = 2, threads = (1 + consumers) * 128;
constexpr int queries = consumers * 64;  // per block
constexpr int keys = 128;                // per tile
constexpr int stages = 2;                // tiles of K, and as many of V

/// The shared memory of a block. A tile is boxes of 64 columns, side by side.
template <int d>
struct alignas(1024) Tiles {
    bf16 q[d / 64][queries][64], k[stages][d / 64][keys][64], v[stages][d / 64][keys][64];
    Barrier full_q, full_k[stages], full_v[stages], empty_k[stages], empty_v[stages];
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

template <int d>
__global__ void __launch_bounds__(threads, 1)
    warpgroups(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
               const __grid_constant__ CUtensorMap v, float* out, int heads, int n, bool causal) {
    // kata: begin
    // Barriers as in gemm 14: a full one for Q, and a full and an empty one for each stage of K and of V.
    // Head and queries as in 07. The first warpgroup gives registers, and its thread 0 fetches Q, and then
    // for each tile K and V, when both consumers have released the stage. The others take registers. Each has
    // 64 queries, and for each tile: waits for K, multiplies Q by its transpose, 16 columns at a time; tests
    // the scores if some query may not see some key; computes the softmax as in 05, of two rows a thread,
    // which it shares with three neighbouring lanes; makes pairs of the weights; waits for V, and multiplies
    // it by them, 16 keys at a time. Each product is waited for, and its stage released. In the end it adds
    // up the sums of the four lanes, and stores those rows that the head has.
    kata::open();
    // kata: end
}

template <int d>
void attend_bf16(const bf16* q, const bf16* k, const bf16* v, float* out, int heads, int n, bool causal) {
    // kata: begin
    // Describe Q, K and V as stacks of heads. A block has more than 48 KiB of shared memory, which has to be
    // requested. There are as many blocks as tiles of queries in all heads.
    // Also required: no heads, n = 0, and any other n.
    kata::open();
    // kata: end
}
