// The round with stride 64 is forgotten.
//
// Rejected: elements differ
#include "rounds.cuh"

constexpr int block = 512;          // threads
constexpr int segment = 8 * block;  // elements of a block

template <class T, class Op>
__global__ void complete_unroll(T* in, T* out, int n, Op op) {
    T* const data = in + blockIdx.x * segment;
    const int length = n - blockIdx.x * segment;
    const int t = threadIdx.x;
    if (segment <= length) {
        const T a1 = data[t], a2 = data[t + block], a3 = data[t + 2 * block], a4 = data[t + 3 * block];
        const T b1 = data[t + 4 * block], b2 = data[t + 5 * block], b3 = data[t + 6 * block],
                b4 = data[t + 7 * block];
        data[t] = op(op(op(a1, a2), op(a3, a4)), op(op(b1, b2), op(b3, b4)));
    } else {
        for (int i = t + block; i < length; i += block) data[t] = op(data[t], data[i]);
    }
    __syncthreads();
    const auto combine = [&](int stride) {
        if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
    };
    if (blockDim.x >= 1024) combine(512);
    __syncthreads();
    if (blockDim.x >= 512) combine(256);
    __syncthreads();
    if (blockDim.x >= 256) combine(128);
    __syncthreads();
    if (t < 32) {
#pragma unroll
        for (int stride = 32; stride > 0; stride /= 2) {
            combine(stride);
            __syncwarp();
        }
    }
    if (t == 0) out[blockIdx.x] = data[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    complete_unroll<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
}
