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
    // As in 09.
    kata::open();
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
    // As in 05.
    kata::open();
    // kata: end
}

/// Returns elements col to col + 3 of a row, and 0 for those past its end. col is a multiple of four.
__device__ Pack load(const float* matrix, int width, int row, int col) {
    // kata: begin
    // The elements of a pack, as store stores them: at once where rows begin at multiples of four.
    kata::open();
    return {};
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
    // Each block of a launch that is not `shared` has all phases of one tile. A block of a shared launch has
    // plan.share phases, from where the previous block stops, up to the end of all. Go through them a tile at
    // a time: which tile is it, with which of its phases do you begin, and with which do you stop? Multiply
    // these as in 09, with three copies at a place. If you began with phase 0, store the sums to C, else to
    // `partial`, in this block's place. All threads must have read this tile before the next one is copied.
    kata::open();
    // kata: end
}

/// Adds to a tile of C the sums that shares have left, a pack for each thread. blockIdx.y counts tiles.
__global__ void add_up(float* c, int m, int n, Plan plan) {
    // kata: begin
    // A pack for each thread. Which shares, apart from the one with phase 0, have phases of this tile? Add
    // their sums to the pack of C, in the order of the shares.
    kata::open();
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // As in 09, and the plan. Each multiprocessor runs one block at a time: how many are there? The tiles
    // that are left over from whole waves are shared out, unless they are nearly a wave. Even with k = 0 a
    // tile has a phase, or no block stores it. A launch for the whole waves, one for the shares, and, where
    // tiles are cut, add_up with a row of blocks for each tile that is left over.
    // Also required: as in 09, any number of multiprocessors, and the same bits on every run.
    kata::open();
    // kata: end
}
