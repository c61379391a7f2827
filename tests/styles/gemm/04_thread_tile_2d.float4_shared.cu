// A's tile transposed, and both read from shared memory as float4: usual in CUTLASS-like kernels.
#include "gemm.cuh"

constexpr int BM = 128, BN = 128, BK = 8, THREADS = 256;

__global__ void __launch_bounds__(THREADS) sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                                 int m, int n, int k) {
    __shared__ __align__(16) float as[BK][BM + 4];  // transposed; the free columns keep the stores apart
    __shared__ __align__(16) float bs[BK][BN];
    const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float acc[8][8] = {};
    for (int k0 = 0; k0 < k; k0 += BK) {
        for (int e = tid; e < BM * BK; e += THREADS) {
            const int r = e / BK, kk = e % BK;
            as[kk][r] = row0 + r < m && k0 + kk < k ? a[(row0 + r) * k + k0 + kk] : 0.f;
        }
        for (int e = tid; e < BK * BN; e += THREADS) {
            const int kk = e / BN, col = e % BN;
            bs[kk][col] = k0 + kk < k && col0 + col < n ? b[(k0 + kk) * n + col0 + col] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; ++kk) {
            float4 u[2], v[2];
            for (int h = 0; h < 2; ++h) {
                u[h] = *reinterpret_cast<const float4*>(&as[kk][h * 64 + ty * 4]);
                v[h] = *reinterpret_cast<const float4*>(&bs[kk][h * 64 + tx * 4]);
            }
            const float x[8] = {u[0].x, u[0].y, u[0].z, u[0].w, u[1].x, u[1].y, u[1].z, u[1].w};
            const float y[8] = {v[0].x, v[0].y, v[0].z, v[0].w, v[1].x, v[1].y, v[1].z, v[1].w};
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) acc[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            const int row = row0 + i / 4 * 64 + ty * 4 + i % 4, col = col0 + j / 4 * 64 + tx * 4 + j % 4;
            if (row < m && col < n) c[row * n + col] = acc[i][j];
        }
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    sgemm<<<dim3((n + BN - 1) / BN, (m + BM - 1) / BM), THREADS>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
