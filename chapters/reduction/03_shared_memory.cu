// 03 Shared memory: the tree moves on chip, and the input stays as it was. Mirrors PMPP-notes 10.6.
// Changed from 02: a thread reads its two elements once and keeps what it makes of them in shared
// memory. Only the last partial result goes to global memory.
#include "rounds.cuh"

constexpr int block_dim = 1024;         // threads of a block
constexpr int segment = 2 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void shared_memory(const T* in, T* out, int n, Op op) {
    // kata: begin
    // The first round of 02 reads its operands from global memory and puts the result into shared memory,
    // with one element or op.identity() where the input ends; all further rounds stay there. A barrier
    // comes before each of them. Do not write to the input.
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
