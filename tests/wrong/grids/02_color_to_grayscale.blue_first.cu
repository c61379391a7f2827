// The bytes are taken for blue, green, red.
//
// Rejected: elements differ
#include "grids.cuh"

constexpr int block = 16;  // threads per side

__global__ void to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    const int pixel = row * width + col;
    const unsigned char b = rgb[3 * pixel], g = rgb[3 * pixel + 1], r = rgb[3 * pixel + 2];
    gray[pixel] = static_cast<unsigned char>(0.21f * r + 0.72f * g + 0.07f * b);
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width == 0 || height == 0) return;
    const dim3 grid(ceil_div(width, block), ceil_div(height, block));
    to_grayscale<<<grid, dim3(block, block)>>>(rgb, gray, width, height);
    check(cudaGetLastError());
}
