// Blocks of 1024 threads and the names of Professional CUDA C Programming, with the early return replaced by a guard.
#include "rounds.cuh"

constexpr int segment = 1024;

template <class T, class Op>
__global__ void reduceNeighbored(T* g_idata, T* g_odata, unsigned int n, Op op) {
    unsigned int tid = threadIdx.x;
    unsigned int idx = blockIdx.x * blockDim.x + threadIdx.x;
    T* idata = g_idata + blockIdx.x * blockDim.x;
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if ((tid % (2 * stride)) == 0 && idx + stride < n) {
            idata[tid] = op(idata[tid], idata[tid + stride]);
        }
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    dim3 block(segment, 1);
    dim3 grid((n + block.x - 1) / block.x, 1);
    reduceNeighbored<<<grid, block>>>(in, out, n, op);
    check(cudaGetLastError());
}
