// Blocks of 256 threads, as many samples have them.
#include "rounds.cuh"

constexpr int block = 256, segment = 2 * block;

template <class T, class Op>
__global__ void reduceUnrolling2(T* g_idata, T* g_odata, unsigned n, Op op) {
    const unsigned tid = threadIdx.x;
    const unsigned idx = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    T* idata = g_idata + blockIdx.x * blockDim.x * 2;
    if (idx + blockDim.x < n) g_idata[idx] = op(g_idata[idx], g_idata[idx + blockDim.x]);
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride && idx + stride < n) idata[tid] = op(idata[tid], idata[tid + stride]);
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    reduceUnrolling2<<<(n - 1) / segment + 1, block>>>(in, out, n, op);
    check(cudaGetLastError());
}
