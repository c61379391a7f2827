// One-dimensional blocks of 1024 threads, which a division turns into 32 x 32, as in "global memory
// coalescing" of Boehm's article.
#include "gemm.cuh"

template <const uint BLOCKSIZE>
__global__ void sgemm_global_mem_coalesce(int M, int N, int K, const float *A, const float *B, float *C) {
  const int cRow = blockIdx.y * BLOCKSIZE + (threadIdx.x / BLOCKSIZE);
  const int cCol = blockIdx.x * BLOCKSIZE + (threadIdx.x % BLOCKSIZE);
  if (cRow < M && cCol < N) {
    float tmp = 0.0;
    for (int i = 0; i < K; ++i) {
      tmp += A[cRow * K + i] * B[i * N + cCol];
    }
    C[cRow * N + cCol] = tmp;
  }
}

void gemm(const float *a, const float *b, float *c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  dim3 gridDim(ceil_div(n, 32), ceil_div(m, 32));
  dim3 blockDim(32 * 32);
  sgemm_global_mem_coalesce<32><<<gridDim, blockDim>>>(m, n, k, a, b, c);
  check(cudaGetLastError());
}
