// 05 Wide loads: a thread computes four cells of a row in each of four planes, and leaves the sharing to the
// caches. Beyond the documents. Changed from 04: no shared memory, no barrier and no thread on a halo. A
// load brings four cells, and those above, below, before and behind come with one load each, for which L1 or
// L2 may have the data. A block has only four planes, as longer marches were slower. For floats a thread has
// few enough registers that a multiprocessor is full. Where n is not a multiple of four, the four cells of a
// thread are 32 apart, and each is a load.
#include "stencil.cuh"

constexpr int block_x = 32, block_y = 8;  // threads
constexpr int chunk = 4;                  // planes of a block
constexpr int wide = 4;                   // cells of a thread along x

/// Cells of a row. The alignment makes a load or a store of neighbouring cells one instruction.
template <class T>
struct alignas(wide * sizeof(T)) Cells {
    T at[wide];
};

// The cells of a thread are `apart` from each other. What is 1 apart is one load. Otherwise a thread needs
// more registers, for the addresses of its loads.
template <int apart, class T>
__global__ void __launch_bounds__(block_x* block_y, (apart == 1 ? 32 : 20) / sizeof(T))
    wide_loads(const T* __restrict__ in, T* __restrict__ out, int n, Coefficients<T> c) {
    // kata: begin
    // Thread (x, y) of a block has `wide` cells of row y in each of `chunk` planes, `apart` from each other,
    // and marches along z as in 04. If they are neighbours, it loads the cells of a plane at once, by way of
    // reinterpret_cast to Cells<T>; else one by one, so that neighbouring threads load neighbouring cells. It
    // keeps those of the planes before, here and after. For each plane it also loads as many cells of the
    // rows above and below, and the neighbours along x that are not its own. What lies outside of the grid
    // must not be loaded. Cells on the boundary stay as they are.
    kata::open();
    // kata: end
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    // wide_loads<1, T> where every row begins at a multiple of `wide` cells, wide_loads<block_x, T>
    // elsewhere. A block has block_x x block_y threads, block_x * wide cells of a row, and `chunk` planes.
    // Also required: any n from 0 on; float and double.
    kata::open();
    // kata: end
}
