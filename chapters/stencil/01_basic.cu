// 01 Basic: a thread computes one cell, everything comes from global memory.
//
// Mirrors PMPP-notes 8.2. A step writes all of `out`. The document assumes that the boundary is there
// already.
// Global loads per cell: seven elements, 28 bytes for 13 operations: 0.46 OP/B.
#include "stencil.cuh"

constexpr int block = 8;  // threads per side of a cube

template <class T>
__global__ void basic(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    // A thread per cell: its x, y and z from block and thread, and nothing to do where these lie outside the
    // grid. A cell on the boundary is copied, any other becomes c0 times itself plus c1 to c6 times its six
    // neighbours; the neighbours along y are n elements away, those along z n * n.
    kata::open();
    // kata: end
}

template <class T>
void sweep(const T* in, T* out, int n, Coefficients<T> c) {
    // kata: begin
    // Whole blocks of block x block x block threads that cover n cells along each axis. Without cells launch
    // nothing: a grid without blocks is an error. Check cudaGetLastError(), which says whether the launch
    // was refused.
    // Also required: any n from 0 on; float and double.
    kata::open();
    // kata: end
}
