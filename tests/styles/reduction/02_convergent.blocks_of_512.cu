// Blocks of 512 threads, strides by shifts, and only the last block tests where the input ends: usual in
// course work.
#include "rounds.cuh"

const int BLOCK = 512;
const int segment = 2 * BLOCK;

template <typename T, typename Op>
__global__ void ConvergentReductionKernel(T *in, T *out, int n, Op op)
{
    T *base = in + (size_t)blockIdx.x * segment;
    int left = n - blockIdx.x * segment;
    int t = threadIdx.x;
    for (int s = BLOCK; s >= 1; s >>= 1) {
        if (t < s) {
            if (left >= segment || t + s < left)
                base[t] = op(base[t], base[t + s]);
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = *base;
}

template <class T, class Op>
void reduce_segments(T *in, T *out, int n, Op op)
{
    int blocks = (n + segment - 1) / segment;
    ConvergentReductionKernel<<<blocks, BLOCK>>>(in, out, n, op);
    check(cudaGetLastError());
}
