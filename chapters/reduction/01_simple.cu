// 01 Simple: a tree over neighbouring pairs, in global memory. Mirrors PMPP-notes 10.3, whose listing is a
// picture, and whose one block ends at 2048 elements: here every 2048 have a block of their own, and what
// the blocks leave is reduced by the same kernel again.
#include "rounds.cuh"

constexpr int block = 1024;         // threads
constexpr int segment = 2 * block;  // elements of a block

template <class T, class Op>
__global__ void simple(T* in, T* out, int n, Op op) {
    // kata: begin
    // Thread t owns element 2t of the block's segment. With stride 1, 2, 4, … up to the block, the threads
    // whose number is a multiple of the stride combine their element with the one that lies a stride further
    // on, if there is one; a barrier ends each round. Thread 0 writes the block's result, the identity of op
    // where there was no element.
    kata::open();
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    // A block reduces a segment of 2 * block elements. While the elements take more than one, launch a block
    // for each, which leaves its partial result in partials, and go on with the partial results; the last
    // block writes to out, and is launched even if n is 0. Never lay new partial results over those that are
    // being read.
    kata::open();
    // kata: end
}
