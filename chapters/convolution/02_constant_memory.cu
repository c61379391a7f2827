// 02 Constant memory: the weights, which all threads read in the same order, move to constant memory.
// Mirrors PMPP-notes 7.3. Changed against 01: a weight is broadcast to the warp from the constant cache and
// costs no global load. Global loads per weight: one element of the image, 4 bytes for two operations: 0.5
// OP/B.
#include "convolution.cuh"

constexpr int block = 16;  // threads per side

__constant__ float weights[convolution::max_weights];

__global__ void constant_memory(const float* in, float* out, int width, int height, int radius) {
    // kata: begin
    // The kernel of 01, with `weights` in place of the filter that it took as an argument.
    kata::open();
    // kata: end
}

void convolve(const float* in, const float* filter, float* out, int width, int height, int radius) {
    // kata: begin
    // The filter is in device memory and `weights` is a symbol: cudaMemcpyToSymbolAsync with
    // cudaMemcpyDeviceToDevice copies it before the launch.
    kata::open();
    // kata: end
}
