// The listing of PMPP-notes 10.7: nothing keeps the last segment within the input.
//
// Rejected: out of bounds
// On a GPU: elements differ
#include "reduction.cuh"

constexpr int block = 1024;         // threads
constexpr int segment = 2 * block;  // elements of a block

template <class T, class Op>
__global__ void hierarchical(const T* in, T* out, int n, Op op) {
    __shared__ T in_s[block];
    const int t = threadIdx.x;
    const int i = blockIdx.x * segment + t;
    in_s[t] = op(in[i], in[i + block]);
    for (int stride = block / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) in_s[t] = op(in_s[t], in_s[t + stride]);
    }
    if (t == 0) atomic_combine(out, in_s[0], op);
}

template <class T, class Op>
void reduce(T* in, T* out, int n, T* partials, Op op) {
    const T identity = op.identity();
    check(cudaMemcpyAsync(out, &identity, sizeof identity, cudaMemcpyHostToDevice));
    if (n == 0) return;
    hierarchical<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
}
