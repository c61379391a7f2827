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
    // A group has group * wide tiles. Column by column: blocks that run together differ in few columns.
    const int first = tile / (group * wide) * group, in_group = tile % (group * wide);
    const int rows = min(group, high - first);  // the last group may have fewer
    return {first + in_group % rows, in_group / rows};
    // kata: end
}

template <class T>
__global__ void __launch_bounds__(T::threads, 1)
    producer(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
             const __grid_constant__ CUtensorMap c, int m, int n, int k) {
    // kata: begin
    alignas(1024) extern __shared__ unsigned char memory[];
    T& tiles = reinterpret_cast<T&>(memory);
    const int phases = ceil_div(k, bk), high = ceil_div(m, T::bm), wide = ceil_div(n, T::bn);
    // full: the producer arrives once, when it announces the bytes. empty: each consumer arrives once.
    if (threadIdx.x == 0) {
        for (auto& full : tiles.full) init(full, 1);
        for (auto& empty : tiles.empty) init(empty, T::consumers);
        publish_barriers();
    }
    // The only barrier of the whole block: the roles part here, and one of them returns early.
    __syncthreads();

    Stage<T::stages> stage;
    if (threadIdx.x < 128) {
        // All four warps of a warpgroup must execute it, so the 127 idle threads return only afterwards. With
        // two consumers, a launch gives each of 384 threads 168 registers, and 40 + 2 * 232 = 3 * 168. A
        // consumer needs 128 for its sum.
        give_registers<40>();
        if (threadIdx.x != 0) return;
        for (int tile = blockIdx.x; tile < high * wide; tile += gridDim.x) {
            const auto [row, col] = place_in_c(tile, high, wide);
            for (int phase = 0; phase < phases; ++phase, ++stage) {
                auto& full = tiles.full[stage.index];
                // The first use of a stage needs no consumer: the phase before the first, of parity 1, counts
                // as ended. In later rounds the producer waits for the consumers of the round before, whose
                // parity is the other one.
                wait(tiles.empty[stage.index], stage.parity ^ 1);  // returns at once in round 0
                expect(full, T::bytes);
                fetch(tiles.a[stage.index], a, phase * bk, row * T::bm, full);
                for (int i = 0; i < T::bn / 64; ++i)
                    fetch(tiles.b[stage.index][i], b, col * T::bn + i * 64, phase * bk, full);
            }
        }
    } else {
        // Waits until the producer has given its registers away.
        take_registers<232>();
        const int consumer = threadIdx.x / 128 - 1, warp = threadIdx.x / 32 - 4;
        for (int tile = blockIdx.x; tile < high * wide; tile += gridDim.x) {
            const auto [row, col] = place_in_c(tile, high, wide);
            Sum<T::bn> sum = {};
            int before = 0;  // the stage of the phase before
            for (int phase = 0; phase < phases; ++phase, ++stage) {
                // Stages and parities go on from tile to tile of C, as the producer's do: both count the same
                // phases.
                wait(tiles.full[stage.index], stage.parity);
                begin_products();
                for (int i = 0; i < bk / 16; ++i)
                    multiply(sum, tile_of_a(tiles.a[stage.index][consumer * 64]) + i * 2,
                             tile_of_b(tiles.b[stage.index], sizeof tiles.b[0][0]) + i * 128);
                end_products();
                wait_products<1>();
                // wait_products<1>() says that the products of the phase before are done, so their stage is
                // free. Those of this phase still read theirs. A product is one operation of the whole
                // warpgroup, so one thread arrives for it.
                if (phase > 0 && threadIdx.x % 128 == 0) arrive(tiles.empty[before]);
                before = stage.index;
            }
            // No product follows in this tile of C: the last stage is released here.
            wait_products<0>();
            if (threadIdx.x % 128 == 0) arrive(tiles.empty[before]);
            // A warp has 16 of the rows, and patches of its own, so that it need not wait for another warp.
            put(c, row * T::bm + warp * 16, col * T::bn, sum, tiles.patches[warp]);
        }
        wait_puts<0>();  // shared memory is the block's only as long as it runs
    }
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
    if (m == 0 || n == 0) return;
    if (k == 0) {
        check(cudaMemset(c, 0, sizeof(float) * m * n));
        return;
    }
    int device, multiprocessors;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    // The largest tiles that give three quarters of the multiprocessors one each.
    const auto enough = [&](int high, int wide) {
        return 4 * ceil_div(m, high) * ceil_div(n, wide) >= 3 * multiprocessors;
    };
    const auto run = enough(128, 256)  ? multiply_by<Tiles<2, 256>>
                     : enough(64, 128) ? multiply_by<Tiles<1, 128>>
                                       : multiply_by<Tiles<1, 64>>;
    run(a, b, c, m, n, k, multiprocessors);
    // kata: end
}
