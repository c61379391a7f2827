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
    constexpr int side = 2 * r + 1;
    __shared__ float in_s[tile][tile];
    const int tx = threadIdx.x, ty = threadIdx.y;  // int: an unsigned tx - r is never negative
    const int col = blockIdx.x * tile + tx, row = blockIdx.y * tile + ty;
    const bool inside = row < height && col < width;  // without a halo neither is negative
    in_s[ty][tx] = inside ? in[row * width + col] : 0.0f;
    __syncthreads();

    if (!inside) return;
    float sum = 0.0f;
    for (int f_row = 0; f_row < side; ++f_row) {
        for (int f_col = 0; f_col < side; ++f_col) {
            const int y = ty - r + f_row, x = tx - r + f_col;  // in the tile
            // At the edges of the tile some lanes of a warp go one way and some the other: both take
            // their time, one after the other.
            if (y >= 0 && y < tile && x >= 0 && x < tile) {
                sum += weights[f_row * side + f_col] * in_s[y][x];
            } else {
                const int in_row = row - r + f_row, in_col = col - r + f_col;  // in the image
                if (in_row >= 0 && in_row < height && in_col >= 0 && in_col < width) {
                    sum += weights[f_row * side + f_col] * in[in_row * width + in_col];
                }
            }
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
    cached_halo<r><<<grid, dim3(tile, tile)>>>(in, out, width, height);
    check(cudaGetLastError());
    // kata: end
}
