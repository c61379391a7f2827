// 02 Color to grayscale: a two-dimensional grid, a thread per pixel.
// Mirrors PMPP-grids 3.2. Changed against 01: threads are numbered in two directions and flattened to
// row-major indices, x to columns and y to rows, so that the threads of a warp touch neighbouring pixels. A
// colour pixel is three bytes, a gray one is one.
#include "grids.cuh"

constexpr int block = 16;  // threads per side

__global__ void to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    // kata: begin
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    const int pixel = row * width + col;
    const unsigned char r = rgb[3 * pixel], g = rgb[3 * pixel + 1], b = rgb[3 * pixel + 2];
    gray[pixel] = static_cast<unsigned char>(0.21f * r + 0.72f * g + 0.07f * b);
    // kata: end
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    // kata: begin
    if (width == 0 || height == 0) return;
    const dim3 grid(ceil_div(width, block), ceil_div(height, block));
    to_grayscale<<<grid, dim3(block, block)>>>(rgb, gray, width, height);
    check(cudaGetLastError());
    // kata: end
}
