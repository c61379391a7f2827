// The book's loop over 2 · COARSE_FACTOR tiles, with a factor of 8, blocks of 512, and a kernel that stores
// the identity.
#include "reduction.cuh"

#define BLOCK_DIM 512
#define COARSE_FACTOR 8

template <class T, class Op>
__global__ void set_identity(T* output, Op op) {
    if (threadIdx.x == 0) *output = op.identity();
}

template <class T, class Op>
__global__ void CoarsenedReductionKernel(const T* input, T* output, int n, Op op) {
    __shared__ T input_s[BLOCK_DIM];
    unsigned int segment = COARSE_FACTOR * 2 * blockDim.x * blockIdx.x;
    unsigned int i = segment + threadIdx.x;
    unsigned int t = threadIdx.x;
    T sum = op.identity();
    for (unsigned int tile = 0; tile < COARSE_FACTOR * 2; ++tile) {
        unsigned int at = i + tile * BLOCK_DIM;
        if (at < n) sum = op(sum, input[at]);
    }
    input_s[t] = sum;
    for (unsigned int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (t < stride) input_s[t] = op(input_s[t], input_s[t + stride]);
    }
    if (t == 0) atomic_combine(output, input_s[0], op);
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    set_identity<<<1, 32>>>(out, op);
    check(cudaGetLastError());
    if (n == 0) return;
    CoarsenedReductionKernel<<<(n - 1) / (2 * COARSE_FACTOR * BLOCK_DIM) + 1, BLOCK_DIM>>>(in, out, n, op);
    check(cudaGetLastError());
}
