// 05 Cached halo: the tile is as large as the block, and halo elements are read from global memory where
// needed. Mirrors PMPP-notes 7.5; its listing forgets the radius in the shared index and compares unsigned
// values with 0. Changed against 03 and 04: loading is as simple as can be and no thread idles, for the halo
// of one block is the inside of another, which the cache has probably seen. The price is a branch for every
// weight.
#include "fixed_radius.cuh"

constexpr int tile = 32;  // threads, input and output elements per side

__constant__ float weights[convolution::max_weights];

template <int r>
__global__ void cached_halo(const float* in, float* out, int width, int height) {
    // kata: begin
    // Load only the inside of the tile, one element a thread. When summing up, take an element from shared
    // memory if it lies in the tile, else from global memory if it lies in the image. Mind the radius in the
    // index into the tile, and compare signed numbers: threadIdx.x - r is never negative.
    kata::open();
    // kata: end
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    // kata: begin
    // As in 04.
    kata::open();
    // kata: end
}
