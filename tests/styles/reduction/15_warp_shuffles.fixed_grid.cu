// A grid-stride loop in as many blocks as fill 132 multiprocessors, also for an input that gives each thread
// one element: the launch of many libraries and blogs.
#include "reduction.cuh"

constexpr int block_dim = 256, most_blocks = 132 * 8;

template <class T, class Op>
__device__ T reduce_warp(T value, Op op) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value = op(value, __shfl_down_sync(0xffffffff, value, offset));
    return value;
}

template <class T, class Op>
__global__ void reduce_in_strides(const T* in, T* out, int n, Op op) {
    __shared__ T of_warp[32];
    const size_t stride = size_t{gridDim.x} * blockDim.x;
    T value = op.identity();
    for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size_t(n); i += stride)
        value = op(value, in[i]);
    value = reduce_warp(value, op);
    if (threadIdx.x % warpSize == 0) of_warp[threadIdx.x / warpSize] = value;
    __syncthreads();
    if (threadIdx.x >= warpSize) return;
    value = reduce_warp(threadIdx.x < blockDim.x / warpSize ? of_warp[threadIdx.x] : op.identity(), op);
    if (threadIdx.x == 0) atomic_combine(out, value, op);
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    const T identity = op.identity();
    check(cudaMemcpyAsync(out, &identity, sizeof identity, cudaMemcpyHostToDevice));
    if (n == 0) return;
    reduce_in_strides<<<min(ceil_div(n, block_dim), most_blocks), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
}
