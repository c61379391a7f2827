// Needs: sm_90a
//
// 15 A cluster: two blocks, one below the other, share a tile of B. Each fetches half of it for both.
//
// Changed against 14: a block asks the L2 cache for 32 KiB a stage instead of 48. A stage is free when the
// warpgroups of both blocks have said so, to both producers; and no block ends before the other.
//
// Slower than 14 on an H100, 0.67 of cuBLAS at 8192³; why was not found.
#include "gemm.cuh"
#include "hopper_more.cuh"

constexpr int bm = 128, bn = 256, bk = 64;
constexpr int cluster = 2;          // blocks that share a tile of B
constexpr int stages = 4;           // pairs of tiles on chip
constexpr int consumers = bm / 64;  // warpgroups that multiply; one more, the first, fetches
constexpr int threads = (1 + consumers) * 128;
constexpr int group = 8;  // rows of pairs of tiles that are worked off together

struct Tiles {
    bf16 a[stages][bm][bk];
    bf16 b[stages][bn / 64][bk][64];
    uint64_t full[stages], empty[stages];
};

__global__ void __cluster_dims__(cluster) __launch_bounds__(threads, 1)
    clustered(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
              float* __restrict__ c, int m, int n, int k) {
    extern __shared__ __align__(1024) unsigned char raw[];
    auto& s = reinterpret_cast<Tiles&>(raw);
    const int phases = (k + bk - 1) / bk, tiles_n = (n + bn - 1) / bn;
    const int pairs_m = (m + cluster * bm - 1) / (cluster * bm), rank = rank_in_cluster();
    if (threadIdx.x == 0) {
        for (auto& full : s.full) init(full, 1);
        for (auto& empty : s.empty) init(empty, cluster * consumers);
        publish_barriers();
    }
    sync_cluster();
    const auto place = [&](int pair, int& row, int& col) {
        const int in_group = pair % (group * tiles_n), first = pair / (group * tiles_n) * group;
        const int high = min(group, pairs_m - first);
        row = ((first + in_group % high) * cluster + rank) * bm, col = in_group / high * bn;
    };
    int stage = 0, parity = 0;
    const auto advance = [&] {
        if (++stage == stages) stage = 0, parity ^= 1;
    };
    if (threadIdx.x < 128) {
        give_registers<40>();
        if (threadIdx.x == 0) {
            constexpr int share = bn / 64 / cluster;
            for (int pair = blockIdx.x / cluster; pair < pairs_m * tiles_n; pair += gridDim.x / cluster) {
                int row, col;
                place(pair, row, col);
                for (int phase = 0; phase < phases; ++phase, advance()) {
                    wait(s.empty[stage], parity ^ 1);
                    expect(s.full[stage], sizeof s.a[0] + sizeof s.b[0]);
                    fetch(s.a[stage], a, phase * bk, row, s.full[stage]);
                    for (int i = rank * share; i < (rank + 1) * share; ++i)
                        fetch_for((1 << cluster) - 1, s.b[stage][i], b, col + i * 64, phase * bk,
                                  s.full[stage]);
                }
            }
        }
    } else {
        take_registers<232>();
        const int t = threadIdx.x - 128;
        const auto release = [&](int old) {
            if (t % 128 < cluster) arrive_in(s.empty[old], t % 128);
        };
        for (int pair = blockIdx.x / cluster; pair < pairs_m * tiles_n; pair += gridDim.x / cluster) {
            int row, col;
            place(pair, row, col);
            float d[128] = {};
            int before = stage;
            for (int phase = 0; phase < phases; ++phase, advance()) {
                wait(s.full[stage], parity);
                begin_products();
                for (int i = 0; i < bk / 16; ++i)
                    multiply(d, tile_of_a(s.a[stage][t / 128 * 64]) + i * 2,
                             tile_of_b(s.b[stage], sizeof s.b[0][0]) + i * 128);
                end_products();
                wait_products<1>();
                if (phase > 0) release(before);
                before = stage;
            }
            wait_products<0>();
            release(before);
            for (int j = 0; j < 32; ++j)
                for (int h = 0; h < 2; ++h) {
                    const int r = row + t / 32 * 16 + t % 32 / 4 + h * 8, q = col + j * 8 + t % 4 * 2;
                    if (r < m && q < n)
                        reinterpret_cast<float2&>(c[static_cast<size_t>(r) * n + q]) =
                            float2{d[j * 4 + h * 2], d[j * 4 + h * 2 + 1]};
                }
        }
    }
    sync_cluster();
}

// For n and k that are multiples of eight, and pointers to multiples of 16 bytes.
void gemm(const bf16* a, const bf16* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    if (k == 0) {
        check(cudaMemsetAsync(c, 0, sizeof(float) * m * n));
        return;
    }
    CUtensorMap map_a, map_b;
    describe(map_a, a, m, k, bm, bk);
    describe(map_b, b, k, n, bk, 64);
    int device, processors;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    check(cudaFuncSetAttribute(clustered, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));
    clustered<<<processors / cluster * cluster, threads, sizeof(Tiles)>>>(map_a, map_b, c, m, n, k);
    check(cudaGetLastError());
}
