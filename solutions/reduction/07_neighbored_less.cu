// 07 Neighbored, less divergence: the same pairs, taken by the first threads of the block. Mirrors REDUCE-vi
// 3. Changed from 06: the thread's number chooses the pair and not the element, so that whole warps are
// without work instead of most lanes of every warp, and no thread divides.
#include "rounds.cuh"

constexpr int block_dim = 512;      // threads of a block
constexpr int segment = block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void neighbored_less(T* in, T* out, int n, Op op) {
    // kata: begin
    const int block = blockDim.x;
    const int first = blockIdx.x * block;  // where this block's segment begins
    T* const data = in + first;
    const int length = n - first;  // elements from there to the end of the input
    const int t = threadIdx.x;
    for (int stride = 1; stride < block; stride *= 2) {
        const int i = 2 * stride * t;  // thread t takes pair t of this round, if there is one
        // So the first threads have work, and the warps behind them have none.
        if (i < block && i + stride < length) data[i] = op(data[i], data[i + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    neighbored_less<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
