// 08 Interleaved: the stride halves, and a warp's elements lie next to each other. Mirrors
// REDUCE-vi 4. Changed from 07: as many threads work in each round as before, but they touch whole
// sectors. In the other ladder, 02 does the same to 01.
#include "rounds.cuh"

constexpr int block_dim = 512;      // threads of a block
constexpr int segment = block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void interleaved(T* in, T* out, int n, Op op) {
    // kata: begin
    const int block = blockDim.x;
    const int first = blockIdx.x * block;  // where this block's segment begins
    T* const data = in + first;
    const int length = n - first;  // elements from there to the end of the input
    const int t = threadIdx.x;
    for (int stride = block / 2; stride > 0; stride /= 2) {
        // Lane by lane both operands lie side by side.
        if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    interleaved<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
