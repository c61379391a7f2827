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
    constexpr int in_tile = tile + 2 * r, side = 2 * r + 1;
    __shared__ float in_s[in_tile][in_tile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int first_col = blockIdx.x * tile - r;  // where the input tile begins: negative in the first blocks
    const int first_row = blockIdx.y * tile - r;
    // One index over all elements of the tile, in steps of all threads of the block: neighbouring
    // threads load neighbouring elements, and some have nothing to do in the last round only.
    for (int i = ty * tile + tx; i < in_tile * in_tile; i += tile * tile) {
        const int y = i / in_tile, x = i % in_tile;
        const int row = first_row + y, col = first_col + x;
        const bool inside = row >= 0 && row < height && col >= 0 && col < width;
        in_s[y][x] = inside ? in[row * width + col] : 0.0f;
    }
    __syncthreads();  // a thread sums up what others have loaded

    const int col = blockIdx.x * tile + tx, row = blockIdx.y * tile + ty;  // the thread's output
    if (col >= width || row >= height) return;
    float sum = 0.0f;
    for (int f_row = 0; f_row < side; ++f_row) {
        for (int f_col = 0; f_col < side; ++f_col) {
            // The tile begins r before the outputs, so the patch of output (ty, tx) begins at (ty, tx).
            sum += weights[f_row * side + f_col] * in_s[ty + f_row][tx + f_col];
        }
    }
    out[row * width + col] = sum;
    // kata: end
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    // kata: begin
    if (width == 0 || height == 0) return;
    constexpr int side = 2 * r + 1;
    check(cudaMemcpyToSymbol(weights, filter, side * side * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    const dim3 grid(ceil_div(width, tile), ceil_div(height, tile));
    tiled_by_output<r><<<grid, dim3(tile, tile)>>>(in, out, width, height);
    check(cudaGetLastError());
    // kata: end
}
