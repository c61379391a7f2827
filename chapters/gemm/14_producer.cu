// 14 A producer: one warpgroup only fetches, the others only multiply, and blocks stay for many tiles of C.
// Beyond the documents; CUTLASS calls it warp-specialized and persistent. Changed from 13: no __syncthreads()
// in the loop. A second barrier for each stage says when it is free, so that neither side waits for the other
// while some stages are full and others free, and the first tiles of the next tile of C come while the last
// one is stored. The warpgroup that only fetches gives its registers to those that multiply. Tiles of C are
// computed in groups of 16 rows of tiles: blocks that run together then need the same rows of A and columns
// of B, which the L2 cache has. TMA stores, too. And where large tiles would leave multiprocessors without
// one, tiles are smaller.
//
// Needs: sm_90a
#include "bf16.cuh"
#include "hopper.cuh"

using namespace hopper;

constexpr int bk = 64;               // elements along K in a tile
constexpr int group = 16;            // rows of tiles of C that are computed together
constexpr int on_chip = 224 * 1024;  // bytes for stages and patches

/// The shared memory of a block. It computes bm x bn elements of C at a time; each consumer, a warpgroup that
/// multiplies, 64 rows of them. One more warpgroup, the first, fetches.
template <int consumers_, int bn_>
struct alignas(1024) Tiles {
    static constexpr int consumers = consumers_, bm = consumers * 64, bn = bn_;
    static constexpr int threads = (1 + consumers) * 128;
    static constexpr int bytes = (bm + bn) * bk * sizeof(bf16);  // per pair of tiles
    static constexpr int patch_bytes = 2 * consumers * 4 * sizeof(Patch);
    static constexpr int stages = (on_chip - patch_bytes) / bytes;  // pairs of tiles

    bf16 a[stages][bm][bk];
    bf16 b[stages][bn / 64][bk][64];
    Patch patches[consumers * 4][2];
    Barrier full[stages], empty[stages];
};

/// The stages in turn. A barrier is in its first phase in the first round, of parity 0, and so on.
template <int stages>
struct Stage {
    int index = 0, parity = 0;
    __device__ void operator++() {
        if (++index == stages) index = 0, parity ^= 1;
    }
};

/// Returns the row and the column of a tile of C. The high x wide tiles are numbered group by group, and in
/// each group column by column.
__device__ int2 place_in_c(int tile, int high, int wide) {
    // kata: begin
    // Which group of rows of tiles is it, and which tile of the group? The last group may have fewer rows.
    kata::open();
    return {};
    // kata: end
}

template <class T>
__global__ void __launch_bounds__(T::threads, 1)
    producer(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
             const __grid_constant__ CUtensorMap c, int m, int n, int k) {
    // kata: begin
    // Barriers as in 13, and for each stage a second one, `empty`, which each consumer arrives at when it
    // has multiplied the stage. The first warpgroup gives registers; its thread 0 goes through all tiles of
    // C that are this block's, every gridDim.x-th, and all phases of each: it waits until the stage is
    // empty, and fetches its tiles. The other warpgroups take registers, go through the same tiles and
    // phases, wait until the stage is full, multiply, and when the products of the phase before are done,
    // one thread of each arrives at that stage's `empty`. After the last phase of a tile they wait for all
    // products, arrive for the last stage, and put their sums, each warp through its own two patches. Before
    // it ends, a thread waits until nothing that it has put is still read.
    kata::open();
    // kata: end
}

/// Describes the matrices, and launches a block for each multiprocessor, or tile of C if these are fewer.
template <class T>
void multiply_by(const bf16* a, const bf16* b, float* c, int m, int n, int k, int multiprocessors) {
    CUtensorMap map_a, map_b, map_c;
    describe(map_a, a, m, k, T::bm, bk);
    describe(map_b, b, k, n, bk, 64);
    describe(map_c, c, m, n, 16, 32);
    check(cudaFuncSetAttribute(producer<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(T)));
    const int blocks = min(multiprocessors, ceil_div(m, T::bm) * ceil_div(n, T::bn));
    producer<T><<<blocks, T::threads, sizeof(T)>>>(map_a, map_b, map_c, m, n, k);
    check(cudaGetLastError());
}

void gemm_bf16(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 13. multiply_by<Tiles<2, 256>> suits large matrices, Tiles<1, 128> and Tiles<1, 64> smaller ones,
    // of which large tiles would leave multiprocessors without one: cudaDevAttrMultiProcessorCount.
    // Also required: as in 13, and any number of multiprocessors.
    kata::open();
    // kata: end
}
