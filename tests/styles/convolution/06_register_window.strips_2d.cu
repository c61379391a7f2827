// Blocks of 64 x 2 threads with a strip of 32 rows each, and outputs accumulated from the top of the window:
// usual after the column pass of a separable filter.
#include "fixed_radius.cuh"

#define COLS 64
#define STRIPS 2
#define ROWS 32

__constant__ float c_filter[15 * 15];

template <int R>
__device__ float at(const float* img, int x, int y, int w, int h) {
    return (x < 0 || y < 0 || x >= w || y >= h) ? 0.f : img[y * w + x];
}

template <int R>
__global__ void march(const float* img, float* res, int w, int h) {
    constexpr int D = 2 * R + 1;
    const int x = blockIdx.x * COLS + threadIdx.x;
    const int y0 = (blockIdx.y * STRIPS + threadIdx.y) * ROWS;
    if (x >= w || y0 >= h) return;
    float acc[D];
#pragma unroll
    for (int k = 0; k < D; k++) acc[k] = 0.f;

    for (int y = y0 - R; y < y0 + ROWS + R && y < h + R; y++) {
#pragma unroll
        for (int j = 0; j < D; j++) {
            const float v = at<R>(img, x + j - R, y, w, h);
#pragma unroll
            for (int k = 0; k < D; k++) acc[k] += c_filter[(D - 1 - k) * D + j] * v;
        }
        if (y - R >= y0) res[(y - R) * w + x] = acc[0];
#pragma unroll
        for (int k = 0; k + 1 < D; k++) acc[k] = acc[k + 1];
        acc[D - 1] = 0.f;
    }
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    if (width <= 0 || height <= 0) return;
    check(cudaMemcpyToSymbol(c_filter, filter, (2 * r + 1) * (2 * r + 1) * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    dim3 block(COLS, STRIPS);
    dim3 grid((width + COLS - 1) / COLS, (height + ROWS * STRIPS - 1) / (ROWS * STRIPS));
    march<r><<<grid, block>>>(in, out, width, height);
    check(cudaGetLastError());
}
