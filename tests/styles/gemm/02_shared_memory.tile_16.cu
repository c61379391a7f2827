// Tiles of 16 x 16, as in the CUDA programming guide and most courses.
#include "gemm.cuh"

#define TILE_WIDTH 16

__global__ void matrixMultiplyShared(const float *A, const float *B, float *C, int numARows, int numBColumns, int numAColumns) {
  __shared__ float ds_M[TILE_WIDTH][TILE_WIDTH];
  __shared__ float ds_N[TILE_WIDTH][TILE_WIDTH];
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int Row = by * TILE_WIDTH + ty, Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;
  for (int m = 0; m < (numAColumns - 1) / TILE_WIDTH + 1; ++m) {
    if (Row < numARows && m * TILE_WIDTH + tx < numAColumns)
      ds_M[ty][tx] = A[Row * numAColumns + m * TILE_WIDTH + tx];
    else
      ds_M[ty][tx] = 0;
    if (Col < numBColumns && m * TILE_WIDTH + ty < numAColumns)
      ds_N[ty][tx] = B[(m * TILE_WIDTH + ty) * numBColumns + Col];
    else
      ds_N[ty][tx] = 0;
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k) Pvalue += ds_M[ty][k] * ds_N[k][tx];
    __syncthreads();
  }
  if (Row < numARows && Col < numBColumns) C[Row * numBColumns + Col] = Pvalue;
}

void gemm(const float *a, const float *b, float *c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  dim3 dimGrid((n - 1) / TILE_WIDTH + 1, (m - 1) / TILE_WIDTH + 1, 1);
  dim3 dimBlock(TILE_WIDTH, TILE_WIDTH, 1);
  matrixMultiplyShared<<<dimGrid, dimBlock>>>(a, b, c, m, n, k);
  check(cudaGetLastError());
}
