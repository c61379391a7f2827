// 04 Register tiled: of the three planes only the middle one stays in shared memory.
//
// Mirrors PMPP-notes 8.5. Changed from 03: of the planes before and behind, a thread needs only the element
// in its own column, so both are registers, and so is its own element of the middle plane. Shared memory
// shrinks to a third, and a thread stores to it once per plane instead of three times. Global loads stay as
// they were: 2.68 OP/B at T = 32.
#include "stencil.cuh"

constexpr int tile = 32;  // threads per side of a square, input elements per side of a cube
constexpr int out_tile = tile - 2;

template <class T>
__global__ void register_tiled(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    // As in 03, but only the middle plane is in shared memory. A thread keeps its own elements of the planes
    // before and behind, and of the middle one, too, in registers; when the planes move on, it stores its
    // element of the new middle plane in shared memory, where its neighbours find it. Where are barriers
    // needed?
    kata::open();
    // kata: end
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    // As in 03: the grid counts output tiles along all three axes, the block is a square of tile x tile
    // threads.
    // Also required: any n from 0 on; float and double.
    kata::open();
    // kata: end
}
