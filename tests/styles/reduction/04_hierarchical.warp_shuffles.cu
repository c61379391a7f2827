// Warps reduce by shuffles, the first warp reduces their results, and one thread combines: usual since
// Kepler.
#include "reduction.cuh"

constexpr int block_dim = 1024;

template <class T, class Op>
__device__ __forceinline__ T warpReduce(T value, Op op) {
#pragma unroll
    for (int offset = warpSize / 2; offset > 0; offset /= 2) value = op(value, __shfl_down_sync(0xffffffff, value, offset));
    return value;
}

template <class T, class Op>
__global__ void hierarchical(const T* in, T* out, int n, Op op) {
    __shared__ T warps[32];
    const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    const int i = blockIdx.x * 2 * block_dim + threadIdx.x;
    T value = i < n ? in[i] : op.identity();
    if (i + block_dim < n) value = op(value, in[i + block_dim]);
    value = warpReduce(value, op);
    if (lane == 0) warps[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = warpReduce(warps[lane], op);
        if (lane == 0) atomic_combine(out, value, op);
    }
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    const T identity = op.identity();
    check(cudaMemcpy(out, &identity, sizeof(T), cudaMemcpyHostToDevice));
    if (n == 0) return;
    hierarchical<<<ceil_div(n, 2 * block_dim), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
}
