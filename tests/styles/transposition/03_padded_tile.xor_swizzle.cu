// No padding: element (y, x) of the tile stands in column x ^ y, which differs between the lanes of a row and between
// those of a column. Usual where rows must begin at multiples of 16 bytes, or shared memory is scarce.
#include "transposition.cuh"

constexpr int T = 32;

__global__ void transpose_swizzled(const float* in, float* out, int rows, int cols) {
    __shared__ float tile[T][T];
    const int tx = threadIdx.x, bx = blockIdx.x * T, by = blockIdx.y * T;
#pragma unroll
    for (int k = 0; k < T; k += 8) {
        const int ty = threadIdx.y + k;
        if (by + ty < rows && bx + tx < cols) tile[ty][tx ^ ty] = in[(by + ty) * cols + bx + tx];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < T; k += 8) {
        const int ty = threadIdx.y + k;
        if (bx + ty < cols && by + tx < rows) out[(bx + ty) * rows + by + tx] = tile[tx][ty ^ tx];
    }
}

void transpose(const float* in, float* out, int rows, int columns) {
    if (rows == 0 || columns == 0) return;
    transpose_swizzled<<<dim3(ceil_div(columns, T), ceil_div(rows, T)), dim3(T, 8)>>>(in, out, rows, columns);
    check(cudaGetLastError());
}
