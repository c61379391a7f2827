// The listing of REDUCE-vi 5: its first round looks at the end of the input, and its tree does not.
//
// Rejected: out of bounds
// On a GPU: out of bounds
#include "rounds.cuh"

constexpr int block = 512;          // threads
constexpr int segment = 2 * block;  // elements of a block

template <class T, class Op>
__global__ void unroll2(T* in, T* out, int n, Op op) {
    T* const data = in + blockIdx.x * segment;
    const int length = n - blockIdx.x * segment;
    const int t = threadIdx.x;
    if (t + block < length) data[t] = op(data[t], data[t + block]);
    __syncthreads();
    for (int stride = block / 2; stride > 0; stride /= 2) {
        if (t < stride) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    unroll2<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
}
