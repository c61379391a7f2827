// Blocks of 1024 threads, and the index of a thread's pair as in the document.
#include "rounds.cuh"

constexpr int segment = 1024;

template <class T, class Op>
__global__ void reduceNeighboredLess(T* g_idata, T* g_odata, unsigned int n, Op op) {
    unsigned int tid = threadIdx.x;
    unsigned int begin = blockIdx.x * blockDim.x;
    T* idata = g_idata + begin;
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        int index = 2 * stride * tid;
        if (index < blockDim.x && begin + index + stride < n) {
            idata[index] = op(idata[index], idata[index + stride]);
        }
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    reduceNeighboredLess<<<(n + segment - 1) / segment, segment>>>(in, out, n, op);
    check(cudaGetLastError());
}
