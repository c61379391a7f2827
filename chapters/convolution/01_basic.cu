// 01 Basic: a thread computes one output element, everything comes from global memory.
//
// Mirrors PMPP-notes 7.2. Global loads per weight: one element of the image and one weight, 8 bytes
// for two operations: 0.25 OP/B.
#include "convolution.cuh"

constexpr int block = 16;  // threads per side

__global__ void basic(const float* in, const float* filter, float* out, int width, int height, int radius) {
    // kata: begin
    // One thread, one output element. Find the thread's column and row from its block and its place in the
    // block; leave when they lie outside the image, for the grid covers whole blocks. Sum weight times
    // element over the (2r+1)² weights, skipping elements outside the image, and write the sum once.
    kata::open();
    // kata: end
}

void convolve(const float* in, const float* filter, float* out, int width, int height, int radius) {
    // kata: begin
    // As many blocks of block x block threads as cover the image in both directions; for an empty image
    // launch nothing: a grid without blocks is an error. After the launch, check cudaGetLastError(), which
    // says whether it was refused.
    // Also required: any width and height from 0 on; radii from 0 to 7; more than 65535 blocks along x.
    kata::open();
    // kata: end
}
