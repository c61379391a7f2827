// 05 Swizzle: a row of the tile has its packs in an order of its own. Beyond the documents; the model is the
// swizzled layout of CUTLASS. Changed from 04: without padding, rows begin at multiples of 16 bytes, so that
// a pack is stored into the tile at once, like everywhere else. Pack p of row r stands in place p XOR r / n:
// n rows have the same order, and the packs of a column are in different banks.
#include "transposition.cuh"

constexpr int tile = 32;      // rows and columns of a block's elements
constexpr int threads = 256;  // per block
constexpr int wide = 4;       // elements of a load or a store

template <int n>
__global__ void __launch_bounds__(threads)
    swizzle(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
    // kata: begin
    constexpr int packs = tile / n;  // in a row of the tile: a power of two, so XOR leads to one of them
    __shared__ Pack<n> in_s[tile][packs];
    const int p = threadIdx.x % packs, first = threadIdx.x / packs;
    const int first_row = blockIdx.y * tile, first_column = blockIdx.x * tile;
    for (int y = first; y < tile; y += threads / packs)
        if (first_row + y < rows && first_column + p * n < columns) {
            const float* const from = &in[(first_row + y) * columns + first_column + p * n];
            in_s[y][p ^ (y / n)] = *reinterpret_cast<const Pack<n>*>(from);
        }
    __syncthreads();

    for (int y = first; y < tile; y += threads / packs)
        if (first_column + y < columns && first_row + p * n < rows) {
            Pack<n> pack;
            // Column y is element y % n of pack y / n. Rows p * n + s have number p when divided by n.
            for (int s = 0; s < n; ++s) pack.at[s] = in_s[p * n + s][(y / n) ^ p].at[y % n];
            *reinterpret_cast<Pack<n>*>(&out[(first_column + y) * rows + first_row + p * n]) = pack;
        }
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    if (rows == 0 || columns == 0) return;
    const auto kernel = rows % wide == 0 && columns % wide == 0 ? swizzle<wide> : swizzle<1>;
    kernel<<<dim3(ceil_div(columns, tile), ceil_div(rows, tile)), threads>>>(in, out, rows, columns);
    check(cudaGetLastError());
    // kata: end
}
