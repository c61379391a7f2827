// 06 Two sweeps: a block computes the first sweep from the planes that arrive, and from that at once the
// second. Beyond the documents. Changed from 05: what the first sweep leaves never goes to memory, so that
// two sweeps read the grid once and write it once. A warp holds a row of 32 threads x 16 bytes: neighbours
// along x come from the warp (shuffle), along y from shared memory, along z from registers. The tile has a
// halo of two cells, which all threads sweep as they do the rest: of 20 rows 16 are results. The march is
// long, because two planes at either end of it are loaded and give no result.
#include "twice.cuh"

constexpr int warps = 20;  // warps of a block, each with a row of its tile
constexpr int chunk = 64;  // planes of results of a block
constexpr int few = 2;     // planes instead, if the grid is so small that multiprocessors would have no block
constexpr int halo = 2;    // cells around the results that two sweeps need

/// `width` neighbouring cells of a row. The alignment makes a load or a store of them one instruction.
template <class T, int width>
struct alignas(width * sizeof(T)) Cells {
    T at[width];
};

template <int width, int planes, class T>
__global__ void __launch_bounds__(warps * 32)
    two_sweeps(const T* __restrict__ in, T* __restrict__ out, int n, Coefficients<T> c) {
    // kata: begin
    using Row = Cells<T, width>;
    constexpr int idle = ceil_div(halo, width);  // threads at either end of a warp without a result
    // Two of each: slow warps still read one while fast warps write the other.
    __shared__ Row in_s[2][warps][32], mid_s[2][warps][32];
    // The block's first results begin after its halo, so x and y of the first threads are negative. With wide
    // cells n is a multiple of the width, so all cells of a thread are inside or none are.
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = (static_cast<int>(blockIdx.x) * (32 - 2 * idle) + tx - idle) * width;
    const int y = static_cast<int>(blockIdx.y) * (warps - 2 * halo) + ty - halo;
    const bool inside = x >= 0 && x < n && y >= 0 && y < n;
    const bool on_halo = tx < idle || tx >= 32 - idle || ty < halo || ty >= warps - halo;
    const auto load = [&](int z) {
        return inside && z >= 0 && z < n ? *reinterpret_cast<const Row*>(&in[(z * n + y) * n + x]) : Row{};
    };

    // Returns this thread's cells of plane z after a sweep. At the ends of the tile a thread takes a cell of
    // its own for the missing neighbour. That result is wrong, but the next sweep does not need it.
    const auto swept = [&](int z, const Row& prev, const Row& curr, const Row& next,
                           const Row(&curr_s)[warps][32]) {
        // All lanes come to the shuffles, those on the halo and outside of the grid, too: the mask names 32.
        const Row above = curr_s[max(ty - 1, 0)][tx], below = curr_s[min(ty + 1, warps - 1)][tx];
        const T left = __shfl_up_sync(~0u, curr.at[width - 1], 1);
        const T right = __shfl_down_sync(~0u, curr.at[0], 1);
        // Planes -1 and n are computed like the others. No result needs them, because planes 0 and n - 1 stay
        // as they are.
        const bool on_edge = y == 0 || y == n - 1 || z == 0 || z == n - 1;
        Row result = curr;  // the boundary stays, in both sweeps
#pragma unroll              // so that indices are known when it is compiled, and rows are registers
        for (int s = 0; s < width; ++s) {
            const T before = s > 0 ? curr.at[s - 1] : left;
            const T behind = s < width - 1 ? curr.at[s + 1] : right;
            const T sum = c.c0 * curr.at[s] + c.c1 * before + c.c2 * behind + c.c3 * above.at[s] +
                          c.c4 * below.at[s] + c.c5 * prev.at[s] + c.c6 * next.at[s];
            const bool at_end = (s == 0 && x == 0) || (s == width - 1 && x + width == n);
            if (!on_edge && !at_end) result.at[s] = sum;
        }
        return result;
    };

    const int first = blockIdx.z * planes, last = min(first + planes, n);
    Row prev = load(first - 2), curr = load(first - 1);  // rows of the grid, before and in plane z
    Row mid_prev = {}, mid_curr = {};                    // rows after the first sweep, a plane behind
    // Two rounds more than there are planes of results: rounds first - 1 and first only fill the rows of the
    // first sweep, and round z stores plane z - 1.
    for (int z = first - 1; z <= last; ++z) {
        const Row next = load(z + 1);
        // The next stores to this parity come two rounds later. Between them and the loads below is the
        // barrier of the next round, which a warp reaches only when it has made these loads.
        const int parity = z & 1;
        in_s[parity][ty][tx] = curr;
        mid_s[parity][ty][tx] = mid_curr;
        __syncthreads();  // both planes are complete, and every thread has read those before
        const Row mid_next = swept(z, prev, curr, next, in_s[parity]);
        // With plane z of the first sweep, plane z - 1 has all its neighbours.
        const Row result = swept(z - 1, mid_prev, mid_curr, mid_next, mid_s[parity]);
        if (z > first && inside && !on_halo)
            *reinterpret_cast<Row*>(&out[((z - 1) * n + y) * n + x]) = result;
        prev = curr, curr = next;
        mid_prev = mid_curr, mid_curr = mid_next;
    }
    // kata: end
}

template <class T>
void sweep_twice(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    if (n == 0) return;
    // Only if n is a multiple of their number does every row begin at a multiple of 16 bytes.
    constexpr int wide = 16 / sizeof(T);
    const int width = n % wide == 0 ? wide : 1;
    const int columns = (32 - 2 * ceil_div(halo, width)) * width;
    const int across = ceil_div(n, columns), down = ceil_div(n, warps - 2 * halo);
    // Planes beyond the results are loaded for each block: it has many, if that leaves enough blocks.
    int device = 0, processors = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const bool small = across * down * ceil_div(n, chunk) < processors;
    const auto packed = small ? two_sweeps<wide, few, T> : two_sweeps<wide, chunk, T>;
    const auto single = small ? two_sweeps<1, few, T> : two_sweeps<1, chunk, T>;
    const auto kernel = width == wide ? packed : single;
    const dim3 grid(across, down, ceil_div(n, small ? few : chunk));
    kernel<<<grid, dim3(32, warps)>>>(in, out, n, c);
    check(cudaGetLastError());
    // kata: end
}
