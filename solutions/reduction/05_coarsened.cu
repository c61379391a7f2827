// 05 Coarsened: a thread combines several elements on its own before the tree begins. Mirrors
// PMPP-notes 10.8. Changed from 04: where blocks would take turns on the hardware anyway, fewer of
// them do the same work, with a fraction of the trees, their barriers and their idle threads; and a
// thread has eight loads in flight instead of two.
// Neighbouring threads still read neighbouring elements.
#include "reduction.cuh"

constexpr int block_dim = 1024;  // threads of a block
constexpr int coarse_factor = 4;
constexpr int segment = 2 * coarse_factor * block_dim;  // elements that a block reduces

template <class T, class Op>
__global__ void coarsened(const T* in, T* out, int n, Op op) {
    // kata: begin
    __shared__ T in_s[block_dim];
    const int t = threadIdx.x;
    const int i = coarse_factor * 2 * blockDim.x * blockIdx.x + t;
    T value = i < n ? in[i] : op.identity();  // in a register, which needs no barrier
    // The elements of a thread lie a block apart, so those of a warp lie side by side. The number of rounds
    // is a constant: the compiler unrolls the loop, and no load waits for the one before.
    for (int tile = 1; tile < 2 * coarse_factor; ++tile) {
        if (i + tile * block_dim < n) value = op(value, in[i + tile * block_dim]);
    }
    in_s[t] = value;  // here the tree of 03 begins
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) in_s[t] = op(in_s[t], in_s[t + stride]);
    }
    if (t == 0) atomic_combine(out, in_s[0], op);
    // kata: end
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, Op op) {
    // kata: begin
    const T identity = op.identity();
    // From memory that is not pinned: copied before the call returns, so that `identity` may go.
    check(cudaMemcpyAsync(out, &identity, sizeof identity, cudaMemcpyHostToDevice));
    if (n == 0) return;
    coarsened<<<ceil_div(n, segment), block_dim>>>(in, out, n, op);
    check(cudaGetLastError());
    // kata: end
}
