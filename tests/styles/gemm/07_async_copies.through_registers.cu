// As kernels were written before sm_80: two pairs of tiles. The elements of the next one are loaded into
// registers before this one is multiplied, and stored after it. There is one barrier for each tile, and no
// asynchronous copy.
#include "gemm.cuh"

#define BM 128
#define BN 128
#define BK 8

static __device__ float4 fetch4(const float *p, int h, int w, int y, int x)
{
    float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
    if (y >= h) return v;
    p += y * w;
    if ((w & 3) == 0) {
        if (x < w) v = *(const float4 *)(p + x);
        return v;
    }
    if (x < w) v.x = p[x];
    if (x + 1 < w) v.y = p[x + 1];
    if (x + 2 < w) v.z = p[x + 2];
    if (x + 3 < w) v.w = p[x + 3];
    return v;
}

__global__ void __launch_bounds__(256, 2) sgemm_double_buffered(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ __align__(16) float As[2][BK][BM + 4];
    __shared__ __align__(16) float Bs[2][BK][BN];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    // 4 x 2 warps of 32 x 64 results; 4 x 8 lanes, two rows at a time
    const int my = (warp >> 1) * 32 + ((lane & 1) | (lane >> 4 << 1)) * 4, mx = (warp & 1) * 64 + (lane >> 1 & 7) * 4;
    const int ay = tid >> 1, ax = (tid & 1) * 4, by = tid >> 5, bx = (tid & 31) * 4;

    float acc[8][8] = {{0.f}};
    float4 ra = fetch4(A, M, K, row0 + ay, ax), rb = fetch4(B, K, N, by, col0 + bx);
    int buf = 0;
    for (int k0 = 0; k0 < K; k0 += BK, buf ^= 1) {
        As[buf][ax + 0][ay] = ra.x;
        As[buf][ax + 1][ay] = ra.y;
        As[buf][ax + 2][ay] = ra.z;
        As[buf][ax + 3][ay] = ra.w;
        *(float4 *)&Bs[buf][by][bx] = rb;
        __syncthreads();
        if (k0 + BK < K) {
            ra = fetch4(A, M, K, row0 + ay, k0 + BK + ax);
            rb = fetch4(B, K, N, k0 + BK + by, col0 + bx);
        }
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[8], b[8];
            *(float4 *)&a[0] = *(const float4 *)&As[buf][k][my];
            *(float4 *)&a[4] = *(const float4 *)&As[buf][k][my + 16];
            *(float4 *)&b[0] = *(const float4 *)&Bs[buf][k][mx];
            *(float4 *)&b[4] = *(const float4 *)&Bs[buf][k][mx + 32];
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
        }
    }

    for (int i = 0; i < 8; ++i) {
        const int row = row0 + my + (i & 3) + (i >> 2) * 16;
        if (row >= M) break;
        for (int half = 0; half < 2; ++half) {
            const int col = col0 + mx + half * 32;
            float *to = C + row * N + col;
            if ((N & 3) == 0 && col < N) {
                *(float4 *)to = make_float4(acc[i][half * 4], acc[i][half * 4 + 1], acc[i][half * 4 + 2], acc[i][half * 4 + 3]);
            } else {
                for (int j = 0; j < 4; ++j)
                    if (col + j < N) to[j] = acc[i][half * 4 + j];
            }
        }
    }
}

void gemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    if (m == 0 || n == 0) return;
    sgemm_double_buffered<<<dim3((n + BN - 1) / BN, (m + BM - 1) / BM), 256>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
