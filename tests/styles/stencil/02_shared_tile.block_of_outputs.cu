// The block is as large as the output tile, and its threads load the tile of (T + 2)³ in a loop: usual where
// no thread should be idle.
#include "stencil.cuh"

constexpr int B = 8, H = B + 2;

template <class T>
__global__ void tile3d(const T* in, T* out, int n, Coefficients<T> c) {
    __shared__ T s[H * H * H];
    const int x0 = blockIdx.x * B - 1, y0 = blockIdx.y * B - 1, z0 = blockIdx.z * B - 1;
    const int tid = (threadIdx.z * B + threadIdx.y) * B + threadIdx.x;
    for (int k = tid; k < H * H * H; k += B * B * B) {
        const int x = x0 + k % H, y = y0 + k / H % H, z = z0 + k / (H * H);
        s[k] = x >= 0 && x < n && y >= 0 && y < n && z >= 0 && z < n ? in[(z * n + y) * n + x] : T(0);
    }
    __syncthreads();
    const int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y, z = z0 + 1 + threadIdx.z;
    if (x >= n || y >= n || z >= n) return;
    const T* p = s + ((threadIdx.z + 1) * H + threadIdx.y + 1) * H + threadIdx.x + 1;
    const bool inner = x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1;
    out[(z * n + y) * n + x] = inner ? c.c0 * p[0] + c.c1 * p[-1] + c.c2 * p[1] + c.c3 * p[-H] + c.c4 * p[H] +
                                           c.c5 * p[-H * H] + c.c6 * p[H * H]
                                     : p[0];
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    const int blocks = (n + B - 1) / B;
    tile3d<<<dim3(blocks, blocks, blocks), dim3(B, B, B)>>>(in, out, n, c);
    check(cudaGetLastError());
}
