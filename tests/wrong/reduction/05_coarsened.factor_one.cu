// The right answer from as many blocks as before: the coarsening is in the loop and not in the launch.
//
// Rejected: right, but without the point of the step
// On a GPU: right, but without the point of the step
#include "reduction.cuh"

constexpr int block = 1024;  // threads
constexpr int coarse_factor = 1;
constexpr int segment = 2 * coarse_factor * block;  // elements of a block

template <class T, class Op>
__global__ void coarsened(const T* in, T* out, int n, Op op) {
    __shared__ T in_s[block];
    const int t = threadIdx.x;
    const int i = blockIdx.x * segment + t;
    T value = i < n ? in[i] : op.identity();
    for (int tile = 1; tile < 2 * coarse_factor; ++tile)
        if (i + tile * block < n) value = op(value, in[i + tile * block]);
    in_s[t] = value;
    for (int stride = block / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (t < stride) in_s[t] = op(in_s[t], in_s[t + stride]);
    }
    if (t == 0) atomic_combine(out, in_s[0], op);
}

template <class T, class Op>
void reduce(T* in, T* out, int n, T* partials, Op op) {
    const T identity = op.identity();
    check(cudaMemcpyAsync(out, &identity, sizeof identity, cudaMemcpyHostToDevice));
    if (n == 0) return;
    coarsened<<<ceil_div(n, segment), block>>>(in, out, n, op);
    check(cudaGetLastError());
}
