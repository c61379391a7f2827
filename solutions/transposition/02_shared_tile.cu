// 02 Shared tile: a block turns its tile round in shared memory. Mirrors transposeCoalesced in NVIDIA's
// "An Efficient Matrix Transpose in CUDA C/C++". Changed from 01: a warp loads a row of the tile and stores a
// row of the result, which is a column of the tile. One line loaded, one line stored, not 32. But the lanes
// that read a column of the tile meet in one bank of shared memory.
#include "transposition.cuh"

constexpr int tile = 32;  // rows and columns of a block's elements
constexpr int high = 8;   // rows of threads: each thread has tile / high elements

__global__ void shared_tile(const float* in, float* out, int rows, int columns) {
    // kata: begin
    __shared__ float in_s[tile][tile];
    const int x = threadIdx.x;
    const int first_row = blockIdx.y * tile, first_column = blockIdx.x * tile;  // where the tile begins
    for (int y = threadIdx.y; y < tile; y += high)
        if (first_row + y < rows && first_column + x < columns)
            in_s[y][x] = in[(first_row + y) * columns + first_column + x];
    __syncthreads();  // a thread stores what others have loaded

    // The tile of the result begins at (first_column, first_row). Its rows are the columns of this one, and
    // the guard changes with them.
    for (int y = threadIdx.y; y < tile; y += high)
        if (first_column + y < columns && first_row + x < rows)
            out[(first_column + y) * rows + first_row + x] = in_s[x][y];
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    if (rows == 0 || columns == 0) return;
    const dim3 grid(ceil_div(columns, tile), ceil_div(rows, tile));
    shared_tile<<<grid, dim3(tile, high)>>>(in, out, rows, columns);
    check(cudaGetLastError());
    // kata: end
}
