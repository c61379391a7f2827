// The names, order of loops and moving pointers of Boehm's article, the document's source, with guards for
// any size.
#include "gemm.cuh"

template <const int BM, const int BN, const int BK, const int TM>
__global__ void sgemm1DBlocktiling(int M, int N, int K, const float *A, const float *B, float *C) {
  const int cRow = blockIdx.y;
  const int cCol = blockIdx.x;
  const int threadCol = threadIdx.x % BN;
  const int threadRow = threadIdx.x / BN;

  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];

  const int innerColA = threadIdx.x % BK;
  const int innerRowA = threadIdx.x / BK;
  const int innerColB = threadIdx.x % BN;
  const int innerRowB = threadIdx.x / BN;
  const bool rowOfA = cRow * BM + innerRowA < M;
  const bool colOfB = cCol * BN + innerColB < N;

  float threadResults[TM] = {0.0};
  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    As[innerRowA * BK + innerColA] =
        rowOfA && bkIdx + innerColA < K ? A[(cRow * BM + innerRowA) * K + bkIdx + innerColA] : 0.0f;
    Bs[innerRowB * BN + innerColB] =
        colOfB && bkIdx + innerRowB < K ? B[(bkIdx + innerRowB) * N + cCol * BN + innerColB] : 0.0f;
    __syncthreads();
    for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
      float tmpB = Bs[dotIdx * BN + threadCol];
      for (int resIdx = 0; resIdx < TM; ++resIdx) {
        threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
      }
    }
    __syncthreads();
  }
  for (int resIdx = 0; resIdx < TM; ++resIdx) {
    const int row = cRow * BM + threadRow * TM + resIdx, col = cCol * BN + threadCol;
    if (row < M && col < N) C[row * N + col] = threadResults[resIdx];
  }
}

void gemm(const float *a, const float *b, float *c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  const int BM = 64, BN = 64, BK = 8, TM = 8;
  dim3 gridDim(ceil_div(n, BN), ceil_div(m, BM));
  dim3 blockDim((BM * BN) / TM);
  sgemm1DBlocktiling<BM, BN, BK, TM><<<gridDim, blockDim>>>(m, n, k, a, b, c);
  check(cudaGetLastError());
}
