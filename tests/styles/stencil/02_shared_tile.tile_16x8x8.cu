// The input tile is 16 x 8 x 8, 1024 threads, and cells outside are loaded as 0: usual where longer rows are
// wanted.
#include "stencil.cuh"

#define TX 16
#define TY 8
#define TZ 8

template <typename T>
__global__ void stencilShared(const T* in, T* out, int n, Coefficients<T> c) {
    __shared__ T tile[TZ][TY][TX];
    const int lx = threadIdx.x, ly = threadIdx.y, lz = threadIdx.z;
    const int x = (int)(blockIdx.x * (TX - 2)) + lx - 1;
    const int y = (int)(blockIdx.y * (TY - 2)) + ly - 1;
    const int z = (int)(blockIdx.z * (TZ - 2)) + lz - 1;
    T centre = 0;
    if (x >= 0 && x < n && y >= 0 && y < n && z >= 0 && z < n) centre = in[z * n * n + y * n + x];
    tile[lz][ly][lx] = centre;
    __syncthreads();

    if (x < 0 || x >= n || y < 0 || y >= n || z < 0 || z >= n) return;
    if (lx < 1 || lx > TX - 2 || ly < 1 || ly > TY - 2 || lz < 1 || lz > TZ - 2) return;
    if (x >= 1 && x <= n - 2 && y >= 1 && y <= n - 2 && z >= 1 && z <= n - 2) {
        centre *= c.c0;
        centre += c.c1 * tile[lz][ly][lx - 1];
        centre += c.c2 * tile[lz][ly][lx + 1];
        centre += c.c3 * tile[lz][ly - 1][lx];
        centre += c.c4 * tile[lz][ly + 1][lx];
        centre += c.c5 * tile[lz - 1][ly][lx];
        centre += c.c6 * tile[lz + 1][ly][lx];
    }
    out[z * n * n + y * n + x] = centre;
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    dim3 grid((n + TX - 3) / (TX - 2), (n + TY - 3) / (TY - 2), (n + TZ - 3) / (TZ - 2));
    stencilShared<<<grid, dim3(TX, TY, TZ)>>>(in, out, n, c);
    check(cudaGetLastError());
}
