// 06 Two sweeps a pass: of every plane that arrives a block computes the first sweep, and of that the second.
//
// Changed against 05: the cells after the first sweep never leave the chip. A warp holds a row of 32 x 4
// cells: the neighbours along x come from the warp (shuffle), along y from shared memory, along z from
// registers. A tile of 128 x 20 cells gives 120 x 16 results, and marches along z, for a tile's halo in z
// would cost four planes. NVIDIA H100 80GB HBM3, 1024³: 3.58 ms for two sweeps, 1.79 a sweep, where a copy
// takes 2.85; 512³ 0.233 and 0.362 ms. Where n is no multiple of four, a thread has one cell, and it does not
// pay: 1023³ 6.4 ms.
//
// Defines sweep_twice(), which the chapter does not declare, and not its sweep().
#include "stencil.cuh"

constexpr int warps = 20;  // in a block: rows of its tile
constexpr int chunk = 64;  // planes that a block marches through
constexpr int wide = 4;    // cells of a thread along x
constexpr int radius = 2;  // cells around the tile's result that two sweeps need

// `width` neighbouring cells, loaded and stored as one.
template <class T, int width>
struct alignas(width * sizeof(T)) Cells {
    T at[width];
};

template <int width, class T>
__global__ void __launch_bounds__(warps * 32, 2)
    two_sweeps(const T* __restrict__ in, T* __restrict__ out, int n, Coefficients<T> c) {
    using Row = Cells<T, width>;
    constexpr int halo = ceil_div(radius, width);  // threads
    __shared__ Row in_s[2][warps][32], mid_s[2][warps][32];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = (static_cast<int>(blockIdx.x) * (32 - 2 * halo) + tx - halo) * width;
    const int y = static_cast<int>(blockIdx.y) * (warps - 2 * radius) + ty - radius;
    const bool inside = x >= 0 && x < n && y >= 0 && y < n;
    const bool on_halo = tx < halo || tx >= 32 - halo || ty < radius || ty >= warps - radius;
    const int plane = n * n;

    // The sweep of this thread's cells of plane z. Neighbours along x are neighbours in the warp; what a
    // thread at the end of the tile gets from beyond it is not needed.
    const auto swept = [&](int z, Row prev, Row curr, Row next, Row(&curr_s)[warps][32]) {
        const Row above = curr_s[max(ty - 1, 0)][tx], below = curr_s[min(ty + 1, warps - 1)][tx];
        const T left = __shfl_up_sync(0xffffffff, curr.at[width - 1], 1);
        const T right = __shfl_down_sync(0xffffffff, curr.at[0], 1);
        const bool on_edge = y == 0 || y == n - 1 || z == 0 || z == n - 1;
        Row result = curr;
        for (int s = 0; s < width; ++s) {
            const T before = s > 0 ? curr.at[s - 1] : left;
            const T behind = s < width - 1 ? curr.at[s + 1] : right;
            const T sum = c.c0 * curr.at[s] + c.c1 * before + c.c2 * behind + c.c3 * above.at[s] +
                          c.c4 * below.at[s] + c.c5 * prev.at[s] + c.c6 * next.at[s];
            if (!on_edge && x + s > 0 && x + s < n - 1) result.at[s] = sum;
        }
        return result;
    };

    const int first = blockIdx.z * chunk, last = min(first + chunk, n);
    const auto load = [&](int z) {
        return inside && z >= 0 && z < n ? *reinterpret_cast<const Row*>(&in[z * plane + y * n + x]) : Row{};
    };
    Row prev = load(first - 2), curr = load(first - 1);  // of the input, around plane z
    Row mid_prev = {}, mid_curr = {};                    // of the first sweep, around plane z - 1
    for (int z = first - 1; z <= last; ++z) {
        const Row next = load(z + 1);
        const int parity =
            z & 1;  // two of each: a block that is slow still reads what others would overwrite
        in_s[parity][ty][tx] = curr;
        mid_s[parity][ty][tx] = mid_curr;
        __syncthreads();
        const Row mid_next = swept(z, prev, curr, next, in_s[parity]);
        const Row result = swept(z - 1, mid_prev, mid_curr, mid_next, mid_s[parity]);
        if (z > first && inside && !on_halo)
            *reinterpret_cast<Row*>(&out[(z - 1) * plane + y * n + x]) = result;
        prev = curr, curr = next;
        mid_prev = mid_curr, mid_curr = mid_next;
    }
}

template <class T>
void sweep_twice(const T* in, T* out, int n, Coefficients<T> c) {
    if (n == 0) return;  // a grid without blocks cannot be launched
    // Only if n is a multiple of four does every row begin at a multiple of four cells.
    const int width = n % wide == 0 ? wide : 1;
    const int cells = (32 - 2 * ceil_div(radius, width)) * width;
    const dim3 grid(ceil_div(n, cells), ceil_div(n, warps - 2 * radius), ceil_div(n, chunk));
    const auto kernel = width == wide ? two_sweeps<wide, T> : two_sweeps<1, T>;
    kernel<<<grid, dim3(32, warps)>>>(in, out, n, c);
    check(cudaGetLastError());
}

void sweep_twice_float(const float* in, float* out, int n, Coefficients<float> c) {
    sweep_twice(in, out, n, c);
}
