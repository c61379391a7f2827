// 06 Single pass: a block that has scanned its section waits for the sum of all before it, and passes on its
// own. PMPP-scan 11.7, which is a headline there. Changed against 05: one kernel, each element is read once
// and written once. A section is numbered when its block starts to run, for the GPU promises no order in
// which blocks do: whoever waits then waits for a block that has started. The price is a chain: the sums of n
// / 4096 sections are passed from block to block, one after the other.
#include "whole.cuh"

constexpr int threads = 256;
constexpr int coarse_factor = 16;  // few and large sections: each is a link of the chain
constexpr int section = threads * coarse_factor;

/// Where element e of a section lies in x: behind every 32 elements a place stays free. Subsections begin
/// coarse_factor elements apart; side by side, several lanes of a warp would always be in the same bank.
__device__ constexpr int padded(int e) { return e + e / 32; }

/// Step 04, phases 1 to 3, for the x of a block. Begins and ends with a barrier.
template <class T, class Op>
__device__ void scan_in_place(T* x, Op op) {
    __shared__ T last[threads];
    const int t = threadIdx.x;
    T* const mine = x + padded(t * coarse_factor);
    __syncthreads();
    T sum = mine[0];
    for (int k = 1; k < coarse_factor; ++k) {
        sum = op(sum, mine[k]);
        mine[k] = sum;
    }
    last[t] = sum;
    for (int stride = 1; stride < threads; stride *= 2) {
        __syncthreads();
        if (t >= stride) sum = op(last[t - stride], sum);
        __syncthreads();
        last[t] = sum;
    }
    __syncthreads();
    if (t > 0)
        for (int k = 0; k < coarse_factor - 1; ++k) mine[k] = op(last[t - 1], mine[k]);
    mine[coarse_factor - 1] = sum;
    __syncthreads();
}

// `started` counts the blocks that have started; sums[s] holds all elements up to the end of section s once
// ready[s] is 1.
template <class T, class Op>
__global__ void single_pass(const T* in, T* out, int n, Kind kind, T* sums, unsigned* ready, int* started,
                            Op op) {
    // kata: begin
    __shared__ T x[padded(section)];
    __shared__ T sum_before;
    __shared__ int number;
    const int t = threadIdx.x;
    if (t == 0) number = atomicAdd(started, 1);
    __syncthreads();
    const int s = number;
    const int first = s * section;
    const int shift = kind == Kind::exclusive;
    for (int e = t; e < section; e += threads) {
        const int i = first + e - shift;
        x[padded(e)] = i >= 0 && i < n ? in[i] : op.identity();
    }
    scan_in_place(x, op);

    if (t == 0) {
        T before = op.identity();
        if (s > 0) {
            // Asked atomically: a plain load might be made once for the whole loop, or answered by a cache.
            while (atomicAdd(&ready[s - 1], 0u) == 0) {
            }
            __threadfence();  // what is read from here on is not older than the flag
            before = sums[s - 1];
        }
        sums[s] = op(before, x[padded(section - 1)]);
        __threadfence();  // whoever sees the flag sees the sum
        atomicExch(&ready[s], 1u);
        sum_before = before;
    }
    __syncthreads();
    const T before = sum_before;
    for (int e = t; e < section; e += threads)
        if (first + e < n) out[first + e] = op(before, x[padded(e)]);
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    if (n == 0) return;
    const int sections = ceil_div(n, section);
    T* const sums = workspace;
    auto* const ready = reinterpret_cast<unsigned*>(sums + sections);
    auto* const started = reinterpret_cast<int*>(ready + sections);
    check(cudaMemset(ready, 0, sections * sizeof *ready + sizeof *started));
    single_pass<<<sections, threads>>>(in, out, n, kind, sums, ready, started, op);
    check(cudaGetLastError());
    // kata: end
}
