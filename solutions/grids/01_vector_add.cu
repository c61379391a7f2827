// 01 Vector add: a one-dimensional grid, a thread per element. Mirrors PMPP-grids 3.1. The grid is
// as many blocks of 256 threads as cover n elements: 4 for n = 1000, 16 for n = 4000. The last
// block hangs over, hence the guard. Bytes per element: two loads and a store of 4, for one
// operation.
#include "grids.cuh"

constexpr int block = 256;  // threads

__global__ void add(const float* a, const float* b, float* c, int n) {
    // kata: begin
    // The blocks before this one have blockIdx.x * blockDim.x threads. Built-in variables are unsigned; the
    // index is an int, to be compared with n.
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];  // the guard: threads of the last block may have no element
    // kata: end
}

void vector_add(const float* a, const float* b, float* c, int n) {
    // kata: begin
    if (n == 0) return;  // a grid of no blocks is an error
    // Blocks, then threads of a block: short for dim3(blocks, 1, 1) and dim3(256, 1, 1). Rounded up, for the
    // last elements, too. The document has ceil(n / 256.0) here; ceil_div() needs no floating point.
    add<<<ceil_div(n, block), block>>>(a, b, c, n);
    check(cudaGetLastError());  // <<<…>>> returns nothing: this says whether it was refused
    // kata: end
}
