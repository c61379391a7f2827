// 12 Unroll the last warp: the last six rounds need no barrier of the block. Mirrors REDUCE-vi 8.
// Changed from 11: once 64 elements are left, all the work is one warp's, and the others are done.
// The lanes of a warp need not move in step, so a __syncwarp() stands between its rounds. As in the
// document a block needs at least 64 threads, and the warp works in memory; step 15 has such rounds
// from register to register.
#include "rounds.cuh"

constexpr int block_dim = 512;          // threads of a block
constexpr int segment = 8 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void unroll_last_warp(T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 11, but the loop with __syncthreads() ends above stride 32. The first warp then goes on alone,
    // with strides from 32 down to 1, in a loop with a #pragma unroll before it, and with __syncwarp()
    // where the block had a barrier.
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
