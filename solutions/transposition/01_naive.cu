// 01 Naive: each element goes straight from its place to its new one. Mirrors transposeNaive in NVIDIA's
// "An Efficient Matrix Transpose in CUDA C/C++". A warp loads 32 elements of a row, which lie side by side,
// and stores them into a column, where they lie a row apart: one line of 128 bytes loaded, 32 lines stored.
#include "transposition.cuh"

constexpr int tile = 32;  // rows and columns of a block's elements
constexpr int high = 8;   // rows of threads: each thread has tile / high elements

__global__ void naive(const float* in, float* out, int rows, int columns) {
    // kata: begin
    const int column = blockIdx.x * tile + threadIdx.x;
    // A block of 32 x 32 threads would be the largest there is. One of 32 x 8 goes over the tile in four
    // rounds.
    for (int i = threadIdx.y; i < tile; i += high) {
        const int row = blockIdx.y * tile + i;
        // The length of a row is `columns` in the matrix and `rows` in the result.
        if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
    }
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    if (rows == 0 || columns == 0) return;  // a grid without blocks is an error
    const dim3 grid(ceil_div(columns, tile), ceil_div(rows, tile));
    naive<<<grid, dim3(tile, high)>>>(in, out, rows, columns);
    check(cudaGetLastError());
    // kata: end
}
