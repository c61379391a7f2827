// 07 Neighbored, less divergence: the same pairs, taken by the first threads of the block. Mirrors REDUCE-vi
// 3; its listing has the faults of 06, and its text is wrong about registers: all of this happens in global
// memory. Changed against 06: the thread's number chooses the pair and not the element, so that whole warps
// are without work instead of most lanes of every warp.
#include "rounds.cuh"

constexpr int block = 512;  // threads, and elements of a block
constexpr int segment = block;

template <class T, class Op>
__global__ void neighbored_less(T* in, T* out, int n, Op op) {
    // kata: begin
    T* const data = in + blockIdx.x * block;
    const int length = n - blockIdx.x * block;
    for (int stride = 1; stride < block; stride *= 2) {
        const int i = 2 * stride * threadIdx.x;
        if (i < block && i + stride < length) data[i] = op(data[i], data[i + stride]);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = data[0];
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    neighbored_less<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
