// 06 Neighbored: the second ladder begins, with neighbouring pairs and one element per thread.
// Mirrors REDUCE-vi 2, where the CPU adds up the partial results. Changed from 01: every other
// thread is without work from the first round on.
#include "rounds.cuh"

constexpr int block_dim = 512;      // threads of a block
constexpr int segment = block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void neighbored(T* in, T* out, int n, Op op) {
    // kata: begin
    // Thread t takes element t of the block's segment. With stride 1, 2, 4, … below blockDim.x, the
    // threads whose number is a multiple of twice the stride combine their element with the one that lies
    // a stride further on, if there is one; a barrier ends each round, and every thread must come to it.
    // Thread 0 writes the block's result to out[blockIdx.x].
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
