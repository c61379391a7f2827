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
    // Load no elements outside of the matrix. Load the others at once, with reinterpret_cast, if every row of
    // the matrix begins at a multiple of 16 bytes; else one at a time, up to the end of the row.
    kata::open();
    return {};
    // kata: end
}

/// Stores to the same elements, as far as the matrix has them.
__device__ void store(float* matrix, int height, int width, int row, int col, Pack pack) {
    // kata: begin
    // The same for a store.
    kata::open();
    // kata: end
}

__global__ void wide_loads(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 04, in packs. The thread loads one pack of each tile. Store that of B into its tile as it is, and
    // the four elements of A into four rows, because place i along K is row i of both tiles, a_s[bk][…] and
    // b_s[bk][…]. Give each row of A's tile an empty pack at its end, so that a warp stores to more banks.
    // For each place along K, load packs ty and ty + rows of A and packs tx and tx + cols of B into local
    // arrays, one load each, and multiply each element by each. The thread's results are four squares of
    // 4 x 4, whose rows are stored as packs, too.
    kata::open();
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 04.
    // Also required: any m, n and k from 0 on; where k is 0, C is all zeros.
    kata::open();
    // kata: end
}
