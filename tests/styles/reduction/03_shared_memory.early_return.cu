// The book's loop with the barrier first, loads without a second if, and an early return of all threads but
// one at the end.
#include "rounds.cuh"

#define BLOCK_DIM 1024
constexpr int segment = 2 * BLOCK_DIM;

template <class T, class Op>
__device__ T load_or(const T* in, int i, int n, Op op) {
    return i < n ? in[i] : op.identity();
}

template <class T, class Op>
__global__ void reduce_shared(const T* in, T* out, int n, Op op) {
    __shared__ T s[BLOCK_DIM];
    const unsigned t = threadIdx.x;
    const int i = blockIdx.x * segment + t;
    s[t] = op(load_or(in, i, n, op), load_or(in, i + BLOCK_DIM, n, op));
    for (unsigned stride = BLOCK_DIM / 2; stride >= 1; stride >>= 1) {
        __syncthreads();
        if (t < stride) s[t] = op(s[t], s[t + stride]);
    }
    if (t != 0) return;
    out[blockIdx.x] = s[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    reduce_shared<<<ceil_div(n, segment), BLOCK_DIM>>>(in, out, n, op);
    check(cudaGetLastError());
}
