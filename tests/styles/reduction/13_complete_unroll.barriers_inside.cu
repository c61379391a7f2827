// The barriers are inside the tests, whose result is the same for all threads of the block; blocks of 256
// threads.
#include "rounds.cuh"

constexpr int threads = 256;
constexpr int segment = 8 * threads;

#define ROUND(s)                                                                      \
    if (blockDim.x >= 2 * (s)) {                                                      \
        if (tid < (s) && tid + (s) < length) data[tid] = op(data[tid], data[tid + (s)]); \
        __syncthreads();                                                              \
    }

#define WARP_ROUND(s)                                                                 \
    if (tid < (s) && tid + (s) < length) data[tid] = op(data[tid], data[tid + (s)]);  \
    __syncwarp();

template <class T, class Op>
__global__ void reduceCompleteUnrollWarps8(T* in, T* out, int n, Op op) {
    const int tid = threadIdx.x;
    T* data = in + blockIdx.x * segment;
    const int length = n - blockIdx.x * segment;
    if (length >= segment) {
        T sum = data[tid];
#pragma unroll
        for (int k = 1; k < 8; ++k) sum = op(sum, data[tid + k * threads]);
        data[tid] = sum;
    } else {
        for (int i = tid + threads; i < length; i += threads) data[tid] = op(data[tid], data[i]);
    }
    __syncthreads();
    ROUND(512)
    ROUND(256)
    ROUND(128)
    ROUND(64)
    if (tid < 32) {
        WARP_ROUND(32)
        WARP_ROUND(16)
        WARP_ROUND(8)
        WARP_ROUND(4)
        WARP_ROUND(2)
        WARP_ROUND(1)
    }
    if (tid == 0) out[blockIdx.x] = data[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    reduceCompleteUnrollWarps8<<<(n + segment - 1) / segment, threads>>>(in, out, n, op);
    check(cudaGetLastError());
}
