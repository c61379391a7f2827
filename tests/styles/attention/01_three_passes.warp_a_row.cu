// A warp has a row, and a block eight of them along y. Warps need neither shared memory nor barriers. Usual for short
// rows.
#include "softmax.cuh"

#define FULL_MASK 0xffffffffu

__inline__ __device__ float warpMax(float v) {
    for (int offset = 16; offset > 0; offset >>= 1) v = fmaxf(v, __shfl_xor_sync(FULL_MASK, v, offset));
    return v;
}
__inline__ __device__ float warpSum(float v) {
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(FULL_MASK, v, offset);
    return v;
}

__global__ void softmaxWarp(const float* __restrict__ x, float* __restrict__ y, int M, int N) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= M) return;
    x += (size_t)row * N;
    y += (size_t)row * N;

    float m = -INFINITY;
    for (int i = threadIdx.x; i < N; i += 32) m = fmaxf(m, x[i]);
    m = warpMax(m);

    float s = 0.0f;
    for (int i = threadIdx.x; i < N; i += 32) s += expf(x[i] - m);
    const float inv = 1.0f / warpSum(s);

    for (int i = threadIdx.x; i < N; i += 32) y[i] = expf(x[i] - m) * inv;
}

void softmax(const float* in, float* out, int rows, int columns) {
    if (rows == 0 || columns == 0) return;
    const dim3 block(32, 8);
    softmaxWarp<<<ceil_div(rows, (int)block.y), block>>>(in, out, rows, columns);
    check(cudaGetLastError());
}
