// 03 Thread coarsened: T² threads march along z through a tile of T³, three planes at a time.
//
// Mirrors PMPP-notes 8.4. Changed from 02: a thread computes a column of cells, and only three
// planes of the tile are in shared memory. So T² and no longer T³ threads must fit into a block, and
// T can be 32; a warp reads a row of 32 elements instead of four rows of 8.
// Global loads at T = 32: 13/4 · (1 − 2/T)³ = 2.68 OP/B.
#include "stencil.cuh"

constexpr int tile = 32;  // threads per side of a square, input elements per side of a cube
constexpr int out_tile = tile - 2;

template <class T>
__global__ void thread_coarsened(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    // A block of tile x tile threads marches along z through out_tile planes of outputs. Three planes of the
    // input are in shared memory: the one before, the middle one and the next. In each round every thread
    // loads its element of the next plane; then those that do not lie on the halo compute their cell of the
    // middle plane, and at last every thread moves its own elements one plane on. Barriers stand between
    // loading and computing, and between computing and moving. The last tiles hang over the grid: what lies
    // outside is not loaded, and has no cell. Cells on the boundary of the grid are copied as in 01.
    kata::open();
    // kata: end
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    // The grid counts output tiles along all three axes, the block is a square of tile x tile threads.
    // Also required: any n from 0 on; float and double.
    kata::open();
    // kata: end
}
