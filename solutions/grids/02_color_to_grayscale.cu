// 02 Color to grayscale: a two-dimensional grid, a thread per pixel. Mirrors PMPP-grids 3.2.
// Changed from 01: threads are numbered in two directions and flattened to row-major indices, x
// to columns and y to rows, so that the threads of a warp touch neighbouring pixels. A colour pixel
// is three bytes, a gray one is one.
#include "grids.cuh"

constexpr int block = 16;  // threads per side

__global__ void to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    // kata: begin
    // Threads are numbered along x first, so neighbours of a warp lie in a row.
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    // The guard in both directions: the grid hangs over on the right and at the bottom.
    if (col < width && row < height) {
        const int gray_offset = row * width + col;  // `row` whole rows lie before this one
        const int rgb_offset = 3 * gray_offset;
        const unsigned char r = rgb[rgb_offset], g = rgb[rgb_offset + 1], b = rgb[rgb_offset + 2];
        // f: without it these are doubles, which many GPUs compute far more slowly.
        gray[gray_offset] = static_cast<unsigned char>(0.21f * r + 0.72f * g + 0.07f * b);
    }
    // kata: end
}

void color_to_grayscale(const unsigned char* rgb, unsigned char* gray, int width, int height) {
    // kata: begin
    if (width == 0 || height == 0) return;
    // x before y, where an index of a matrix names the row first. A size left out of a dim3, here z, is 1.
    const dim3 grid(ceil_div(width, block), ceil_div(height, block));
    to_grayscale<<<grid, dim3(block, block)>>>(rgb, gray, width, height);
    check(cudaGetLastError());
    // kata: end
}
