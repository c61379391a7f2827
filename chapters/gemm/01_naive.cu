// 01 Naive: a thread computes one element of C, everything comes from global memory.
//
// Mirrors PMPP-grids 3.4, figure 3.11, for matrices of any shape: A is m x k and B is k x n.
// Global loads per result: 2K, 8 bytes for two operations.
#include "gemm.cuh"

constexpr int block = 32;  // threads per side

__global__ void naive(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // The row and the column of the thread's element follow from its block and its place in the block: rows
    // run along y, columns along x. Leave if there is no such element; else sum up row times column and
    // store.
    kata::open();
    // kata: end
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
    // kata: begin
    // Launch blocks of block x block threads, as many as it takes to cover n columns along x and m rows
    // along y; for an empty C launch nothing: a grid without blocks is an error. Check cudaGetLastError(),
    // which says whether the launch was refused.
    kata::open();
    // kata: end
}
