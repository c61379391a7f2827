// Outputs whose whole patch is in the tile use a loop without tests: usual where most outputs are of this
// kind.
#include "fixed_radius.cuh"
constexpr int tile = 32;
__constant__ float weights[convolution::max_weights];
template <int r>
__global__ void cached_halo(const float* in, float* out, int width, int height) {
    constexpr int side = 2 * r + 1;
    __shared__ float in_s[tile][tile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int col = blockIdx.x * tile + tx, row = blockIdx.y * tile + ty;
    const bool inside = row < height && col < width;
    in_s[ty][tx] = inside ? in[row * width + col] : 0.0f;
    __syncthreads();
    if (!inside) return;
    if (ty >= r && ty < tile - r && tx >= r && tx < tile - r) {
        float sum = 0.0f;
        for (int j = 0; j < side; ++j)
            for (int i = 0; i < side; ++i) sum += weights[j * side + i] * in_s[ty - r + j][tx - r + i];
        out[row * width + col] = sum;
        return;
    }
    float sum = 0.0f;
    for (int j = 0; j < side; ++j)
        for (int i = 0; i < side; ++i) {
            const int y = ty - r + j, x = tx - r + i;
            if (y >= 0 && y < tile && x >= 0 && x < tile) {
                sum += weights[j * side + i] * in_s[y][x];
            } else {
                const int in_row = row - r + j, in_col = col - r + i;
                if (in_row >= 0 && in_row < height && in_col >= 0 && in_col < width)
                    sum += weights[j * side + i] * in[in_row * width + in_col];
            }
        }
    out[row * width + col] = sum;
}
template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    if (width == 0 || height == 0) return;
    constexpr int side = 2 * r + 1;
    check(cudaMemcpyToSymbol(weights, filter, side * side * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    const dim3 grid(ceil_div(width, tile), ceil_div(height, tile));
    cached_halo<r><<<grid, dim3(tile, tile)>>>(in, out, width, height);
    check(cudaGetLastError());
}
