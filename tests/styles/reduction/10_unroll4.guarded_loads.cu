// Each of the four loads has a guard and takes the identity past the end; blocks of 256: usual where all
// blocks should run the same code.
#include "rounds.cuh"

constexpr int threads = 256;
constexpr int segment = 4 * threads;

template <class T, class Op>
__global__ void unrolled4(T* in, T* out, int n, Op op) {
    const int t = threadIdx.x;
    const int first = blockIdx.x * segment;
    T* const mine = in + first;
    const int left = n - first;
    T v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = t + k * threads < left ? mine[t + k * threads] : op.identity();
    if (t < left) mine[t] = op(op(v[0], v[1]), op(v[2], v[3]));
    __syncthreads();
    for (int s = threads / 2; s > 0; s /= 2) {
        if (t < s && t + s < left) mine[t] = op(mine[t], mine[t + s]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = mine[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    unrolled4<<<ceil_div(n, segment), threads>>>(in, out, n, op);
    check(cudaGetLastError());
}
