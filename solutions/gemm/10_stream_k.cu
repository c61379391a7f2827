// 10 Stream-K: tiles that are left over after the last whole wave are cut into equal shares, one for each
// multiprocessor, which may begin and end within a tile. Beyond the documents; Osama, Merrill, Cecka,
// Garland and Owens, "Stream-K: Work-Centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on
// the GPU", 2023, which CUTLASS has, too. Changed from 09: there a block computed a tile of C and all of K,
// so that 32 tiles kept 32 multiprocessors busy, and 544 tiles, with 132 at a time, took as long as 660.
// Here, too, tiles that make whole waves have a block each. The phases of the others, one tile after the
// other, form one sequence, of which each block of a second launch has an equal piece. The block with the
// first phase of a tile stores its sums to C. A block that begins within a tile leaves its sums for that tile
// in memory, and a third launch adds them up, in the order of K: the same sums on every run.
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
constexpr int most_shares = 256;  // more than a GPU has multiprocessors
constexpr int adders = 256;       // threads of a block that adds up shares
static_assert(bm * bn / wide % adders == 0, "each thread that adds up has a pack");
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

/// Returns elements col to col + 3 of a row, and 0 for those past its end. col is a multiple of four.
__device__ Pack load(const float* matrix, int width, int row, int col) {
    // kata: begin
    const float* const first = &matrix[row * width + col];
    if (width % wide == 0) return *reinterpret_cast<const Pack*>(first);
    Pack pack = {};
    for (int i = 0; i < wide; ++i)
        if (col + i < width) pack.at[i] = first[i];
    return pack;
    // kata: end
}

/// The work of each block. The phases of all tiles, row by row, form one sequence: `phases` of each tile.
struct Plan {
    int across, tiles;  // tiles in a row of C, and in all of C
    int phases;         // per tile
    int whole;          // tiles that a block computes alone; they are the first
    int share;          // phases of each block that shares the others
};

/// Sums of shares that do not begin with the first phase of a tile. They exist once for all launches, so two
/// must not run at the same time, as they may in two streams.
__device__ Pack partial[most_shares][bm][bn / wide];

/// The blocks of a launch have tiles of their own, or shares. If they have tiles, nvcc sees that each has
/// one, and all of its K. Unit is what a copy of B brings: a Pack, or a float where rows of B do not begin at
/// multiples of 16 bytes.
template <bool shared, typename Unit>
__global__ void __launch_bounds__(threads)
    stream_k(const float* a, const float* b, float* c, int m, int n, int k, Plan plan) {
    // kata: begin
    extern __shared__ Tiles tiles[];  // stages of them, more than a block has by default
    // As in 06: squares of 2 x 2 lanes, cols / 2 of them side by side, in the tile of the warp.
    const int lane = threadIdx.x % 32, square = lane / 4, warp = threadIdx.x / 32;
    const int lane_x = square % (cols / 2) * 2 + lane % 2, lane_y = square / (cols / 2) * 2 + lane / 2 % 2;
    const int tx = warp % (bn / wn) * (wn / wide) + lane_x, ty = warp / (bn / wn) * (wm / wide) + lane_y;
    constexpr int unit = sizeof(Unit) / sizeof(float);  // elements of it
    constexpr int b_rows = threads / (bn / unit), a_copies = bm / a_rows, b_copies = bk / b_rows;
    // Copies begun at each place along K. Which number is faster was measured.
    constexpr int at_a_place = shared ? ceil_div(a_copies + b_copies, bk) : 3;
    // The first element of A and the first unit of B that the thread copies.
    const int a_y = threadIdx.x / bk, a_x = threadIdx.x % bk;
    const int b_y = threadIdx.x / (bn / unit), b_x = threadIdx.x % (bn / unit) * unit;

    // Where the block begins in the sequence of all phases, and where it ends.
    // Tiles computed whole come first in it, shares behind them. The last share may be shorter.
    const int first = shared ? plan.whole * plan.phases + blockIdx.x * plan.share : blockIdx.x * plan.phases;
    const int last = shared ? min(first + plan.share, plan.tiles * plan.phases) : first + plan.phases;
    int next = first;
    do {
        // A share may end in one tile and begin in another: each turn of the loop computes its part of one
        // tile.
        const int tile = next / plan.phases, begin = shared ? next % plan.phases : 0;
        const int end = shared ? min(plan.phases, begin + last - next) : plan.phases;  // end of its phases
        next += end - begin;
        const int first_row = tile / plan.across * bm, first_col = tile % plan.across * bn;
        // Past the end of C other rows and columns are repeated, and those results are not stored. Lanes
        // repeat different columns, because 32 lanes that copy the same element take 32 passes.
        const int row = first_row + a_y, last_row = m - 1;
        const int col = unit == 1 ? (first_col + b_x) % n : min(first_col + b_x, n - unit);

        // Where the thread's next copies come from and go to, and which tile they are of.
        // The first tile of K is the one that is not whole. So tiles are counted from the end of K, and only
        // the first one would begin before K does.
        const int along = max(0, k - (plan.phases - begin) * bk);  // K, before the first of these phases
        const float *from_a = &a[along + a_x], *from_b = &b[min(along + b_y, k - 1) * n + col];
        float* to_a = &tiles[0].a[a_x][a_y / wide].at[a_y % wide];
        float* to_b = &tiles[0].b[b_y][b_x / wide].at[b_x % wide];
        int fetched = begin;
        // One of the thread's copies of a tile with `places` places along K, and zeros behind them.
        const auto copy = [&](int i, int places) {
            if (fetched >= end) return;
            if (i < a_copies) {
                const int y = i * a_rows;
                const bool zeros = places < bk && a_x >= places;
                begin_copy<float>(&to_a[y], zeros ? a : &from_a[min(row + y, last_row) * k], zeros);
            } else if (i < a_copies + b_copies) {
                const int y = (i - a_copies) * b_rows;
                const bool zeros = places < bk && b_y + y >= places;
                begin_copy<Unit>(&to_b[y * bn], zeros ? b : &from_b[y * n], zeros);
            }
        };
        const auto commit = [&](int places) {
            __pipeline_commit();  // after the end, too: the wait counts groups
            ++fetched;
            from_a += places;
            from_b += static_cast<std::size_t>(places) * n;
            // Stages are counted from the first phase of this part, which always goes into stage 0.
            const int on = sizeof(Tiles) / sizeof(float) * ((fetched - begin) % stages > 0 ? 1 : 1 - stages);
            to_a += on;
            to_b += on;
        };
        for (int phase = begin; phase < begin + stages - 1; ++phase) {
            // The part of K that fills no whole tile comes first, so no tile in the loop tests where K ends.
            const int places = phase == 0 ? k - (plan.phases - 1) * bk : bk;
            for (int i = 0; i < a_copies + b_copies; ++i) copy(i, places);
            commit(places);
        }

        // Fragments: what is multiplied at a place along K, and what at the next one.
        Pack a_i[2][tm / wide], b_i[2][tn / wide];
        // i % 2 must be known when compiling, as in 09, or the fragments lie in memory.
        const auto read = [&](const Tiles& from, int i) {
            for (int r = 0; r < tm / wide; ++r) a_i[i % 2][r] = from.a[i][ty + r * rows];
            for (int s = 0; s < tn / wide; ++s) b_i[i % 2][s] = from.b[i][tx + s * cols];
        };

        Pack sum[tm][tn / wide] = {};
        __pipeline_wait_prior(stages - 2);
        __syncthreads();
        read(tiles[0], 0);
        for (int phase = begin; phase < end; ++phase) {
#pragma unroll
            for (int i = 0; i < bk; ++i) {
                // Into the stage of the phase before: at the last barrier all had read its last fragments.
                for (int j = 0; j < at_a_place; ++j) copy(i * at_a_place + j, bk);
                if (i < bk - 1) {
                    read(tiles[(phase - begin) % stages], i + 1);
                } else {
                    commit(bk);
                    // The next place is the first one of the next tiles; after the last, it is not used.
                    __pipeline_wait_prior(stages - 2);
                    __syncthreads();
                    read(tiles[(phase - begin + 1) % stages], 0);
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

        __syncthreads();  // before the next tile is copied to where some threads still read

#pragma unroll  // otherwise the sums go to local memory
        for (int r = 0; r < tm; ++r) {
            const int y = (ty + r / wide * rows) * wide + r % wide;
            for (int s = 0; s < tn / wide; ++s) {
                const int x = tx + s * cols;
                // Only one block has phase 0 of a tile, so only one stores to C. Any other part is the first
                // of its block, so a block leaves at most one set of sums, in the place with its own number.
                if (begin == 0)
                    store(c, m, n, first_row + y, first_col + x * wide, elsewhere(sum[r][s]));
                else
                    partial[blockIdx.x][y][x] = elsewhere(sum[r][s]);
            }
        }
    } while (shared && next < last);
    // kata: end
}

/// Adds to a tile of C the sums that shares have left, a pack for each thread. blockIdx.y counts tiles.
__global__ void add_up(float* c, int m, int n, Plan plan) {
    // kata: begin
    const int tile = plan.whole + blockIdx.y, pack = blockIdx.x * adders + threadIdx.x;
    const int y = pack / (bn / wide), x = pack % (bn / wide);
    const int row = tile / plan.across * bm + y, col = tile % plan.across * bn + x * wide;
    if (row >= m || col >= n) return;
    // The first share of the tile has stored to C. The others begin within the tile, and come next.
    const int first = blockIdx.y * plan.phases, last = first + plan.phases - 1;
    Pack sum = load(c, n, row, col);
    // In the order of K, whichever block was done first: sums of floats depend on the order.
    for (int share = first / plan.share + 1; share <= last / plan.share; ++share) {
        const Pack more = partial[share][y][x];
        for (int i = 0; i < wide; ++i) sum.at[i] += more.at[i];
    }
    store(c, m, n, row, col, sum);
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
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
    // Whole waves keep every multiprocessor busy: nothing is gained by cutting their tiles.
    plan.whole = plan.tiles - left;
    // Rounded up: rounded down, the last block would have all that is left over.
    plan.share = max(1, ceil_div(left * plan.phases, at_once));

    constexpr int bytes = stages * sizeof(Tiles);
    if (plan.whole > 0) {
        const auto kernel = n % wide == 0 ? stream_k<false, Pack> : stream_k<false, float>;
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        kernel<<<plan.whole, threads, bytes>>>(a, b, c, m, n, k, plan);
        check(cudaGetLastError());
    }
    if (left > 0) {
        const int shares = ceil_div(left * plan.phases, plan.share);
        const auto kernel = n % wide == 0 ? stream_k<true, Pack> : stream_k<true, float>;
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        kernel<<<shares, threads, bytes>>>(a, b, c, m, n, k, plan);
        check(cudaGetLastError());
    }
    // With a share for each tile, none begins within a tile, and nothing is to be added.
    if (left > 0 && plan.share < plan.phases) {
        add_up<<<dim3(bm * bn / wide / adders, left), adders>>>(c, m, n, plan);
        check(cudaGetLastError());
    }
    // kata: end
}
