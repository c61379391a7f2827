// 05 Coarsened: a thread combines several elements on its own before the tree begins. Mirrors
// PMPP-notes 10.8. Changed from 04: where blocks would take turns on the hardware anyway, fewer of
// them do the same work, with a fraction of the trees, their barriers and their idle threads; and a
// thread has eight loads in flight instead of two.
// Neighbouring threads still read neighbouring elements.
#include "reduction.cuh"

constexpr int block_dim = 1024;  // threads of a block
constexpr int coarse_factor = 4;
constexpr int segment = 2 * coarse_factor * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void coarsened(const T* in, T* out, int n, Op op) {
    // kata: begin
    // A thread combines 2 * coarse_factor elements, a block apart from each other, in a register; past the
    // end of the input it takes the identity. It stores the result in shared memory, and from there on
    // all is as in 04.
    kata::open();
    // kata: end
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 04: set the output to the identity, then launch a block for each `segment` elements.
    // Also required: any n from 0 on; int, float and double; sums and maxima.
    kata::open();
    // kata: end
}
