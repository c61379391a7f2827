// 01 Basic: a thread computes one cell, everything comes from global memory.
//
// Mirrors PMPP-notes 8.2. A step writes all of `out`. The document assumes that the boundary is there
// already.
// Global loads per cell: seven elements, 28 bytes for 13 operations: 0.46 OP/B.
#include "stencil.cuh"

constexpr int block = 8;  // threads per side of a cube

template <class T>
__global__ void basic(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    // x counts along a row: neighbouring threads of a warp load and store neighbouring elements.
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= n || y >= n || z >= n) return;  // the grid covers whole blocks, the cells need not
    const int plane = n * n, i = z * plane + y * n + x;
    const bool on_boundary = x == 0 || x == n - 1 || y == 0 || y == n - 1 || z == 0 || z == n - 1;
    T result = in[i];
    // A cell on the boundary is copied as it is: it has no six neighbours, and no other thread writes it.
    if (!on_boundary) {
        result = c.c0 * result + c.c1 * in[i - 1] + c.c2 * in[i + 1] + c.c3 * in[i - n] + c.c4 * in[i + n] +
                 c.c5 * in[i - plane] + c.c6 * in[i + plane];
    }
    out[i] = result;
    // kata: end
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    if (n == 0) return;  // a grid without blocks is an error
    // Rounded up: the last blocks along each axis may hang over the cells.
    const dim3 grid(ceil_div(n, block), ceil_div(n, block), ceil_div(n, block));
    basic<<<grid, dim3(block, block, block)>>>(in, out, n, c);
    check(cudaGetLastError());  // a launch returns nothing: this says whether it was refused
    // kata: end
}
