// 06 Neighbored: the second ladder begins, with neighbouring pairs and an element a thread. Mirrors REDUCE-
// vi 2; its listing lets threads beyond the end leave before a barrier, adds what lies there, and leaves the
// partial results to the CPU. Changed against 01: every other thread is without work from the first round
// on.
#include "rounds.cuh"

constexpr int block = 512;  // threads, and elements of a block
constexpr int segment = block;

template <class T, class Op>
__global__ void neighbored(T* in, T* out, int n, Op op) {
    // kata: begin
    T* const data = in + blockIdx.x * block;  // the block's own
    const int length = n - blockIdx.x * block;
    const int t = threadIdx.x;
    for (int stride = 1; stride < block; stride *= 2) {
        if (t % (2 * stride) == 0 && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    neighbored<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
