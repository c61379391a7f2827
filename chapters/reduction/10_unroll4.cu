// 10 Unroll 4: four blocks of elements, fetched together. Mirrors REDUCE-vi 6. Changed from 09: half
// as many blocks again, and a thread has four loads in flight at a time, none of which waits for
// another.
#include "rounds.cuh"

constexpr int block_dim = 512;          // threads of a block
constexpr int segment = 4 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void unroll4(T* in, T* out, int n, Op op) {
    // kata: begin
    // A block reduces 4 * blockDim.x elements. Where it has all of them, each thread loads its four, a
    // block apart, into variables of their own before it combines them; a last block that has fewer
    // combines what there is in a loop. After a barrier all is as in 08.
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
