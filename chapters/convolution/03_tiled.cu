// 03 Tiled: a block loads its input tile, halo included, into shared memory once.
//
// Mirrors PMPP-notes 7.4. Changed from 02: an element is loaded from global memory once per block
// and not once per weight, and the radius is known to the compiler. The block is as large as the
// input tile, so each thread loads one element. The threads on the halo, a rim of r elements, have
// no output and idle while the others sum up.
// Global loads per output: (T / (T − 2r))² elements instead of (2r + 1)²: 9.57 OP/B at T = 32, r = 2.
#include "fixed_radius.cuh"

constexpr int tile = 32;  // threads and input elements per side

__constant__ float weights[convolution::max_weights];

template <int r>
__global__ void tiled(const float* in, float* out, int width, int height) {
    // kata: begin
    // A block of tile x tile threads makes (tile - 2r) x (tile - 2r) outputs. Each thread loads one element
    // of the input tile into shared memory, 0 where the tile hangs over the image; after a barrier the
    // threads whose place is in the image and not on the halo sum up from shared memory. No thread may leave
    // before the barrier.
    kata::open();
    // kata: end
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    // kata: begin
    // Copy the weights as in 02. The grid counts output tiles, the block is as large as the input tile.
    // The kernel is a template: its radius is r, which the compiler knows.
    // Also required: any width and height from 0 on; radii from 0 to 7; more than 65535 blocks along x.
    kata::open();
    // kata: end
}
