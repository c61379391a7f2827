// Each thread loads one element, so that only half of the section is there.
//
// Rejected: read of what nobody has written
// On a GPU: elements differ
#include "sections.cuh"

// A thread per two elements of the section: no round has work for more.
template <class T, class Op>
__global__ void brent_kung(const T* in, T* out, int n, Kind kind, Op op) {
    __shared__ T x[scan::max_section];
    const int threads = blockDim.x, section = 2 * threads, t = threadIdx.x;
    const int first = blockIdx.x * section;
    for (int e = t; e < threads; e += threads) {
        const int i = first + e;
        if (kind == Kind::inclusive)
            x[e] = i < n ? in[i] : op.identity();
        else
            x[e] = e > 0 && i < n ? in[i - 1] : op.identity();
    }

    for (int stride = 1; stride < section; stride *= 2) {
        __syncthreads();
        const int right = (t + 1) * 2 * stride - 1;  // the last element of a pair of subtrees
        if (right < section) x[right] = op(x[right - stride], x[right]);
    }
    for (int stride = section / 4; stride > 0; stride /= 2) {
        __syncthreads();
        const int left = (t + 1) * 2 * stride - 1;  // complete; what lies `stride` behind it lacks it
        if (left + stride < section) x[left + stride] = op(x[left], x[left + stride]);
    }
    __syncthreads();

    for (int e = t; e < section; e += threads)
        if (first + e < n) out[first + e] = x[e];
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    if (n == 0) return;
    brent_kung<<<ceil_div(n, section), section / 2>>>(in, out, n, kind, op);
    check(cudaGetLastError());
}
