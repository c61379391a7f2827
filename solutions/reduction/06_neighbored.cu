// 06 Neighbored: the second ladder begins, with neighbouring pairs and one element per thread.
// Mirrors REDUCE-vi 2, where the CPU adds up the partial results. Changed from 01: every other
// thread is without work from the first round on.
#include "rounds.cuh"

constexpr int block_dim = 512;      // threads of a block
constexpr int segment = block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void neighbored(T* in, T* out, int n, Op op) {
    // kata: begin
    // Up to step 13, as in the document, the compiler does not know the size of the block: it cannot
    // unroll the loop over the rounds, and the remainder below is a division.
    const int block = blockDim.x;
    const int first = blockIdx.x * block;  // where this block's segment begins
    T* const data = in + first;            // in place: partial results replace the input
    const int length = n - first;          // elements from there to the end of the input
    const int t = threadIdx.x;
    for (int stride = 1; stride < block; stride *= 2) {
        // As in 01, but thread t takes element t: no odd thread has work in any round.
        if (t % (2 * stride) == 0 && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();  // the next round reads what other threads have written in this one
    }
    if (t == 0) out[blockIdx.x] = data[0];
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    neighbored<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
