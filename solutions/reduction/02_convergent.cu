// 02 Convergent: the stride halves, so that the active threads stay together. Mirrors PMPP-notes
// 10.4 and 10.5. Changed from 01: in each round the first threads of the block combine neighbouring
// elements with the elements that lie a stride further on. Warps without work skip the round instead
// of sending one lane into it, and a warp's elements fill the sectors that they lie in.
#include "rounds.cuh"

constexpr int block_dim = 1024;         // threads of a block
constexpr int segment = 2 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void convergent(T* in, T* out, int n, Op op) {
    // kata: begin
    const int block = blockDim.x;
    const int first = blockIdx.x * 2 * block;  // where this block's segment begins
    T* const data = in + first;
    const int length = n - first;  // elements from there to the end of the input
    const int t = threadIdx.x;
    for (int stride = block; stride > 0; stride /= 2) {
        // t < stride: whole warps have work or have none, until less than a warp is left. Lane by lane both
        // operands lie side by side.
        if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();  // the next round reads what other threads have written in this one
    }
    if (t == 0) out[blockIdx.x] = data[0];
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    convergent<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
