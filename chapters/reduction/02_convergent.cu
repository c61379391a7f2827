// 02 Convergent: the stride halves, so that the active threads stay together. Mirrors PMPP-notes
// 10.4 and 10.5. Changed from 01: in each round the first threads of the block combine neighbouring
// elements with the elements that lie a stride further on. Warps without work skip the round instead
// of sending one lane into it, and a warp's elements fill the sectors that they lie in.
#include "rounds.cuh"

constexpr int block_dim = 1024;         // threads of a block
constexpr int segment = 2 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void convergent(T* in, T* out, int n, Op op) {
    // kata: begin
    // Thread t takes element t of the block's segment. The stride begins at blockDim.x and halves; in each
    // round the threads below it combine their element with the one that lies a stride further on, if
    // there is one. This reorders the operands, so op must commute.
    kata::open();
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 01: a block of block_dim threads for each `segment` elements, and check the launch.
    // Also required: any n from 1 on; int, float and double; sums and maxima.
    kata::open();
    // kata: end
}
