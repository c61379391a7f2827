// As in the book, one guard after the other, with the halo added where the listing subtracts it. Elements of
// the tile outside the image are never written. Usual where a listing is repaired and not rewritten.
#include "fixed_radius.cuh"

#define TILE_DIM 32
__constant__ float F_c[2 * convolution::max_radius + 1][2 * convolution::max_radius + 1];

template <int R>
__global__ void convolution_cached_tiled_2D_const_mem_kernel(const float* N, float* P, int width, int height) {
    int col = blockIdx.x * TILE_DIM + threadIdx.x;
    int row = blockIdx.y * TILE_DIM + threadIdx.y;
    __shared__ float N_s[TILE_DIM][TILE_DIM];
    if (row < height && col < width) {
        N_s[threadIdx.y][threadIdx.x] = N[row * width + col];
    }
    __syncthreads();
    if (col < width && row < height) {
        float Pvalue = 0.0f;
        for (int fRow = 0; fRow < 2 * R + 1; fRow++) {
            for (int fCol = 0; fCol < 2 * R + 1; fCol++) {
                const int y = row - R + fRow, x = col - R + fCol;
                if (y < 0 || y >= height || x < 0 || x >= width) continue;  // a ghost element
                const int tileCol = threadIdx.x + fCol, tileRow = threadIdx.y + fRow;  // in tile and halo
                if (tileCol >= R && tileCol < TILE_DIM + R && tileRow >= R && tileRow < TILE_DIM + R) {
                    Pvalue += F_c[fRow][fCol] * N_s[threadIdx.y + fRow - R][threadIdx.x + fCol - R];
                } else {
                    Pvalue += F_c[fRow][fCol] * N[y * width + x];
                }
            }
        }
        P[row * width + col] = Pvalue;
    }
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    if (width == 0 || height == 0) return;
    constexpr int side = 2 * r + 1;
    for (int row = 0; row < side; ++row)
        check(cudaMemcpyToSymbol(F_c, filter + row * side, side * sizeof(float), row * sizeof F_c[0], cudaMemcpyDeviceToDevice));
    dim3 block(TILE_DIM, TILE_DIM);
    dim3 grid((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    convolution_cached_tiled_2D_const_mem_kernel<r><<<grid, block>>>(in, out, width, height);
    check(cudaGetLastError());
}
