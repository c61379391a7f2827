// Tiles of 16 x 16, a block that marches through 16 planes, and the shared plane in dynamic shared memory:
// usual on older devices.
#include "stencil.cuh"

#define TILE 16
#define OUT_TILE (TILE - 2)

template <class T>
__global__ void register_tile(const T* in, T* out, int n, Coefficients<T> c) {
    extern __shared__ __align__(16) unsigned char raw[];
    T* tile = reinterpret_cast<T*>(raw);
    const int tx = threadIdx.x, ty = threadIdx.y, me = ty * TILE + tx;
    const int j = blockIdx.x * OUT_TILE + tx - 1, i = blockIdx.y * OUT_TILE + ty - 1;
    const int start = blockIdx.z * OUT_TILE;
    const bool ok = i >= 0 && i < n && j >= 0 && j < n;

    T inPrev = 0, inCurr = 0, inNext = 0;
    if (ok && start >= 1) inPrev = in[(start - 1) * n * n + i * n + j];
    if (ok) inCurr = in[start * n * n + i * n + j];
    tile[me] = inCurr;
    for (int k = start; k < start + OUT_TILE; ++k) {
        if (k >= n) break;  // the same for all threads of the block
        inNext = 0;
        if (ok && k + 1 < n) inNext = in[(k + 1) * n * n + i * n + j];
        __syncthreads();
        if (ok && tx > 0 && tx < TILE - 1 && ty > 0 && ty < TILE - 1) {
            T sum = inCurr;
            if (i > 0 && i < n - 1 && j > 0 && j < n - 1 && k > 0 && k < n - 1)
                sum = c.c0 * inCurr + c.c1 * tile[me - 1] + c.c2 * tile[me + 1] + c.c3 * tile[me - TILE] +
                      c.c4 * tile[me + TILE] + c.c5 * inPrev + c.c6 * inNext;
            out[k * n * n + i * n + j] = sum;
        }
        __syncthreads();
        inPrev = inCurr;
        inCurr = inNext;
        tile[me] = inNext;
    }
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    const int blocks = ceil_div(n, OUT_TILE);
    register_tile<<<dim3(blocks, blocks, blocks), dim3(TILE, TILE), TILE * TILE * sizeof(T)>>>(in, out, n, c);
    check(cudaGetLastError());
}
