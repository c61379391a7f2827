// 03 Shared memory: the tree moves on chip, and the input stays as it was. Mirrors PMPP-notes 10.6.
// Changed from 02: a thread reads its two elements once and keeps what it makes of them in shared
// memory. Only the last partial result goes to global memory.
#include "rounds.cuh"

constexpr int block_dim = 1024;         // threads of a block
constexpr int segment = 2 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void shared_memory(const T* in, T* out, int n, Op op) {
    // kata: begin
    __shared__ T in_s[block_dim];  // one partial result per thread; its size must be known to the compiler
    const int t = threadIdx.x;
    const int i = 2 * blockDim.x * blockIdx.x + t;  // the blocks before take two elements per thread
    // The first round of 02. Past the end stands the identity, which changes no result: from here on every
    // thread has an element, and no round tests where the input ends.
    if (i + block_dim < n)
        in_s[t] = op(in[i], in[i + block_dim]);
    else
        in_s[t] = i < n ? in[i] : op.identity();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();  // before the round: the first one, too, reads what other threads have written
        if (t < stride) in_s[t] = op(in_s[t], in_s[t + stride]);
    }
    if (t == 0) out[blockIdx.x] = in_s[0];  // no barrier: thread 0 wrote it itself
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    shared_memory<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
