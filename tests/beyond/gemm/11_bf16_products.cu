// Needs: sm_90a
//
// 11 Products of a warpgroup: BF16 in, FP32 out. Four warps together multiply 64 x 16 by 16 x 256 elements in
// one asynchronous instruction that reads both factors from shared memory.
//
// Changed against 09: no fragments are loaded into registers; only the sum lies there, 128 elements a thread.
// The price is the order on chip: 16 bytes number c of row r lie at number c ^ (r % 8), so that eight rows of
// a column are in eight different groups of banks. n and k must be multiples of eight.
#include "gemm.cuh"
#include "hopper_more.cuh"

constexpr int bm = 64, bn = 256, bk = 64;  // a row of the tile of A, and of each quarter of B's, is 128 bytes
constexpr int threads = 128;

struct alignas(16) Pack {
    bf16 at[8];
};

struct alignas(1024) Tiles {
    Pack a[bm][8];
    Pack b[bn / 64][bk][8];
};

__global__ void __launch_bounds__(threads, 2) products(const bf16* __restrict__ a, const bf16* __restrict__ b,
                                                       float* __restrict__ c, int m, int n, int k) {
    __shared__ Tiles s;
    const int t = threadIdx.x, row = blockIdx.y * bm, col = blockIdx.x * bn;
    const auto pack_of = [](const bf16* matrix, int height, int width, int y, int x) {
        return y < height && x < width
                   ? reinterpret_cast<const Pack&>(matrix[static_cast<size_t>(y) * width + x])
                   : Pack{};
    };
    float d[128] = {};
    for (int from = 0; from < k; from += bk) {
        for (int i = t; i < bm * 8; i += threads) {
            const int r = i / 8, p = i % 8;
            s.a[r][p ^ r % 8] = pack_of(a, m, k, row + r, from + p * 8);
        }
        for (int i = t; i < bk * bn / 8; i += threads) {
            const int r = i / (bn / 8), p = i % (bn / 8);
            s.b[p / 8][r][p % 8 ^ r % 8] = pack_of(b, k, n, from + r, col + p * 8);
        }
        publish_stores();
        __syncthreads();
        begin_products();
        for (int i = 0; i < bk / 16; ++i)
            multiply(d, tile_of_a(s.a) + i * 2, tile_of_b(s.b, sizeof s.b[0]) + i * 128);
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
    if (n % 8 != 0 || k % 8 != 0) check(cudaErrorInvalidValue);
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    products<<<grid, threads>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
