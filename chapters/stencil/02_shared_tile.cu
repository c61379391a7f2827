// 02 Shared tile: a block loads its input tile, halo included, into shared memory once.
//
// Mirrors PMPP-notes 8.3. Changed from 01: an element is loaded from global memory once per block
// and not for each of its neighbours. The block is as large as the input tile, so each thread loads
// one element; the threads on the halo, a rim of one element, have no cell to compute.
// Global loads per cell: (T / (T − 2))³ elements instead of seven.
// At T = 8: 13/4 · (1 − 2/T)³ = 1.37 OP/B, and T³ threads leave room for little more.
#include "stencil.cuh"

constexpr int tile = 8;  // threads and input elements per side of a cube
constexpr int out_tile = tile - 2;

template <class T>
__global__ void shared_tile(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    // A block of tile x tile x tile threads makes out_tile cells along each axis. Each thread loads the
    // element at its own place in the input tile, which begins one cell before the outputs, into shared
    // memory, if that place is in the grid; after a barrier the threads that do not lie on the halo compute
    // their cell from shared memory, or copy it as in 01 where it is on the boundary of the grid. No thread
    // may leave before the barrier.
    kata::open();
    // kata: end
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    // The grid counts output tiles, the block is as large as the input tile.
    // Also required: any n from 0 on; float and double.
    kata::open();
    // kata: end
}
