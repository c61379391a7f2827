// The listing of PMPP-scan 11.5: part 3 adds what ends with the own subsection, not what comes before it, and
// leaves out the first element.
//
// Rejected: elements differ
#include "sections.cuh"

constexpr int coarse_factor = 4;  // elements of a subsection, of which each thread has one

/// Where element e of a section lies in x: behind every 32 elements a place stays free. Subsections begin
/// coarse_factor elements apart; side by side, several lanes of a warp would always be in the same bank.
__device__ constexpr int padded(int e) { return e + e / 32; }

template <class T, class Op>
__global__ void coarsened(const T* in, T* out, int n, Kind kind, Op op) {
    __shared__ T x[padded(scan::max_section)];
    __shared__ T last[scan::max_section / coarse_factor];
    const int threads = blockDim.x, section = threads * coarse_factor, t = threadIdx.x;
    const int first = blockIdx.x * section;
    for (int e = t; e < section; e += threads) {
        const int i = first + e;
        if (kind == Kind::inclusive)
            x[padded(e)] = i < n ? in[i] : op.identity();
        else
            x[padded(e)] = e > 0 && i < n ? in[i - 1] : op.identity();
    }
    __syncthreads();

    // Phase 1: the subsection, sequentially.
    T* const mine = x + padded(t * coarse_factor);
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
        last[t] = sum;
    }
    __syncthreads();

    // Phase 3: what comes before the subsection, to all of its elements but the last, which has it already.
    for (int k = 1; k < coarse_factor - 1; ++k) mine[k] = op(last[t], mine[k]);
    mine[coarse_factor - 1] = sum;
    __syncthreads();

    for (int e = t; e < section; e += threads)
        if (first + e < n) out[first + e] = x[padded(e)];
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    if (n == 0) return;
    coarsened<<<ceil_div(n, section), section / coarse_factor>>>(in, out, n, kind, op);
    check(cudaGetLastError());
}
