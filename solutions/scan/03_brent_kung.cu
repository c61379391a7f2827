// 03 Brent–Kung: a reduction tree going up, then a reverse tree that hands its partial sums to the
// elements between. Mirrors PMPP-scan 11.4. Changed from 01: 2N − 2 − log₂N additions, less than twice
// the sequential N − 1, in nearly twice as many rounds. The threads with work are the first ones of
// the block, whatever the stride, so that the other warps have nothing to execute; spread over all
// warps, they would keep all of them busy.
#include "sections.cuh"

template <class T, class Op>
__global__ void brent_kung(const T* in, T* out, int n, Kind kind, Op op) {
    // kata: begin
    __shared__ T x[scan::max_section];
    // No round has work for more threads than half of the elements, so each thread loads two.
    const int threads = blockDim.x, section = 2 * threads, t = threadIdx.x;
    const int first = blockIdx.x * section;  // where the section begins in the whole array
    // `threads` apart, so that neighbouring threads load neighbouring elements.
    for (int e = t; e < section; e += threads) {
        const int i = first + e;
        if (kind == Kind::inclusive) {
            x[e] = i < n ? in[i] : op.identity();
        } else {
            x[e] = e > 0 && i < n ? in[i - 1] : op.identity();
        }
    }

    // Reduction tree: of every 2 · stride elements, the last one gets the sum of all.
    for (int stride = 1; stride < section; stride *= 2) {
        __syncthreads();  // one per round: no thread reads what another one writes in the same round
        // Thread t takes the t-th of these, so that the threads with work stand side by side.
        const int right = (t + 1) * 2 * stride - 1;
        if (right < section) x[right] = op(x[right - stride], x[right]);
    }
    // Reverse tree: from the top down, because a sum must be complete before it is handed on.
    for (int stride = section / 4; stride > 0; stride /= 2) {
        __syncthreads();
        const int left = (t + 1) * 2 * stride - 1;  // complete; the one `stride` behind it lacks it
        if (left + stride < section) x[left + stride] = op(x[left], x[left + stride]);
    }
    __syncthreads();  // a thread stores what other threads have completed

    for (int e = t; e < section; e += threads) {
        if (first + e < n) out[first + e] = x[e];
    }
    // kata: end
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    // kata: begin
    if (n == 0) return;
    brent_kung<<<ceil_div(n, section), section / 2>>>(in, out, n, kind, op);
    check(cudaGetLastError());
    // kata: end
}
