// A two-dimensional block of 64 x 8, tiles of 64 x 16 that are loaded in a loop, and A's tile transposed with
// a column of padding: usual where the author knows bank conflicts.
#include "gemm.cuh"

#define BM 64
#define BN 64
#define BK 16
#define TM 8

__global__ void gemm_1d(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float sA[BK][BM + 1];
    __shared__ float sB[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y, tid = ty * BN + tx;
    const int row0 = blockIdx.y * BM, col = blockIdx.x * BN + tx;
    float acc[TM];
    for (int i = 0; i < TM; ++i) acc[i] = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int e = tid; e < BM * BK; e += BN * BM / TM) {
            const int r = e / BK, kk = e % BK;
            sA[kk][r] = (row0 + r < M && k0 + kk < K) ? A[(size_t)(row0 + r) * K + k0 + kk] : 0.0f;
        }
        for (int kk = ty; kk < BK; kk += BM / TM)
            sB[kk][tx] = (k0 + kk < K && col < N) ? B[(size_t)(k0 + kk) * N + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; ++kk) {
            const float b = sB[kk][tx];
#pragma unroll
            for (int i = 0; i < TM; ++i) acc[i] += sA[kk][ty * TM + i] * b;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = row0 + ty * TM + i;
        if (row < M && col < N) C[(size_t)row * N + col] = acc[i];
    }
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    gemm_1d<<<dim3((n + BN - 1) / BN, (m + BM - 1) / BM), dim3(BN, BM / TM)>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
