// As in NVIDIA's sample cudaTensorCoreGemm and its many descendants: eight warps of 32 x 64 results, tiles
// filled by int4 loads, two barriers for each tile, and one test in each block whether it lies wholly in C.
#include "bf16.cuh"

#include <mma.h>

using namespace nvcuda::wmma;

#define BLOCK_M 128
#define BLOCK_N 128
#define CHUNK_K 32
#define SKEW 8
#define WARPS 8

__global__ void gemm_wmma(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B, float* __restrict__ C,
                          int M, int N, int K) {
    __shared__ __align__(128) __nv_bfloat16 As[BLOCK_M * (CHUNK_K + SKEW)];
    __shared__ __align__(128) __nv_bfloat16 Bs[CHUNK_K * (BLOCK_N + SKEW)];
    __shared__ __align__(128) float Cs[WARPS][16 * 16];

    const int warp_id = threadIdx.x / warpSize, lane_id = threadIdx.x % warpSize;
    const int warp_m = warp_id / 2, warp_n = warp_id % 2;
    const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;

    fragment<accumulator, 16, 16, 16, float> acc[2][4];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) fill_fragment(acc[i][j], 0.0f);

    for (int k0 = 0; k0 < K; k0 += CHUNK_K) {
        for (int v = threadIdx.x; v < BLOCK_M * CHUNK_K / 8; v += blockDim.x) {
            int r = v / (CHUNK_K / 8), c = v % (CHUNK_K / 8) * 8;
            int4 value = make_int4(0, 0, 0, 0);
            if (block_m + r < M && k0 + c < K) value = *(const int4*)&A[(size_t)(block_m + r) * K + k0 + c];
            *(int4*)&As[r * (CHUNK_K + SKEW) + c] = value;
        }
        for (int v = threadIdx.x; v < CHUNK_K * BLOCK_N / 8; v += blockDim.x) {
            int r = v / (BLOCK_N / 8), c = v % (BLOCK_N / 8) * 8;
            int4 value = make_int4(0, 0, 0, 0);
            if (k0 + r < K && block_n + c < N) value = *(const int4*)&B[(size_t)(k0 + r) * N + block_n + c];
            *(int4*)&Bs[r * (BLOCK_N + SKEW) + c] = value;
        }
        __syncthreads();
        for (int kk = 0; kk < CHUNK_K; kk += 16) {
            fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> a[2];
            for (int i = 0; i < 2; i++) {
                load_matrix_sync(a[i], &As[(warp_m * 32 + i * 16) * (CHUNK_K + SKEW) + kk], CHUNK_K + SKEW);
            }
            for (int j = 0; j < 4; j++) {
                fragment<matrix_b, 16, 16, 16, __nv_bfloat16, row_major> b;
                load_matrix_sync(b, &Bs[kk * (BLOCK_N + SKEW) + warp_n * 64 + j * 16], BLOCK_N + SKEW);
                for (int i = 0; i < 2; i++) mma_sync(acc[i][j], a[i], b, acc[i][j]);
            }
        }
        __syncthreads();
    }

    const bool whole = block_m + BLOCK_M <= M && block_n + BLOCK_N <= N;
    float* stage = Cs[warp_id];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 4; j++) {
            if (whole) {
                float* tile = C + (size_t)(block_m + warp_m * 32 + i * 16) * N + block_n + warp_n * 64 + j * 16;
                store_matrix_sync(tile, acc[i][j], N, mem_row_major);
                continue;
            }
            store_matrix_sync(stage, acc[i][j], 16, mem_row_major);
            __syncwarp();
            for (int e = lane_id; e < 256; e += warpSize) {
                int r = block_m + warp_m * 32 + i * 16 + e / 16, c = block_n + warp_n * 64 + j * 16 + e % 16;
                if (r < M && c < N) C[(size_t)r * N + c] = stage[e];
            }
            __syncwarp();
        }
    }
}

void gemm_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    dim3 grid((n + BLOCK_N - 1) / BLOCK_N, (m + BLOCK_M - 1) / BLOCK_M);
    gemm_wmma<<<grid, WARPS * 32>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
