// 03 Blur: a thread per pixel that reads a whole patch of the picture. Mirrors PMPP-grids 3.3.
// Changed from 02: an output depends on (2s + 1)² inputs, and at the edges of the picture on
// fewer. The mean is over the pixels that are really there, 4 in a corner and 6 at an edge for
// s = 1.
#include "grids.cuh"

constexpr int block = 16;  // threads per side

__global__ void mean(const unsigned char* in, unsigned char* out, int width, int height, int blur_size) {
    // kata: begin
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < width && row < height) {
        int pix_val = 0;  // wider than a pixel: the sum does not fit into a byte
        int pixels = 0;   // counted, because the patch may hang over the edge
        for (int blur_row = -blur_size; blur_row <= blur_size; ++blur_row) {
            for (int blur_col = -blur_size; blur_col <= blur_size; ++blur_col) {
                const int cur_row = row + blur_row, cur_col = col + blur_col;
                // Negative to the left and above: with unsigned indices no comparison would see that.
                if (cur_row >= 0 && cur_row < height && cur_col >= 0 && cur_col < width) {
                    pix_val += in[cur_row * width + cur_col];
                    ++pixels;
                }
            }
        }
        out[row * width + col] = static_cast<unsigned char>(pix_val / pixels);  // at least its own pixel
    }
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
