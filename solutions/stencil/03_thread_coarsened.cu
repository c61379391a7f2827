// 03 Thread coarsened: T² threads march along z through a tile of T³, three planes at a time.
//
// Mirrors PMPP-notes 8.4. Changed from 02: a thread computes a column of cells, and only three
// planes of the tile are in shared memory. So T² and no longer T³ threads must fit into a block, and
// T can be 32; a warp reads a row of 32 elements instead of four rows of 8.
// Global loads at T = 32: 13/4 · (1 − 2/T)³ = 2.68 OP/B.
#include "stencil.cuh"

constexpr int tile = 32;  // threads per side of a square, input elements per side of a cube
constexpr int out_tile = tile - 2;

template <class T>
__global__ void thread_coarsened(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    __shared__ T prev_s[tile][tile], curr_s[tile][tile], next_s[tile][tile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * out_tile + tx - 1;  // as in 02; z is counted by the march
    const int y = blockIdx.y * out_tile + ty - 1;
    const bool inside = x >= 0 && x < n && y >= 0 && y < n;
    const bool on_halo = tx == 0 || tx == tile - 1 || ty == 0 || ty == tile - 1;
    // The thread's element of plane z, with the guard that the document writes out three times. No sum
    // reads the 0 from outside, but the march moves it from plane to plane, so something must be there.
    const auto load = [&](int z) { return inside && z >= 0 && z < n ? in[(z * n + y) * n + x] : T(0); };

    const int first = blockIdx.z * out_tile, last = min(first + out_tile, n);
    prev_s[ty][tx] = load(first - 1);
    curr_s[ty][tx] = load(first);
    for (int z = first; z < last; ++z) {  // the same rounds for all threads of a block: there are barriers
        next_s[ty][tx] = load(z + 1);
        __syncthreads();  // a thread sums up what its neighbours have loaded
        if (inside && !on_halo) {
            const bool on_boundary = x == 0 || x == n - 1 || y == 0 || y == n - 1 || z == 0 || z == n - 1;
            T result = curr_s[ty][tx];
            if (!on_boundary) {
                result = c.c0 * result + c.c1 * curr_s[ty][tx - 1] + c.c2 * curr_s[ty][tx + 1] +
                         c.c3 * curr_s[ty - 1][tx] + c.c4 * curr_s[ty + 1][tx] + c.c5 * prev_s[ty][tx] +
                         c.c6 * next_s[ty][tx];
            }
            out[(z * n + y) * n + x] = result;
        }
        __syncthreads();  // neighbours have read the middle plane before it is overwritten
        // Each thread moves its own elements, so that no barrier is needed after this.
        prev_s[ty][tx] = curr_s[ty][tx];
        curr_s[ty][tx] = next_s[ty][tx];
    }
    // kata: end
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    if (n == 0) return;
    // Tiles are cubes, so the grid has three axes; the block is flat.
    const dim3 grid(ceil_div(n, out_tile), ceil_div(n, out_tile), ceil_div(n, out_tile));
    thread_coarsened<<<grid, dim3(tile, tile)>>>(in, out, n, c);
    check(cudaGetLastError());
    // kata: end
}
