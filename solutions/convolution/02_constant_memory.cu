// 02 Constant memory: the weights move to constant memory.
//
// Mirrors PMPP-notes 7.3. Changed from 01: the weights are a __constant__ array, which the host
// fills with cudaMemcpyToSymbol() before the launch. All threads read them in the same order and no
// thread writes them, so a warp gets a weight as one broadcast from the constant cache and loads
// nothing. Global loads per weight: one element of the image, 4 bytes for two operations: 0.5 OP/B.
#include "convolution.cuh"

constexpr int block = 16;  // threads per side

// Room for the largest filter, 15 x 15 weights: the radius is known at run time only. The rows of a
// smaller filter follow each other without gaps, too.
__constant__ float weights[convolution::max_weights];

__global__ void constant_memory(const float* in, float* out, int width, int height, int radius) {
    // kata: begin
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;  // the grid covers whole blocks, the image need not
    const int side = 2 * radius + 1;
    float sum = 0.0f;
    for (int f_row = 0; f_row < side; ++f_row) {
        for (int f_col = 0; f_col < side; ++f_col) {
            const int in_row = row - radius + f_row;
            const int in_col = col - radius + f_col;
            if (in_row >= 0 && in_row < height && in_col >= 0 && in_col < width) {
                // The index into the weights is the same for all threads: one broadcast serves a warp.
                sum += weights[f_row * side + f_col] * in[in_row * width + in_col];
            }
        }
    }
    out[row * width + col] = sum;
    // kata: end
}

void convolve(const float* in, const float* filter, float* out, int width, int height, int radius) {
    // kata: begin
    if (width == 0 || height == 0) return;
    const int side = 2 * radius + 1;
    // `weights` names a variable of the device, not an address that the host could use, so CUDA has
    // a copy function for symbols. The document copies from the host; this filter is on the device.
    check(cudaMemcpyToSymbol(weights, filter, side * side * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    const dim3 grid(ceil_div(width, block), ceil_div(height, block));
    constant_memory<<<grid, dim3(block, block)>>>(in, out, width, height, radius);
    check(cudaGetLastError());
    // kata: end
}
