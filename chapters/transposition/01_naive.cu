// 01 Naive: each element goes straight from its place to its new one. Mirrors transposeNaive in NVIDIA's
// "An Efficient Matrix Transpose in CUDA C/C++". A warp loads 32 elements of a row, which lie side by side,
// and stores them into a column, where they lie a row apart: one line of 128 bytes loaded, 32 lines stored.
#include "transposition.cuh"

constexpr int tile = 32;  // rows and columns of a block's elements
constexpr int high = 8;   // rows of threads: each thread has tile / high elements

__global__ void naive(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // A block has the elements of a square of tile x tile, and tile x high threads: go over the square in
    // rounds of `high` rows, with neighbouring threads on neighbours of a row. Each element that is in the
    // matrix goes to its place in the result, where a row is as long as a column of the matrix.
    kata::open();
    // kata: end
}

void transpose(const float* in, float* out, int rows, int columns) {
    // kata: begin
    // As many blocks as there are squares, those that reach over the edges included; for an empty matrix
    // none. After the launch, check cudaGetLastError().
    // Also required: any number of columns from 0 on, up to 65535 rows, and less than 2^31 elements; more
    // than 65535 blocks along x.
    kata::open();
    // kata: end
}
