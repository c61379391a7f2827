// 06 Single pass: a block scans its section, waits for the sum of all sections before it, and passes
// on that sum with its own added. The title of PMPP-scan 11.7, which stops there.
// Changed from 05: one kernel, and each element is read once and written once. The number of a
// section is drawn when its block starts to run, because a GPU promises no order of blocks: a block
// then only waits for blocks that have started. The price is a chain of n / 4096 links, because the
// sums are passed from block to block, one after the other.
#include "whole.cuh"

constexpr int threads = 256;
constexpr int coarse_factor = 16;  // few and large sections: each is a link of the chain
constexpr int section = threads * coarse_factor;

/// Scans the section in x, which is padded, with all threads of the block: phases 1 to 3 of step 04.
/// Begins and ends with a barrier.
template <class T, class Op>
__device__ void scan_in_place(T* x, Op op) {
    // kata: begin
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
    // kata: end
}

// `started` counts the blocks that have started. Once ready[s] is 1, sums[s] is the sum of all elements
// up to the end of section s.
template <class T, class Op>
__global__ void single_pass(const T* in, T* out, int n, Kind kind, T* sums, unsigned* ready, int* started,
                            Op op) {
    // kata: begin
    __shared__ T x[padded(section)];
    __shared__ T sum_before;
    __shared__ int number;
    const int t = threadIdx.x;
    // Not blockIdx.x: a block with a lower number might find no place until this one has ended.
    if (t == 0) number = atomicAdd(started, 1);
    __syncthreads();  // thread 0 has drawn the number, which all threads need
    const int s = number;
    const int first = s * section;
    const int shift = kind == Kind::exclusive ? 1 : 0;  // as in 05
    for (int e = t; e < section; e += threads) {
        const int i = first + e - shift;
        x[padded(e)] = i >= 0 && i < n ? in[i] : op.identity();
    }
    scan_in_place(x, op);

    // One thread polls and the others wait at the barrier: 256 would only crowd one address.
    if (t == 0) {
        T before = op.identity();
        if (s > 0) {
            // Atomically: a plain load might be made once for the whole loop, or answered by a cache.
            while (atomicAdd(&ready[s - 1], 0u) == 0) {
            }
            __threadfence();  // the sum is read after the flag
            before = sums[s - 1];
        }
        sums[s] = op(before, x[padded(section - 1)]);
        __threadfence();  // a thread that sees the flag also sees the sum
        atomicExch(&ready[s], 1u);
        sum_before = before;
    }
    __syncthreads();  // sum_before is there
    const T before = sum_before;
    for (int e = t; e < section; e += threads) {
        if (first + e < n) out[first + e] = op(before, x[padded(e)]);
    }
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    if (n == 0) return;
    const int sections = ceil_div(n, section);
    // The sums, then the flags, then the counter: what needs the strictest alignment comes first.
    T* const sums = workspace;
    auto* const ready = reinterpret_cast<unsigned*>(sums + sections);
    auto* const started = reinterpret_cast<int*>(ready + sections);
    // Flags and counter lie side by side, so one call zeroes both. A flag that an earlier scan has left would
    // be believed.
    check(cudaMemset(ready, 0, sections * sizeof *ready + sizeof *started));
    single_pass<<<sections, threads>>>(in, out, n, kind, sums, ready, started, op);
    check(cudaGetLastError());
    // kata: end
}
