// 04 Coarsened: each thread scans a subsection of its own sequentially, the threads together scan the
// last elements of the subsections, and each thread adds what comes before its own. Mirrors
// PMPP-scan 11.5.
// Changed from 01: the parallel scan, with its many additions, covers a quarter of the elements.
// Neighbouring threads still load and store neighbouring elements. Only shared memory is walked through
// in subsections, and it is padded: else the lanes of a warp would meet in the same banks.
#include "sections.cuh"

constexpr int coarse_factor = 4;  // elements of a subsection

/// Where element e of a section lies in x. Lanes read coarse_factor places apart, so that only every
/// fourth of the 32 banks would be used. One free place after every 32 elements shifts those that
/// would meet to banks of their own.
__device__ constexpr int padded(int e) { return e + e / 32; }

template <class T, class Op>
__global__ void coarsened(const T* in, T* out, int n, Kind kind, Op op) {
    // kata: begin
    __shared__ T x[padded(scan::max_section)];
    __shared__ T last[scan::max_section / coarse_factor];  // element of each subsection
    const int threads = blockDim.x, section = threads * coarse_factor, t = threadIdx.x;
    const int first = blockIdx.x * section;
    // Not each thread its own subsection: neighbouring threads load neighbouring elements.
    for (int e = t; e < section; e += threads) {
        const int i = first + e;
        if (kind == Kind::inclusive) {
            x[padded(e)] = i < n ? in[i] : op.identity();
        } else {
            x[padded(e)] = e > 0 && i < n ? in[i - 1] : op.identity();
        }
    }
    __syncthreads();  // other threads have loaded the elements that a thread scans

    // Phase 1: scan the subsection, without a barrier, because no other thread touches it.
    T* const mine = x + padded(t * coarse_factor);  // no free place within: 32 is a multiple of 4
    T sum = mine[0];
    for (int k = 1; k < coarse_factor; ++k) {
        sum = op(sum, mine[k]);
        mine[k] = sum;
    }
    last[t] = sum;

    // Phase 2: Kogge–Stone as in 01, over the last elements.
    for (int stride = 1; stride < threads; stride *= 2) {
        __syncthreads();
        if (t >= stride) sum = op(last[t - stride], sum);
        __syncthreads();
        if (t >= stride) last[t] = sum;
    }
    __syncthreads();  // last[t - 1] is final

    // Phase 3: add what comes before the subsection. The last element has it already: it is `sum`.
    if (t > 0) {
        const T before = last[t - 1];  // one read for all rounds
        for (int k = 0; k < coarse_factor - 1; ++k) mine[k] = op(before, mine[k]);
    }
    mine[coarse_factor - 1] = sum;
    __syncthreads();  // other threads store what this one has scanned

    for (int e = t; e < section; e += threads) {
        if (first + e < n) out[first + e] = x[padded(e)];
    }
    // kata: end
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    // kata: begin
    if (n == 0) return;
    coarsened<<<ceil_div(n, section), section / coarse_factor>>>(in, out, n, kind, op);
    check(cudaGetLastError());
    // kata: end
}
