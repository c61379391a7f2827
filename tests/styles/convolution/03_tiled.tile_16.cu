// Input tiles of 16 x 16 as long as the filter leaves enough of them, as on slides that fill a block with 256 threads.
#include "fixed_radius.cuh"

__constant__ float F_c[convolution::max_weights];

template <int R, int IN_TILE_DIM>
__global__ void conv_tiled(const float* N, float* P, int width, int height) {
    constexpr int OUT_TILE_DIM = IN_TILE_DIM - 2 * R;
    int col = blockIdx.x * OUT_TILE_DIM + threadIdx.x - R;
    int row = blockIdx.y * OUT_TILE_DIM + threadIdx.y - R;
    __shared__ float N_s[IN_TILE_DIM][IN_TILE_DIM];
    if (row >= 0 && row < height && col >= 0 && col < width) {
        N_s[threadIdx.y][threadIdx.x] = N[row * width + col];
    } else {
        N_s[threadIdx.y][threadIdx.x] = 0.0f;
    }
    __syncthreads();
    int tileCol = (int)threadIdx.x - R;
    int tileRow = (int)threadIdx.y - R;
    if (col >= 0 && col < width && row >= 0 && row < height) {
        if (tileCol >= 0 && tileCol < OUT_TILE_DIM && tileRow >= 0 && tileRow < OUT_TILE_DIM) {
            float Pvalue = 0.0f;
            for (int fRow = 0; fRow < 2 * R + 1; fRow++) {
                for (int fCol = 0; fCol < 2 * R + 1; fCol++) {
                    Pvalue += F_c[fRow * (2 * R + 1) + fCol] * N_s[tileRow + fRow][tileCol + fCol];
                }
            }
            P[row * width + col] = Pvalue;
        }
    }
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    if (width == 0 || height == 0) return;
    constexpr int tile = r <= 4 ? 16 : 32, outputs = tile - 2 * r;
    check(cudaMemcpyToSymbol(F_c, filter, (2 * r + 1) * (2 * r + 1) * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    dim3 dimBlock(tile, tile, 1);
    dim3 dimGrid(ceil_div(width, outputs), ceil_div(height, outputs), 1);
    conv_tiled<r, tile><<<dimGrid, dimBlock>>>(in, out, width, height);
    check(cudaGetLastError());
}
