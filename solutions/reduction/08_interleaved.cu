// 08 Interleaved: the stride halves, and a warp's elements lie next to each other. Mirrors REDUCE-vi 4; its
// listing has the faults of 06. Changed against 07: as many threads work in each round as before, but they
// touch whole sectors. What 02 is to 01, in the other ladder.
#include "rounds.cuh"

constexpr int block = 512;  // threads, and elements of a block
constexpr int segment = block;

template <class T, class Op>
__global__ void interleaved(T* in, T* out, int n, Op op) {
    // kata: begin
    T* const data = in + blockIdx.x * block;
    const int length = n - blockIdx.x * block;
    const int t = threadIdx.x;
    for (int stride = block / 2; stride > 0; stride /= 2) {
        if (t < stride && t + stride < length) data[t] = op(data[t], data[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[0];
    // kata: end
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    // kata: begin
    interleaved<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
