// 02 Convergent: the stride halves, so that the active threads stay together. Mirrors PMPP-notes 10.4 and
// 10.5. Changed against 01: in each round the first threads of the block combine what lies next to each
// other with what lies a stride further on. Warps without work skip the round instead of sending one lane
// into it, and a warp's elements fill the sectors that they lie in.
#include "rounds.cuh"

constexpr int block = 1024;         // threads
constexpr int segment = 2 * block;  // elements of a block

template <class T, class Op>
__global__ void convergent(T* in, T* out, int n, Op op) {
    // kata: begin
    T* const data = in + blockIdx.x * segment;
    const int length = n - blockIdx.x * segment;
    const int t = threadIdx.x;
    for (int stride = block; stride > 0; stride /= 2) {
        if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    convergent<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
