// 09 Fragments ahead: a thread reads what it multiplies at the next place along K, its fragments, before it
// multiplies those of this place. Beyond the documents; CUTLASS does so, too, with two sets of fragments for
// each warp. Changed from 08: there are two sets here, too. At the last place of a tile the first fragments
// of the next one are read, right after the barrier. Other delays are gone: copies no longer begin all at
// place 0, but one at a place, and none tests whether its element exists. Products go down a column of
// results and up the next, so that each shares a factor with the one before. On an H100 all that is 1.11
// times as fast.
//
// Needs: sm_80
#include "gemm.cuh"

#include <cuda_pipeline.h>

constexpr int bm = 128, bn = 256;              // rows and columns of C that a block computes
constexpr int bk = 16;                         // elements along K in a tile
constexpr int stages = 4;                      // pairs of tiles on chip: one in use, the others in flight
constexpr int wm = 64, wn = 64;                // rows and columns of C that a warp computes
constexpr int tm = 8, tn = 16;                 // rows and columns of C that a thread computes
constexpr int rows = wm / tm, cols = wn / tn;  // rows and columns of threads in a warp
constexpr int threads = bm * bn / (tm * tn);
constexpr int wide = 4;               // elements of a pack
constexpr int a_rows = threads / bk;  // rows of a tile of A that are copied at a time
static_assert(bm % a_rows == 0 && a_rows % wide == 0, "threads copy equally many elements, in whole packs");
static_assert(stages >= 2, "while a pair of tiles is multiplied, another is in flight");
static_assert(bk % 2 == 0, "the first fragments of each tile go into the same of two sets");
static_assert(rows * cols == 32 && rows % 2 == 0 && cols % 2 == 0,
              "a warp is made of squares of 2 x 2 lanes");

/// Neighbouring elements. The alignment makes a load, a copy or a store of them one instruction.
struct alignas(wide * sizeof(float)) Pack {
    float at[wide];
};

/// A stage: a tile of A, transposed, and one of B.
struct Tiles {
    Pack a[bk][bm / wide + 1], b[bk][bn / wide];
};

/// Begins to copy an element, or a pack, to shared memory. Stores zeros for those outside of the matrix.
template <typename T>
__device__ void begin_copy(float* to, const float* from, bool zeros) {
    // kata: begin
    // The last argument says how many bytes are not read and become 0.
    __pipeline_memcpy_async(to, from, sizeof(T), zeros ? sizeof(T) : 0);
    // kata: end
}

/// Returns the same sums in other registers, because a pack is stored from four neighbouring ones. If the
/// sums had to stay in these, more products would have both factors and their sum in one register bank. nvcc
/// cannot leave out the addition, as -0 + 0 is 0.
__device__ Pack elsewhere(Pack sum) {
    for (int i = 0; i < wide; ++i) sum.at[i] += 0.0f;
    return sum;
}

/// Stores elements col to col + 3 of a row, as far as the matrix has them. col is a multiple of four.
__device__ void store(float* matrix, int height, int width, int row, int col, Pack pack) {
    // kata: begin
    if (row >= height || col >= width) return;
    float* const first = &matrix[row * width + col];
    if (width % wide == 0) {
        *reinterpret_cast<Pack*>(first) = pack;
    } else {
        for (int i = 0; i < wide; ++i)
            if (col + i < width) first[i] = pack.at[i];
    }
    // kata: end
}

/// Unit is what a copy of B brings: a Pack, or a float where rows of B do not begin at multiples of 16 bytes.
template <typename Unit>
__global__ void __launch_bounds__(threads)
    fragments_ahead(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    extern __shared__ Tiles tiles[];  // stages of them, more than a block has by default
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    // As in 06: squares of 2 x 2 lanes, cols / 2 of them side by side, in the tile of the warp.
    const int lane = threadIdx.x % 32, square = lane / 4, warp = threadIdx.x / 32;
    const int lane_x = square % (cols / 2) * 2 + lane % 2, lane_y = square / (cols / 2) * 2 + lane / 2 % 2;
    const int tx = warp % (bn / wn) * (wn / wide) + lane_x, ty = warp / (bn / wn) * (wm / wide) + lane_y;
    constexpr int unit = sizeof(Unit) / sizeof(float);  // elements of it
    constexpr int b_rows = threads / (bn / unit), a_copies = bm / a_rows, b_copies = bk / b_rows;
    constexpr int at_a_place = ceil_div(a_copies + b_copies, bk);  // copies that begin at a place along K
    // The first element of A and the first unit of B that the thread copies.
    const int a_y = threadIdx.x / bk, a_x = threadIdx.x % bk;
    const int b_y = threadIdx.x / (bn / unit), b_x = threadIdx.x % (bn / unit) * unit;
    // The last rows and columns are repeated past the end of C, and those results are not stored.
    const int row = first_row + a_y, last_row = m - 1, col = min(first_col + b_x, n - unit);

    // Where the thread's next copies come from and go to, and which tile they are of.
    // commit() moves them on: working them out from the number of the phase takes instructions between
    // products. With k < bk some threads have no row of B, and min() keeps their pointer inside the matrix.
    const float *from_a = &a[a_x], *from_b = &b[min(b_y, k - 1) * n + col];
    float* to_a = &tiles[0].a[a_x][a_y / wide].at[a_y % wide];
    float* to_b = &tiles[0].b[b_y][b_x / wide].at[b_x % wide];
    int next = 0;
    const int phases = ceil_div(k, bk);
    // One of the thread's copies of a tile with `places` places along K, and zeros behind them.
    const auto copy = [&](int i, int places) {
        // The only test left for each copy. Rows are clamped, and K ends in the first tile.
        if (next >= phases) return;
        if (i < a_copies) {
            const int y = i * a_rows;
            // In the loop places is the constant bk, so that nvcc can leave the test out.
            const bool zeros = places < bk && a_x >= places;
            begin_copy<float>(&to_a[y], zeros ? a : &from_a[min(row + y, last_row) * k], zeros);
        } else if (i < a_copies + b_copies) {
            const int y = (i - a_copies) * b_rows;
            const bool zeros = places < bk && b_y + y >= places;
            begin_copy<Unit>(&to_b[y * bn], zeros ? b : &from_b[y * n], zeros);
        }
    };
    const auto commit = [&](int places) {
        __pipeline_commit();  // after the end of K, too: the wait counts groups
        ++next;
        from_a += places;
        from_b += static_cast<std::size_t>(places) * n;
        // To the next stage, and from the last one back to the first.
        const int on = sizeof(Tiles) / sizeof(float) * (next % stages > 0 ? 1 : 1 - stages);
        to_a += on;
        to_b += on;
    };
    // The part of K that fills no whole tile comes first, so no tile in the loop tests where K ends.
    for (int phase = 0; phase < stages - 1; ++phase) {
        const int places = phase == 0 ? k - (phases - 1) * bk : bk;
        for (int i = 0; i < a_copies + b_copies; ++i) copy(i, places);
        commit(places);
    }

    // Fragments: what is multiplied at a place along K, and what at the next one.
    Pack a_i[2][tm / wide], b_i[2][tn / wide];
    // i % 2 is known at compile time, because the loop over i is unrolled: with another index the arrays
    // would lie in memory and not in registers.
    const auto read = [&](const Tiles& from, int i) {
        for (int r = 0; r < tm / wide; ++r) a_i[i % 2][r] = from.a[i][ty + r * rows];
        for (int s = 0; s < tn / wide; ++s) b_i[i % 2][s] = from.b[i][tx + s * cols];
    };

    Pack sum[tm][tn / wide] = {};
    // Before the loop, for the first fragments. In the loop the last place of each tile does it for the next
    // tile.
    __pipeline_wait_prior(stages - 2);
    __syncthreads();
    read(tiles[0], 0);
    for (int phase = 0; phase < phases; ++phase) {
#pragma unroll
        for (int i = 0; i < bk; ++i) {
            // Into the stage of the phase before: at the last barrier all had read its last fragments.
            for (int j = 0; j < at_a_place; ++j) copy(i * at_a_place + j, bk);
            // Read before the products below, so that shared memory answers while they are computed. The
            // first fragments of the next tiles must wait for the barrier, when the other threads' copies
            // have arrived, too.
            if (i < bk - 1) {
                read(tiles[phase % stages], i + 1);
            } else {
                commit(bk);
                // The next place is the first one of the next tiles; after the last, it is not used.
                __pipeline_wait_prior(stages - 2);
                __syncthreads();
                read(tiles[(phase + 1) % stages], 0);
            }
            // Down a column and up the next one: each product has a factor of the one before.
            for (int s = 0; s < tn; s += 2) {
                for (int r = 0; r < tm; ++r)
                    sum[r][s / wide].at[s % wide] +=
                        a_i[i % 2][r / wide].at[r % wide] * b_i[i % 2][s / wide].at[s % wide];
                for (int r = tm - 1; r >= 0; --r)
                    sum[r][s / wide].at[s % wide + 1] +=
                        a_i[i % 2][r / wide].at[r % wide] * b_i[i % 2][s / wide].at[s % wide + 1];
            }
        }
    }

    for (int r = 0; r < tm; ++r) {
        const int y = first_row + (ty + r / wide * rows) * wide + r % wide;
        for (int s = 0; s < tn / wide; ++s)
            store(c, m, n, y, first_col + (tx + s * cols) * wide, elsewhere(sum[r][s]));
    }
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    constexpr int bytes = stages * sizeof(Tiles);
    const auto kernel = n % wide == 0 ? fragments_ahead<Pack> : fragments_ahead<float>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    kernel<<<grid, threads, bytes>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
    // kata: end
}
