// 04 Hierarchical: one launch for any length, blocks combine their results by an atomic. Mirrors
// PMPP-notes 10.7. Changed from 03: what the blocks leave is not reduced by a second launch, but
// block by block into the output, which starts from the identity.
#include "reduction.cuh"

constexpr int block_dim = 1024;         // threads of a block
constexpr int segment = 2 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void hierarchical(const T* in, T* out, int n, Op op) {
    // kata: begin
    // As in 03, but thread 0 hands the result of its block to atomic_combine(out, …, op), which is
    // atomicAdd for a sum.
    kata::open();
    // kata: end
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    // kata: begin
    // Set the output to op.identity(), with cudaMemcpyAsync from the host; then launch once, a block for
    // each `segment` elements. For no elements launch nothing: a grid of no blocks is an error.
    // Also required: any n from 0 on; int, float and double; sums and maxima.
    kata::open();
    // kata: end
}
