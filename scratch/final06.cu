// 06 Whole lines: a warp stores from where a line of memory begins, whatever the size of the matrix. Beyond
// the documents. Changed from 05: in a matrix of odd sizes, each row of the result begins elsewhere in a line
// of 128 bytes. A block stores, from each row, the lines that begin among its own elements, so it also loads
// up to 31 rows above its tile and leaves as many below to the next block. Rows of odd length begin anywhere
// in a pack, too: packs are loaded and stored where memory has them, and meet shifted in the tile. Blocks are
// numbered down the matrix first. On an H200 at 16383 rows, packs got from 0.78 of a copy to 0.86, and this
// order to 0.90; at 16384 rows, both together from 0.92 to 0.97.
#include "transposition.cuh"

constexpr int tile = 64;      // rows of the matrix whose elements a block stores, and its columns at most
constexpr int line = 32;      // elements of a line
constexpr int threads = 256;  // of a block
constexpr int wide = 4;       // elements of a load or a store

/// `across` is the number of columns of a block: all that are in the packs of its rows.
__global__ void __launch_bounds__(threads)
    whole_lines(const float* __restrict__ in, float* __restrict__ out, int rows, int columns, int across) {
    // kata: begin
    constexpr int packs = tile / wide, at_once = threads / packs, rounds = (line + tile) / at_once;
    // Four rows of the matrix in one, and a pack of padding.
    alignas(sizeof(Pack<wide>)) __shared__ float in_s[(line + tile) / wide][wide * tile + wide];
    const int down = ceil_div(rows + line - 1, tile);  // up to line - 1 elements are left to the block below
    const int first_row = blockIdx.x % down * tile - line, first_column = blockIdx.x / down * across;
    const int width = min(across, columns - first_column), size = rows * columns;
    // If all rows of the result begin with a line, no row above the tile is needed.
    const int first_needed = rows % line == 0 ? line : 0;

    // How far row y of the tile begins after the start of a pack in memory.
    const auto shift = [&](int y) { return y % wide * (columns % wide) % wide; };
    const int p = threadIdx.x % packs, first = threadIdx.x / packs;
    Pack<wide> loaded[rounds];  // all loads are on their way before the first one is waited for
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
        const int y = i * at_once + first, row = first_row + y, x = p * wide - shift(y);
        if (y < first_needed) continue;
        loaded[i] = {};
        if (row >= 0 && row < rows && x < width && row * columns + first_column + x <= size - wide)
            loaded[i] = *reinterpret_cast<const Pack<wide>*>(&in[row * columns + first_column + x]);
    }
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
        const int y = i * at_once + first;
        if (y >= first_needed)
            *reinterpret_cast<Pack<wide>*>(&in_s[y / wide][y % wide * tile + p * wide]) = loaded[i];
    }
    // The last pack of the matrix may reach beyond its end. What there is of it comes one by one.
    const int last = rows - 1 - first_row, x_of_last = p * wide - shift(last);
    if (last < line + tile && last % at_once == first && x_of_last < width) {
        const int from = (rows - 1) * columns + first_column + x_of_last;
        for (int s = 0; s < wide - 1; ++s)
            if (from > size - wide && from + s < size)
                in_s[last / wide][last % wide * tile + p * wide + s] = in[from + s];
    }
    __syncthreads();

    // 32 columns at once: all shifts are the same 32 columns or rows further on.
    const int column = threadIdx.x / (line / wide);
    // How far row `first_column + column` begins after the start of a line: its number * rows % line.
    const int behind = (first_column + column) % line * (rows % line) % line;
    const int x = line - behind + threadIdx.x % (line / wide) * wide;
#pragma unroll
    for (int across_by = 0; across_by < tile; across_by += line)
#pragma unroll
        for (int down_by = 0; down_by < tile; down_by += line) {
            const int out_column = first_row + x + down_by;
            if (column + across_by >= width || out_column <= -wide || out_column >= rows) continue;
            // First the element of a row y with y % wide == s, in all lanes: rows that are shifted alike, so
            // that neighbouring columns are in neighbouring banks. Then the elements rotate to their places.
            Pack<wide> pack;
            for (int s = 0; s < wide; ++s) {
                const int y = x + ((s - x) & (wide - 1));
                pack.at[s] = in_s[y / wide + down_by / wide][s * tile + shift(s) + column + across_by];
            }
            for (int by = wide / 2; by > 0; by /= 2) {
                const Pack<wide> was = pack;
                for (int s = 0; s < wide; ++s)
                    pack.at[s] = behind & by ? was.at[(s - by) & (wide - 1)] : was.at[s];
            }
            float* to = &out[(first_column + column + across_by) * rows];
            if (out_column >= 0 && out_column <= rows - wide)
                *reinterpret_cast<Pack<wide>*>(&to[out_column]) = pack;
            else  // a pack at an end of the row
                for (int s = 0; s < wide; ++s)
                    if (out_column + s >= 0 && out_column + s < rows) to[out_column + s] = pack.at[s];
        }
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    if (rows == 0 || columns == 0) return;
    // A row of the tile is 16 packs. If rows are shifted, a block's columns may begin up to 3 elements into
    // the first of them.
    const int across = columns % wide == 0 ? tile : tile - wide;
    const int blocks = ceil_div(columns, across) * ceil_div(rows + line - 1, tile);
    whole_lines<<<blocks, threads>>>(in, out, rows, columns, across);
    check(cudaGetLastError());
    // kata: end
}
