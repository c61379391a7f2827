// The tile in dynamic shared memory, indexed by hand, 1024 threads with an element each, and the rows of the tile read by
// those that store columns: usual where the size of a tile is an argument.
#include "transposition.cuh"

__global__ void transpose_padded(const float* __restrict__ src, float* __restrict__ dst, int m, int n) {
    extern __shared__ float s[];
    const int pitch = blockDim.x + 1;
    const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < n && r < m) s[threadIdx.x * pitch + threadIdx.y] = src[r * n + c];
    __syncthreads();
    const int oc = blockIdx.y * blockDim.y + threadIdx.x, orow = blockIdx.x * blockDim.x + threadIdx.y;
    if (oc >= m || orow >= n) return;
    dst[orow * m + oc] = s[threadIdx.y * pitch + threadIdx.x];
}

void transpose(const float* in, float* out, int rows, int columns) {
    if (rows == 0 || columns == 0) return;
    const int side = 32;
    const dim3 grid((columns + side - 1) / side, (rows + side - 1) / side), block(side, side);
    transpose_padded<<<grid, block, side*(side + 1) * sizeof(float)>>>(in, out, rows, columns);
    check(cudaGetLastError());
}
