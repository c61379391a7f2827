// Split-K: K is divided into slices of the same length for all tiles, in the number that fills waves best,
// with one block for each tile and slice. A second kernel adds up all of C. cuBLAS does this if there are few
// tiles. The memory for the slices is allocated for each product.
#include "gemm.cuh"

#include <cstddef>
#include <cuda_pipeline.h>

constexpr int bm = 128, bn = 256;              // rows and columns of C that a block computes
constexpr int bk = 16;                         // elements along K in a tile
constexpr int stages = 3;                      // pairs of tiles on chip: one in use, the others in flight
constexpr int wm = 64, wn = 64;                // rows and columns of results of a warp
constexpr int tm = 8, tn = 16;                 // rows and columns of results of a thread
constexpr int rows = wm / tm, cols = wn / tn;  // rows and columns of threads of a warp
constexpr int threads = bm * bn / (tm * tn);
constexpr int wide = 4;                                               // elements of a pack
constexpr int a_rows = threads / bk, b_rows = threads / (bn / wide);  // rows of each tile copied at a time
static_assert(bm % a_rows == 0 && bk % b_rows == 0, "all threads copy the same number of elements");
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

/// Begins to copy element (row, col) of a matrix, or the pack that begins there, to shared memory. Stores
/// zeros if the matrix, which is height x width, has no such element.
template <typename T>
__device__ void begin_copy(T& to, const float* matrix, int height, int width, int row, int col) {
    const bool inside = row < height && col < width;
    // The last argument is the number of bytes that are set to 0 and not read. The address must be valid all
    // the same.
    __pipeline_memcpy_async(&to, &matrix[inside ? row * width + col : 0], sizeof(T), inside ? 0 : sizeof(T));
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

/// The stage that is next in turn.
__device__ int behind(int stage) { return stage + 1 < stages ? stage + 1 : 0; }

__global__ void __launch_bounds__(threads)
    split_k(const float* a, const float* b, float* sums, int m, int n, int k, int slice) {
    // The block's slice of K, and the destination of its sums: C, or an array that is added to it.
    const int begin = blockIdx.z * slice, end = min(begin + slice, ceil_div(k, bk));
    float* const c = sums + static_cast<std::size_t>(blockIdx.z) * m * n;
    extern __shared__ Tiles tiles[];  // one per stage; needs cudaFuncSetAttribute
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    const int lane = threadIdx.x % 32, square = lane / 4, warp = threadIdx.x / 32;
    const int lane_x = square % (cols / 2) * 2 + lane % 2, lane_y = square / (cols / 2) * 2 + lane / 2 % 2;
    const int tx = warp % (bn / wn) * (wn / wide) + lane_x, ty = warp / (bn / wn) * (wm / wide) + lane_y;
    // The first element of A and the first pack of B that the thread copies.
    const int a_y = threadIdx.x / bk, a_x = threadIdx.x % bk;
    const int b_y = threadIdx.x / (bn / wide), b_x = threadIdx.x % (bn / wide);

    const int col = first_col + b_x * wide;
    // As in 07: tested once for all copies, whose number nvcc must know.
    const bool inside = first_row + bm <= m && first_col + bn <= n && n % wide == 0;
    // The source of the thread's next copies, if the block is inside, and the stage that they go into.
    const float* from_a = inside ? &a[(first_row + a_y) * k + begin * bk + a_x] : a;
    const float* from_b = inside ? &b[(begin * bk + b_y) * n + col] : b;
    int filled = 0;
    const auto fetch = [&](int phase) {
        Tiles& to = tiles[filled];
        const int i = phase * bk;
        if (inside && i + bk <= k && phase < end) {
            for (int y = 0; y < bm; y += a_rows)
                __pipeline_memcpy_async(&to.a[a_x][(a_y + y) / wide].at[(a_y + y) % wide], &from_a[y * k],
                                        sizeof(float));
            for (int y = 0; y < bk; y += b_rows)
                __pipeline_memcpy_async(&to.b[b_y + y][b_x], &from_b[y * n], sizeof(Pack));
        } else if (phase < end) {
            for (int y = 0; y < bm; y += a_rows)
                begin_copy(to.a[a_x][(a_y + y) / wide].at[(a_y + y) % wide], a, m, k, first_row + a_y + y,
                           i + a_x);
            for (int y = 0; y < bk; y += b_rows) {
                if (n % wide == 0) {
                    begin_copy(to.b[b_y + y][b_x], b, k, n, i + b_y + y, col);
                } else {
                    for (int x = 0; x < wide; ++x)
                        begin_copy(to.b[b_y + y][b_x].at[x], b, k, n, i + b_y + y, col + x);
                }
            }
        }
        __pipeline_commit();  // also past the end of K: the wait counts groups
        filled = behind(filled);
        from_a += bk;
        from_b += bk * n;
    };
    for (int phase = begin; phase < begin + stages - 1; ++phase) fetch(phase);

    // Fragments for this place along K and for the next one.
    Pack a_i[2][tm / wide], b_i[2][tn / wide];
    const auto read = [&](const Tiles& from, int i) {
        for (int r = 0; r < tm / wide; ++r) a_i[i % 2][r] = from.a[i][ty + r * rows];
        for (int s = 0; s < tn / wide; ++s) b_i[i % 2][s] = from.b[i][tx + s * cols];
    };

    Pack sum[tm][tn / wide] = {};
    int stage = 0;  // the one that is multiplied
    __pipeline_wait_prior(stages - 2);
    __syncthreads();
    read(tiles[stage], 0);
    for (int phase = begin; phase < end; ++phase) {
#pragma unroll
        for (int i = 0; i < bk; ++i) {
            if (i < bk - 1) {
                read(tiles[stage], i + 1);
            } else {
                // The next place is the first one of the next tiles; past the last tile, garbage.
                __pipeline_wait_prior(stages - 2);
                __syncthreads();
                stage = behind(stage);
                read(tiles[stage], 0);
            }
            for (int r = 0; r < tm; ++r) {
                for (int s = 0; s < tn; ++s)
                    sum[r][s / wide].at[s % wide] +=
                        a_i[i % 2][r / wide].at[r % wide] * b_i[i % 2][s / wide].at[s % wide];
            }
            if (i == 0) fetch(phase + stages - 1);
        }
    }

    for (int r = 0; r < tm; ++r) {
        const int row = first_row + (ty + r / wide * rows) * wide + r % wide;
        for (int s = 0; s < tn / wide; ++s)
            store(c, m, n, row, first_col + (tx + s * cols) * wide, sum[r][s]);
    }
}

__global__ void add_slices(float* c, const float* sums, int elements, int slices) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += gridDim.x * blockDim.x) {
        float sum = 0;
        for (int s = 0; s < slices; ++s) sum += sums[static_cast<std::size_t>(s) * elements + i];
        c[i] = sum;
    }
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    int multiprocessors;
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    const int across = ceil_div(n, bn), down = ceil_div(m, bm), phases = max(1, ceil_div(k, bk));
    // The number of slices that finishes first. Time is waves of blocks, each as long as a slice and the cost
    // of adding it up.
    int slice = phases, least = ceil_div(across * down, multiprocessors) * phases;
    for (int cut = 2; cut <= min(phases, multiprocessors); ++cut) {
        const int each = ceil_div(phases, cut);
        const int time = ceil_div(across * down * ceil_div(phases, each), multiprocessors) * (each + 1);
        if (time < least) least = time, slice = each;
    }
    const int slices = ceil_div(phases, slice);

    constexpr int bytes = stages * sizeof(Tiles);
    check(cudaFuncSetAttribute(split_k, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    float* sums = c;
    const std::size_t elements = static_cast<std::size_t>(m) * n;
    if (slices > 1) check(cudaMallocAsync(&sums, slices * elements * sizeof(float), nullptr));
    split_k<<<dim3(across, down, slices), threads, bytes>>>(a, b, sums, m, n, k, slice);
    check(cudaGetLastError());
    if (slices > 1) {
        add_slices<<<min(1024, ceil_div(static_cast<int>(elements), 256)), 256>>>(c, sums, static_cast<int>(elements), slices);
        check(cudaGetLastError());
        check(cudaFreeAsync(sums, nullptr));
    }
}
