// 04 Tiled by output: the block is as large as the output tile, and loads in several rounds.
//
// The other thread organisation that PMPP-notes 7.4 names. Changed from 03: every thread has an
// output, and none idles while the others sum up. The price is a loop in which T² threads load
// (T + 2r)² elements.
// Global loads per output: ((T + 2r) / T)² elements: 9.88 OP/B at T = 32, r = 2.
#include "fixed_radius.cuh"

constexpr int tile = 32;  // threads and output elements per side

__constant__ float weights[convolution::max_weights];

template <int r>
__global__ void tiled_by_output(const float* in, float* out, int width, int height) {
    // kata: begin
    // A block of tile x tile threads makes tile x tile outputs from an input tile of tile + 2r elements a
    // side. Number its elements row by row, and the threads of the block likewise: a thread loads every
    // element whose number is its own plus a multiple of the number of threads, 0 where the tile hangs
    // over the image. After a barrier each thread whose output is in the image sums it up.
    kata::open();
    // kata: end
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    // kata: begin
    // As in 03, with a grid that counts tiles of tile x tile outputs.
    // Also required: any width and height from 0 on; radii from 0 to 7; more than 65535 blocks along x.
    kata::open();
    // kata: end
}
