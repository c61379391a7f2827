// float4 by reinterpret_cast on arrays of float, as in Boehm's kernel 6, with the tile of A transposed and
// padded. The host tests once for each matrix whether its rows begin at multiples of 16 bytes. Usual in
// SGEMM_CUDA and in repositories after it.
#include "gemm.cuh"

#define FLOAT4(pointer) (reinterpret_cast<float4 *>(&(pointer))[0])
#define CONST_FLOAT4(pointer) (reinterpret_cast<const float4 *>(&(pointer))[0])

template <bool wide>
__device__ float4 fetch(const float *matrix, int row, int col, int height, int width) {
    float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
    if (row < height) {
        if (wide) {
            if (col < width) v = CONST_FLOAT4(matrix[row * width + col]);
        } else {
            if (col < width) v.x = matrix[row * width + col];
            if (col + 1 < width) v.y = matrix[row * width + col + 1];
            if (col + 2 < width) v.z = matrix[row * width + col + 2];
            if (col + 3 < width) v.w = matrix[row * width + col + 3];
        }
    }
    return v;
}

template <const int BM, const int BN, const int BK, const int TM, const int TN, bool WIDE_A, bool WIDE_B>
__global__ void __launch_bounds__((BM * BN) / (TM * TN)) sgemmVectorize(int M, int N, int K, const float *A, const float *B, float *C) {
    const int cRow = blockIdx.y, cCol = blockIdx.x;
    const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
    __shared__ __align__(16) float As[BK * (BM + 4)];
    __shared__ __align__(16) float Bs[BK * BN];
    const int innerRowA = threadIdx.x / (BK / 4), innerColA = threadIdx.x % (BK / 4);
    const int innerRowB = threadIdx.x / (BN / 4), innerColB = threadIdx.x % (BN / 4);
    float threadResults[TM * TN] = {0.0};
    float regM[TM], regN[TN];
    for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
        const float4 tmp = fetch<WIDE_A>(A, cRow * BM + innerRowA, bkIdx + innerColA * 4, M, K);
        As[(innerColA * 4 + 0) * (BM + 4) + innerRowA] = tmp.x;
        As[(innerColA * 4 + 1) * (BM + 4) + innerRowA] = tmp.y;
        As[(innerColA * 4 + 2) * (BM + 4) + innerRowA] = tmp.z;
        As[(innerColA * 4 + 3) * (BM + 4) + innerRowA] = tmp.w;
        FLOAT4(Bs[innerRowB * BN + innerColB * 4]) =
            fetch<WIDE_B>(B, bkIdx + innerRowB, cCol * BN + innerColB * 4, K, N);
        __syncthreads();
        for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
            for (int i = 0; i < TM; i += 4) {
                const float4 v = FLOAT4(As[dotIdx * (BM + 4) + i * (BM / TM) + threadRow * 4]);
                regM[i] = v.x, regM[i + 1] = v.y, regM[i + 2] = v.z, regM[i + 3] = v.w;
            }
            for (int i = 0; i < TN; i += 4) {
                const float4 v = FLOAT4(Bs[dotIdx * BN + i * (BN / TN) + threadCol * 4]);
                regN[i] = v.x, regN[i + 1] = v.y, regN[i + 2] = v.z, regN[i + 3] = v.w;
            }
            for (int resIdxM = 0; resIdxM < TM; ++resIdxM)
                for (int resIdxN = 0; resIdxN < TN; ++resIdxN)
                    threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
        }
        __syncthreads();
    }
    for (int resIdxM = 0; resIdxM < TM; ++resIdxM) {
        const int row = cRow * BM + resIdxM / 4 * 4 * (BM / TM) + threadRow * 4 + resIdxM % 4;
        if (row >= M) continue;
        for (int resIdxN = 0; resIdxN < TN; resIdxN += 4) {
            const int col = cCol * BN + resIdxN * (BN / TN) + threadCol * 4;
            const float *r = &threadResults[resIdxM * TN + resIdxN];
            if (WIDE_B) {
                if (col < N) FLOAT4(C[row * N + col]) = make_float4(r[0], r[1], r[2], r[3]);
            } else {
                for (int i = 0; i < 4; ++i)
                    if (col + i < N) C[row * N + col + i] = r[i];
            }
        }
    }
}

void gemm(const float *a, const float *b, float *c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
    dim3 gridDim((n + BN - 1) / BN, (m + BM - 1) / BM);
    dim3 blockDim((BM * BN) / (TM * TN));
    if (n % 4 == 0 && k % 4 == 0)
        sgemmVectorize<BM, BN, BK, TM, TN, true, true><<<gridDim, blockDim>>>(m, n, k, a, b, c);
    else if (n % 4 == 0)
        sgemmVectorize<BM, BN, BK, TM, TN, false, true><<<gridDim, blockDim>>>(m, n, k, a, b, c);
    else if (k % 4 == 0)
        sgemmVectorize<BM, BN, BK, TM, TN, true, false><<<gridDim, blockDim>>>(m, n, k, a, b, c);
    else
        sgemmVectorize<BM, BN, BK, TM, TN, false, false><<<gridDim, blockDim>>>(m, n, k, a, b, c);
    check(cudaGetLastError());
}
