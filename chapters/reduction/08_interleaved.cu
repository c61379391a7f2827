// 08 Interleaved: the stride halves, and a warp's elements lie next to each other. Mirrors
// REDUCE-vi 4. Changed from 07: as many threads work in each round as before, but they touch whole
// sectors. In the other ladder, 02 does the same to 01.
#include "rounds.cuh"

constexpr int block_dim = 512;      // threads of a block
constexpr int segment = block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void interleaved(T* in, T* out, int n, Op op) {
    // kata: begin
    // Thread t takes element t of the block's segment. The stride begins at half of blockDim.x and halves;
    // the threads below it combine their element with the one that lies a stride further on, if there is
    // one.
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
