// 05 Cached halo: only the inside of the tile is in shared memory, the halo comes through the cache.
//
// Mirrors PMPP-notes 7.5. Changed from 03 and 04: block, input tile and output tile are of one
// size, so each thread loads one element and each has an output. A halo element is read from global
// memory where a weight meets it: it is inside the tile of another block, which has probably brought
// it into the L2 cache. The price is a test for each weight.
#include "fixed_radius.cuh"

constexpr int tile = 32;  // threads, input and output elements per side

__constant__ float weights[convolution::max_weights];

template <int r>
__global__ void cached_halo(const float* in, float* out, int width, int height) {
    // kata: begin
    // Load only the inside of the tile, one element per thread. When summing up, take an element from shared
    // memory if it lies in the tile, else from global memory if it lies in the image. Mind the radius in the
    // index into the tile, and compare signed numbers: threadIdx.x - r is never negative.
    kata::open();
    // kata: end
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    // kata: begin
    // As in 04: the weights, and a grid that counts tiles of tile x tile outputs.
    // Also required: any width and height from 0 on; radii from 0 to 7; more than 65535 blocks along x.
    kata::open();
    // kata: end
}
