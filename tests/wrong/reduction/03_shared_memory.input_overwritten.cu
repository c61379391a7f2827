// The first round is written back to the input, as 02 would do it.
//
// Rejected: the input "in" was changed
#include "rounds.cuh"

constexpr int block = 1024;         // threads
constexpr int segment = 2 * block;  // elements of a block

template <class T, class Op>
__global__ void shared_memory(T* in, T* out, int n, Op op) {
    __shared__ T in_s[block];
    const int t = threadIdx.x;
    const int i = blockIdx.x * segment + t;
    if (i + block < n)
        in_s[t] = in[i] = op(in[i], in[i + block]);
    else
        in_s[t] = i < n ? in[i] : op.identity();
    for (int stride = block / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) in_s[t] = op(in_s[t], in_s[t + stride]);
    }
    if (t == 0) out[blockIdx.x] = in_s[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    shared_memory<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
}
