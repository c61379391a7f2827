// 12 Unroll the last warp: the last six rounds need no barrier of the block. Mirrors REDUCE-vi 8.
// Changed from 11: once 64 elements are left, all the work is one warp's, and the others are done.
// The lanes of a warp need not move in step, so a __syncwarp() stands between its rounds. As in the
// document a block needs at least 64 threads, and the warp works in memory; step 15 has such rounds
// from register to register.
#include "rounds.cuh"

constexpr int block_dim = 512;          // threads of a block
constexpr int segment = 8 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void unroll_last_warp(T* in, T* out, int n, Op op) {
    // kata: begin
    const int block = blockDim.x;
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
    for (int stride = block / 2; stride > 32; stride /= 2) {  // the tree of 08, without its last six rounds
        if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t < 32) {  // the first warp: no other one touches the 64 elements that are left
        // Without t < stride, as in the document, lane t would read what lane t + stride is writing. The
        // number of rounds is a constant: the compiler writes them out.
#pragma unroll
        for (int stride = 32; stride > 0; stride /= 2) {
            if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
            __syncwarp();  // to a warp what __syncthreads() is to a block
        }
    }
    if (t == 0) out[blockIdx.x] = data[0];
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    unroll_last_warp<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
