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
    // One thread asks `started` for the number of the section, and tells the others through shared memory.
    // Load the section, element e to place padded(e), and scan it as in 05.
    // One thread then waits until ready[number - 1] is not 0, asking with atomicAdd(…, 0u), takes the sum of
    // all that lies before from sums[number - 1], stores its own in sums[number], and raises ready[number]
    // with atomicExch. A fence, __threadfence(), stands between the sum and the flag, on both sides. Section
    // 0 waits for nobody.
    // All threads apply what lies before, from the left, while they store.
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    // In the workspace lie the sums, a flag for each section, and the counter of the blocks that have
    // started. Anything may stand there: set flags and counter to 0 with cudaMemsetAsync before the launch.
    kata::open();
    // kata: end
}
