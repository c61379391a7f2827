// 04 Hierarchical: one launch for any length, blocks combine their results by an atomic. Mirrors PMPP-notes
// 10.7; its listing reads past the end unless the length is a multiple of the segment. Changed against 03:
// what the blocks leave is not reduced by a second launch, but block by block into the output, which starts
// from the identity.
#include "reduction.cuh"

constexpr int block = 1024;         // threads
constexpr int segment = 2 * block;  // elements of a block

template <class T, class Op>
__global__ void hierarchical(const T* in, T* out, int n, Op op) {
    // kata: begin
    __shared__ T in_s[block];
    const int t = threadIdx.x;
    const int i = blockIdx.x * segment + t;
    if (i + block < n)
        in_s[t] = op(in[i], in[i + block]);
    else
        in_s[t] = i < n ? in[i] : op.identity();
    for (int stride = block / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) in_s[t] = op(in_s[t], in_s[t + stride]);
    }
    if (t == 0) atomic_combine(out, in_s[0], op);
    // kata: end
}

template <class T, class Op>
void reduce(T* in, T* out, int n, T* partials, Op op) {
    // kata: begin
    const T identity = op.identity();
    // From memory that is not pinned: copied before the call returns, so that `identity` may go.
    check(cudaMemcpyAsync(out, &identity, sizeof identity, cudaMemcpyHostToDevice));
    if (n == 0) return;
    hierarchical<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
