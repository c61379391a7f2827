// 13 Stages: three pairs of tiles are in flight while a fourth is multiplied, and two warpgroups share a tile
// of B. Beyond the documents; the multistage pipeline of CUTLASS on Hopper. Changed from 12: a block computes
// 128 x 256 elements of C, so that an element which is fetched serves 85 products instead of 51. The tiles of
// phase + 3 are fetched as soon as all have multiplied those of phase - 1, whose place they take. Products
// are waited for one phase later: the tensor cores go from one phase to the next without a gap.
//
// Needs: sm_90a
#include "bf16.cuh"
#include "hopper.cuh"

using namespace hopper;

constexpr int bm = 128, bn = 256;  // rows and columns of C that a block computes
constexpr int bk = 64;             // elements along K in a tile
constexpr int stages = 4;          // pairs of tiles on chip
constexpr int threads = bm / 64 * 128;

struct alignas(1024) Tiles {
    bf16 a[stages][bm][bk];
    bf16 b[stages][bn / 64][bk][64];
    Barrier full[stages];
};

__global__ void __launch_bounds__(threads, 1)
    staged(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int m,
           int n, int k) {
    // kata: begin
    extern __shared__ Tiles memory[];
    Tiles& tiles = memory[0];
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn, phases = ceil_div(k, bk);
    const int group = threadIdx.x / 128;
    // Called by thread 0 only: full expects one arrival a phase, that of expect().
    const auto fetch_both = [&](int phase) {
        const int stage = phase % stages;
        expect(tiles.full[stage], sizeof tiles.a[0] + sizeof tiles.b[0]);
        fetch(tiles.a[stage], a, phase * bk, first_row, tiles.full[stage]);
        for (int i = 0; i < bn / 64; ++i)
            fetch(tiles.b[stage][i], b, first_col + i * 64, phase * bk, tiles.full[stage]);
    };
    if (threadIdx.x == 0) {
        for (auto& full : tiles.full) init(full, 1);
        publish_barriers();
        // One stage stays free for the loop. No thread waits for phases that K does not have.
        for (int phase = 0; phase < min(stages - 1, phases); ++phase) fetch_both(phase);
    }
    // No thread may wait at barriers that are not initialised yet.
    __syncthreads();

    Sum<bn> sum = {};
    for (int phase = 0; phase < phases; ++phase) {
        const int stage = phase % stages;
        // This barrier ended a phase of its own for each earlier use of the stage, phase / stages of them. An
        // even number of uses means parity 0.
        wait(tiles.full[stage], phase / stages % 2);
        begin_products();
        // Each warpgroup has 64 rows of A, and both read the same tile of B. As in 12, 2 and 128 are units of
        // 16 bytes: 16 columns of A, 16 rows of B.
        for (int i = 0; i < bk / 16; ++i)
            multiply(sum, tile_of_a(tiles.a[stage][group * 64]) + i * 2,
                     tile_of_b(tiles.b[stage], sizeof tiles.b[0][0]) + i * 128);
        end_products();
        // The group of this phase may be unfinished, that of the phase before is done: this warpgroup no
        // longer reads the stage of phase - 1. After the barrier neither does the other one. It is the stage
        // of phase + 3.
        wait_products<1>();
        __syncthreads();  // every warp has finished the products of the phase before
        if (threadIdx.x == 0 && phase + stages - 1 < phases) fetch_both(phase + stages - 1);
    }
    // The registers of the sum are the tensor cores' until the last group is done.
    wait_products<0>();
    store(c, m, n, first_row, first_col, sum, threadIdx.x);
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
    check(cudaFuncSetAttribute(staged, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    staged<<<grid, threads, sizeof(Tiles)>>>(map_a, map_b, c, m, n, k);
    check(cudaGetLastError());
    // kata: end
}
