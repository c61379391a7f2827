// 15 Warp shuffles: the rounds of the tree go from register to register. Beyond the documents; in NVIDIA's
// sample reduction it is reduce4 and what follows. Changed from 05 and 14: a warp reduces its 32 values by
// __shfl_down_sync, which needs neither memory nor a barrier. One value per warp goes through shared memory,
// with the only barrier of the block, and the first warp reduces those in the same way. A thread combines 16
// elements first, and blocks have 512 threads.
#include "reduction.cuh"

constexpr int block_dim = 512;  // threads of a block: at most 32 warps, because one reduces what they leave
constexpr int coarse_factor = 16;
constexpr int segment = coarse_factor * block_dim;  // elements that a block reduces

/// Returns the values of all lanes, combined, in lane 0.
template <class T, class Op>
__device__ T reduce_warp(T value, Op op) {
    // kata: begin
    // In each round a lane combines its value with that of the lane `stride` further on, which
    // __shfl_down_sync(~0u, value, stride) brings; strides 16, 8, 4, 2, 1. All 32 lanes take part in all
    // rounds.
    kata::open();
    return value;
    // kata: end
}

/// Returns the values of all threads of the block, combined, in thread 0.
template <class T, class Op>
__device__ T reduce_block(T value, Op op) {
    // kata: begin
    // Each warp reduces its values, and its lane 0 puts the result into shared memory. After a barrier the
    // first warp reduces these, one per lane, and the identity in lanes that have none.
    kata::open();
    return value;
    // kata: end
}

template <class T, class Op>
__global__ void warp_shuffles(const T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 05, a thread combines coarse_factor elements, block_dim apart from each other, in a register.
    // Then comes reduce_block, and an atomic of thread 0.
    kata::open();
    // kata: end
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 04: set the output to the identity, then launch a block for each `segment` elements.
    // Also required: any n from 0 on; int, float and double; sums and maxima.
    kata::open();
    // kata: end
}
