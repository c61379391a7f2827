// 15 Warp shuffles: the rounds of the tree go from register to register. Beyond the documents; in NVIDIA's
// sample reduction it is reduce4 and what follows. Changed from 05 and 14: a warp reduces its 32 values by
// __shfl_down_sync, which needs neither memory nor a barrier. One value per warp goes through shared memory,
// with the only barrier of the block, and the first warp reduces those in the same way. A thread combines 16
// elements first, and blocks have 512 threads.
#include "reduction.cuh"

constexpr int block_dim = 512;  // threads of a block: at most 32 warps, because one reduces what they leave
constexpr int coarse_factor = 16;
constexpr int segment = coarse_factor * block_dim;  // elements that a block reduces

/// Returns the values of all lanes, combined, in lane 0.
template <class T, class Op>
__device__ T reduce_warp(T value, Op op) {
    // kata: begin
    // All lanes take part in every round, also those whose result is not used: the mask names 32.
    for (int stride = 16; stride > 0; stride /= 2) value = op(value, __shfl_down_sync(~0u, value, stride));
    return value;
    // kata: end
}

/// Returns the values of all threads of the block, combined, in thread 0.
template <class T, class Op>
__device__ T reduce_block(T value, Op op) {
    // kata: begin
    __shared__ T of_warp[block_dim / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = reduce_warp(value, op);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();  // the first warp reads what the others wrote
    // A whole warp again, as the mask says; lanes that have no warp's result hold what changes nothing.
    if (warp == 0) value = reduce_warp(lane < block_dim / 32 ? of_warp[lane] : op.identity(), op);
    return value;
    // kata: end
}

template <class T, class Op>
__global__ void warp_shuffles(const T* in, T* out, int n, Op op) {
    // kata: begin
    const int i = blockIdx.x * segment + threadIdx.x;
    T value = op.identity();
    // As in 05. For the last block i + tile * block_dim might overflow where the input is as long as an int
    // can count; n - i does not.
    for (int tile = 0; tile < coarse_factor; ++tile)
        if (tile * block_dim < n - i) value = op(value, in[i + tile * block_dim]);
    value = reduce_block(value, op);
    if (threadIdx.x == 0) atomic_combine(out, value, op);
    // kata: end
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    // kata: begin
    const T identity = op.identity();
    // From memory that is not pinned: copied before the call returns, so that `identity` may go.
    check(cudaMemcpyAsync(out, &identity, sizeof identity, cudaMemcpyHostToDevice));
    if (n == 0) return;
    warp_shuffles<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
