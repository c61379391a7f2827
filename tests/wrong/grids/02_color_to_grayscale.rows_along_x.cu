// Rows run along x: the picture is right, and the threads of a warp read and write in 16 rows instead of two.
//
// Rejected: right, but not coalesced
// On a GPU: nothing
#include "grids.cuh"

constexpr int block = 16;  // threads per side

__global__ void to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    const int pixel = row * width + col;
    const unsigned char r = rgb[3 * pixel], g = rgb[3 * pixel + 1], b = rgb[3 * pixel + 2];
    gray[pixel] = static_cast<unsigned char>(0.21f * r + 0.72f * g + 0.07f * b);
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    if (width == 0 || height == 0) return;
    const dim3 grid(ceil_div(height, block), ceil_div(width, block));
    to_grayscale<<<grid, dim3(block, block)>>>(rgb, gray, width, height);
    check(cudaGetLastError());
}
