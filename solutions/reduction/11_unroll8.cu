// 11 Unroll 8: eight blocks of elements, fetched together. Mirrors REDUCE-vi 7. Changed from 10: half
// as many blocks again, and eight loads in flight.
#include "rounds.cuh"

constexpr int block_dim = 512;          // threads of a block
constexpr int segment = 8 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void unroll8(T* in, T* out, int n, Op op) {
    // kata: begin
    const int block = blockDim.x;
    const int first = blockIdx.x * 8 * block;  // where this block's segment begins
    T* const data = in + first;
    const int length = n - first;  // elements from there to the end of the input
    const int t = threadIdx.x;
    if (8 * block <= length) {
        // Eight loads in flight, as in 10; and four operators that do not wait for each other.
        const T a1 = data[t], a2 = data[t + block], a3 = data[t + 2 * block], a4 = data[t + 3 * block];
        const T b1 = data[t + 4 * block], b2 = data[t + 5 * block], b3 = data[t + 6 * block],
                b4 = data[t + 7 * block];
        data[t] = op(op(op(a1, a2), op(a3, a4)), op(op(b1, b2), op(b3, b4)));
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
    unroll8<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
