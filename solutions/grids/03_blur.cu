// 03 Blur: a thread per pixel that reads a whole patch of the picture.
// Mirrors PMPP-grids 3.3. Changed against 02: an output depends on (2s+1)² inputs, and at the edges of the
// picture on fewer: the mean is over the pixels that are really there, 4 in a corner and 6 at an edge for s
// = 1.
#include "grids.cuh"

constexpr int block = 16;  // threads per side

__global__ void mean(const unsigned char* in, unsigned char* out, int width, int height, int blur_size) {
    // kata: begin
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    int sum = 0, pixels = 0;
    for (int y = row - blur_size; y <= row + blur_size; ++y)
        for (int x = col - blur_size; x <= col + blur_size; ++x)
            if (y >= 0 && y < height && x >= 0 && x < width) {
                sum += in[y * width + x];
                ++pixels;
            }
    out[row * width + col] = static_cast<unsigned char>(sum / pixels);
    // kata: end
}

void blur(const unsigned char* in, unsigned char* out, int width, int height, int blur_size) {
    // kata: begin
    if (width == 0 || height == 0) return;
    const dim3 grid(ceil_div(width, block), ceil_div(height, block));
    mean<<<grid, dim3(block, block)>>>(in, out, width, height, blur_size);
    check(cudaGetLastError());
    // kata: end
}
