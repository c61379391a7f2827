// A thread for each element of the result, in blocks of 16 x 16: the stores are coalesced and the loads are not.
// Usual where a kernel is written from what it has to compute.
#include "transposition.cuh"

__global__ void transposeKernel(const float* A, float* B, int M, int N) {
    const int x = blockIdx.y * blockDim.x + threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y;
    if (x < M && y < N) B[y * M + x] = A[x * N + y];
}

void transpose(const float* in, float* out, int rows, int columns) {
    if (rows == 0 || columns == 0) return;
    transposeKernel<<<dim3(ceil_div(columns, 16), ceil_div(rows, 16)), dim3(16, 16)>>>(in, out, rows, columns);
    check(cudaGetLastError());
}
