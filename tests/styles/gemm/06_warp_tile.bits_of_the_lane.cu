// The lanes are laid out as in CUTLASS, with bit operations, tiles of 16 places along K, and warps of 32 x 64
// results. It uses float4, and one template makes three kernels: packs of both matrices, of none, or of one.
#include "gemm.cuh"

namespace {

constexpr int BM = 128, BN = 128, BK = 16;
constexpr int WM = 32, WN = 64;

union Quad {
    float4 v;
    float x[4];
};

template <bool aligned>
__device__ __forceinline__ Quad quad(const float* __restrict__ p, int rows, int cols, int y, int x) {
    Quad q;
    q.v = make_float4(0.f, 0.f, 0.f, 0.f);
    if (y >= rows) return q;
    if constexpr (aligned) {
        if (x < cols) q.v = *reinterpret_cast<const float4*>(p + y * cols + x);
    } else {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (x + i < cols) q.x[i] = p[y * cols + x + i];
    }
    return q;
}

template <bool a_aligned, bool b_aligned>
__global__ void __launch_bounds__(256) warp_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
                                                  int n, int k) {
    __shared__ float4 as[BK][(BM + 4) / 4];
    __shared__ float4 bs[BK][BN / 4];
    const unsigned tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const unsigned warp_row = warp >> 1, warp_col = warp & 1;                          // 4 x 2 warps
    const unsigned ly = (lane & 1) | (lane >> 4 << 1), lx = (lane >> 1) & 7;           // 4 x 8 lanes, two rows at a time
    const unsigned ay = warp_row * (WM / 4) + ly, bx = warp_col * (WN / 4) + lx;
    float acc[2][2][4][4];
#pragma unroll
    for (int i = 0; i < 64; ++i) acc[i >> 5][i >> 4 & 1][i >> 2 & 3][i & 3] = 0.f;
    float* const flat = reinterpret_cast<float*>(as);

    for (int k0 = 0; k0 < k; k0 += BK) {
#pragma unroll
        for (int round = 0; round < BM * BK / 4 / 256; ++round) {
            const int e = round * 256 + tid, row = e >> 2, place = (e & 3) << 2;
            const Quad q = quad<a_aligned>(a, m, k, blockIdx.y * BM + row, k0 + place);
#pragma unroll
            for (int i = 0; i < 4; ++i) flat[(place + i) * (BM + 4) + row] = q.x[i];
        }
#pragma unroll
        for (int round = 0; round < BN * BK / 4 / 256; ++round) {
            const int e = round * 256 + tid;
            bs[e >> 5][e & 31] = quad<b_aligned>(b, k, n, k0 + (e >> 5), blockIdx.x * BN + ((e & 31) << 2)).v;
        }
        __syncthreads();
#pragma unroll 4
        for (int kk = 0; kk < BK; ++kk) {
            Quad u[2], w[2];
            u[0].v = as[kk][ay], u[1].v = as[kk][ay + 4];
            w[0].v = bs[kk][bx], w[1].v = bs[kk][bx + 8];
#pragma unroll
            for (int p = 0; p < 2; ++p)
#pragma unroll
                for (int q = 0; q < 2; ++q)
#pragma unroll
                    for (int i = 0; i < 4; ++i)
#pragma unroll
                        for (int j = 0; j < 4; ++j) acc[p][q][i][j] = fmaf(u[p].x[i], w[q].x[j], acc[p][q][i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < 2; ++p)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int row = blockIdx.y * BM + (ay + 4 * p) * 4 + i;
            if (row >= m) continue;
#pragma unroll
            for (int q = 0; q < 2; ++q) {
                const int col = blockIdx.x * BN + (bx + 8 * q) * 4;
                float* const to = c + row * n + col;
                if (b_aligned && col < n)
                    *reinterpret_cast<float4*>(to) =
                        make_float4(acc[p][q][i][0], acc[p][q][i][1], acc[p][q][i][2], acc[p][q][i][3]);
                else
                    for (int j = 0; j < 4; ++j)
                        if (col + j < n) to[j] = acc[p][q][i][j];
            }
        }
}

}  // namespace

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 grid((n + BN - 1) / BN, (m + BM - 1) / BM);
    if (n % 4)
        warp_tiled<false, false><<<grid, 256>>>(a, b, c, m, n, k);
    else if (k % 4)
        warp_tiled<false, true><<<grid, 256>>>(a, b, c, m, n, k);
    else
        warp_tiled<true, true><<<grid, 256>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
