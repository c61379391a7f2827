// 04 Wide loads: a thread loads and stores four elements at a time. Beyond the documents; the model is grids
// 07. Changed from 03: a warp covers four rows of the tile at once, in a quarter of the loads and stores of
// global memory, and a thread has one round instead of four. Only matrices whose sizes are multiples of four
// have rows that begin at multiples of 16 bytes; others take one element at a time, as in 03.
#include "transposition.cuh"

constexpr int tile = 32;      // rows and columns of a block's elements
constexpr int threads = 256;  // per block
constexpr int wide = 4;       // elements of a load or a store

template <int n>
__global__ void __launch_bounds__(threads)
    wide_loads(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
    // kata: begin
    __shared__ float in_s[tile][tile + 1];
    constexpr int packs = tile / n;                                      // in a row of the tile
    const int x = threadIdx.x % packs * n, first = threadIdx.x / packs;  // the thread's packs
    const int first_row = blockIdx.y * tile, first_column = blockIdx.x * tile;
    for (int y = first; y < tile; y += threads / packs)
        if (first_row + y < rows && first_column + x < columns) {  // a pack is inside or outside as a whole
            const float* const from = &in[(first_row + y) * columns + first_column + x];
            const auto pack = *reinterpret_cast<const Pack<n>*>(from);
            // One by one: a row of 33 words does not begin at a multiple of 16 bytes.
            for (int s = 0; s < n; ++s) in_s[y][x + s] = pack.at[s];
        }
    __syncthreads();

    for (int y = first; y < tile; y += threads / packs)
        if (first_column + y < columns && first_row + x < rows) {
            Pack<n> pack;
            for (int s = 0; s < n; ++s) pack.at[s] = in_s[x + s][y];  // neighbours in a row of the result
            *reinterpret_cast<Pack<n>*>(&out[(first_column + y) * rows + first_row + x]) = pack;
        }
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    if (rows == 0 || columns == 0) return;
    // Rows of the matrix have `columns` elements, those of the result `rows`.
    const auto kernel = rows % wide == 0 && columns % wide == 0 ? wide_loads<wide> : wide_loads<1>;
    kernel<<<dim3(ceil_div(columns, tile), ceil_div(rows, tile)), threads>>>(in, out, rows, columns);
    check(cudaGetLastError());
    // kata: end
}
