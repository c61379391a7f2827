// Needs: sm_90a
//
// 14 A producer: one warpgroup only fetches, two only multiply, and neither waits for the other as long as
// tiles are ahead. A block works off many tiles of C, so that the first tiles of the next one come while the
// last one is written.
//
// Changed against 13: no __syncthreads in the loop: a second barrier for each stage says when it is free; the
// producer's registers go to those who multiply. Tiles of C are worked off in groups of rows, so that blocks
// that run together share rows and columns in the L2 cache.
#include "gemm.cuh"
#include "hopper.cuh"

constexpr int bm = 128, bn = 256, bk = 64;
constexpr int stages = 4;           // pairs of tiles on chip
constexpr int consumers = bm / 64;  // warpgroups that multiply; one more, the first, fetches
constexpr int threads = (1 + consumers) * 128;
constexpr int group = 16;  // rows of tiles that are worked off together

struct Tiles {
    bf16 a[stages][bm][bk];
    bf16 b[stages][bn / 64][bk][64];
    uint64_t full[stages], empty[stages];
};

__global__ void __launch_bounds__(threads, 1)
    producer(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
             float* __restrict__ c, int m, int n, int k) {
    extern __shared__ __align__(1024) unsigned char raw[];
    auto& s = reinterpret_cast<Tiles&>(raw);
    const int phases = (k + bk - 1) / bk, tiles_m = (m + bm - 1) / bm, tiles_n = (n + bn - 1) / bn;
    if (threadIdx.x == 0) {
        for (auto& full : s.full) init(full, 1);
        for (auto& empty : s.empty) init(empty, consumers);
        publish_barriers();
    }
    __syncthreads();
    const auto place = [&](int tile, int& row, int& col) {
        const int in_group = tile % (group * tiles_n), first = tile / (group * tiles_n) * group;
        const int high = min(group, tiles_m - first);
        row = (first + in_group % high) * bm, col = in_group / high * bn;
    };
    int stage = 0, parity = 0;
    const auto advance = [&] {
        if (++stage == stages) stage = 0, parity ^= 1;
    };
    if (threadIdx.x < 128) {
        give_registers<40>();
        if (threadIdx.x != 0) return;
        for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
            int row, col;
            place(tile, row, col);
            for (int phase = 0; phase < phases; ++phase, advance()) {
                wait(s.empty[stage], parity ^ 1);
                expect(s.full[stage], sizeof s.a[0] + sizeof s.b[0]);
                fetch(s.a[stage], a, phase * bk, row, s.full[stage]);
                for (int i = 0; i < bn / 64; ++i)
                    fetch(s.b[stage][i], b, col + i * 64, phase * bk, s.full[stage]);
            }
        }
    } else {
        take_registers<232>();
        const int t = threadIdx.x - 128;
        for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
            int row, col;
            place(tile, row, col);
            float d[128] = {};
            int before = stage;
            for (int phase = 0; phase < phases; ++phase, advance()) {
                wait(s.full[stage], parity);
                begin_products();
                for (int i = 0; i < bk / 16; ++i)
                    multiply(d, rows_of_a(s.a[stage][t / 128 * 64]) + i * 2,
                             rows_of_b(s.b[stage], sizeof s.b[0][0]) + i * 128);
                end_products();
                wait_products<1>();
                if (phase > 0 && t % 128 == 0) arrive(s.empty[before]);
                before = stage;
            }
            wait_products<0>();
            if (t % 128 == 0) arrive(s.empty[before]);
            for (int j = 0; j < 32; ++j)
                for (int h = 0; h < 2; ++h) {
                    const int r = row + t / 32 * 16 + t % 32 / 4 + h * 8, q = col + j * 8 + t % 4 * 2;
                    if (r < m && q < n)
                        reinterpret_cast<float2&>(c[static_cast<size_t>(r) * n + q]) =
                            float2{d[j * 4 + h * 2], d[j * 4 + h * 2 + 1]};
                }
        }
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
    int device, processors;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    check(cudaFuncSetAttribute(producer, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));
    producer<<<processors, threads, sizeof(Tiles)>>>(map_a, map_b, c, m, n, k);
    check(cudaGetLastError());
}
