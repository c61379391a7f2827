// The host chooses a kernel by a switch over the size of the block, as in Harris's reduction and in the
// document.
#include "rounds.cuh"

constexpr int segment = 8 * 256;

template <unsigned int iBlockSize, class T, class Op>
__global__ void reduceCompleteUnroll(T* g_idata, T* g_odata, unsigned int n, Op op) {
    unsigned int tid = threadIdx.x;
    unsigned int begin = blockIdx.x * iBlockSize * 8;
    T* idata = g_idata + begin;
    const unsigned int length = n - begin;
    if (tid < length) {
        T sum = idata[tid];
#pragma unroll
        for (unsigned int i = 1; i < 8; ++i)
            if (tid + i * iBlockSize < length) sum = op(sum, idata[tid + i * iBlockSize]);
        idata[tid] = sum;
    }
    __syncthreads();
#pragma unroll
    for (unsigned int stride = iBlockSize / 2; stride > 32; stride /= 2) {
        if (tid < stride && tid + stride < length) idata[tid] = op(idata[tid], idata[tid + stride]);
        __syncthreads();
    }
    if (tid < 32) {
#pragma unroll
        for (unsigned int stride = 32; stride > 0; stride /= 2) {
            if (tid < stride && tid + stride < length) idata[tid] = op(idata[tid], idata[tid + stride]);
            __syncwarp();
        }
    }
    if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    const int block = segment / 8;
    const int grid = (n + segment - 1) / segment;
    switch (block) {
        case 1024: reduceCompleteUnroll<1024><<<grid, block>>>(in, out, n, op); break;
        case 512: reduceCompleteUnroll<512><<<grid, block>>>(in, out, n, op); break;
        case 256: reduceCompleteUnroll<256><<<grid, block>>>(in, out, n, op); break;
        case 128: reduceCompleteUnroll<128><<<grid, block>>>(in, out, n, op); break;
    }
    check(cudaGetLastError());
}
