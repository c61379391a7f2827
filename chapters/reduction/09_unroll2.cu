// 09 Unroll 2: a block first adds a second block of elements to its own. Mirrors REDUCE-vi 5.
// Changed from 08: half as many blocks, and before the tree begins every thread has work.
#include "rounds.cuh"

constexpr int block_dim = 512;          // threads of a block
constexpr int segment = 2 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void unroll2(T* in, T* out, int n, Op op) {
    // kata: begin
    // A block reduces 2 * blockDim.x elements: each thread combines its element with the one that lies a
    // block further on, if there is one, and after a barrier all is as in 08.
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
