// 01 Simple: a tree over neighbouring pairs, in global memory. Mirrors PMPP-notes 10.3, whose listing is a
// picture, and whose one block ends at 2048 elements: here every 2048 have a block of their own, and what
// the blocks leave is reduced by the same kernel again.
#include "rounds.cuh"

constexpr int block = 1024;         // threads
constexpr int segment = 2 * block;  // elements of a block

template <class T, class Op>
__global__ void simple(T* in, T* out, int n, Op op) {
    // kata: begin
    T* const data = in + blockIdx.x * segment;  // the tree grows where the input was
    const int length = n - blockIdx.x * segment;
    const int i = 2 * threadIdx.x;
    for (int stride = 1; stride <= block; stride *= 2) {
        // an element without a partner goes up the tree as it is
        if (threadIdx.x % stride == 0 && i + stride < length) data[i] = op(data[i], data[i + stride]);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = data[0];
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    simple<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
