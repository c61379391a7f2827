// Boehm's 2-D block tiling: a thread's 8 x 8 results are side by side, and regM and regN cache what it has
// read.
#include "gemm.cuh"

template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
    sgemm2DBlocktiling(int M, int N, int K, const float *A, const float *B, float *C) {
  const int numThreadsBlocktile = BM * BN / (TM * TN);
  const int threadCol = threadIdx.x % (BN / TN);
  const int threadRow = threadIdx.x / (BN / TN);

  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];

  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int innerRowA = threadIdx.x / BK, innerColA = threadIdx.x % BK, strideA = numThreadsBlocktile / BK;
  const int innerRowB = threadIdx.x / BN, innerColB = threadIdx.x % BN, strideB = numThreadsBlocktile / BN;

  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0};
  float regN[TN] = {0.0};

  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    for (int loadOffset = 0; loadOffset < BM; loadOffset += strideA) {
      const int r = innerRowA + loadOffset;
      As[r * BK + innerColA] = row0 + r < M && bkIdx + innerColA < K ? A[(row0 + r) * K + bkIdx + innerColA] : 0.0f;
    }
    for (int loadOffset = 0; loadOffset < BK; loadOffset += strideB) {
      const int r = innerRowB + loadOffset;
      Bs[r * BN + innerColB] = bkIdx + r < K && col0 + innerColB < N ? B[(bkIdx + r) * N + col0 + innerColB] : 0.0f;
    }
    __syncthreads();
    for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (int i = 0; i < TM; ++i) regM[i] = As[(threadRow * TM + i) * BK + dotIdx];
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      for (int resIdxM = 0; resIdxM < TM; ++resIdxM)
        for (int resIdxN = 0; resIdxN < TN; ++resIdxN)
          threadResults[resIdxM * TN + resIdxN] += regM[resIdxM] * regN[resIdxN];
    }
    __syncthreads();
  }

  for (int resIdxM = 0; resIdxM < TM; ++resIdxM)
    for (int resIdxN = 0; resIdxN < TN; ++resIdxN) {
      const int row = row0 + threadRow * TM + resIdxM, col = col0 + threadCol * TN + resIdxN;
      if (row < M && col < N) C[row * N + col] = threadResults[resIdxM * TN + resIdxN];
    }
}

void gemm(const float *a, const float *b, float *c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  const int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
  sgemm2DBlocktiling<BM, BN, BK, TM, TN>
      <<<dim3(ceil_div(n, BN), ceil_div(m, BM)), (BM * BN) / (TM * TN)>>>(m, n, k, a, b, c);
  check(cudaGetLastError());
}
