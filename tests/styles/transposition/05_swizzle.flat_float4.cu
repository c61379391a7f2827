// The tile as a flat array of float4, in a macro's order, 8 x 32 threads, and offsets instead of indices: usual where a
// kernel follows the tiles of a matrix product.
#include "transposition.cuh"

#define PLACE(row, pack) ((row) * 8 + ((pack) ^ (((row) >> 2) & 7)))

__global__ void transpose_f4(const float4* in, float4* out, int m4, int n4) {
    __shared__ float4 s[32 * 8];
    const int px = threadIdx.x, py = threadIdx.y;
    const int c = blockIdx.x * 8, r = blockIdx.y * 8;  // in packs
    if (c + px < n4 && r * 4 + py < m4 * 4) s[PLACE(py, px)] = in[(r * 4 + py) * n4 + c + px];
    __syncthreads();
    if (r + px >= m4 || c * 4 + py >= n4 * 4) return;
    const float* const f = reinterpret_cast<const float*>(s);
    float4 v;
    v.x = f[4 * PLACE(4 * px + 0, py / 4) + py % 4];
    v.y = f[4 * PLACE(4 * px + 1, py / 4) + py % 4];
    v.z = f[4 * PLACE(4 * px + 2, py / 4) + py % 4];
    v.w = f[4 * PLACE(4 * px + 3, py / 4) + py % 4];
    out[(c * 4 + py) * m4 + r + px] = v;
}

__global__ void transpose_f1(const float* in, float* out, int m, int n) {
    __shared__ float s[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (x < n && y + i < m) s[threadIdx.y + i][threadIdx.x ^ (threadIdx.y + i)] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (x < m && y + i < n) out[(y + i) * m + x] = s[threadIdx.x][(threadIdx.y + i) ^ threadIdx.x];
}

void transpose(const float* in, float* out, int rows, int columns) {
    if (rows == 0 || columns == 0) return;
    const dim3 grid(ceil_div(columns, 32), ceil_div(rows, 32));
    if (rows % 4 == 0 && columns % 4 == 0)
        transpose_f4<<<grid, dim3(8, 32)>>>(reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out), rows / 4,
                                            columns / 4);
    else
        transpose_f1<<<grid, dim3(32, 8)>>>(in, out, rows, columns);
    check(cudaGetLastError());
}
