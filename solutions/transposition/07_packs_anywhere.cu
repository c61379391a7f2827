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
    if (from <= size - wide) return *reinterpret_cast<const Pack<wide>*>(&in[from]);
    Pack<wide> pack = {};
    for (int s = 0; s < size - from; ++s) pack.at[s] = in[from + s];
    return pack;
    // kata: end
}

/// Stores those of elements `from` to `from` + 3 that a row of the result has: 0 to `size` - 1. `from` may be
/// negative. Element `from` lies at a multiple of 16 bytes.
__device__ void store(float* row, int size, int from, const Pack<wide>& pack) {
    // kata: begin
    if (from >= 0 && from <= size - wide)
        *reinterpret_cast<Pack<wide>*>(&row[from]) = pack;
    else
        for (int s = 0; s < wide; ++s)
            if (from + s >= 0 && from + s < size) row[from + s] = pack.at[s];
    // kata: end
}

/// `across` is the number of columns of a block. The 5 limits a thread to 48 registers, so that five blocks
/// run on a multiprocessor. The loads of a thread still fit into these registers.
__global__ void __launch_bounds__(threads, 5)
    packs_anywhere(const float* __restrict__ in, float* __restrict__ out, int rows, int columns, int across) {
    // kata: begin
    constexpr int packs = tile / wide, at_once = threads / packs;
    __shared__ Pack<wide> in_s[line + tile][packs];
    const int down = ceil_div(rows + line - 1, tile);  // blocks, one below the other
    const int first_row = blockIdx.x % down * tile - line, first_column = blockIdx.x / down * across;
    const int width = min(across, columns - first_column);
    const int p = threadIdx.x % packs, first = threadIdx.x / packs;
    // If all rows of the result begin with a line, no row above the tile is needed.
    const int first_needed = rows % line == 0 ? line : 0;
    Pack<wide> loaded[(line + tile) / at_once];
#pragma unroll
    for (int i = 0; i < line + tile; i += at_once) {
        const int y = i + first, row = first_row + y;
        loaded[i / at_once] = {};
        if (y < first_needed || row < 0 || row >= rows) continue;
        const int begin = row * columns + first_column, x = p * wide - begin % wide;
        if (x < width) loaded[i / at_once] = load(in, rows * columns, begin + x);
    }
#pragma unroll
    for (int i = 0; i < line + tile; i += at_once) {
        const int y = i + first;
        if (y >= first_needed) in_s[y][p ^ (y / wide % packs)] = loaded[i / at_once];
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < tile; i += at_once) {
        const int column = i + first, out_row = first_column + column;
        if (column >= width) break;
        // How far row `out_row` begins after the start of a line: out_row * rows % line, without an overflow.
        const int behind = out_row % line * (rows % line) % line, x = line - behind + p * wide;
        Pack<wide> pack;
        for (int s = 0; s < wide; ++s) {
            // Row y of the tile begins y * columns % wide elements into its first pack.
            const unsigned y = x + s, at = y % wide * (columns % wide) % wide + column;
            pack.at[s] = in_s[y][(at / wide) ^ (y / wide % packs)].at[at % wide];
        }
        store(&out[out_row * rows], rows, first_row + x, pack);
    }
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    if (rows == 0 || columns == 0) return;
    // A row of the tile is 16 packs. Where rows are shifted, its first pack may begin up to three elements
    // early.
    const int across = columns % wide == 0 ? tile : tile - wide;
    const int blocks = ceil_div(rows + line - 1, tile) * ceil_div(columns, across);
    packs_anywhere<<<blocks, threads>>>(in, out, rows, columns, across);
    check(cudaGetLastError());
    // kata: end
}
