// CUDA's own float4 and a tile of 64 x 64, each thread with four packs in either direction; sizes of any other kind take a
// plain kernel. Usual where a kernel is vectorised afterwards.
#include "transposition.cuh"

constexpr int T = 64;

__global__ void transpose_vec4(const float* __restrict__ in, float* __restrict__ out, int m, int n) {
    __shared__ float s[T][T + 1];
    const int c4 = threadIdx.x * 4, r0 = blockIdx.y * T, c0 = blockIdx.x * T;
#pragma unroll
    for (int r = threadIdx.y; r < T; r += 16) {
        if (r0 + r >= m || c0 + c4 >= n) continue;
        const float4 v = *reinterpret_cast<const float4*>(in + (r0 + r) * n + c0 + c4);
        s[r][c4 + 0] = v.x;
        s[r][c4 + 1] = v.y;
        s[r][c4 + 2] = v.z;
        s[r][c4 + 3] = v.w;
    }
    __syncthreads();
#pragma unroll
    for (int r = threadIdx.y; r < T; r += 16) {
        if (c0 + r >= n || r0 + c4 >= m) continue;
        reinterpret_cast<float4*>(out + (c0 + r) * m + r0)[threadIdx.x] =
            make_float4(s[c4][r], s[c4 + 1][r], s[c4 + 2][r], s[c4 + 3][r]);
    }
}

__global__ void transpose_any(const float* in, float* out, int m, int n) {
    __shared__ float s[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x < n && y < m) s[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    if (x < m && y < n) out[y * m + x] = s[threadIdx.x][threadIdx.y];
}

void transpose(const float* in, float* out, int rows, int columns) {
    if (rows == 0 || columns == 0) return;
    if (rows % 4 == 0 && columns % 4 == 0)
        transpose_vec4<<<dim3(ceil_div(columns, T), ceil_div(rows, T)), dim3(16, 16)>>>(in, out, rows, columns);
    else
        transpose_any<<<dim3(ceil_div(columns, 32), ceil_div(rows, 32)), dim3(32, 32)>>>(in, out, rows, columns);
    check(cudaGetLastError());
}
