// 06 Whole lines: a warp stores from where a line of memory begins, whatever the size of the matrix. Beyond
// the documents. Changed from 05: in a matrix of odd sizes, each row of the result begins elsewhere in a line
// of 128 bytes. A block stores, from each row, the lines that begin among its own elements, so it also loads
// up to 31 rows above its tile and leaves as many below to the next block. Tiles of 64 rows have fewer rows
// above them.
#include "transposition.cuh"

constexpr int tile = 64;      // elements of a row of the result that a block stores
constexpr int line = 32;      // elements of a line
constexpr int threads = 256;  // per block
constexpr int wide = 4;       // elements of a load or a store

/// `n` is the size of a pack, `across` the number of columns of a block.
template <int n, int across>
__global__ void __launch_bounds__(threads)
    whole_lines(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
    // kata: begin
    constexpr int packs = across / n, packs_down = tile / n;
    __shared__ Pack<n> in_s[line + tile][packs];
    const int first_row = blockIdx.y * tile - line, first_column = blockIdx.x * across;
    const int p = threadIdx.x % packs, column = first_column + p * n;
    // If all rows of the result begin with a line, no row above the tile is needed.
    const int first_needed = rows % line == 0 ? line : 0;
#pragma unroll
    for (int i = 0; i < line + tile; i += threads / packs) {
        const int y = i + threadIdx.x / packs, row = first_row + y;
        if (y >= first_needed && row >= 0 && row < rows && column < columns)
            in_s[y][p ^ (y / n % packs)] = *reinterpret_cast<const Pack<n>*>(&in[row * columns + column]);
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < across; i += threads / packs_down) {
        const int y = i + threadIdx.x / packs_down, out_row = first_column + y;
        // How far row `out_row` begins after the start of a line: out_row * rows % line, without an overflow.
        const int behind = out_row % line * (rows % line) % line;
        const int x = line - behind + threadIdx.x % packs_down * n, out_column = first_row + x;
        if (out_row < columns && out_column >= 0 && out_column < rows) {
            Pack<n> pack;
            for (int s = 0; s < n; ++s) pack.at[s] = in_s[x + s][(y / n) ^ (x / n % packs)].at[y % n];
            *reinterpret_cast<Pack<n>*>(&out[out_row * rows + out_column]) = pack;
        }
    }
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    if (rows == 0 || columns == 0) return;
    // Blocks of 32 columns load whole lines one element at a time; with packs, a warp has two rows of 64.
    const bool is_wide = rows % wide == 0 && columns % wide == 0;
    const int across = is_wide ? 64 : 32;
    const auto kernel = is_wide ? whole_lines<wide, 64> : whole_lines<1, 32>;
    // Up to line - 1 elements are left to the block below, also by the last tile.
    const dim3 grid(ceil_div(columns, across), ceil_div(rows + line - 1, tile));
    kernel<<<grid, threads>>>(in, out, rows, columns);
    check(cudaGetLastError());
    // kata: end
}
