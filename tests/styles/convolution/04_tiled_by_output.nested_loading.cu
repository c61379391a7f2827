// Two nested loops load the tile, a block apart in each direction, for outputs of 16 x 16: usual in CUDA's samples.
#include "fixed_radius.cuh"

#define TILE_W 16
#define TILE_H 16

__constant__ float kernelWeights[convolution::max_weights];

template <int R>
__global__ void convolutionTiled(const float* input, float* output, int width, int height) {
    __shared__ float smem[TILE_H + 2 * R][TILE_W + 2 * R];

    for (int y = threadIdx.y; y < TILE_H + 2 * R; y += blockDim.y) {
        for (int x = threadIdx.x; x < TILE_W + 2 * R; x += blockDim.x) {
            int gx = (int)(blockIdx.x * TILE_W + x) - R;
            int gy = (int)(blockIdx.y * TILE_H + y) - R;
            float value = 0.0f;
            if (gx >= 0 && gx < width && gy >= 0 && gy < height) value = input[gy * width + gx];
            smem[y][x] = value;
        }
    }
    __syncthreads();

    int x = blockIdx.x * TILE_W + threadIdx.x;
    int y = blockIdx.y * TILE_H + threadIdx.y;
    if (x < width && y < height) {
        float sum = 0.0f;
        for (int j = -R; j <= R; j++)
            for (int i = -R; i <= R; i++)
                sum += kernelWeights[(j + R) * (2 * R + 1) + (i + R)] * smem[threadIdx.y + R + j][threadIdx.x + R + i];
        output[y * width + x] = sum;
    }
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    if (width == 0 || height == 0) return;
    check(cudaMemcpyToSymbol(kernelWeights, filter, (2 * r + 1) * (2 * r + 1) * sizeof(float), 0, cudaMemcpyDefault));
    dim3 block(TILE_W, TILE_H);
    dim3 grid((width + TILE_W - 1) / TILE_W, (height + TILE_H - 1) / TILE_H);
    convolutionTiled<r><<<grid, block>>>(in, out, width, height);
    check(cudaGetLastError());
}
