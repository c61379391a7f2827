// CUDA's own float4, a row unpacked into an array, strips of 64 rows in blocks of 64 threads, and a plain kernel for
// widths of any other kind: usual where a kernel is vectorised afterwards.
#include "fixed_radius.cuh"

__constant__ float F[convolution::max_weights];

constexpr int THREADS = 64, ROWS = 64;

template <int R>
__global__ void conv_scalar(const float* in, float* out, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w) return;
    float s = 0.0f;
    for (int j = -R; j <= R; ++j)
        for (int i = -R; i <= R; ++i)
            if (y + j >= 0 && y + j < h && x + i >= 0 && x + i < w)
                s += F[(j + R) * (2 * R + 1) + i + R] * in[(y + j) * w + x + i];
    out[y * w + x] = s;
}

template <int R>
__global__ __launch_bounds__(THREADS) void conv_vec4(const float* in, float* out, int w, int h) {
    constexpr int D = 2 * R + 1;
    constexpr int H4 = (R + 3) / 4;  // float4s beside the thread's own
    const int x = 4 * (blockIdx.x * THREADS + threadIdx.x);
    if (x >= w) return;
    const int y0 = blockIdx.y * ROWS, y1 = min(y0 + ROWS, h);
    float a[D][4] = {};
    for (int y = y0 - R; y < y1 + R; ++y) {
        float v[4 * (2 * H4 + 1)];
#pragma unroll
        for (int k = 0; k < 2 * H4 + 1; ++k) {
            const int xx = x + 4 * (k - H4);
            float4 t = make_float4(0.f, 0.f, 0.f, 0.f);
            if (y >= 0 && y < h && xx >= 0 && xx < w) t = *reinterpret_cast<const float4*>(in + y * w + xx);
            v[4 * k] = t.x;
            v[4 * k + 1] = t.y;
            v[4 * k + 2] = t.z;
            v[4 * k + 3] = t.w;
        }
#pragma unroll
        for (int k = 0; k < D; ++k)
#pragma unroll
            for (int i = 0; i < D; ++i)
#pragma unroll
                for (int s = 0; s < 4; ++s) a[k][s] += F[(D - 1 - k) * D + i] * v[4 * H4 - R + i + s];
        if (y - R >= y0)
            *reinterpret_cast<float4*>(out + (y - R) * w + x) = make_float4(a[0][0], a[0][1], a[0][2], a[0][3]);
#pragma unroll
        for (int k = 0; k < D; ++k)
#pragma unroll
            for (int s = 0; s < 4; ++s) a[k][s] = k + 1 < D ? a[k + 1][s] : 0.f;
    }
}

template <int r>
void convolve(const float* in, const float* filter, float* out, int width, int height) {
    if (width == 0 || height == 0) return;
    check(cudaMemcpyToSymbol(F, filter, (2 * r + 1) * (2 * r + 1) * sizeof(float), 0, cudaMemcpyDeviceToDevice));
    if (width % 4 == 0)
        conv_vec4<r><<<dim3(ceil_div(width, 4 * THREADS), ceil_div(height, ROWS)), THREADS>>>(in, out, width, height);
    else
        conv_scalar<r><<<dim3(ceil_div(width, 256), height), 256>>>(in, out, width, height);
    check(cudaGetLastError());
}
