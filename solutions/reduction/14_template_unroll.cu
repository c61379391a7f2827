// 14 Template unroll: the size of the block is a parameter of the template. Mirrors REDUCE-vi 10. Changed
// from 13: the compiler knows which rounds a block has, leaves out the others with their barriers, and tests
// nothing at run time. There is a kernel for each size of block that is used.
#include "rounds.cuh"

constexpr int block_dim = 512;          // threads of a block
constexpr int segment = 8 * block_dim;  // elements that a block reduces

template <int block, class T, class Op>
__global__ void template_unroll(T* in, T* out, int n, Op op) {
    // kata: begin
    const int first = blockIdx.x * 8 * block;  // where this block's segment begins
    T* const data = in + first;
    const int length = n - first;  // elements from there to the end of the input
    const int t = threadIdx.x;
    if (8 * block <= length) {
        // Eight loads in flight, as in 11.
        const T a1 = data[t], a2 = data[t + block], a3 = data[t + 2 * block], a4 = data[t + 3 * block];
        const T b1 = data[t + 4 * block], b2 = data[t + 5 * block], b3 = data[t + 6 * block],
                b4 = data[t + 7 * block];
        data[t] = op(op(op(a1, a2), op(a3, a4)), op(op(b1, b2), op(b3, b4)));
    } else {  // the last segment is short
        for (int i = t + block; i < length; i += block) data[t] = op(data[t], data[i]);
    }
    __syncthreads();
    const auto combine = [&](int stride) {  // a round of 12
        if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
    };
    if constexpr (block >= 1024) {  // decided by the compiler: a round that is missing leaves no code
        combine(512);
        __syncthreads();
    }
    if constexpr (block >= 512) {
        combine(256);
        __syncthreads();
    }
    if constexpr (block >= 256) {
        combine(128);
        __syncthreads();
    }
    if constexpr (block >= 128) {
        combine(64);
        __syncthreads();
    }
    if (t < 32) {  // the last warp, as in 12
#pragma unroll
        for (int stride = 32; stride > 0; stride /= 2) {
            combine(stride);
            __syncwarp();
        }
    }
    if (t == 0) out[blockIdx.x] = data[0];
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    // Unlike T and Op, `block` cannot be deduced from the arguments.
    template_unroll<block_dim, T, Op><<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
