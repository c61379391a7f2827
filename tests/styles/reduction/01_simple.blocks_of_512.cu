// Blocks of 512 threads and the book's unsigned names, the input pointer moved to the block's segment.
#include "rounds.cuh"

constexpr int segment = 1024;

template <class T, class Op>
__global__ void SimpleReductionKernel(T* input, T* output, unsigned int n, Op op) {
    input += blockIdx.x * 1024u;
    n -= blockIdx.x * 1024u;
    unsigned int i = 2 * threadIdx.x;
    for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
        if (threadIdx.x % stride == 0) {
            if (i + stride < n) input[i] = op(input[i], input[i + stride]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) output[blockIdx.x] = input[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    SimpleReductionKernel<<<(n + 1023) / 1024, 512>>>(in, out, (unsigned)n, op);
    check(cudaGetLastError());
}
