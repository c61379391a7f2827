// Blocks of 512 threads, and the tree in dynamic shared memory declared as bytes: usual where the host
// chooses the size.
#include "rounds.cuh"

constexpr int threads = 512;
constexpr int segment = 2 * threads;

template <class T, class Op>
__global__ void SharedMemoryReductionKernel(const T* input, T* output, int n, Op op) {
    extern __shared__ __align__(8) unsigned char bytes[];
    T* input_s = reinterpret_cast<T*>(bytes);
    const int t = threadIdx.x, i = blockIdx.x * segment + t;
    const T first = i < n ? input[i] : op.identity();
    const T second = n - i > threads ? input[i + threads] : op.identity();
    input_s[t] = op(first, second);
    __syncthreads();
    for (int stride = threads / 2; stride >= 1; stride /= 2) {
        if (t < stride) input_s[t] = op(input_s[t], input_s[t + stride]);
        __syncthreads();
    }
    if (t == 0) output[blockIdx.x] = input_s[0];
}

template <class T, class Op>
void reduce_segments(T* in, T* out, int n, Op op) {
    SharedMemoryReductionKernel<<<ceil_div(n, segment), threads, threads * sizeof(T)>>>(in, out, n, op);
    check(cudaGetLastError());
}
