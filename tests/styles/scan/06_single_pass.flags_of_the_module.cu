// The flags are a variable of the device and never cleared. A flag is set if it holds the number of the
// launch, which the host counts. A launch that was aborted leaves smaller numbers. Two scans at a time, in
// two streams, would share the flags, as they would the counter of step 17 of the reduction, and after 2^32
// launches numbers repeat. Usual where a scan is called often and should not need a memset for each call.
#include "whole.cuh"

constexpr int threads = 256;
constexpr int coarse_factor = 16;  // few and large sections: each is a link of the chain
constexpr int section = threads * coarse_factor;

/// Scans the section in x, which is padded, with all threads of the block: phases 1 to 3 of step 04.
/// Begins and ends with a barrier.
template <class T, class Op>
__device__ void scan_in_place(T* x, Op op) {
    __shared__ T last[threads];
    const int t = threadIdx.x;
    T* const mine = x + padded(t * coarse_factor);
    __syncthreads();  // x is complete: other threads have loaded it
    // Phase 1: the subsection, sequentially.
    T sum = mine[0];
    for (int k = 1; k < coarse_factor; ++k) {
        sum = op(sum, mine[k]);
        mine[k] = sum;
    }
    last[t] = sum;
    // Phase 2: Kogge–Stone over the last elements.
    for (int stride = 1; stride < threads; stride *= 2) {
        __syncthreads();
        if (t >= stride) sum = op(last[t - stride], sum);
        __syncthreads();
        if (t >= stride) last[t] = sum;
    }
    __syncthreads();  // last[t - 1] is final
    // Phase 3: add what comes before the subsection.
    if (t > 0) {
        const T before = last[t - 1];  // one read for all rounds
        for (int k = 0; k < coarse_factor - 1; ++k) mine[k] = op(before, mine[k]);
    }
    mine[coarse_factor - 1] = sum;
    __syncthreads();
}

// `started` counts the blocks that have started. Once ready[s] is the number of the launch, sums[s] is the sum of
// all elements up to the end of section s.
__device__ unsigned ready[ceil_div(scan::max_elements, section)];
unsigned launches;  // for all types: each would have its own as a static variable in the template below

template <class T, class Op>
__global__ void single_pass(const T* in, T* out, int n, Kind kind, T* sums, unsigned launch, int* started,
                            Op op) {
    __shared__ T x[padded(section)];
    __shared__ T sum_before;
    __shared__ int number;
    const int t = threadIdx.x;
    // Not blockIdx.x: a block with a lower number may have to wait until this one has ended.
    if (t == 0) number = atomicAdd(started, 1);
    __syncthreads();  // thread 0 has stored the number, which all threads need
    const int s = number;
    const int first = s * section;
    const int shift = kind == Kind::exclusive ? 1 : 0;  // as in 05
    for (int e = t; e < section; e += threads) {
        const int i = first + e - shift;
        x[padded(e)] = i >= 0 && i < n ? in[i] : op.identity();
    }
    scan_in_place(x, op);

    // One thread polls and the others wait at the barrier: 256 would only contend for one address.
    if (t == 0) {
        T before = op.identity();
        if (s > 0) {
            // Atomic: nvcc may hoist a plain load out of the loop, or a cache may return an old value.
            while (atomicAdd(&ready[s - 1], 0u) != launch) {
            }
            __threadfence();  // the sum is read after the flag
            before = sums[s - 1];
        }
        sums[s] = op(before, x[padded(section - 1)]);
        __threadfence();  // a block that sees the flag also sees the sum
        atomicExch(&ready[s], launch);
        sum_before = before;
    }
    __syncthreads();  // sum_before is stored
    const T before = sum_before;
    for (int e = t; e < section; e += threads) {
        if (first + e < n) out[first + e] = op(before, x[padded(e)]);
    }
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    if (n == 0) return;
    const int sections = ceil_div(n, section);
    T* const sums = workspace;
    auto* const started = reinterpret_cast<int*>(sums + sections);
    ++launches;
    check(cudaMemset(started, 0, sizeof *started));
    single_pass<<<sections, threads>>>(in, out, n, kind, sums, launches, started, op);
    check(cudaGetLastError());
}
