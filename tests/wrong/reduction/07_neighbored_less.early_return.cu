// The listing of REDUCE-vi 3: threads beyond the end leave before the barrier.
//
// Rejected: divergent barrier
// On a GPU: no element of the output was ever written
#include "rounds.cuh"

constexpr int block = 512;  // threads, and elements of a block
constexpr int segment = block;

template <class T, class Op>
__global__ void neighbored_less(T* in, T* out, int n, Op op) {
    T* const data = in + blockIdx.x * block;
    const int length = n - blockIdx.x * block;
    if (static_cast<int>(threadIdx.x) >= length) return;
    for (int stride = 1; stride < block; stride *= 2) {
        const int i = 2 * stride * threadIdx.x;
        if (i < block && i + stride < length) data[i] = op(data[i], data[i + stride]);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = data[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    neighbored_less<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
}
