// Tiles that are 16 deep, loaded in rounds; a kernel for rows that begin at multiples of 16 bytes, and step 04 for all others.
#include "gemm.cuh"

constexpr int BM = 128, BN = 128, BK = 16, THREADS = 256;

__global__ void __launch_bounds__(THREADS) gemm_wide(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ c,
                                                     int m, int n4, int k4) {
    __shared__ float4 as[BK][BM / 4 + 1];
    __shared__ float4 bs[BK][BN / 4];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const float4 zero = make_float4(0, 0, 0, 0);
    float acc[8][8] = {};
    for (int k0 = 0; k0 < k4; k0 += BK / 4) {
        for (int e = threadIdx.x; e < BM * BK / 4; e += THREADS) {
            const int r = e / (BK / 4), q = e % (BK / 4), row = blockIdx.y * BM + r;
            const float4 v = row < m && k0 + q < k4 ? a[row * k4 + k0 + q] : zero;
            float* column = &reinterpret_cast<float*>(as[0])[r];
            const int pitch = BM + 4;
            column[(4 * q + 0) * pitch] = v.x;
            column[(4 * q + 1) * pitch] = v.y;
            column[(4 * q + 2) * pitch] = v.z;
            column[(4 * q + 3) * pitch] = v.w;
        }
        for (int e = threadIdx.x; e < BK * BN / 4; e += THREADS) {
            const int r = e / (BN / 4), q = e % (BN / 4), row = 4 * k0 + r, col = blockIdx.x * (BN / 4) + q;
            bs[r][q] = row < 4 * k4 && col < n4 ? b[row * n4 + col] : zero;
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < BK; ++kk) {
            const float4 u0 = as[kk][ty], u1 = as[kk][ty + 16], v0 = bs[kk][tx], v1 = bs[kk][tx + 16];
            const float u[8] = {u0.x, u0.y, u0.z, u0.w, u1.x, u1.y, u1.z, u1.w};
            const float v[8] = {v0.x, v0.y, v0.z, v0.w, v1.x, v1.y, v1.z, v1.w};
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) acc[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i) {
        const int row = blockIdx.y * BM + i / 4 * 64 + ty * 4 + i % 4;
        if (row >= m) continue;
        for (int h = 0; h < 2; ++h) {
            const int col = blockIdx.x * (BN / 4) + h * 16 + tx;
            if (col < n4) c[row * n4 + col] = make_float4(acc[i][4 * h], acc[i][4 * h + 1], acc[i][4 * h + 2], acc[i][4 * h + 3]);
        }
    }
}

__global__ void __launch_bounds__(THREADS) gemm_any(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float as[BM][8], bs[8][BN];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float acc[8][8] = {};
    for (int k0 = 0; k0 < k; k0 += 8) {
        for (int e = threadIdx.x; e < BM * 8; e += THREADS) {
            const int row = row0 + e / 8, col = k0 + e % 8;
            as[e / 8][e % 8] = row < m && col < k ? a[row * k + col] : 0;
        }
        for (int e = threadIdx.x; e < BN * 8; e += THREADS) {
            const int row = k0 + e / BN, col = col0 + e % BN;
            bs[e / BN][e % BN] = row < k && col < n ? b[row * n + col] : 0;
        }
        __syncthreads();
        for (int kk = 0; kk < 8; ++kk) {
            float u[8], v[8];
            for (int i = 0; i < 8; ++i) u[i] = as[ty + 16 * i][kk], v[i] = bs[kk][tx + 16 * i];
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 8; ++j) acc[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
            if (row < m && col < n) c[row * n + col] = acc[i][j];
        }
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 grid((n + BN - 1) / BN, (m + BM - 1) / BM);
    if (n % 4 == 0 && k % 4 == 0)
        gemm_wide<<<grid, THREADS>>>(reinterpret_cast<const float4*>(a), reinterpret_cast<const float4*>(b), reinterpret_cast<float4*>(c), m,
                                     n / 4, k / 4);
    else
        gemm_any<<<grid, THREADS>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
