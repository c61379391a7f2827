// Blocks of 1024 threads, shifts for halves, and a lambda that tests whether a pair exists.
#include "rounds.cuh"

constexpr int segment = 1024;

template <class T, class Op>
__global__ void reduceInterleaved(T* g_idata, T* g_odata, int n, Op op) {
    const int tid = threadIdx.x, offset = blockIdx.x * blockDim.x;
    T* idata = g_idata + offset;
    auto exists = [=](int place) { return offset + place < n; };
    for (int stride = blockDim.x >> 1; stride; stride >>= 1) {
        if (tid < stride && exists(tid + stride)) idata[tid] = op(idata[tid], idata[tid + stride]);
        __syncthreads();
    }
    if (!tid) g_odata[blockIdx.x] = *idata;
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    reduceInterleaved<<<ceil_div(n, segment), segment>>>(in, out, n, op);
    check(cudaGetLastError());
}
