// 05 Wide loads: a thread computes four cells of a row in each of four planes, and leaves the sharing to the
// caches. Beyond the documents. Changed from 04: no shared memory, no barrier and no thread on a halo. A
// load brings four cells, and those above, below, before and behind come with one load each, for which L1 or
// L2 may have the data. A block has only four planes, as longer marches were slower. For floats a thread has
// few enough registers that a multiprocessor is full. Where n is not a multiple of four, the four cells of a
// thread are 32 apart, and each is a load.
#include "stencil.cuh"

constexpr int block_x = 32, block_y = 8;  // threads
constexpr int chunk = 4;                  // planes of a block
constexpr int wide = 4;                   // cells of a thread along x

/// Cells of a row. The alignment makes a load or a store of neighbouring cells one instruction.
template <class T>
struct alignas(wide * sizeof(T)) Cells {
    T at[wide];
};

// The cells of a thread are `apart` from each other. What is 1 apart is one load. Otherwise a thread needs
// more registers, for the addresses of its loads.
template <int apart, class T>
__global__ void __launch_bounds__(block_x* block_y, (apart == 1 ? 32 : 20) / sizeof(T))
    wide_loads(const T* __restrict__ in, T* __restrict__ out, int n, Coefficients<T> c) {
    // kata: begin
    using Row = Cells<T>;
    // The first of the thread's cells. A block has block_x * wide cells of a row, in either case.
    const int x = blockIdx.x * block_x * wide + threadIdx.x * (apart == 1 ? wide : 1);
    const int y = blockIdx.y * block_y + threadIdx.y;
    if (x >= n || y >= n) return;  // there is no barrier, so threads may leave
    const auto load_from = [&](int i) {
        if (apart == 1) return *reinterpret_cast<const Row*>(&in[i]);
        Row cells = {};
        for (int s = 0; s < wide; ++s)  // neighbouring threads load neighbouring cells
            if (x + s * apart < n) cells.at[s] = in[i + s * apart];
        return cells;
    };
    const auto load = [&](int row, int z) { return load_from((z * n + row) * n + x); };

    const int first = blockIdx.z * chunk, last = min(first + chunk, n);
    // As in 04, a thread keeps its own cells of three planes in registers.
    Row prev = load(y, max(first - 1, 0));  // plane 0 has none before it, nor needs one
    Row curr = load(y, first);
    for (int z = first; z < last; ++z) {
        const int i = (z * n + y) * n + x;
        const Row next = load(y, min(z + 1, n - 1));
        Row result = curr;  // cells on the boundary stay
        // A warp is one row of one plane, block_x being 32, so all of its lanes take the same way here.
        if (y > 0 && y < n - 1 && z > 0 && z < n - 1) {
            // The thread has four cells side by side, so it loads only the outermost two neighbours along x.
            // Before x = 0 lies the end of another row, and after x = n - 1 the beginning of one: they are
            // not used.
            const Row left =
                apart == 1 ? Row{in[i - 1], curr.at[0], curr.at[1], curr.at[2]} : load_from(i - 1);
            const Row right =
                apart == 1 ? Row{curr.at[1], curr.at[2], curr.at[3], in[i + wide]} : load_from(i + 1);
            const Row above = load(y - 1, z), below = load(y + 1, z);
#pragma unroll  // so that indices are known when it is compiled, and rows are registers
            for (int s = 0; s < wide; ++s) {
                const T sum = c.c0 * curr.at[s] + c.c1 * left.at[s] + c.c2 * right.at[s] +
                              c.c3 * above.at[s] + c.c4 * below.at[s] + c.c5 * prev.at[s] + c.c6 * next.at[s];
                // The first and the last cell of a row are boundary: their sums are computed and not used.
                if (x + s * apart > 0 && x + s * apart < n - 1) result.at[s] = sum;
            }
        }
        if (apart == 1) {
            *reinterpret_cast<Row*>(&out[i]) = result;
        } else {
            for (int s = 0; s < wide; ++s)
                if (x + s * apart < n) out[i + s * apart] = result.at[s];
        }
        prev = curr;  // as in 04
        curr = next;
    }
    // kata: end
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    if (n == 0) return;
    // Only if n is a multiple of four does every row begin at a multiple of four cells, as wide loads must.
    const auto kernel = n % wide == 0 ? wide_loads<1, T> : wide_loads<block_x, T>;
    const dim3 grid(ceil_div(n, block_x * wide), ceil_div(n, block_y), ceil_div(n, chunk));
    kernel<<<grid, dim3(block_x, block_y)>>>(in, out, n, c);
    check(cudaGetLastError());
    // kata: end
}
