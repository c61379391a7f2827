// 07 Async copies: tiles are copied into shared memory while the block multiplies those before them. Beyond
// the documents; the multistage pipeline of CUTLASS. Changed from 06: what goes into a tile passes through no
// register. A thread begins a copy, and waits for it three tiles later, so a block computes while memory
// answers. The copies go into tiles that no thread reads, so one barrier a tile is enough instead of two.
//
// A copy brings 4, 8 or 16 bytes that are neighbours in both places. Elements of A are not neighbours in its
// transposed tile, and are copied one at a time. Copies past registers need sm_80: before it, the same calls
// load and store at once, which is right and gains less.
#include "gemm.cuh"

#include <cuda_pipeline.h>

constexpr int bm = 128, bn = 128;              // rows and columns of C that a block computes
constexpr int bk = 8;                          // elements along K in a tile
constexpr int stages = 4;                      // pairs of tiles on chip: one in use, the others in flight
constexpr int wm = 64, wn = 32;                // rows and columns of C that a warp computes
constexpr int tm = 8, tn = 8;                  // rows and columns of C that a thread computes
constexpr int rows = wm / tm, cols = wn / tn;  // rows and columns of threads in a warp
constexpr int threads = bm * bn / (tm * tn);
constexpr int wide = 4;  // elements of a pack
static_assert(threads % bk == 0 && bk * bn == threads * wide, "a thread copies a column of A, a pack of B");
static_assert(stages >= 2, "while a pair of tiles is multiplied, another is in flight");
static_assert(rows * cols == 32 && rows % 2 == 0 && cols % 2 == 0,
              "a warp is made of squares of 2 x 2 lanes");

/// Neighbouring elements. The alignment makes a load, a copy or a store of them one instruction.
struct alignas(wide * sizeof(float)) Pack {
    float at[wide];
};

/// Begins to copy element (row, col) of a matrix, or the pack that begins there, to shared memory. Stores
/// zeros if the matrix, which is height x width, has no such element.
template <typename T>
__device__ void begin_copy(T& to, const float* matrix, int height, int width, int row, int col) {
    // kata: begin
    // Call __pipeline_memcpy_async(to, from, bytes, zeros) once: it writes `bytes` to `to`, of which the last
    // `zeros` are 0 and not read. Where nothing is to be read, pass the address of the matrix.
    kata::open();
    // kata: end
}

/// Stores elements col to col + 3 of a row, as far as the matrix has them. col is a multiple of four.
__device__ void store(float* matrix, int height, int width, int row, int col, Pack pack) {
    // kata: begin
    // As in 05.
    kata::open();
    // kata: end
}

/// With two blocks on a multiprocessor, so with 128 registers for a thread: while one of them is at its
/// barrier, the other multiplies.
__global__ void __launch_bounds__(threads, 2)
    async_copies(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // Tiles as in 06, `stages` of each, one stage for each phase in turn. tx and ty as in 06.
    // Begin the copies of a phase into its stage, and close them with __pipeline_commit(), as one group. Of
    // A's tile a thread copies one place along K of every (threads / bk)th row, an element at a time; of B's
    // a pack, or its elements one at a time where rows do not begin at multiples of 16 bytes. After the last
    // phase there is nothing to copy, but commit an empty group. Test once, and not for each copy, whether
    // the matrices have all elements that the block copies; if so, call __pipeline_memcpy_async directly.
    // Before the first phase, begin those of stages - 1 phases. In each phase wait until at most stages - 2
    // groups are in flight, __pipeline_wait_prior(stages - 2), and then for the other threads of the block,
    // which have copied what this one multiplies. Then begin the next copies, and multiply as in 06.
    kata::open();
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 05.
    // Also required: any m, n and k from 0 on; where k is 0, C is all zeros.
    kata::open();
    // kata: end
}
