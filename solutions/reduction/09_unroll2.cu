// 09 Unroll 2: a block first adds a second block of elements to its own. Mirrors REDUCE-vi 5.
// Changed from 08: half as many blocks, and before the tree begins every thread has work.
#include "rounds.cuh"

constexpr int block_dim = 512;          // threads of a block
constexpr int segment = 2 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void unroll2(T* in, T* out, int n, Op op) {
    // kata: begin
    const int block = blockDim.x;
    const int first = blockIdx.x * 2 * block;  // where this block's segment begins
    T* const data = in + first;
    const int length = n - first;  // elements from there to the end of the input
    const int t = threadIdx.x;
    if (t + block < length) data[t] = op(data[t], data[t + block]);  // no thread idles here
    // The tree reads what other threads have written.
    __syncthreads();
    for (int stride = block / 2; stride > 0; stride /= 2) {  // the tree of 08
        if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    unroll2<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
