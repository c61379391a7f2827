// 11 Unroll 8: eight blocks of elements, fetched together. Mirrors REDUCE-vi 7. Changed from 10: half
// as many blocks again, and eight loads in flight.
#include "rounds.cuh"

constexpr int block_dim = 512;          // threads of a block
constexpr int segment = 8 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void unroll8(T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 10, with eight elements per thread.
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
