// The document's volatile pointer for the last warp, with __syncwarp() between reads and writes: usual in
// code that was repaired for Volta.
#include "rounds.cuh"

constexpr int segment = 8 * 256;

template <class T, class Op>
__device__ void warp_step(volatile T* vmem, int tid, int stride, int length, Op op) {
    T mine = vmem[tid];
    if (tid + stride < length) {
        T other = vmem[tid + stride];
        mine = op(mine, other);
    }
    __syncwarp();
    vmem[tid] = mine;
    __syncwarp();
}

template <class T, class Op>
__global__ void reduceUnrollWarps8(T* g_idata, T* g_odata, int n, Op op) {
    const int tid = threadIdx.x;
    const int begin = blockIdx.x * blockDim.x * 8;
    T* idata = g_idata + begin;
    const int length = n - begin;
    if (length >= segment) {
        T a1 = idata[tid], a2 = idata[tid + 256], a3 = idata[tid + 512], a4 = idata[tid + 768];
        T b1 = idata[tid + 1024], b2 = idata[tid + 1280], b3 = idata[tid + 1536], b4 = idata[tid + 1792];
        idata[tid] = op(op(op(a1, a2), op(a3, a4)), op(op(b1, b2), op(b3, b4)));
    } else {
        for (int i = tid + 256; i < length; i += 256) idata[tid] = op(idata[tid], idata[i]);
    }
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 32; stride >>= 1) {
        if (tid < stride && tid + stride < length) idata[tid] = op(idata[tid], idata[tid + stride]);
        __syncthreads();
    }
    if (tid < 32 && length >= 64) {
        volatile T* vmem = idata;
        warp_step(vmem, tid, 32, length, op);
        warp_step(vmem, tid, 16, length, op);
        warp_step(vmem, tid, 8, length, op);
        warp_step(vmem, tid, 4, length, op);
        warp_step(vmem, tid, 2, length, op);
        warp_step(vmem, tid, 1, length, op);
    } else if (tid == 0) {
        for (int i = 1; i < length && i < 64; ++i) idata[0] = op(idata[0], idata[i]);  // less than a warp's work is left
    }
    if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    reduceUnrollWarps8<<<ceil_div(n, segment), 256>>>(in, out, n, op);
    check(cudaGetLastError());
}
