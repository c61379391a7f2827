// Eight neighbours of a row of A's tile, one sector, are copied at a time, into eight banks: no bank
// conflicts. Two copies begin in a place, after its products. There is no __launch_bounds__. The results are
// multiplied row by row.
#include "gemm.cuh"

#include <cuda_pipeline.h>

constexpr int bm = 128, bn = 256;              // rows and columns of C that a block computes
constexpr int bk = 16;                         // elements along K in a tile
constexpr int stages = 4;                      // pairs of tiles on chip: one in use, the others in flight
constexpr int wm = 64, wn = 64;                // rows and columns of results of a warp
constexpr int tm = 8, tn = 16;                 // rows and columns of results of a thread
constexpr int rows = wm / tm, cols = wn / tn;  // rows and columns of threads of a warp
constexpr int threads = bm * bn / (tm * tn);
constexpr int wide = 4;               // elements of a pack
constexpr int deep = 8, a_rows = threads / deep;  // columns and rows of a tile of A copied at a time
static_assert(bm % a_rows == 0 && a_rows % wide == 0, "all threads copy the same number of elements, and into whole packs");
static_assert(stages >= 2, "while a pair of tiles is multiplied, another is in flight");
static_assert(bk % 2 == 0, "the first fragments of each tile go into the same one of two sets");
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
    // The last argument is the number of bytes that are set to 0 and not read.
    __pipeline_memcpy_async(to, from, sizeof(T), zeros ? sizeof(T) : 0);
}

/// The same sums in other registers, because a pack is stored from four neighbouring registers. If the sums
/// themselves had to be there, more products would have both factors and their sum in one register bank. nvcc
/// cannot remove the addition, because -0 + 0 is 0.
__device__ Pack elsewhere(Pack sum) {
    for (int i = 0; i < wide; ++i) sum.at[i] += 0.0f;
    return sum;
}

/// Stores elements col to col + 3 of a row, as far as the matrix has them. col is a multiple of four.
__device__ void store(float* matrix, int height, int width, int row, int col, Pack pack) {
    if (row >= height || col >= width) return;
    float* const first = &matrix[row * width + col];
    if (width % wide == 0) {
        *reinterpret_cast<Pack*>(first) = pack;
    } else {
        for (int i = 0; i < wide; ++i)
            if (col + i < width) first[i] = pack.at[i];
    }
}

/// Unit is what a copy of B transfers: a Pack, or a float if the rows of B are not aligned.
template <typename Unit>
__global__ void fragments_ahead(const float* a, const float* b, float* c, int m, int n, int k) {
    extern __shared__ Tiles tiles[];  // one per stage; needs cudaFuncSetAttribute
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    const int lane = threadIdx.x % 32, square = lane / 4, warp = threadIdx.x / 32;
    const int lane_x = square % (cols / 2) * 2 + lane % 2, lane_y = square / (cols / 2) * 2 + lane / 2 % 2;
    const int tx = warp % (bn / wn) * (wn / wide) + lane_x, ty = warp / (bn / wn) * (wm / wide) + lane_y;
    constexpr int unit = sizeof(Unit) / sizeof(float);  // elements of it
    constexpr int b_rows = threads / (bn / unit), a_copies = bm / a_rows * (bk / deep), b_copies = bk / b_rows;
    constexpr int at_a_place = 2;
    // The first element of A and the first unit of B that the thread copies.
    const int a_y = threadIdx.x / deep, a_x = threadIdx.x % deep;
    const int b_y = threadIdx.x / (bn / unit), b_x = threadIdx.x % (bn / unit) * unit;
    // The last rows and columns are repeated past the end of C, and those results are not stored.
    const int row = first_row + a_y, last_row = m - 1, col = min(first_col + b_x, n - unit);

    // The source and destination of the thread's next copies, and their tile.
    const float *from_a = &a[a_x], *from_b = &b[min(b_y, k - 1) * n + col];
    float* to_a = &tiles[0].a[a_x][a_y / wide].at[a_y % wide];
    float* to_b = &tiles[0].b[b_y][b_x / wide].at[b_x % wide];
    int next = 0;
    const int phases = ceil_div(k, bk);
    // Begins one of the thread's copies of a tile that has `places` places along K, with zeros after them.
    const auto copy = [&](int i, int places) {
        if (next >= phases) return;
        if (i < a_copies) {
            const int y = i / (bk / deep) * a_rows, x = i % (bk / deep) * deep;
            const bool zeros = places < bk && a_x + x >= places;
            begin_copy<float>(&to_a[x * (bm + wide) + y], zeros ? a : &from_a[min(row + y, last_row) * k + x], zeros);
        } else if (i < a_copies + b_copies) {
            const int y = (i - a_copies) * b_rows;
            const bool zeros = places < bk && b_y + y >= places;
            begin_copy<Unit>(&to_b[y * bn], zeros ? b : &from_b[y * n], zeros);
        }
    };
    const auto commit = [&](int places) {
        __pipeline_commit();  // also past the end of K: the wait counts groups
        ++next;
        from_a += places;
        from_b += static_cast<std::size_t>(places) * n;
        const int on = sizeof(Tiles) / sizeof(float) * (next % stages > 0 ? 1 : 1 - stages);
        to_a += on;
        to_b += on;
    };
    // The remainder of K comes first, so that no tile in the loop has to test where K ends.
    for (int phase = 0; phase < stages - 1; ++phase) {
        const int places = phase == 0 ? k - (phases - 1) * bk : bk;
        for (int i = 0; i < a_copies + b_copies; ++i) copy(i, places);
        commit(places);
    }

    // Fragments for this place along K and for the next one.
    Pack a_i[2][tm / wide], b_i[2][tn / wide];
    const auto read = [&](const Tiles& from, int i) {
        for (int r = 0; r < tm / wide; ++r) a_i[i % 2][r] = from.a[i][ty + r * rows];
        for (int s = 0; s < tn / wide; ++s) b_i[i % 2][s] = from.b[i][tx + s * cols];
    };

    Pack sum[tm][tn / wide] = {};
    __pipeline_wait_prior(stages - 2);
    __syncthreads();
    read(tiles[0], 0);
    for (int phase = 0; phase < phases; ++phase) {
#pragma unroll
        for (int i = 0; i < bk; ++i) {
            if (i < bk - 1) {
                read(tiles[phase % stages], i + 1);
            } else {
                commit(bk);
                // The next place is the first one of the next tiles; past the last tile, garbage.
                __pipeline_wait_prior(stages - 2);
                __syncthreads();
                read(tiles[(phase + 1) % stages], 0);
            }
            for (int r = 0; r < tm; ++r) {
                for (int x = 0; x < tn; ++x) {
                    const int s = r % 2 == 0 ? x : tn - 1 - x;
                    sum[r][s / wide].at[s % wide] += a_i[i % 2][r / wide].at[r % wide] * b_i[i % 2][s / wide].at[s % wide];
                }
            }
            if (i < bk - 1)
                for (int j = 0; j < at_a_place; ++j) copy(i * at_a_place + j, bk);
        }
    }

    for (int r = 0; r < tm; ++r) {
        const int y = first_row + (ty + r / wide * rows) * wide + r % wide;
        for (int s = 0; s < tn / wide; ++s)
            store(c, m, n, y, first_col + (tx + s * cols) * wide, elsewhere(sum[r][s]));
    }
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    constexpr int bytes = stages * sizeof(Tiles);
    const auto kernel = n % wide == 0 ? fragments_ahead<Pack> : fragments_ahead<float>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    kernel<<<grid, threads, bytes>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
}
