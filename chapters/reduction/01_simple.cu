// 01 Simple: a tree over neighbouring pairs, in global memory. Mirrors PMPP-notes 10.3. One block
// reaches 2048 elements, so every 2048 have a block of their own, and the same kernel reduces what
// the blocks leave, until one value is left (rounds.cuh).
#include "rounds.cuh"

constexpr int block_dim = 1024;         // threads of a block
constexpr int segment = 2 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void simple(T* in, T* out, int n, Op op) {
    // kata: begin
    // Thread t takes element 2t of the block's segment, which begins 2 * blockDim.x elements after that
    // of the block before. With stride 1, 2, 4, … up to blockDim.x, the threads whose number is a multiple
    // of the stride combine their element with the one that lies a stride further on, if there is one; a
    // barrier ends each round, and every thread must come to it. Thread 0 writes the block's result to
    // out[blockIdx.x].
    kata::open();
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    // Launch a block of block_dim threads for each `segment` elements, the last of which may be fewer, and
    // check the launch. rounds.cuh calls this again for what the blocks leave.
    // Also required: any n from 1 on; int, float and double; sums and maxima.
    kata::open();
    // kata: end
}
