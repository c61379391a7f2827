// The body of 03 handed in as 04: the right answer, with a third more threads.
//
// Rejected: right, but without the point of the step
#include "fixed_radius.cuh"

constexpr int tile = 32;  // threads and input elements per side

__constant__ float weights[convolution::max_weights];

template <int r>
__global__ void tiled(const float* in, float* out, int width, int height) {
    constexpr int out_tile = tile - 2 * r, side = 2 * r + 1;
    __shared__ float in_s[tile][tile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int col = static_cast<int>(blockIdx.x) * out_tile + tx - r;
    const int row = static_cast<int>(blockIdx.y) * out_tile + ty - r;
    const bool inside = row >= 0 && row < height && col >= 0 && col < width;
    in_s[ty][tx] = inside ? in[row * width + col] : 0.0f;
    __syncthreads();

    // Only from here on may threads part: all of them had to come to the barrier.
    const bool on_halo = tx < r || tx >= tile - r || ty < r || ty >= tile - r;
    if (!inside || on_halo) return;
    float sum = 0.0f;
    for (int f_row = 0; f_row < side; ++f_row)
        for (int f_col = 0; f_col < side; ++f_col)
            sum += weights[f_row * side + f_col] * in_s[ty - r + f_row][tx - r + f_col];
    out[row * width + col] = sum;
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    if (width == 0 || height == 0) return;
    constexpr int side = 2 * r + 1;
    check(cudaMemcpyToSymbol(weights, filter, side * side * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    constexpr int out_tile = tile - 2 * r;
    const dim3 grid(ceil_div(width, out_tile), ceil_div(height, out_tile));
    tiled<r><<<grid, dim3(tile, tile)>>>(in, out, width, height);
    check(cudaGetLastError());
}
