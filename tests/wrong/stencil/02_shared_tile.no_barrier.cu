// Without a barrier the sums start before the tile is there.
//
// Rejected: race in shared memory
// On a GPU: elements differ
#include "stencil.cuh"

constexpr int tile = 8;  // threads and input elements per side of a cube
constexpr int out_tile = tile - 2;

template <class T>
__global__ void shared_tile(const T* in, T* out, int n, Coefficients<T> c) {
    __shared__ T in_s[tile][tile][tile];
    const int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    const int x = static_cast<int>(blockIdx.x) * out_tile + tx - 1;
    const int y = static_cast<int>(blockIdx.y) * out_tile + ty - 1;
    const int z = static_cast<int>(blockIdx.z) * out_tile + tz - 1;
    const int i = (z * n + y) * n + x;
    const bool inside = x >= 0 && x < n && y >= 0 && y < n && z >= 0 && z < n;
    if (inside) in_s[tz][ty][tx] = in[i];

    const bool on_halo = tx == 0 || tx == tile - 1 || ty == 0 || ty == tile - 1 || tz == 0 || tz == tile - 1;
    if (!inside || on_halo) return;
    const bool on_boundary = x == 0 || x == n - 1 || y == 0 || y == n - 1 || z == 0 || z == n - 1;
    T result = in_s[tz][ty][tx];
    if (!on_boundary)
        result = c.c0 * result + c.c1 * in_s[tz][ty][tx - 1] + c.c2 * in_s[tz][ty][tx + 1] +
                 c.c3 * in_s[tz][ty - 1][tx] + c.c4 * in_s[tz][ty + 1][tx] + c.c5 * in_s[tz - 1][ty][tx] +
                 c.c6 * in_s[tz + 1][ty][tx];
    out[i] = result;
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    const dim3 grid(ceil_div(n, out_tile), ceil_div(n, out_tile), ceil_div(n, out_tile));
    shared_tile<<<grid, dim3(tile, tile, tile)>>>(in, out, n, c);
    check(cudaGetLastError());
}
