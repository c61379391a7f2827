// 01 Vector add: a one-dimensional grid, a thread per element. Mirrors PMPP-grids 3.1. The grid is
// as many blocks of 256 threads as cover n elements: 4 for n = 1000, 16 for n = 4000. The last
// block hangs over, hence the guard. Bytes per element: two loads and a store of 4, for one
// operation.
#include "grids.cuh"

constexpr int block = 256;  // threads

__global__ void add(const float* a, const float* b, float* c, int n) {
    // kata: begin
    // The element of this thread from its block, the size of a block and its place in it; then the guard:
    // the last block hangs over the end.
    kata::open();
    // kata: end
}

void vector_add(const float* a, const float* b, float* c, int n) {
    // kata: begin
    // As many blocks of `block` threads as cover n elements: kernel<<<blocks, threads>>>(arguments). Then
    // check the launch. For no elements launch nothing: a grid of no blocks is an error.
    kata::open();
    // kata: end
}
