// Whether there is a partner is not asked: the last segment takes in what lies behind the input.
//
// Rejected: out of bounds
// On a GPU: elements differ
#include "rounds.cuh"

constexpr int block = 1024;         // threads
constexpr int segment = 2 * block;  // elements of a block

template <class T, class Op>
__global__ void convergent(T* in, T* out, int n, Op op) {
    T* const data = in + blockIdx.x * segment;
    const int length = n - blockIdx.x * segment;
    const int t = threadIdx.x;
    for (int stride = block; stride > 0; stride /= 2) {
        if (t < stride) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    convergent<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
}
