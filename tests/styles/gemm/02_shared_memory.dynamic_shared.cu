// Both tiles in one piece of dynamic shared memory, divided by hand: usual where the host chooses the tile's
// size.
#include "gemm.cuh"

__global__ void tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k,
                      int T) {
    extern __shared__ float shared[];
    float* as = shared;
    float* bs = &shared[T * T];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float acc = 0.f;
    for (int k0 = 0; k0 < k; k0 += T) {
        as[y * T + x] = row < m && k0 + x < k ? a[(size_t)row * k + k0 + x] : 0.f;
        bs[y * T + x] = col < n && k0 + y < k ? b[(size_t)(k0 + y) * n + col] : 0.f;
        __syncthreads();
        for (int i = 0; i < T; ++i) acc = fmaf(as[y * T + i], bs[i * T + x], acc);
        __syncthreads();
    }
    if (row < m && col < n) c[(size_t)row * n + col] = acc;
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const int T = 32;
    const dim3 grid((n + T - 1) / T, (m + T - 1) / T), block(T, T);
    tiled<<<grid, block, 2 * T * T * sizeof(float)>>>(a, b, c, m, n, k, T);
    check(cudaGetLastError());
}
