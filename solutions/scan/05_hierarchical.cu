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
    __shared__ T x[padded(section)];
    const int t = threadIdx.x;
    const int first = blockIdx.x * section;
    const int shift = kind == Kind::exclusive;  // over the borders of sections, too: only element 0 is new
    for (int e = t; e < section; e += threads) {
        const int i = first + e - shift;
        x[padded(e)] = i >= 0 && i < n ? in[i] : op.identity();
    }
    scan_in_place(x, op);
    for (int e = t; e < section; e += threads)
        if (first + e < n) out[first + e] = x[padded(e)];
    if (t == 0) sums[blockIdx.x] = x[padded(section - 1)];
    // kata: end
}

template <class T, class Op>
__global__ void add_sums(T* out, int n, const T* sums, Op op) {
    // kata: begin
    const T before = sums[blockIdx.x];
    const int first = (blockIdx.x + 1) * section;  // nothing comes before section 0
    for (int i = first + threadIdx.x; i < first + section && i < n; i += threads) out[i] = op(before, out[i]);
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    if (n == 0) return;
    const int sections = ceil_div(n, section);
    T* const sums = workspace;
    scan_each_section<<<sections, threads>>>(in, out, n, kind, sums, op);
    check(cudaGetLastError());
    if (sections <= 1) return;
    scan_whole(sums, sums, sections, Kind::inclusive, workspace + sections, op);
    add_sums<<<sections - 1, threads>>>(out, n, sums, op);
    check(cudaGetLastError());
    // kata: end
}
