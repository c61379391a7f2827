// The listing of PMPP-notes 8.4: c3 and c4 are swapped against 8.2, which symmetric coefficients hide.
//
// Rejected: elements differ
#include "stencil.cuh"

constexpr int tile = 32;  // threads per side of a square, input elements per side of a cube
constexpr int out_tile = tile - 2;

template <class T>
__global__ void thread_coarsened(const T* in, T* out, int n, Coefficients<T> c) {
    __shared__ T prev_s[tile][tile], curr_s[tile][tile], next_s[tile][tile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = static_cast<int>(blockIdx.x) * out_tile + tx - 1;
    const int y = static_cast<int>(blockIdx.y) * out_tile + ty - 1;
    const bool inside = x >= 0 && x < n && y >= 0 && y < n;
    const bool on_halo = tx == 0 || tx == tile - 1 || ty == 0 || ty == tile - 1;
    // Where the tile hangs over, 0: it is moved from plane to plane and never part of a sum.
    const auto load = [&](int z) { return inside && z >= 0 && z < n ? in[(z * n + y) * n + x] : T(0); };

    const int first = blockIdx.z * out_tile;
    prev_s[ty][tx] = load(first - 1);
    curr_s[ty][tx] = load(first);
    for (int z = first; z < min(first + out_tile, n); ++z) {
        next_s[ty][tx] = load(z + 1);
        __syncthreads();
        if (inside && !on_halo) {
            const bool on_boundary = x == 0 || x == n - 1 || y == 0 || y == n - 1 || z == 0 || z == n - 1;
            T result = curr_s[ty][tx];
            if (!on_boundary)
                result = c.c0 * result + c.c1 * curr_s[ty][tx - 1] + c.c2 * curr_s[ty][tx + 1] +
                         c.c3 * curr_s[ty + 1][tx] + c.c4 * curr_s[ty - 1][tx] + c.c5 * prev_s[ty][tx] +
                         c.c6 * next_s[ty][tx];
            out[(z * n + y) * n + x] = result;
        }
        __syncthreads();  // before the planes move on, all have read them
        prev_s[ty][tx] = curr_s[ty][tx];
        curr_s[ty][tx] = next_s[ty][tx];
    }
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;
    const dim3 grid(ceil_div(n, out_tile), ceil_div(n, out_tile), ceil_div(n, out_tile));
    thread_coarsened<<<grid, dim3(tile, tile)>>>(in, out, n, c);
    check(cudaGetLastError());
}
