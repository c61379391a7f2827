// Blocks of 256 threads, the names of Professional CUDA C Programming, eight variables and one sum of all.
#include "rounds.cuh"

constexpr int block_size = 256;
constexpr int segment = 8 * block_size;

template <class T, class Op>
__global__ void reduceUnrolling8(T* g_idata, T* g_odata, unsigned int n, Op op) {
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    T* idata = g_idata + blockIdx.x * blockDim.x * 8;
    if (idx + 7 * blockDim.x < n) {
        T a1 = g_idata[idx];
        T a2 = g_idata[idx + blockDim.x];
        T a3 = g_idata[idx + 2 * blockDim.x];
        T a4 = g_idata[idx + 3 * blockDim.x];
        T b1 = g_idata[idx + 4 * blockDim.x];
        T b2 = g_idata[idx + 5 * blockDim.x];
        T b3 = g_idata[idx + 6 * blockDim.x];
        T b4 = g_idata[idx + 7 * blockDim.x];
        g_idata[idx] = op(op(op(op(op(op(op(a1, a2), a3), a4), b1), b2), b3), b4);
    } else if (idx < n) {
        T sum = g_idata[idx];
        for (unsigned int i = idx + blockDim.x; i < n; i += blockDim.x) sum = op(sum, g_idata[i]);
        g_idata[idx] = sum;
    }
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
        if (tid < stride && idx + stride < n) idata[tid] = op(idata[tid], idata[tid + stride]);
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    reduceUnrolling8<<<ceil_div(n, segment), block_size>>>(in, out, n, op);
    check(cudaGetLastError());
}
