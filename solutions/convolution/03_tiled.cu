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
    constexpr int out_tile = tile - 2 * r, side = 2 * r + 1;
    __shared__ float in_s[tile][tile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    // The element that the thread loads. Output tiles lie side by side, and an input tile begins r
    // elements before its outputs: outside the image, for the first blocks. Unsigned numbers wrap
    // there; stored as an int, the result is negative, as it should be.
    const int col = blockIdx.x * out_tile + tx - r;
    const int row = blockIdx.y * out_tile + ty - r;
    const bool inside = row >= 0 && row < height && col >= 0 && col < width;
    // Elements outside the image are 0 and add nothing, so the sum needs no test.
    in_s[ty][tx] = inside ? in[row * width + col] : 0.0f;
    __syncthreads();  // a thread sums up what others have loaded

    // Only after the barrier may threads leave: it waits for all threads of the block.
    const bool on_halo = tx < r || tx >= tile - r || ty < r || ty >= tile - r;
    if (!inside || on_halo) return;
    float sum = 0.0f;
    for (int f_row = 0; f_row < side; ++f_row) {
        for (int f_col = 0; f_col < side; ++f_col) {
            sum += weights[f_row * side + f_col] * in_s[ty - r + f_row][tx - r + f_col];
        }
    }
    out[row * width + col] = sum;  // the place of the output is that of the element it is centred on
    // kata: end
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    // kata: begin
    if (width == 0 || height == 0) return;
    constexpr int side = 2 * r + 1;
    check(cudaMemcpyToSymbol(weights, filter, side * side * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    constexpr int out_tile = tile - 2 * r;
    // As many blocks as there are tiles of outputs, each with the threads of an input tile.
    const dim3 grid(ceil_div(width, out_tile), ceil_div(height, out_tile));
    tiled<r><<<grid, dim3(tile, tile)>>>(in, out, width, height);
    check(cudaGetLastError());
    // kata: end
}
