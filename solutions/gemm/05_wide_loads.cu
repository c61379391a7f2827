// 05 Wide loads: four neighbouring elements at a time, from global and from shared memory. Beyond the
// documents; kernel 6 of SGEMM_CUDA. Changed from 04: elements are loaded and stored in packs of four. A's
// tile lies transposed in shared memory, so that the elements of a column, of which a thread needs several
// at a time, are neighbours as those of a row of B are. A thread makes 2 loads per tile from global memory
// instead of 8, and 4 in each place along K from shared memory instead of 16.
//
// The 8 x 8 results of a thread are four squares of 4 x 4, spread over the block's tile as single results
// are in 04. A pack begins at a multiple of 16 bytes. Where the rows of a matrix do not, its elements are
// loaded or stored one at a time.
#include "gemm.cuh"

constexpr int bm = 128, bn = 128;              // rows and columns of C that a block computes
constexpr int bk = 8;                          // elements along K that are on chip at a time
constexpr int tm = 8, tn = 8;                  // rows and columns of results of a thread
constexpr int rows = bm / tm, cols = bn / tn;  // rows and columns of threads in a block
constexpr int threads = rows * cols;
constexpr int wide = 4;  // elements of a pack
static_assert(bm * bk == threads * wide && bk * bn == threads * wide, "a thread loads one pack of each tile");

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
    // Only if the length of a row is a multiple of four does every row begin at a multiple of 16 bytes. It
    // then also ends where a pack does.
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

__global__ void wide_loads(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // Row i of both tiles is place i along K. A thread stores its pack of A down a column. Without the free
    // pack after each row, the lanes of a warp would store to half of the banks.
    __shared__ Pack a_s[bk][bm / wide + 1], b_s[bk][bn / wide];
    const int first_row = blockIdx.y * bm, first_col = blockIdx.x * bn;
    // In packs: the thread multiplies packs ty and ty + rows of A by packs tx and tx + cols of B.
    const int tx = threadIdx.x % cols, ty = threadIdx.x / cols;
    // In elements: where the packs that it loads begin in the tiles.
    const int a_y = threadIdx.x / (bk / wide), a_x = threadIdx.x % (bk / wide) * wide;
    const int b_y = threadIdx.x / (bn / wide), b_x = threadIdx.x % (bn / wide) * wide;

    Pack sum[tm][tn / wide] = {};
    for (int phase = 0; phase < ceil_div(k, bk); ++phase) {
        const Pack of_a = load(a, m, k, first_row + a_y, phase * bk + a_x);
        for (int i = 0; i < wide; ++i) a_s[a_x + i][a_y / wide].at[a_y % wide] = of_a.at[i];
        b_s[b_y][b_x / wide] = load(b, k, n, phase * bk + b_y, first_col + b_x);
        __syncthreads();  // as in 04
#pragma unroll
        for (int i = 0; i < bk; ++i) {
            Pack a_i[tm / wide], b_i[tn / wide];  // one load each
            for (int r = 0; r < tm / wide; ++r) a_i[r] = a_s[i][ty + r * rows];
            for (int s = 0; s < tn / wide; ++s) b_i[s] = b_s[i][tx + s * cols];
            for (int r = 0; r < tm; ++r) {
                for (int s = 0; s < tn; ++s)
                    sum[r][s / wide].at[s % wide] += a_i[r / wide].at[r % wide] * b_i[s / wide].at[s % wide];
            }
        }
        __syncthreads();
    }

    for (int r = 0; r < tm; ++r) {
        const int row = first_row + (ty + r / wide * rows) * wide + r % wide;  // of its pack of A
        for (int s = 0; s < tn / wide; ++s)
            store(c, m, n, row, first_col + (tx + s * cols) * wide, sum[r][s]);
    }
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    if (m == 0 || n == 0) return;
    const dim3 grid(ceil_div(n, bn), ceil_div(m, bm));
    wide_loads<<<grid, threads>>>(a, b, c, m, n, k);
    check(cudaGetLastError());
    // kata: end
}
