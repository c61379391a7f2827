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
    // As in steps 04 and 05: each thread scans its own elements, all scan the last ones, and each thread adds
    // what comes before its own.
    kata::open();
    // kata: end
}

// `started` counts the blocks that have started. Once ready[s] is 1, sums[s] is the sum of all elements
// up to the end of section s.
template <class T, class Op>
__global__ void single_pass(const T* in, T* out, int n, Kind kind, T* sums, unsigned* ready, int* started,
                            Op op) {
    // kata: begin
    // One thread draws the number of the section from `started`, with atomicAdd, and hands it to the others
    // through shared memory. Load the section, element e to x[padded(e)], and scan it as in 05.
    // One thread then polls ready[number - 1], with atomicAdd(…, 0u), until it is not 0, takes the sum of
    // all that lies before from sums[number - 1], stores the sum up to its own end in sums[number], and
    // raises ready[number] with atomicExch. A fence, __threadfence(), stands between the sum and the flag,
    // on both sides. Section 0 does not wait. All threads apply what lies before, from the left, while they
    // store.
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    // In the workspace lie the sums, a flag for each section, and the counter of the blocks that have
    // started; it has scan::workspace_bytes(n) bytes. Anything may stand there: set flags and counter to 0
    // with cudaMemset before the launch.
    // Also required: any n from 0 on; types of 4 and 8 bytes; op need not commute.
    kata::open();
    // kata: end
}
