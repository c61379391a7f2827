// 10 Unroll 4: four blocks of elements, fetched together. Mirrors REDUCE-vi 6. Changed from 09: half
// as many blocks again, and a thread has four loads in flight at a time, none of which waits for
// another.
#include "rounds.cuh"

constexpr int block_dim = 512;          // threads of a block
constexpr int segment = 4 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void unroll4(T* in, T* out, int n, Op op) {
    // kata: begin
    const int block = blockDim.x;
    const int first = blockIdx.x * 4 * block;  // where this block's segment begins
    T* const data = in + first;
    const int length = n - first;  // elements from there to the end of the input
    const int t = threadIdx.x;
    if (4 * block <= length) {
        // All loads first, each into a variable of its own: they wait for memory together, and once.
        const T a1 = data[t], a2 = data[t + block], a3 = data[t + 2 * block], a4 = data[t + 3 * block];
        data[t] = op(op(a1, a2), op(a3, a4));
    } else {  // the last segment is short
        for (int i = t + block; i < length; i += block) data[t] = op(data[t], data[i]);
    }
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
    unroll4<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
