// Needs: sm_90a
//
// 12 The copy engine: one thread asks for whole tiles, and they arrive in the order that the products want.
//
// Changed against 11: no addresses are computed and no registers are passed through; the engine guards the
// edges, and a barrier in shared memory counts the bytes that have come. Nothing is fetched ahead yet: the
// three blocks of a multiprocessor wait for one another's tiles.
#include "gemm.cuh"
#include "hopper.cuh"

constexpr int bm = 64, bn = 256, bk = 64;
constexpr int threads = 128;

struct alignas(1024) Tiles {
    bf16 a[bm][bk];
    bf16 b[bn / 64][bk][64];
    uint64_t full;
};

__global__ void __launch_bounds__(threads, 3)
    copy_engine(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                float* __restrict__ c, int m, int n, int k) {
    __shared__ Tiles s;
    const int t = threadIdx.x, row = blockIdx.y * bm, col = blockIdx.x * bn;
    if (t == 0) {
        init(s.full, 1);
        publish_barriers();
    }
    __syncthreads();
    float d[128] = {};
    for (int phase = 0; phase * bk < k; ++phase) {
        if (t == 0) {
            expect(s.full, sizeof s.a + sizeof s.b);
            fetch(s.a, a, phase * bk, row, s.full);
            for (int i = 0; i < bn / 64; ++i) fetch(s.b[i], b, col + i * 64, phase * bk, s.full);
        }
        wait(s.full, phase % 2);
        begin_products();
        for (int i = 0; i < bk / 16; ++i)
            multiply(d, rows_of_a(s.a) + i * 2, rows_of_b(s.b, sizeof s.b[0]) + i * 128);
        end_products();
        wait_products<0>();
        __syncthreads();
    }
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
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    copy_engine<<<grid, threads>>>(map_a, map_b, c, m, n, k);
    check(cudaGetLastError());
}
