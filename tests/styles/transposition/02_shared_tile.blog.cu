// The kernel of NVIDIA's blog post with guards, turned while it is stored into the tile, and half as many rounds; x and y computed
// anew for the stores. Usual in samples and course work.
#include "transposition.cuh"

#define TILE_DIM 32
#define BLOCK_ROWS 16

__global__ void transposeCoalesced(float* odata, const float* idata, int height, int width) {
    __shared__ float block[TILE_DIM][TILE_DIM];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < width && y + j < height) block[threadIdx.x][threadIdx.y + j] = idata[(y + j) * width + x];
    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        if (x < height && y + j < width) odata[(y + j) * height + x] = block[threadIdx.y + j][threadIdx.x];
}

void transpose(const float* in, float* out, int rows, int columns) {
    if (rows == 0 || columns == 0) return;
    dim3 dimGrid((columns + TILE_DIM - 1) / TILE_DIM, (rows + TILE_DIM - 1) / TILE_DIM);
    dim3 dimBlock(TILE_DIM, BLOCK_ROWS);
    transposeCoalesced<<<dimGrid, dimBlock>>>(out, in, rows, columns);
    check(cudaGetLastError());
}
