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
    constexpr int side = 2 * r + 1;
    constexpr int halo = ceil_div(r, n);                     // packs on each side of the thread's own
    const int col = (blockIdx.x * block + threadIdx.x) * n;  // the first of its columns
    const int first = blockIdx.y * strip, last = min(first + strip, height);
    if (col >= width) return;

    float sum[side][n] = {};  // as in 06, for n columns
    for (int row = first - r; row < last + r; ++row) {
        Pack<n> packs[2 * halo + 1] = {};
        if (row >= 0 && row < height)
            for (int i = 0; i < 2 * halo + 1; ++i) {
                const int x = col + (i - halo) * n;  // wholly inside the image or outside
                if (x >= 0 && x < width) packs[i] = *reinterpret_cast<const Pack<n>*>(&in[row * width + x]);
            }
        // The element of column col + i. i may be negative; adding halo * n gives its place in `packs`.
        const auto at = [&](int i) { return packs[(halo * n + i) / n].at[(halo * n + i) % n]; };
        for (int i = 0; i < side; ++i)
            for (int s = 0; s < n; ++s) {
                float next = i < side - 1 ? sum[i][s] : 0.0f;
                for (int f_col = 0; f_col < side; ++f_col)
                    next += weights[(side - 1 - i) * side + f_col] * at(s - r + f_col);
                sum[i][s] = next;
            }
        if (row - r >= first) {
            Pack<n> result;
            for (int s = 0; s < n; ++s) result.at[s] = sum[0][s];
            *reinterpret_cast<Pack<n>*>(&out[(row - r) * width + col]) = result;
        }
        for (int i = 0; i < side - 1; ++i)
            for (int s = 0; s < n; ++s) sum[i][s] = sum[i + 1][s];
    }
    // kata: end
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    // kata: begin
    if (width == 0 || height == 0) return;
    constexpr int side = 2 * r + 1;
    check(cudaMemcpyToSymbolAsync(weights, filter, side * side * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    // Only if the width is a multiple of four does every row begin at a multiple of 16 bytes.
    const int n = width % wide == 0 ? wide : 1;
    const auto kernel = n == wide ? wide_loads<r, wide> : wide_loads<r, 1>;
    // The last wave of blocks takes as long as any other, so it should be full, too.
    int device = 0, processors = 0, resident = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, block, 0));
    const int across = ceil_div(width, block * n);
    const int of_one_wave = ceil_div(height, max(processors * resident / across, 1));
    const int waves = ceil_div(of_one_wave, per_side * side);
    const int strip = max(ceil_div(of_one_wave, waves), least * side);
    kernel<<<dim3(across, ceil_div(height, strip)), block>>>(in, out, width, height, strip);
    check(cudaGetLastError());
    // kata: end
}
