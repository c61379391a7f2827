// Needs: sm_90a
//
// 10 Warpgroups: four warps multiply 64 x 8 by 8 x 256 elements in one asynchronous instruction, and the copy
// engine fetches whole tiles. Only for compute capability 9.0, compiled for sm_90a, and with inline PTX.
//
// Changed against 09: one warpgroup only fetches, the others only multiply, and neither waits for the other
// as long as tiles are ahead; the second factor comes straight from shared memory; a block works off many
// tiles. n and k must be multiples of four; call step 09 for others.
#include "gemm.cuh"
#include "hopper_more.cuh"

// wgmma takes its second operand along K, as A lies. B does not lie so, but comes through registers. So the
// instruction computes the transpose: its 64 rows are columns of C, its 256 columns are rows of C.
constexpr int bm = 256, bn = 128;  // rows and columns of C that a block computes
constexpr int bk = 32;     // elements along K that are on chip at a time: the 128 bytes of a swizzled row
constexpr int stages = 4;  // pairs of tiles on chip
constexpr int consumers = bn / 64;  // warpgroups that multiply; one more, the first, fetches
constexpr int threads = (1 + consumers) * 128;
constexpr int group = 2;  // rows of tiles that are worked off together

struct Tiles {
    float a[stages][bm][bk];           // swizzled: 16 bytes number c of row r lie at number c ^ (r % 8)
    float b[stages][bn / 32][bk][32];  // likewise
    uint64_t full[stages], empty[stages];
};

__global__ void __launch_bounds__(threads, 1)
    warpgroups(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, int m,
               int n, int k) {
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
                for (int i = 0; i < bn / 32; ++i)
                    fetch(s.b[stage][i], b, col + i * 32, phase * bk, s.full[stage]);
            }
        }
    } else {
        take_registers<232>();
        const int t = threadIdx.x - 128, lane = t % 32;
        const int x = t / 32 * 16 + lane / 4,
                  y = lane % 4;  // the thread's place in a fragment of the tile of B
        for (int tile = blockIdx.x; tile < tiles_m * tiles_n; tile += gridDim.x) {
            int row, col;
            place(tile, row, col);
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
                if (t % 128 == 0) arrive(s.empty[stage]);
            }
            for (int i = 0; i < 128; ++i) {
                const int r = row + i / 4 * 8 + lane % 4 * 2 + i % 2, q = col + x + i / 2 % 2 * 8;
                if (r < m && q < n) c[r * n + q] = d[i];
            }
        }
    }
}

// For n and k that are multiples of four: the copy engine takes no other rows.
void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    if (k == 0) {
        check(cudaMemsetAsync(c, 0, sizeof(float) * m * n));
        return;
    }
    CUtensorMap map_a, map_b;
    describe(map_a, a, m, k, bm, bk, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
    describe(map_b, b, k, n, bk, 32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
    int device, processors;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    check(cudaFuncSetAttribute(warpgroups, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles)));
    warpgroups<<<processors, threads, sizeof(Tiles)>>>(map_a, map_b, c, m, n, k);
    check(cudaGetLastError());
}
