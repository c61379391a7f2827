// 06 Register window: a thread marches down a column and keeps the sums of all outputs that have begun.
// Beyond the documents. Changed from 03: no shared memory and no barrier. An input row is loaded once and
// serves the 2r + 1 outputs above and below it, whose sums are registers. Neighbours along the row come from
// the cache. A block has a strip of rows, and loads r more above and below.
#include "fixed_radius.cuh"

constexpr int block = 128;   // threads, side by side
constexpr int per_side = 8;  // rows of outputs in a strip, for each row of the filter

__constant__ float weights[convolution::max_weights];

template <int r>
__global__ void __launch_bounds__(block)
    register_window(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
    // kata: begin
    // A thread has a column, and a block a strip of per_side times 2r + 1 rows of outputs. The thread
    // marches down the rows of the input that the strip needs, r above it and r below it included. Of each
    // row it loads the 2r + 1 elements around its column, 0 where the image ends, and adds what they
    // contribute to the sums of all 2r + 1 outputs that see this row. These sums are an array whose indices
    // are all known to the compiler. Then the output r rows above this row is complete. Store it if it lies
    // in the strip, and move the sums up by one place.
    kata::open();
    // kata: end
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    // kata: begin
    // The weights go to constant memory as in 02. A block has `block` threads in a row, and a strip of rows.
    // Also required: any width and height from 0 on; radii from 0 to 7.
    kata::open();
    // kata: end
}
