// A kernel of one thread stores the identity before the reduction: usual where a copy from the host is
// avoided.
#include "reduction.cuh"

#define BLOCK_DIM 1024

template <class T, class Op>
__global__ void init(T* out, Op op) {
    *out = op.identity();
}

template <class T, class Op>
__global__ void SegmentedReductionKernel(const T* input, T* output, int n, Op op) {
    __shared__ T input_s[BLOCK_DIM];
    unsigned int seg = 2 * blockDim.x * blockIdx.x;
    unsigned int i = seg + threadIdx.x;
    unsigned int t = threadIdx.x;
    T mine = op.identity();
    if (i < n) mine = input[i];
    if (i + BLOCK_DIM < n) mine = op(mine, input[i + BLOCK_DIM]);
    input_s[t] = mine;
    for (unsigned int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (t < stride) input_s[t] = op(input_s[t], input_s[t + stride]);
    }
    if (t == 0) atomic_combine(output, input_s[0], op);
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    init<<<1, 1>>>(out, op);
    check(cudaGetLastError());
    if (n == 0) return;
    SegmentedReductionKernel<<<n / (2 * BLOCK_DIM) + 1, BLOCK_DIM>>>(in, out, n, op);
    check(cudaGetLastError());
}
