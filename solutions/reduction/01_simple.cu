// 01 Simple: a tree over neighbouring pairs, in global memory. Mirrors PMPP-notes 10.3. One block
// reaches 2048 elements, so every 2048 have a block of their own, and the same kernel reduces what
// the blocks leave, until one value is left (rounds.cuh).
#include "rounds.cuh"

constexpr int block_dim = 1024;         // threads of a block
constexpr int segment = 2 * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void simple(T* in, T* out, int n, Op op) {
    // kata: begin
    // Built-in variables are unsigned. As int they can be compared with n.
    const int block = blockDim.x;
    const int first = blockIdx.x * 2 * block;  // where this block's segment begins
    T* const data = in + first;                // in place: partial results replace the input
    const int length = n - first;              // elements from there to the end of the input
    const int t = threadIdx.x;
    const int i = 2 * t;  // two elements per thread: this one and its neighbour
    for (int stride = 1; stride <= block; stride *= 2) {
        // Partial results lie a stride apart. Threads whose number is a multiple of the stride combine theirs
        // with the next one. A result without a neighbour stays as it is.
        if (t % stride == 0 && i + stride < length) data[i] = op(data[i], data[i + stride]);
        // The next round reads what other threads have written in this one. All threads must come to a
        // barrier, so it stands outside of the condition.
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];  // the root of the tree; thread 0 wrote it itself
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    simple<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);  // rounded up: the last segment may be short
    check(cudaGetLastError());  // <<<…>>> returns nothing: this says whether it was refused
    // kata: end
}
