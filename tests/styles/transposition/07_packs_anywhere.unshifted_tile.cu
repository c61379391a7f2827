// The shift of a row is undone where its packs are stored into the tile, one element at a time, and the tile is padded as in 04.
// With float4, as in most repositories, and single loads for the packs at both ends of a row.
#include "transposition.cuh"

constexpr int T = 64, ABOVE = 32;

__global__ void __launch_bounds__(256) transpose_any(const float* __restrict__ in, float* __restrict__ out, int m, int n) {
    __shared__ float s[ABOVE + T][T + 1];
    const int tiles_down = ceil_div(m + ABOVE - 1, T);
    const int r0 = int(blockIdx.x % tiles_down) * T - ABOVE, c0 = int(blockIdx.x / tiles_down) * (T - 4);
    const int end = min(c0 + T - 4, n), lane = threadIdx.x % 16, warp_row = threadIdx.x / 16;

    float4 v[(ABOVE + T) / 16];
#pragma unroll
    for (int k = 0; k < (ABOVE + T) / 16; ++k) {
        const int r = r0 + k * 16 + warp_row;
        v[k] = make_float4(0, 0, 0, 0);
        if (r < 0 || r >= m) continue;
        const unsigned i = (r * n + c0) / 4 * 4 + 4 * lane, size = m * n;
        if (i >= unsigned(r * n + end)) continue;
        if (i + 3 < size) {
            v[k] = *reinterpret_cast<const float4*>(in + i);
        } else {
            v[k].x = in[i];
            if (i + 1 < size) v[k].y = in[i + 1];
            if (i + 2 < size) v[k].z = in[i + 2];
        }
    }
#pragma unroll
    for (int k = 0; k < (ABOVE + T) / 16; ++k) {
        const int y = k * 16 + warp_row, x = 4 * lane - y % 4 * (n % 4) % 4;
        if (x >= 0) s[y][x] = v[k].x;
        if (x + 1 >= 0) s[y][x + 1] = v[k].y;
        if (x + 2 >= 0) s[y][x + 2] = v[k].z;
        s[y][x + 3] = v[k].w;
    }
    __syncthreads();

#pragma unroll
    for (int k = 0; k < T; k += 16) {
        const int c = c0 + k + warp_row;
        if (c >= end) break;
        const int y = ABOVE - c % 32 * (m % 32) % 32 + 4 * lane, r = r0 + y;
        const float* column = &s[y][c - c0];
        const float4 w = make_float4(column[0], column[T + 1], column[2 * (T + 1)], column[3 * (T + 1)]);
        float* const to = out + c * m + r;
        if (r >= 0 && r + 3 < m) {
            *reinterpret_cast<float4*>(to) = w;
            continue;
        }
        if (r >= 0 && r < m) to[0] = w.x;
        if (r + 1 >= 0 && r + 1 < m) to[1] = w.y;
        if (r + 2 >= 0 && r + 2 < m) to[2] = w.z;
        if (r + 3 >= 0 && r + 3 < m) to[3] = w.w;
    }
}

void transpose(const float* in, float* out, int rows, int columns) {
    if (rows == 0 || columns == 0) return;
    transpose_any<<<ceil_div(columns, T - 4) * ceil_div(rows + ABOVE - 1, T), 256>>>(in, out, rows, columns);
    check(cudaGetLastError());
}
