// 12 Unroll the last warp: the last six rounds need no barrier of the block. Mirrors REDUCE-vi 8; its
// listing has the fault of 11 and relies on the lanes of a warp moving in lockstep, which they have not done
// since Volta: volatile orders nothing among them, __syncwarp() does. Changed against 11: once 64 elements
// are left, all the work is one warp's. The others are done, and the rounds are written out by the compiler.
#include "rounds.cuh"

constexpr int block = 512;          // threads
constexpr int segment = 8 * block;  // elements of a block

template <class T, class Op>
__global__ void unroll_last_warp(T* in, T* out, int n, Op op) {
    // kata: begin
    // As 11, but the loop with __syncthreads() ends above stride 32. The first warp then goes on alone, with
    // strides from 32 down to 1, in a loop with a #pragma unroll before it, and with __syncwarp() where the
    // block had a barrier.
    kata::open();
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 01, with unroll_last_warp: while the elements take more than one block, launch a block of threads
    // for each `segment` elements. Each leaves its partial result in partials; go on with these, and never
    // lay new ones over those that are being read. The last block writes to out.
    kata::open();
    // kata: end
}
