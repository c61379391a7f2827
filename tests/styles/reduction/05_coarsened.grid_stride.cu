// A grid-stride loop over a grid that is no larger than the device can run at a time: usual in NVIDIA's newer
// samples.
#include "reduction.cuh"

constexpr int threads = 512;

template <class T, class Op>
__global__ void coarsened(const T* __restrict__ in, T* __restrict__ out, size_t n, Op op) {
    __shared__ T s[threads];
    T sum = op.identity();
    for (size_t i = blockIdx.x * (size_t)threads + threadIdx.x; i < n; i += (size_t)gridDim.x * threads) sum = op(sum, in[i]);
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int half = threads / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half) s[threadIdx.x] = op(s[threadIdx.x], s[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) atomic_combine(out, s[0], op);
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    T identity = op.identity();
    check(cudaMemcpy(out, &identity, sizeof identity, cudaMemcpyHostToDevice));
    if (n == 0) return;
    const int blocks = min(ceil_div(n, 16 * threads), 528);
    coarsened<<<blocks, threads>>>(in, out, n, op);
    check(cudaGetLastError());
}
