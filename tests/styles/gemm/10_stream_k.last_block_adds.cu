// There is no third launch: the last block to arrive at a tile, which a counter after a fence shows, adds up
// the sums in `partial`, in the order of K, as the last block of a reduction does.
#include "gemm.cuh"

#include <cuda_pipeline.h>

constexpr int bm = 128, bn = 256;              // rows and columns of C that a block computes
constexpr int bk = 16;                         // elements along K in a tile
constexpr int stages = 4;                      // pairs of tiles on chip: one in use, the others in flight
constexpr int wm = 64, wn = 64;                // rows and columns of results of a warp
constexpr int tm = 8, tn = 16;                 // rows and columns of results of a thread
constexpr int rows = wm / tm, cols = wn / tn;  // rows and columns of threads of a warp
constexpr int threads = bm * bn / (tm * tn);
constexpr int wide = 4;                                               // elements of a pack
constexpr int a_rows = threads / bk, b_rows = threads / (bn / wide);  // rows of each tile copied at a time
static_assert(bm % a_rows == 0 && bk % b_rows == 0, "all threads copy the same number of elements");
static_assert(stages >= 2, "while a pair of tiles is multiplied, another is in flight");
static_assert(bk % 2 == 0, "the first fragments of each tile go into the same one of two sets");
constexpr int most_shares = 256;  // more than a GPU has multiprocessors
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

/// Returns elements col to col + 3 of a row, and 0 for those past its end. col is a multiple of four.
__device__ Pack load(const float* matrix, int width, int row, int col) {
    const float* const first = &matrix[row * width + col];
    if (width % wide == 0) return *reinterpret_cast<const Pack*>(first);
    Pack pack = {};
    for (int i = 0; i < wide; ++i)
        if (col + i < width) pack.at[i] = first[i];
    return pack;
}

/// The work of each block. The phases of all tiles, row by row, make one line: `phases` of each tile.
struct Plan {
    int across, tiles;  // tiles in a row of C, and in all of C
    int phases;         // per tile
    int whole;          // tiles that a block computes alone; they are the first
    int share;          // phases of each block that shares the others
};

/// Sums of shares that do not begin with the first phase of a tile. All launches use the same array, so two
/// of them must not run at the same time, as they may in two streams.
__device__ Pack partial[most_shares][bm][bn / wide];

/// The number of blocks that have done their part of a shared tile; 0 again after the last one.
__device__ unsigned arrived[most_shares];

/// The stage that is next in turn.
__device__ int behind(int stage) { return stage + 1 < stages ? stage + 1 : 0; }

/// The blocks of a launch have tiles of their own, or shares. In the former case nvcc can see that there is
/// one tile, and that K begins at 0 and ends at k.
template <bool shared>
__global__ void __launch_bounds__(threads)
    stream_k(const float* a, const float* b, float* c, int m, int n, int k, Plan plan) {
    extern __shared__ Tiles tiles[];  // one per stage; needs cudaFuncSetAttribute
    const int lane = threadIdx.x % 32, square = lane / 4, warp = threadIdx.x / 32;
    const int lane_x = square % (cols / 2) * 2 + lane % 2, lane_y = square / (cols / 2) * 2 + lane / 2 % 2;
    const int tx = warp % (bn / wn) * (wn / wide) + lane_x, ty = warp / (bn / wn) * (wm / wide) + lane_y;
    // The first element of A and the first pack of B that the thread copies.
    const int a_y = threadIdx.x / bk, a_x = threadIdx.x % bk;
    const int b_y = threadIdx.x / (bn / wide), b_x = threadIdx.x % (bn / wide);

    // The first phase of the block in the line of all phases, and the end of its phases.
    const int first = shared ? plan.whole * plan.phases + blockIdx.x * plan.share : blockIdx.x * plan.phases;
    const int last = shared ? min(first + plan.share, plan.tiles * plan.phases) : first + plan.phases;
    int next = first;
    __shared__ bool is_last;
    do {
        const int tile = next / plan.phases, begin = shared ? next % plan.phases : 0;
        const int end =
            shared ? min(plan.phases, begin + last - next) : plan.phases;  // end of its phases
        const int end_of_k = min(k, end * bk);
        next += end - begin;
        const int first_row = tile / plan.across * bm, first_col = tile % plan.across * bn;
        const int col = first_col + b_x * wide;
        // As in 07.
        const bool inside = first_row + bm <= m && first_col + bn <= n && n % wide == 0;
        const float* from_a = inside ? &a[(first_row + a_y) * k + begin * bk + a_x] : a;
        const float* from_b = inside ? &b[(begin * bk + b_y) * n + col] : b;
        int filled = 0;
        const auto fetch = [&](int phase) {
            Tiles& to = tiles[filled];
            const int i = phase * bk;
            if (inside && i + bk <= end_of_k) {
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
            __pipeline_commit();  // also past the end: the wait counts groups
            filled = behind(filled);
            from_a += bk;
            from_b += bk * n;
        };
        for (int phase = begin; phase < begin + stages - 1; ++phase) fetch(phase);

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
                    // As in 09; past the end, garbage.
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
        __syncthreads();  // the garbage is read from where the next tile is copied to

#pragma unroll  // otherwise the sums go to local memory
        for (int r = 0; r < tm; ++r) {
            const int y = (ty + r / wide * rows) * wide + r % wide;
            for (int s = 0; s < tn / wide; ++s) {
                const int x = tx + s * cols;
                if (begin == 0)
                    store(c, m, n, first_row + y, first_col + x * wide, sum[r][s]);
                else
                    partial[blockIdx.x][y][x] = sum[r][s];
            }
        }
        if (shared) {
            const int in_line = tile - plan.whole, from = in_line * plan.phases, to = from + plan.phases - 1;
            const int owner = from / plan.share, behind_it = to / plan.share;
            if (owner != behind_it) {
                __threadfence();
                __syncthreads();
                if (threadIdx.x == 0) {
                    is_last = atomicAdd(&arrived[in_line], 1u) == static_cast<unsigned>(behind_it - owner);
                    if (is_last) arrived[in_line] = 0;
                }
                __syncthreads();
                if (is_last) {
                    __threadfence();
                    for (int i = threadIdx.x; i < bm * bn / wide; i += threads) {
                        const int y = i / (bn / wide), x = i % (bn / wide);
                        const int row = first_row + y, at = first_col + x * wide;
                        if (row >= m || at >= n) continue;
                        Pack all = load(c, n, row, at);
                        for (int share = owner + 1; share <= behind_it; ++share) {
                            const Pack more = partial[share][y][x];
                            for (int j = 0; j < wide; ++j) all.at[j] += more.at[j];
                        }
                        store(c, m, n, row, at, all);
                    }
                }
                __syncthreads();
            }
        }
    } while (shared && next < last);
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    if (m == 0 || n == 0) return;
    int device, multiprocessors;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const int at_once = min(multiprocessors, most_shares);  // each has one block

    Plan plan;
    plan.across = ceil_div(n, bn);
    plan.tiles = plan.across * ceil_div(m, bm);
    plan.phases = max(1, ceil_div(k, bk));  // without products the sums are 0, and are stored
    int left = plan.tiles % at_once;
    if (10 * left >= 9 * at_once) left = 0;  // nearly a whole wave: adding up would cost more
    plan.whole = plan.tiles - left;
    plan.share = max(1, ceil_div(left * plan.phases, at_once));

    constexpr int bytes = stages * sizeof(Tiles);
    if (plan.whole > 0) {
        check(cudaFuncSetAttribute(stream_k<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        stream_k<false><<<plan.whole, threads, bytes>>>(a, b, c, m, n, k, plan);
        check(cudaGetLastError());
    }
    if (left > 0) {
        const int shares = ceil_div(left * plan.phases, plan.share);
        check(cudaFuncSetAttribute(stream_k<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        stream_k<true><<<shares, threads, bytes>>>(a, b, c, m, n, k, plan);
        check(cudaGetLastError());
    }
}
