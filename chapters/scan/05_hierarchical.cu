// 05 Hierarchical: sections are scanned, then the sums of the sections, and those are added to the sections
// behind. PMPP-scan 11.6, which names three kernels and lists none: the first is step 04 with a sum kept, the
// second is the first once more, over the sums, and the third adds. Changed against 04: any length is one
// scan. If there are too many sums for one section, they are scanned in the same way: each level has a 256th
// of the elements. The price is that the output is written, read and written again.
#include "whole.cuh"

constexpr int threads = 64;
constexpr int coarse_factor = 4;
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

// `in` may be `out`, if the scan is inclusive.
template <class T, class Op>
__global__ void scan_each_section(const T* in, T* out, int n, Kind kind, T* sums, Op op) {
    // kata: begin
    // Load a section into shared memory, element e to place padded(e); scan_in_place() scans it, and has
    // barriers where it begins and ends. Store it, and its last element, the sum of the section, in
    // sums[blockIdx.x].
    // An exclusive scan is the inclusive one of the input shifted by one. Here only element 0 of the whole is
    // new; the other sections begin with the last element of the one before.
    kata::open();
    // kata: end
}

template <class T, class Op>
__global__ void add_sums(T* out, int n, const T* sums, Op op) {
    // kata: begin
    // sums holds, for each section, what lies up to its end. A block adds what lies before its section;
    // nothing lies before section 0, so that block 0 may begin with section 1.
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    // Scan each section. If there is more than one, scan their sums, inclusively, in the same way
    // (scan_on_device<T, Op>, whose own sums lie behind in the workspace), and add them.
    kata::open();
    // kata: end
}
