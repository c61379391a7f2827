// Tiles of 16 x 16 and a __device__ function that decides where an element comes from: usual where a listing
// is split into functions.
#include "fixed_radius.cuh"

#define TILE_DIM 16

__constant__ float F[convolution::max_weights];

struct Picture {
    const float* data;
    int width, height;
};

__device__ float element(const float (&tile)[TILE_DIM][TILE_DIM], const Picture& image, int tileRow, int tileCol, int row,
                         int col) {
    if (tileRow >= 0 && tileRow < TILE_DIM && tileCol >= 0 && tileCol < TILE_DIM) return tile[tileRow][tileCol];
    if (row >= 0 && row < image.height && col >= 0 && col < image.width) return __ldg(&image.data[row * image.width + col]);
    return 0.0f;
}

template <int R>
__global__ void cached(Picture image, float* P) {
    __shared__ float tile[TILE_DIM][TILE_DIM];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int col = blockIdx.x * TILE_DIM + tx, row = blockIdx.y * TILE_DIM + ty;
    tile[ty][tx] = row < image.height && col < image.width ? image.data[row * image.width + col] : 0.0f;
    __syncthreads();
    if (col >= image.width || row >= image.height) return;
    float sum = 0.0f;
    for (int i = -R; i <= R; ++i)
        for (int j = -R; j <= R; ++j)
            sum += F[(i + R) * (2 * R + 1) + j + R] * element(tile, image, ty + i, tx + j, row + i, col + j);
    P[row * image.width + col] = sum;
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    if (width == 0 || height == 0) return;
    check(cudaMemcpyToSymbol(F, filter, (2 * r + 1) * (2 * r + 1) * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    cached<r><<<dim3(ceil_div(width, TILE_DIM), ceil_div(height, TILE_DIM)), dim3(TILE_DIM, TILE_DIM)>>>(
        Picture{in, width, height}, out);
    check(cudaGetLastError());
}
