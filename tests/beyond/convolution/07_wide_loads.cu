// 07 Wide loads: a thread computes four columns, and loads and stores four elements at a time.
//
// Changed against 06: 4 + 2r columns of input serve four columns of outputs, in 1 + 2 · ceil(r / 4) loads a
// row instead of 4 · (2r + 1). Where the width is no multiple of four, a thread computes one column, as in
// 06. NVIDIA H100 80GB HBM3, 16384², r = 1, 2, 4, 7: 0.96, 1.02, 1.43, 4.09 → 0.81, 0.82, 1.16, 2.85 ms: 0.89
// and 0.87 of a copy, and at r = 7 42.3 TFLOP/s, 0.63 of the FP32 peak (66.9 at 1980 MHz).
#include "fixed_radius.cuh"

constexpr int block = 128;    // threads, side by side
constexpr int per_side = 10;  // rows of outputs of a thread for each row of the filter
constexpr int wide = 4;       // columns of a thread

__constant__ float weights[convolution::max_weights];

// `n` neighbouring elements, loaded and stored as one.
template <int n>
struct alignas(n * sizeof(float)) Pack {
    float at[n];
};

template <int r, int n>
__global__ void __launch_bounds__(block)
    wide_loads(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
    constexpr int side = 2 * r + 1, strip = per_side * side;
    constexpr int halo = ceil_div(r, n);  // packs to the left and to the right of the thread's own
    const int col = (blockIdx.x * block + threadIdx.x) * n;
    const int first = blockIdx.y * strip, last = min(first + strip, height);
    if (col >= width) return;

    // sum[i] belongs to the outputs i rows below the row that is finished next.
    float sum[side][n] = {};
    for (int row = first - r; row < last + r; ++row) {
        Pack<n> packs[2 * halo + 1] = {};
        if (row >= 0 && row < height)
            for (int i = 0; i < 2 * halo + 1; ++i) {
                const int x = col + (i - halo) * n;
                if (x >= 0 && x < width) packs[i] = *reinterpret_cast<const Pack<n>*>(&in[row * width + x]);
            }
        const auto at = [&](int i) { return packs[halo + i / n - (i % n < 0)].at[(i % n + n) % n]; };
        // An input row is row 2r of the filter to the topmost output, and row 0 to the lowest, which it
        // begins.
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
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    if (width == 0 || height == 0) return;
    constexpr int side = 2 * r + 1;
    check(cudaMemcpyToSymbolAsync(weights, filter, side * side * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    // Only if the width is a multiple of four does every row begin at a multiple of 16 bytes.
    const int n = width % wide == 0 ? wide : 1;
    const dim3 grid(ceil_div(width, block * n), ceil_div(height, per_side * side));
    const auto kernel = n == wide ? wide_loads<r, wide> : wide_loads<r, 1>;
    kernel<<<grid, block>>>(in, out, width, height);
    check(cudaGetLastError());
}
