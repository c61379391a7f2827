// 06 Warp tile: a warp computes 64 x 32 results, its lanes in squares of 2 x 2. Beyond the documents; the
// warp tile of CUTLASS, which also lays out its lanes so. Changed from 05: which thread has which results,
// and nothing else. In 05 a warp has 16 x 128 results, and the lanes that want the same pack of B are half a
// warp apart. In a square, neighbouring lanes want the same pack of A, and lanes two apart the same pack of
// B: packs that lanes share in such pairs are served to half of a warp at a time, and not to a quarter. So a
// place along K takes 8 passes over shared memory instead of 12.
#include "gemm.cuh"

constexpr int bm = 128, bn = 128;              // rows and columns of C that a block computes
constexpr int bk = 8;                          // elements along K that are on chip at a time
constexpr int wm = 64, wn = 32;                // rows and columns of C that a warp computes
constexpr int tm = 8, tn = 8;                  // rows and columns of C that a thread computes
constexpr int rows = wm / tm, cols = wn / tn;  // rows and columns of threads in a warp
constexpr int threads = bm * bn / (tm * tn);
constexpr int wide = 4;  // elements of a pack
static_assert(bm * bk == threads * wide && bk * bn == threads * wide, "a thread loads one pack of each tile");
static_assert(rows * cols == 32 && rows % 2 == 0 && cols % 2 == 0,
              "a warp is made of squares of 2 x 2 lanes");

/// Neighbouring elements. The alignment makes a load or a store of them one instruction.
struct alignas(wide * sizeof(float)) Pack {
    float at[wide];
};

/// Elements col to col + 3 of a row of a matrix of height x width, 0 for those outside it. col is a multiple
/// of four.
__device__ Pack load(const float* matrix, int height, int width, int row, int col) {
    // kata: begin
    Pack pack = {};
    if (row >= height || col >= width) return pack;
    const float* const first = &matrix[row * width + col];
    if (width % wide == 0) return *reinterpret_cast<const Pack*>(first);
    for (int i = 0; i < wide; ++i)
        if (col + i < width) pack.at[i] = first[i];
    return pack;
    // kata: end
}

/// Stores to the same elements, as far as the matrix has them.
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

__global__ void warp_tile(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    __shared__ Pack a_s[bk][bm / wide + 1], b_s[bk][bn / wide];
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    // Four lanes make a square: 0 and 1 are above, 2 and 3 below.
    // cols / 2 squares stand side by side. So square % (cols / 2) * 2 is the first column of the lane's
    // square, square / (cols / 2) * 2 its first row, and lane % 2 and lane / 2 % 2 are the place within it.
    const int lane = threadIdx.x % 32, square = lane / 4, warp = threadIdx.x / 32;
    const int lane_x = square % (cols / 2) * 2 + lane % 2, lane_y = square / (cols / 2) * 2 + lane / 2 % 2;
    // In packs, as in 05, but ty + rows and tx + cols lie in the tile of the warp.
    const int tx = warp % (bn / wn) * (wn / wide) + lane_x, ty = warp / (bn / wn) * (wm / wide) + lane_y;
    // The packs that a thread loads are independent of those that it multiplies.
    const int a_y = threadIdx.x / (bk / wide), a_x = threadIdx.x % (bk / wide) * wide;
    const int b_y = threadIdx.x / (bn / wide), b_x = threadIdx.x % (bn / wide) * wide;

    Pack sum[tm][tn / wide] = {};
    for (int phase = 0; phase < ceil_div(k, bk); ++phase) {
        // A's tile is stored transposed: what a thread reads of a column of A then lies side by side.
        const Pack of_a = load(a, m, k, first_row + a_y, phase * bk + a_x);
        for (int i = 0; i < wide; ++i) a_s[a_x + i][a_y / wide].at[a_y % wide] = of_a.at[i];
        b_s[b_y][b_x / wide] = load(b, k, n, phase * bk + b_y, first_col + b_x);
        __syncthreads();
        // The barrier is the block's and not the warp's: each warp multiplies what all warps have loaded.
#pragma unroll
        for (int i = 0; i < bk; ++i) {
            Pack a_i[tm / wide], b_i[tn / wide];
            for (int r = 0; r < tm / wide; ++r) a_i[r] = a_s[i][ty + r * rows];
            for (int s = 0; s < tn / wide; ++s) b_i[s] = b_s[i][tx + s * cols];
            for (int r = 0; r < tm; ++r) {
                for (int s = 0; s < tn; ++s)
                    sum[r][s / wide].at[s % wide] += a_i[r / wide].at[r % wide] * b_i[s / wide].at[s % wide];
            }
        }
        // No warp may load the next tiles while another one still reads these.
        __syncthreads();
    }

    for (int r = 0; r < tm; ++r) {
        // r / wide is the number of the pack of A, r % wide the row within it.
        const int row = first_row + (ty + r / wide * rows) * wide + r % wide;
        for (int s = 0; s < tn / wide; ++s)
            store(c, m, n, row, first_col + (tx + s * cols) * wide, sum[r][s]);
    }
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    warp_tile<<<grid, threads>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
    // kata: end
}
