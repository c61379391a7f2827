// 14 A producer: one warpgroup only fetches, two only multiply, and blocks stay for many tiles of C. Beyond
// the documents; CUTLASS calls it warp-specialized and persistent. Changed from 13: no __syncthreads() in the
// loop. A second barrier for each stage says when it is free, so that neither side waits for the other while
// some stages are full and others free, and the first tiles of the next tile of C come while the last one is
// stored. The warpgroup that only fetches gives its registers to those that multiply. Tiles of C are computed
// in groups of 16 rows of them: blocks that run together then want the same rows of A and columns of B, which
// the L2 cache has.
//
// Needs: sm_90a
#include "hopper.cuh"

using namespace hopper;

constexpr int bm = 128, bn = 256;   // rows and columns of C that a block computes at a time
constexpr int bk = 64;              // elements along K in a tile
constexpr int stages = 4;           // pairs of tiles on chip
constexpr int consumers = bm / 64;  // warpgroups that multiply; one more, the first, fetches
constexpr int threads = (1 + consumers) * 128;
constexpr int group = 16;  // rows of tiles of C that are worked off together

struct alignas(1024) Tiles {
    bf16 a[stages][bm][bk];
    bf16 b[stages][bn / 64][bk][64];
    Barrier full[stages], empty[stages];
};

/// The stages in turn. A barrier is in its first phase in the first round, of parity 0, and so on.
struct Stage {
    int index = 0, parity = 0;
    __device__ void operator++() {
        if (++index == stages) index = 0, parity ^= 1;
    }
};

/// The first row and column of a tile of C, of which there are high x wide: group by group, in each of them
/// column by column.
__device__ int2 place_in_c(int tile, int high, int wide) {
    // kata: begin
    const int first = tile / (group * wide) * group, in_group = tile % (group * wide);
    const int rows = min(group, high - first);  // the last group may have fewer
    return {(first + in_group % rows) * bm, in_group / rows * bn};
    // kata: end
}

__global__ void __launch_bounds__(threads, 1)
    producer(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int m,
             int n, int k) {
    // kata: begin
    extern __shared__ Tiles memory[];
    Tiles& tiles = memory[0];
    const int phases = ceil_div(k, bk), high = ceil_div(m, bm), wide = ceil_div(n, bn);
    if (threadIdx.x == 0) {
        for (auto& full : tiles.full) init(full, 1);
        for (auto& empty : tiles.empty) init(empty, consumers);
        publish_barriers();
    }
    __syncthreads();

    Stage stage;
    if (threadIdx.x < 128) {
        give_registers<40>();
        if (threadIdx.x != 0) return;
        for (int tile = blockIdx.x; tile < high * wide; tile += gridDim.x) {
            const auto [first_row, first_col] = place_in_c(tile, high, wide);
            for (int phase = 0; phase < phases; ++phase, ++stage) {
                auto& full = tiles.full[stage.index];
                wait(tiles.empty[stage.index], stage.parity ^ 1);  // in the first round at once
                expect(full, sizeof tiles.a[0] + sizeof tiles.b[0]);
                fetch(tiles.a[stage.index], a, phase * bk, first_row, full);
                for (int i = 0; i < bn / 64; ++i)
                    fetch(tiles.b[stage.index][i], b, first_col + i * 64, phase * bk, full);
            }
        }
    } else {
        take_registers<232>();
        const int consumer = threadIdx.x / 128 - 1;
        for (int tile = blockIdx.x; tile < high * wide; tile += gridDim.x) {
            const auto [first_row, first_col] = place_in_c(tile, high, wide);
            Sum sum = {};
            int before = 0;  // the stage of the phase before
            for (int phase = 0; phase < phases; ++phase, ++stage) {
                wait(tiles.full[stage.index], stage.parity);
                begin_products();
                for (int i = 0; i < bk / 16; ++i)
                    multiply(sum, tile_of_a(tiles.a[stage.index][consumer * 64]) + i * 2,
                             tile_of_b(tiles.b[stage.index], sizeof tiles.b[0][0]) + i * 128);
                end_products();
                wait_products<1>();
                if (phase > 0 && threadIdx.x % 128 == 0) arrive(tiles.empty[before]);
                before = stage.index;
            }
            wait_products<0>();
            if (threadIdx.x % 128 == 0) arrive(tiles.empty[before]);
            store(c, m, n, first_row, first_col, sum, threadIdx.x - 128);
        }
    }
    // kata: end
}

void gemm_bf16(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    // kata: begin
    if (m == 0 || n == 0) return;
    if (k == 0) {
        check(cudaMemset(c, 0, sizeof(float) * m * n));
        return;
    }
    CUtensorMap map_a, map_b;
    describe(map_a, a, m, k, bm, bk);
    describe(map_b, b, k, n, bk, 64);
    int device, multiprocessors;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    check(cudaFuncSetAttribute(producer, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));
    producer<<<multiprocessors, threads, sizeof(Tiles)>>>(map_a, map_b, c, m, n, k);
    check(cudaGetLastError());
    // kata: end
}
