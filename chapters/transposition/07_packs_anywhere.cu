// 07 Packs anywhere: 16 bytes a load or a store, whatever the size of the matrix. Beyond the documents.
// Changed from 06: where rows do not begin at multiples of 16 bytes, packs begin before them, where memory
// has such a multiple. So the rows of the tile are shifted against each other, by up to three elements, and
// a thread that collects a column adds the shift of each row. All loads of a thread are in flight before it
// stores the first pack into the tile. Blocks are numbered down the matrix first, so that those which run at
// about the same time store neighbouring parts of the same rows. On an H200 this step is 1.16 times as fast
// as 06 at 16383 rows, and 1.05 times at 16384. Without loads in flight together it has 0.80 and 0.87 of its
// speed, and with blocks along the rows first 0.95 and 0.98.
#include "transposition.cuh"

constexpr int tile = 64;      // elements of a row of the result that a block stores
constexpr int line = 32;      // elements of a line
constexpr int threads = 256;  // of a block
constexpr int wide = 4;       // elements of a pack

/// Returns elements `from` to `from` + 3 of the matrix, which has `size`; 0 for those beyond its end. `from`
/// is a multiple of four.
__device__ Pack<wide> load(const float* __restrict__ in, int size, int from) {
    // kata: begin
    // At once, with reinterpret_cast, if the matrix has all four; else one by one.
    kata::open();
    return {};
    // kata: end
}

/// Stores those of elements `from` to `from` + 3 that a row of the result has: 0 to `size` - 1. `from` may be
/// negative. Element `from` lies at a multiple of 16 bytes.
__device__ void store(float* row, int size, int from, const Pack<wide>& pack) {
    // kata: begin
    // The same for a store: at once if the row has all four, else one by one.
    kata::open();
    // kata: end
}

/// `across` is the number of columns of a block. The 5 limits a thread to 48 registers, so that five blocks
/// run on a multiprocessor. The loads of a thread still fit into these registers.
__global__ void __launch_bounds__(threads, 5)
    packs_anywhere(const float* __restrict__ in, float* __restrict__ out, int rows, int columns, int across) {
    // kata: begin
    // As in 06, with packs at every size, and blocks numbered down the matrix first: blockIdx.x counts them
    // all. Each row of the tile begins with the pack that holds the block's first column. The shift of a row
    // is the number of elements before that column in this pack: 0 to 3. Column c of the block is element
    // c + shift of the row. Load all packs of a thread into a local array, in an unrolled loop without
    // stores, so that the array stays in registers, and then store them into the tile. Rows above or below
    // the matrix are 0: packs at its edges are collected whole.
    kata::open();
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // A row of the tile is 16 packs. A block has 64 columns if all rows begin with a pack, else 60: a
    // multiple of four that fits with any shift. Also required: any sizes.
    kata::open();
    // kata: end
}
