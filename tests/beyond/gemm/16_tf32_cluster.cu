// Needs: sm_90a
//
// 16 A cluster in TF32: two blocks, side by side, share a tile of A. Each fetches half of it for both.
//
// Changed against 10: a block asks the L2 cache for 32 KiB a stage instead of 48. n and k must be multiples
// of four.
//
// Slower than 10 on an H100, 0.53 of cuBLAS TF32 at 8192³; why was not found.
#include "gemm.cuh"
#include "hopper_more.cuh"

// wgmma takes its second operand along K, as A lies. B does not lie so, but comes through registers. So the
// instruction computes the transpose: its 64 rows are columns of C, its 256 columns are rows of C.
constexpr int bm = 256, bn = 128;  // rows and columns of C that a block computes
constexpr int bk = 32;      // elements along K that are on chip at a time: the 128 bytes of a swizzled row
constexpr int cluster = 2;  // blocks that share a tile of A
constexpr int stages = 4;   // pairs of tiles on chip
constexpr int consumers = bn / 64;  // warpgroups that multiply; one more, the first, fetches
constexpr int threads = (1 + consumers) * 128;
constexpr int group = 2;  // rows of pairs of tiles that are worked off together

struct Tiles {
    float a[stages][bm][bk];           // swizzled: 16 bytes number c of row r lie at number c ^ (r % 8)
    float b[stages][bn / 32][bk][32];  // likewise
    uint64_t full[stages], empty[stages];
};

__global__ void __cluster_dims__(cluster) __launch_bounds__(threads, 1)
    clustered(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int m,
              int n, int k) {
    extern __shared__ __align__(1024) unsigned char raw[];
    auto& s = reinterpret_cast<Tiles&>(raw);
    const int phases = (k + bk - 1) / bk, tiles_m = (m + bm - 1) / bm;
    const int pairs_n = (n + cluster * bn - 1) / (cluster * bn), rank = rank_in_cluster();
    if (threadIdx.x == 0) {
        for (auto& full : s.full) init(full, 1);
        for (auto& empty : s.empty) init(empty, cluster * consumers);
        publish_barriers();
    }
    sync_cluster();
    const auto place = [&](int pair, int& row, int& col) {
        const int in_group = pair % (group * pairs_n), first = pair / (group * pairs_n) * group;
        const int high = min(group, tiles_m - first);
        row = (first + in_group % high) * bm, col = (in_group / high * cluster + rank) * bn;
    };

    int stage = 0, parity = 0;
    const auto advance = [&] {
        if (++stage == stages) stage = 0, parity ^= 1;
    };
    constexpr int share = bm / cluster;  // rows of the tile of A
    if (threadIdx.x < 128) {
        give_registers<40>();
        if (threadIdx.x == 0)
            for (int pair = blockIdx.x / cluster; pair < tiles_m * pairs_n; pair += gridDim.x / cluster) {
                int row, col;
                place(pair, row, col);
                for (int phase = 0; phase < phases; ++phase, advance()) {
                    wait(s.empty[stage], parity ^ 1);
                    expect(s.full[stage], sizeof s.a[0] + sizeof s.b[0]);
                    fetch_for((1 << cluster) - 1, s.a[stage][rank * share], a, phase * bk, row + rank * share,
                              s.full[stage]);
                    for (int i = 0; i < bn / 32; ++i)
                        fetch(s.b[stage][i], b, col + i * 32, phase * bk, s.full[stage]);
                }
            }
    } else {
        take_registers<232>();
        const int t = threadIdx.x - 128, lane = t % 32;
        const int x = t / 32 * 16 + lane / 4,
                  y = lane % 4;  // the thread's place in a fragment of the tile of B
        for (int pair = blockIdx.x / cluster; pair < tiles_m * pairs_n; pair += gridDim.x / cluster) {
            int row, col;
            place(pair, row, col);
            float d[128] = {};
            for (int phase = 0; phase < phases; ++phase, advance()) {
                wait(s.full[stage], parity);
                uint32_t f[bk / 8][4];
                for (int i = 0; i < bk / 8; ++i)
                    for (int j = 0; j < 4; ++j) {
                        const int fx = x + j % 2 * 8, fy = i * 8 + y + j / 2 * 4;
                        f[i][j] =
                            __float_as_uint(s.b[stage][fx / 32][fy][(fx % 32 / 4 ^ fy % 8) * 4 + fx % 4]);
                    }
                begin_products();
                for (int i = 0; i < bk / 8; ++i) multiply_tf32(d, f[i], tile_of_a(s.a[stage]) + i * 2);
                end_products();
                wait_products<0>();
                if (t % 128 < cluster) arrive_in(s.empty[stage], t % 128);
            }
            for (int i = 0; i < 128; ++i) {
                const int r = row + i / 4 * 8 + lane % 4 * 2 + i % 2, q = col + x + i / 2 % 2 * 8;
                if (r < m && q < n) c[r * n + q] = d[i];
            }
        }
    }
    sync_cluster();
}

// For n and k that are multiples of four: the copy engine takes no other rows.
void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    if (k == 0) {
        check(cudaMemsetAsync(c, 0, sizeof(float) * m * n));
        return;
    }
    CUtensorMap map_a, map_b;
    describe(map_a, a, m, k, bm / cluster, bk, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
    describe(map_b, b, k, n, bk, 32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
    int device, processors;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    check(cudaFuncSetAttribute(clustered, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));
    clustered<<<processors / cluster * cluster, threads, sizeof(Tiles)>>>(map_a, map_b, c, m, n, k);
    check(cudaGetLastError());
}
