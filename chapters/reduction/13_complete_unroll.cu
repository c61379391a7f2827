// 13 Complete unroll: the rounds of the block are written out, too. Mirrors REDUCE-vi 9. Changed from 12: a
// block has at most 1024 threads and so at most four rounds before the last warp. Each is written down with
// the size of block that it requires, and no loop is left. A block of 512 pays for the round that it does
// not have with a barrier.
#include "rounds.cuh"

constexpr int block_dim = 512;          // threads of a block
constexpr int segment = 8 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void complete_unroll(T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 12, but write out the rounds with strides 512, 256, 128 and 64 instead of the loop with
    // __syncthreads(): each for blocks of at least twice as many threads (test blockDim.x), with a
    // barrier after it. A lambda that does a round keeps it short.
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
