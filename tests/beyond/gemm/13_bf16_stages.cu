// Needs: sm_90a
//
// 13 Stages: two warpgroups share a tile of B, and three further pairs of tiles are on their way.
//
// Changed against 12: 128 x 256 elements of C a block, of which each warpgroup computes half: 85 products for
// an element that is fetched instead of 51. Tile phase + 3 is asked for as soon as tile phase - 1 is free.
#include "gemm.cuh"
#include "hopper.cuh"

constexpr int bm = 128, bn = 256, bk = 64;
constexpr int stages = 4;  // pairs of tiles on chip
constexpr int threads = bm / 64 * 128;

struct Tiles {
    bf16 a[stages][bm][bk];
    bf16 b[stages][bn / 64][bk][64];
    uint64_t full[stages];
};

__global__ void __launch_bounds__(threads, 1)
    staged(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
           float* __restrict__ c, int m, int n, int k) {
    extern __shared__ __align__(1024) unsigned char raw[];
    auto& s = reinterpret_cast<Tiles&>(raw);
    const int t = threadIdx.x, row = blockIdx.y * bm, col = blockIdx.x * bn, phases = (k + bk - 1) / bk;
    const auto fetch_tiles = [&](int phase) {
        const int stage = phase % stages;
        expect(s.full[stage], sizeof s.a[0] + sizeof s.b[0]);
        fetch(s.a[stage], a, phase * bk, row, s.full[stage]);
        for (int i = 0; i < bn / 64; ++i) fetch(s.b[stage][i], b, col + i * 64, phase * bk, s.full[stage]);
    };
    if (t == 0) {
        for (auto& full : s.full) init(full, 1);
        publish_barriers();
        for (int phase = 0; phase < min(stages - 1, phases); ++phase) fetch_tiles(phase);
    }
    __syncthreads();
    float d[128] = {};
    for (int phase = 0; phase < phases; ++phase) {
        const int stage = phase % stages;
        wait(s.full[stage], phase / stages % 2);
        begin_products();
        for (int i = 0; i < bk / 16; ++i)
            multiply(d, rows_of_a(s.a[stage][t / 128 * 64]) + i * 2,
                     rows_of_b(s.b[stage], sizeof s.b[0][0]) + i * 128);
        end_products();
        wait_products<1>();
        __syncthreads();  // all have finished the products of the phase before
        if (t == 0 && phase + stages - 1 < phases) fetch_tiles(phase + stages - 1);
    }
    wait_products<0>();
    for (int j = 0; j < 32; ++j)
        for (int h = 0; h < 2; ++h) {
            const int r = row + t / 32 * 16 + t % 32 / 4 + h * 8, q = col + j * 8 + t % 4 * 2;
            if (r < m && q < n)
                reinterpret_cast<float2&>(c[static_cast<size_t>(r) * n + q]) =
                    float2{d[j * 4 + h * 2], d[j * 4 + h * 2 + 1]};
        }
}

// For n and k that are multiples of eight, and pointers to multiples of 16 bytes.
void gemm(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    if (k == 0) {
        check(cudaMemsetAsync(c, 0, sizeof(float) * m * n));
        return;
    }
    CUtensorMap map_a, map_b;
    check(tensor_map(map_a, a, m, k, bm, bk));
    check(tensor_map(map_b, b, k, n, bk, 64));
    check(cudaFuncSetAttribute(staged, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    staged<<<grid, threads, sizeof(Tiles)>>>(map_a, map_b, c, m, n, k);
    check(cudaGetLastError());
}
