// The last warp works in registers, by shuffles, as the lesson recommends today. All its lanes take part.
#include "rounds.cuh"

constexpr int block_dim = 512;
constexpr int segment = 8 * block_dim;

template <class T, class Op>
__global__ void reduceUnrollWarps8(T* in, T* out, int n, Op op) {
    const int t = threadIdx.x;
    T* const data = in + (size_t)blockIdx.x * segment;
    const int length = n - blockIdx.x * segment;
    T sum = op.identity();
    if (length >= segment) {
        T v[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) v[k] = data[t + k * block_dim];
#pragma unroll
        for (int k = 0; k < 8; ++k) sum = op(sum, v[k]);
    } else {
        for (int i = t; i < length; i += block_dim) sum = op(sum, data[i]);
    }
    if (t < length) data[t] = sum;
    __syncthreads();
    for (int stride = block_dim / 2; stride > 32; stride /= 2) {
        if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t < 32) {
        sum = t < length ? data[t] : op.identity();
        if (t + 32 < length) sum = op(sum, data[t + 32]);
        for (int offset = 16; offset > 0; offset >>= 1) sum = op(sum, __shfl_down_sync(0xffffffffu, sum, offset));
        if (t == 0) out[blockIdx.x] = sum;
    }
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    reduceUnrollWarps8<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
}
