// 03 Tiled: a block loads its input tile, halo included, into shared memory once.
// Mirrors PMPP-notes 7.4; its listing gives the tile no type. Changed against 02: the (2r+1)²-fold rereading
// of the image moves on chip. The block is as large as the input tile, so loading is one element a thread;
// the threads on the halo have no output and idle while the others sum up. Global loads per output: (T / (T −
// 2r))² elements instead of (2r+1)²: 9.57 OP/B at T = 32, r = 2.
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
    // with_constant<convolution::max_radius>(radius, [&](auto r) { launch(tiled<r>, …); }) makes the radius a
    // constant.
    kata::open();
    // kata: end
}
