// 07 Wide loads: a thread computes four columns, and loads and stores four elements at a time. Beyond the
// documents. Changed from 06: 4 + 2r columns of the input serve four columns of outputs, in
// 1 + 2 · ceil(r / 4) loads per row instead of 4 · (2r + 1). Strips are so high that the blocks fill the GPU
// a whole number of times. Where the width is not a multiple of four, a thread computes one column, as in 06.
#include "fixed_radius.cuh"

constexpr int block = 256;    // threads, side by side
constexpr int per_side = 20;  // at most so many rows of outputs in a strip, for each row of the filter
constexpr int least = 4;      // at least so many
constexpr int wide = 4;       // columns of a thread

__constant__ float weights[convolution::max_weights];

/// `n` neighbouring elements. The alignment makes a load or a store of them one instruction.
template <int n>
struct alignas(n * sizeof(float)) Pack {
    float at[n];
};

template <int r, int n>
__global__ void __launch_bounds__(block)
    wide_loads(const float* __restrict__ in, float* __restrict__ out, int width, int height, int strip) {
    // kata: begin
    // As in 06, with n neighbouring columns per thread. Of each row the thread loads its own Pack<n>, and on
    // either side as many packs as hold r columns: each by one load, with reinterpret_cast. A pack outside of
    // the image is zeros. The thread keeps a sum for each output that has begun, in each column. It stores a
    // row of outputs as one Pack<n>. A block has `strip` rows of outputs.
    kata::open();
    // kata: end
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    // kata: begin
    // As in 06. wide_loads<r, wide> where every row of the image begins at a multiple of `wide` elements,
    // wide_loads<r, 1> elsewhere. A strip has at most `per_side` rows for each row of the filter. Choose its
    // height so that the blocks are a whole number of waves: as many as fit on the GPU, or a multiple of
    // that. But in a small image a strip has `least` rows for each row of the filter.
    // Also required: as in 06, and any number of multiprocessors.
    kata::open();
    // kata: end
}
