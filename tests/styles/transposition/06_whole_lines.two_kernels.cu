// A kernel of float4 with a padded tile, as in many repositories, and another one for odd sizes. That one computes the shift of a
// row from its address, and loads only what its block stores.
#include "transposition.cuh"

#include <cstdint>

constexpr int T = 64;

__global__ void transpose_vec4(const float* __restrict__ in, float* __restrict__ out, int m, int n) {
    __shared__ float s[T][T + 1];
    const int c4 = threadIdx.x * 4, r0 = blockIdx.y * T, c0 = blockIdx.x * T;
    for (int r = threadIdx.y; r < T; r += 16) {
        if (r0 + r >= m || c0 + c4 >= n) continue;
        const float4 v = *reinterpret_cast<const float4*>(in + (r0 + r) * n + c0 + c4);
        s[r][c4 + 0] = v.x;
        s[r][c4 + 1] = v.y;
        s[r][c4 + 2] = v.z;
        s[r][c4 + 3] = v.w;
    }
    __syncthreads();
    for (int r = threadIdx.y; r < T; r += 16) {
        if (c0 + r >= n || r0 + c4 >= m) continue;
        reinterpret_cast<float4*>(out + (c0 + r) * m + r0)[threadIdx.x] =
            make_float4(s[c4][r], s[c4 + 1][r], s[c4 + 2][r], s[c4 + 3][r]);
    }
}

__device__ int shift(const float* row) { return reinterpret_cast<std::uintptr_t>(row) / sizeof(float) % 32; }

__global__ void transpose_lines(const float* __restrict__ in, float* __restrict__ out, int m, int n) {
    __shared__ float s[T + 32][33];
    const int lane = threadIdx.x, c = blockIdx.x * 32 + lane, r0 = blockIdx.y * T - 32;
    const int from = c < n ? 32 - shift(out + c * m) : T + 32;
    for (int k = threadIdx.y; k < T + 32; k += 8)
        if (k >= from && k < from + T && r0 + k >= 0 && r0 + k < m) s[k][lane] = in[(r0 + k) * n + c];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8) {
        const int column = blockIdx.x * 32 + k;
        if (column >= n) break;
        float* const row = out + column * m;
        for (int i = 32 - shift(row) + lane, end = i + T; i < end; i += 32)
            if (r0 + i >= 0 && r0 + i < m) row[r0 + i] = s[i][k];
    }
}

void transpose(const float* in, float* out, int rows, int columns) {
    if (rows == 0 || columns == 0) return;
    if (rows % 4 == 0 && columns % 4 == 0)
        transpose_vec4<<<dim3(ceil_div(columns, T), ceil_div(rows, T)), dim3(16, 16)>>>(in, out, rows, columns);
    else
        transpose_lines<<<dim3(ceil_div(columns, 32), ceil_div(rows + 31, T)), dim3(32, 8)>>>(in, out, rows, columns);
    check(cudaGetLastError());
}
