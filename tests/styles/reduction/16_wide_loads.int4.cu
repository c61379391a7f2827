// CUDA's own int4, whose bytes are unpacked, blocks of 512 threads and two loads a thread: usual where one
// kernel serves several types.
#include "reduction.cuh"

constexpr int block_dim = 512;
constexpr int vectors = 2;

template <class T, class Op>
__device__ T warp_reduce(T v, Op op) {
    for (int d = 16; d >= 1; d /= 2) v = op(v, __shfl_down_sync(0xffffffffu, v, d));
    return v;
}

template <class T, class Op>
__global__ void vectorized(const T* in, T* out, int n, Op op) {
    constexpr int per = sizeof(int4) / sizeof(T);
    const int4* in4 = reinterpret_cast<const int4*>(in);
    const int n4 = n / per;
    const int i = blockIdx.x * block_dim * vectors + threadIdx.x;
    int4 raw[vectors];
#pragma unroll
    for (int v = 0; v < vectors; v++)
        if (i + v * block_dim < n4) raw[v] = in4[i + v * block_dim];
    T sum = op.identity();
#pragma unroll
    for (int v = 0; v < vectors; v++) {
        if (i + v * block_dim >= n4) continue;
        T part[per];
        memcpy(part, &raw[v], sizeof(part));
#pragma unroll
        for (int k = 0; k < per; k++) sum = op(sum, part[k]);
    }
    const int rest = n4 * per + i;
    if (i < per && rest < n) sum = op(sum, in[rest]);

    __shared__ T shared[block_dim / 32];
    sum = warp_reduce(sum, op);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < block_dim / 32 ? shared[threadIdx.x] : op.identity();
        sum = warp_reduce(sum, op);
        if (threadIdx.x == 0) atomic_combine(out, sum, op);
    }
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    T start = op.identity();
    check(cudaMemcpy(out, &start, sizeof start, cudaMemcpyHostToDevice));
    if (n == 0) return;
    vectorized<<<n / (block_dim * vectors * (sizeof(int4) / sizeof(T))) + 1, block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
}
