// The listing of REDUCE-vi 2: threads beyond the end leave before the barrier that the others wait at, and
// thread 0 of an empty input leaves without a result.
//
// Rejected: divergent barrier
// On a GPU: no element of the output was ever written
#include "rounds.cuh"

constexpr int block = 512;  // threads, and elements of a block
constexpr int segment = block;

template <class T, class Op>
__global__ void neighbored(T* in, T* out, int n, Op op) {
    T* const data = in + blockIdx.x * block;  // the block's own
    const int length = n - blockIdx.x * block;
    const int t = threadIdx.x;
    if (t >= length) return;
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
