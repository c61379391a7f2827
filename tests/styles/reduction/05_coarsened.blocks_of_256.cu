// Blocks of 256 threads with 16 elements each, in a grid that keeps 132 multiprocessors busy: the block size
// of most samples, and trees of eight rounds.
#include "reduction.cuh"
constexpr int block_dim = 256;
constexpr int most_blocks = 132 * 8;
template <class T, class Op>
__global__ void coarsened(const T* in, T* out, int n, Op op) {
    __shared__ T part[block_dim];
    const int t = threadIdx.x;
    const size_t step = size_t{gridDim.x} * block_dim;
    T value = op.identity();
#pragma unroll 8
    for (size_t i = size_t{blockIdx.x} * block_dim + t; i < size_t(n); i += step) value = op(value, in[i]);
    part[t] = value;
    for (int stride = block_dim / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) part[t] = op(part[t], part[t + stride]);
    }
    if (t == 0) atomic_combine(out, part[0], op);
}
template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    const T identity = op.identity();
    check(cudaMemcpyAsync(out, &identity, sizeof identity, cudaMemcpyHostToDevice));
    if (n == 0) return;
    const int blocks = ceil_div(n, 16 * block_dim);
    coarsened<<<blocks < most_blocks ? blocks : most_blocks, block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
}
