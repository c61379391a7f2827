// Cells on the boundary are computed like all others, with 0 for the neighbours that they do not have.
//
// Rejected: on the border
#include "stencil.cuh"

constexpr int block = 8;  // threads per side of a cube

template <class T>
__global__ void basic(const T* in, T* out, int n, Coefficients<T> c) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= n || y >= n || z >= n) return;  // the grid covers whole blocks, the cells need not
    const int i = (z * n + y) * n + x;
    const auto at = [&](int u, int v, int w) {
        const bool inside = u >= 0 && u < n && v >= 0 && v < n && w >= 0 && w < n;
        return inside ? in[(w * n + v) * n + u] : T(0);
    };
    out[i] = c.c0 * in[i] + c.c1 * at(x - 1, y, z) + c.c2 * at(x + 1, y, z) + c.c3 * at(x, y - 1, z) +
             c.c4 * at(x, y + 1, z) + c.c5 * at(x, y, z - 1) + c.c6 * at(x, y, z + 1);
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    const dim3 grid(ceil_div(n, block), ceil_div(n, block), ceil_div(n, block));
    basic<<<grid, dim3(block, block, block)>>>(in, out, n, c);
    check(cudaGetLastError());
}
