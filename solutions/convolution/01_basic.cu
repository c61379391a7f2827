// 01 Basic: a thread computes one output element, everything comes from global memory.
//
// Mirrors PMPP-notes 7.2. Global loads per weight: one element of the image and one weight, 8 bytes
// for two operations: 0.25 OP/B.
#include "convolution.cuh"

constexpr int block = 16;  // threads per side

__global__ void basic(const float* in, const float* filter, float* out, int width, int height, int radius) {
    // kata: begin
    // x counts columns: the threads of a warp then load and store neighbouring elements.
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;  // the grid covers whole blocks, the image need not
    const int side = 2 * radius + 1;
    float sum = 0.0f;  // in a register: global memory is written only once
    for (int f_row = 0; f_row < side; ++f_row) {
        for (int f_col = 0; f_col < side; ++f_col) {
            const int in_row = row - radius + f_row;
            const int in_col = col - radius + f_col;
            // An element outside the image counts as 0: it is neither loaded nor added.
            if (in_row >= 0 && in_row < height && in_col >= 0 && in_col < width) {
                sum += filter[f_row * side + f_col] * in[in_row * width + in_col];
            }
        }
    }
    out[row * width + col] = sum;
    // kata: end
}

void convolve(const float* in, const float* filter, float* out, int width, int height, int radius) {
    // kata: begin
    if (width == 0 || height == 0) return;  // a grid without blocks is an error
    // Rounded up: the last row and column of blocks may hang over the image.
    const dim3 grid(ceil_div(width, block), ceil_div(height, block));
    basic<<<grid, dim3(block, block)>>>(in, filter, out, width, height, radius);
    check(cudaGetLastError());  // a launch returns nothing: this says whether it was refused
    // kata: end
}
