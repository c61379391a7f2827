// 14 Template unroll: the size of the block is a parameter of the template. Mirrors REDUCE-vi 10. Changed
// from 13: the compiler knows which rounds a block has, leaves out the others with their barriers, and tests
// nothing at run time. There is a kernel for each size of block that is used.
#include "rounds.cuh"

constexpr int block_dim = 512;          // threads of a block
constexpr int segment = 8 * block_dim;  // elements that a block reduces

template <int block, class T, class Op>
__global__ void template_unroll(T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 13, but the conditions test the template's parameter, in an if constexpr that holds the round and
    // its barrier.
    kata::open();
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 01, a block for each `segment` elements, with template_unroll<block_dim, T, Op>.
    // Also required: any n from 1 on; int, float and double; sums and maxima.
    kata::open();
    // kata: end
}
