// The barrier is where PMPP-notes 10.6 does not have it: behind the loop.
//
// Rejected: race in shared memory
// On a GPU: nothing
#include "rounds.cuh"

constexpr int block = 1024;         // threads
constexpr int segment = 2 * block;  // elements of a block

template <class T, class Op>
__global__ void shared_memory(const T* in, T* out, int n, Op op) {
    __shared__ T in_s[block];
    const int t = threadIdx.x;
    const int i = blockIdx.x * segment + t;
    if (i + block < n)
        in_s[t] = op(in[i], in[i + block]);
    else
        in_s[t] = i < n ? in[i] : op.identity();
    for (int stride = block / 2; stride > 0; stride /= 2) {
        if (t < stride) in_s[t] = op(in_s[t], in_s[t + stride]);
    }
    __syncthreads();
    if (t == 0) out[blockIdx.x] = in_s[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    shared_memory<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
}
