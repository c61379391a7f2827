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
    constexpr int side = 2 * r + 1, strip = per_side * side;
    const int col = blockIdx.x * block + threadIdx.x;
    const int first = blockIdx.y * strip, last = min(first + strip, height);
    if (col >= width) return;  // there is no barrier

    float sum[side] = {};  // sum[i] is that of the output i rows below the one that is complete next
    for (int row = first - r; row < last + r; ++row) {
        float in_row[side] = {};  // 0 outside the image, which adds nothing
        if (row >= 0 && row < height)
            for (int i = 0; i < side; ++i) {
                const int x = col - r + i;
                if (x >= 0 && x < width) in_row[i] = in[row * width + x];
            }
        // The row meets the last row of the filter for the output that it completes, and the first one for
        // the output that it begins, whose sum starts from 0.
        for (int i = 0; i < side; ++i) {
            float next = i < side - 1 ? sum[i] : 0.0f;
            for (int f_col = 0; f_col < side; ++f_col)
                next += weights[(side - 1 - i) * side + f_col] * in_row[f_col];
            sum[i] = next;
        }
        if (row - r >= first) out[(row - r) * width + col] = sum[0];
        // The window moves down. All indices are known to the compiler, which renames registers.
        for (int i = 0; i < side - 1; ++i) sum[i] = sum[i + 1];
    }
    // kata: end
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    // kata: begin
    if (width == 0 || height == 0) return;
    constexpr int side = 2 * r + 1;
    check(cudaMemcpyToSymbolAsync(weights, filter, side * side * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    const dim3 grid(ceil_div(width, block), ceil_div(height, per_side * side));
    register_window<r><<<grid, block>>>(in, out, width, height);
    check(cudaGetLastError());
    // kata: end
}
