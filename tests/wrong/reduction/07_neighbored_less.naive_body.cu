// The body of 06 handed in as 07: the right answer, with a lane or a few in every warp.
//
// Rejected: right, but without the point of the step
// On a GPU: nothing
#include "rounds.cuh"

constexpr int block = 512;  // threads, and elements of a block
constexpr int segment = block;

template <class T, class Op>
__global__ void neighbored(T* in, T* out, int n, Op op) {
    T* const data = in + blockIdx.x * block;  // the block's own
    const int length = n - blockIdx.x * block;
    const int t = threadIdx.x;
    for (int stride = 1; stride < block; stride *= 2) {
        if (t % (2 * stride) == 0 && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    neighbored<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
}
