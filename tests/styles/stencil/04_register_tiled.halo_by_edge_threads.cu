// Every thread has a cell, and those at the edges load the halo, too; a block marches through 32 planes: usual after NVIDIA's
// finite differences in 3-D.
#include "stencil.cuh"

constexpr int W = 32, H = 16, PLANES = 32;

template <class T>
__global__ void fdtd(const T* __restrict__ in, T* __restrict__ out, const int n, const Coefficients<T> c) {
    __shared__ T s[H + 2][W + 2];
    const int x = blockIdx.x * W + threadIdx.x, y = blockIdx.y * H + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int plane = n * n;
    const bool there = x < n && y < n;
    const int z0 = blockIdx.z * PLANES, z1 = min(z0 + PLANES, n);
    const int column = y * n + x;

    T behind = there && z0 > 0 ? in[(z0 - 1) * plane + column] : T(0);
    T current = there ? in[z0 * plane + column] : T(0);
    for (int z = z0; z < z1; ++z) {
        const T infront = there && z + 1 < n ? in[(z + 1) * plane + column] : T(0);
        __syncthreads();  // the previous plane has been read
        s[ty][tx] = current;
        if (there) {
            const T* p = in + z * plane + column;
            if (threadIdx.x == 0 && x > 0) s[ty][0] = p[-1];
            if (threadIdx.x == W - 1 && x + 1 < n) s[ty][W + 1] = p[1];
            if (threadIdx.y == 0 && y > 0) s[0][tx] = p[-n];
            if (threadIdx.y == H - 1 && y + 1 < n) s[H + 1][tx] = p[n];
        }
        __syncthreads();
        if (there) {
            const bool edge = x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1;
            out[z * plane + column] =
                edge ? current
                     : c.c0 * current + c.c1 * s[ty][tx - 1] + c.c2 * s[ty][tx + 1] + c.c3 * s[ty - 1][tx] +
                           c.c4 * s[ty + 1][tx] + c.c5 * behind + c.c6 * infront;
        }
        behind = current;
        current = infront;
    }
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    fdtd<<<dim3((n + W - 1) / W, (n + H - 1) / H, (n + PLANES - 1) / PLANES), dim3(W, H)>>>(in, out, n, c);
    check(cudaGetLastError());
}
