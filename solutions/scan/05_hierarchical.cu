// 05 Hierarchical: three kernels. The first scans sections and keeps the sum of each, the second scans
// the sums, and the third adds to each section the sum of all before it. Mirrors PMPP-scan 11.6.
// Changed from 04: an array of any length is one scan. The first kernel is step 04, with its
// sections, and keeps the sums. The second is the first again, with one block. One block is enough for
// 1024 sums, so for 1024² elements; more sums than that are scanned as any long array is, by all three
// kernels. The price: the output is written, read and written again.
#include "whole.cuh"

constexpr int threads = 256;
constexpr int coarse_factor = 4;
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

// `in` may be `out`, if the scan is inclusive.
template <class T, class Op>
__global__ void scan_each_section(const T* in, T* out, int n, Kind kind, T* sums, Op op) {
    // kata: begin
    __shared__ T x[padded(section)];
    const int t = threadIdx.x;
    const int first = blockIdx.x * section;
    // Exclusive: shifted by one. A section begins with the last element of the one before it, because
    // the whole is one scan: only element 0 of the whole array has nothing before it.
    const int shift = kind == Kind::exclusive ? 1 : 0;
    for (int e = t; e < section; e += threads) {
        const int i = first + e - shift;
        x[padded(e)] = i >= 0 && i < n ? in[i] : op.identity();
    }
    scan_in_place(x, op);
    for (int e = t; e < section; e += threads) {
        if (first + e < n) out[first + e] = x[padded(e)];
    }
    // The last element of a scan is the sum of all. In a section that is cut off it is, too: what is
    // missing there has been loaded as the identity.
    if (t == 0) sums[blockIdx.x] = x[padded(section - 1)];
    // kata: end
}

template <class T, class Op>
__global__ void add_sums(T* out, int n, const T* sums, Op op) {
    // kata: begin
    // Nothing comes before section 0: block b takes section b + 1, and sums[b] ends where that begins.
    const T before = sums[blockIdx.x];
    const int first = (blockIdx.x + 1) * section;
    for (int e = threadIdx.x; e < section; e += threads) {
        if (first + e < n) out[first + e] = op(before, out[first + e]);
    }
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    if (n == 0) return;
    const int sections = ceil_div(n, section);
    T* const sums = workspace;
    // Kernels run one after the other: each sees all that the one before it has written.
    scan_each_section<<<sections, threads>>>(in, out, n, kind, sums, op);
    check(cudaGetLastError());
    if (sections == 1) return;  // nothing to add; here the recursion ends
    // Up to 1024 sums are one section, which one block scans. Their own sums lie behind them.
    scan_whole(sums, sums, sections, Kind::inclusive, workspace + sections, op);
    add_sums<<<sections - 1, threads>>>(out, n, sums, op);
    check(cudaGetLastError());
    // kata: end
}
