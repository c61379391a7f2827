// A thread computes two outputs, a block apart along x, with the filter as a square array in constant memory:
// usual as a first coarsening.
#include "convolution.cuh"

__constant__ float F[2 * convolution::max_radius + 1][2 * convolution::max_radius + 1];

__global__ void twoOutputs(const float* N, float* P, int width, int height, int r) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= height) return;
    for (int k = 0; k < 2; ++k) {
        const int col = (2 * blockIdx.x + k) * blockDim.x + threadIdx.x;
        if (col >= width) return;
        float Pvalue = 0.0f;
        for (int fRow = 0; fRow < 2 * r + 1; fRow++) {
            for (int fCol = 0; fCol < 2 * r + 1; fCol++) {
                const int inRow = row - r + fRow;
                const int inCol = col - r + fCol;
                if (inRow >= 0 && inRow < height && inCol >= 0 && inCol < width) {
                    Pvalue += F[fRow][fCol] * N[inRow * width + inCol];
                }
            }
        }
        P[row * width + col] = Pvalue;
    }
}

void convolve(const float* in, const float* filter, float* out, int width, int height, int radius) {
    if (width == 0 || height == 0) return;
    const int side = 2 * radius + 1;
    for (int row = 0; row < side; ++row)  // rows of F have gaps
        check(cudaMemcpyToSymbol(F, filter + row * side, side * sizeof(float), row * sizeof F[0], cudaMemcpyDeviceToDevice));
    const dim3 block(32, 4), grid(ceil_div(width, 64), ceil_div(height, 4));
    twoOutputs<<<grid, block>>>(in, out, width, height, radius);
    check(cudaGetLastError());
}
