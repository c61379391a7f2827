// All lanes end with the result, by __shfl_xor_sync, in blocks of 1024 threads with a leading barrier: as in
// PyTorch's block reductions.
#include "reduction.cuh"

#define FULL_MASK 0xffffffff

constexpr int block_dim = 1024;
constexpr int items = 8;

template <class T, class Op>
__device__ __forceinline__ T WarpReduce(T val, Op op) {
#pragma unroll
    for (int mask = warpSize / 2; mask > 0; mask >>= 1) val = op(val, __shfl_xor_sync(FULL_MASK, val, mask, warpSize));
    return val;
}

template <class T, class Op>
__device__ __forceinline__ T BlockReduce(T val, T* shared, Op op) {
    const int tid = threadIdx.x;
    const int lid = tid & 31, wid = tid >> 5;
    val = WarpReduce(val, op);
    __syncthreads();  // if the array is used repeatedly
    if (lid == 0) shared[wid] = val;
    __syncthreads();
    val = tid < blockDim.x / warpSize ? shared[lid] : op.identity();
    if (wid == 0) val = WarpReduce(val, op);
    return val;
}

template <class T, class Op>
__global__ void __launch_bounds__(block_dim) sum_kernel(const T* __restrict__ in, T* out, int n, Op op) {
    __shared__ T shared[32];
    T val = op.identity();
    const unsigned base = blockIdx.x * items * block_dim + threadIdx.x;
#pragma unroll
    for (int k = 0; k < items; ++k) {
        const unsigned idx = base + k * block_dim;
        if (idx < static_cast<unsigned>(n)) val = op(val, in[idx]);
    }
    val = BlockReduce(val, shared, op);
    if (threadIdx.x == 0) atomic_combine(out, val, op);
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    const T identity = op.identity();
    check(cudaMemcpyAsync(out, &identity, sizeof(T), cudaMemcpyHostToDevice));
    if (n == 0) return;
    sum_kernel<<<ceil_div(n, items * block_dim), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
}
