// 04 Hierarchical: one launch for any length, blocks combine their results by an atomic. Mirrors
// PMPP-notes 10.7. Changed from 03: what the blocks leave is not reduced by a second launch, but
// block by block into the output, which starts from the identity.
#include "reduction.cuh"

constexpr int block_dim = 1024;         // threads of a block
constexpr int segment = 2 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void hierarchical(const T* in, T* out, int n, Op op) {
    // kata: begin
    __shared__ T in_s[block_dim];
    const int t = threadIdx.x;
    // As in 03: two elements per thread, the identity past the end, and the tree in shared memory.
    const int i = 2 * blockDim.x * blockIdx.x + t;
    if (i + block_dim < n)
        in_s[t] = op(in[i], in[i + block_dim]);
    else
        in_s[t] = i < n ? in[i] : op.identity();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) in_s[t] = op(in_s[t], in_s[t + stride]);
    }
    // Blocks cannot wait for each other. An atomic reads, combines and writes in one step, so no block's
    // result is lost. There is one per block, since atomics on one address take turns.
    if (t == 0) atomic_combine(out, in_s[0], op);
    // kata: end
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    // kata: begin
    // Every atomic combines a result with the output, so the output must start from the identity.
    const T identity = op.identity();
    // From memory that is not pinned: copied before the call returns, so that `identity` may go.
    check(cudaMemcpyAsync(out, &identity, sizeof identity, cudaMemcpyHostToDevice));
    if (n == 0) return;  // a grid of no blocks is an error
    hierarchical<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
