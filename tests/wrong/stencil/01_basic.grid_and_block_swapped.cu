// Grid and block are exchanged: right as long as there are no more blocks than a block may have threads.
//
// Rejected: launch refused
#include "stencil.cuh"

constexpr int block = 8;  // threads per side of a cube

template <class T>
__global__ void basic(const T* in, T* out, int n, Coefficients<T> c) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= n || y >= n || z >= n) return;  // the grid covers whole blocks, the cells need not
    const int plane = n * n, i = z * plane + y * n + x;
    const bool on_boundary = x == 0 || x == n - 1 || y == 0 || y == n - 1 || z == 0 || z == n - 1;
    T result = in[i];
    if (!on_boundary)
        result = c.c0 * result + c.c1 * in[i - 1] + c.c2 * in[i + 1] + c.c3 * in[i - n] + c.c4 * in[i + n] +
                 c.c5 * in[i - plane] + c.c6 * in[i + plane];
    out[i] = result;
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    const dim3 grid(ceil_div(n, block), ceil_div(n, block), ceil_div(n, block));
    basic<<<dim3(block, block, block), grid>>>(in, out, n, c);
    check(cudaGetLastError());
}
