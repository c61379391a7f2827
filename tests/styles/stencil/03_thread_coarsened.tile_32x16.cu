// Blocks of 32 x 16 threads that march through 32 planes: usual where two blocks should share a
// multiprocessor.
#include "stencil.cuh"

enum { BX = 32, BY = 16, DEPTH = 32 };

template <typename T>
__device__ T fetch(const T* in, int n, int x, int y, int z) {
    return (x < 0 || y < 0 || z < 0 || x >= n || y >= n || z >= n) ? T(0) : in[(z * n + y) * n + x];
}

template <typename T>
__global__ void coarse(const T* in, T* out, int n, Coefficients<T> k) {
    __shared__ T inPrev_s[BY][BX], inCurr_s[BY][BX], inNext_s[BY][BX];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = (int)blockIdx.x * (BX - 2) + tx - 1;
    const int y = (int)blockIdx.y * (BY - 2) + ty - 1;
    const int zStart = blockIdx.z * DEPTH;

    inPrev_s[ty][tx] = fetch(in, n, x, y, zStart - 1);
    inCurr_s[ty][tx] = fetch(in, n, x, y, zStart);
    for (int z = zStart; z < zStart + DEPTH && z < n; ++z) {
        inNext_s[ty][tx] = fetch(in, n, x, y, z + 1);
        __syncthreads();
        if (x >= 0 && x < n && y >= 0 && y < n && tx >= 1 && tx < BX - 1 && ty >= 1 && ty < BY - 1) {
            T value = inCurr_s[ty][tx];
            if (x >= 1 && x < n - 1 && y >= 1 && y < n - 1 && z >= 1 && z < n - 1) {
                value = k.c0 * value + k.c1 * inCurr_s[ty][tx - 1] + k.c2 * inCurr_s[ty][tx + 1] +
                        k.c3 * inCurr_s[ty - 1][tx] + k.c4 * inCurr_s[ty + 1][tx] + k.c5 * inPrev_s[ty][tx] +
                        k.c6 * inNext_s[ty][tx];
            }
            out[(z * n + y) * n + x] = value;
        }
        __syncthreads();
        inPrev_s[ty][tx] = inCurr_s[ty][tx];
        inCurr_s[ty][tx] = inNext_s[ty][tx];
    }
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    dim3 grid(ceil_div(n, BX - 2), ceil_div(n, BY - 2), ceil_div(n, DEPTH));
    coarse<<<grid, dim3(BX, BY)>>>(in, out, n, c);
    check(cudaGetLastError());
}
