// 512 threads with 8 elements each. A kernel clears the flags, atomicOr polls a flag, and atomicAdd sets it.
#include "whole.cuh"

constexpr int threads = 512;
constexpr int coarse_factor = 8;
constexpr int section = threads * coarse_factor;

template <class T, class Op>
__device__ void scan_in_place(T* x, Op op) {
    __shared__ T last[threads];
    const int t = threadIdx.x;
    __syncthreads();
    T* const mine = x + padded(t * coarse_factor);
    T sum = mine[0];
    for (int k = 1; k < coarse_factor; ++k) mine[k] = sum = op(sum, mine[k]);
    last[t] = sum;
    for (int stride = 1; stride < threads; stride *= 2) {
        __syncthreads();
        if (t >= stride) sum = op(last[t - stride], sum);
        __syncthreads();
        if (t >= stride) last[t] = sum;
    }
    __syncthreads();
    if (t > 0) {
        const T before = last[t - 1];
        for (int k = 0; k < coarse_factor - 1; ++k) mine[k] = op(before, mine[k]);
    }
    mine[coarse_factor - 1] = sum;
    __syncthreads();
}

__global__ void clear(unsigned* words, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) words[i] = 0u;
}

/// Waits for the sum of all sections up to s.
template <class T>
__device__ T await(const T* sums, unsigned* ready, int s) {
    do {
    } while (!atomicOr(ready + s, 0u));
    __threadfence();
    return sums[s];
}

template <class T>
__device__ void publish(T* sums, unsigned* ready, int s, T sum) {
    sums[s] = sum;
    __threadfence();
    atomicAdd(ready + s, 1u);
}

template <class T, class Op>
__global__ void __launch_bounds__(threads)
    single_pass(const T* in, T* out, int n, Kind kind, T* sums, unsigned* started, unsigned* ready, Op op) {
    __shared__ T x[padded(section)];
    __shared__ T sum_before;
    __shared__ unsigned ticket;
    if (threadIdx.x == 0) ticket = atomicAdd(started, 1u);
    __syncthreads();
    const int s = ticket, first = s * section;
    for (int e = threadIdx.x; e < section; e += threads) {
        const int i = first + e - (kind == Kind::exclusive);
        x[padded(e)] = 0 <= i && i < n ? in[i] : op.identity();
    }
    scan_in_place(x, op);
    if (threadIdx.x == threads - 1) {
        const T own = x[padded(section - 1)];
        if (s == 0) {
            publish(sums, ready, s, own);
        } else {
            sum_before = await(sums, ready, s - 1);
            publish(sums, ready, s, op(sum_before, own));
        }
    }
    __syncthreads();
    for (int e = threadIdx.x; e < section; e += threads) {
        const int i = first + e;
        if (i < n) out[i] = s == 0 ? x[padded(e)] : op(sum_before, x[padded(e)]);
    }
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    if (n == 0) return;
    const int sections = ceil_div(n, section);
    unsigned* const words = reinterpret_cast<unsigned*>(workspace + sections);  // the counter, then the flags
    clear<<<ceil_div(sections + 1, 256), 256>>>(words, sections + 1);
    check(cudaGetLastError());
    single_pass<<<sections, threads>>>(in, out, n, kind, workspace, words, words + 1, op);
    check(cudaGetLastError());
}
