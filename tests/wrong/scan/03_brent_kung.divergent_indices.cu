// The first listing of PMPP-scan 11.4: the right answer by the same additions, and the active threads of a
// round are spread over all warps.
//
// Rejected: right, but without the point of the step
// On a GPU: nothing
#include "sections.cuh"

// A thread per two elements of the section: no round has work for more.
template <class T, class Op>
__global__ void brent_kung(const T* in, T* out, int n, Kind kind, Op op) {
    __shared__ T x[scan::max_section];
    const int threads = blockDim.x, section = 2 * threads, t = threadIdx.x;
    const int first = blockIdx.x * section;
    for (int e = t; e < section; e += threads) {
        const int i = first + e;
        if (kind == Kind::inclusive)
            x[e] = i < n ? in[i] : op.identity();
        else
            x[e] = e > 0 && i < n ? in[i - 1] : op.identity();
    }

    for (int stride = 1; stride < section; stride *= 2) {
        __syncthreads();
        for (int right = t; right < section; right += threads)
            if ((right + 1) % (2 * stride) == 0) x[right] = op(x[right - stride], x[right]);
    }
    for (int stride = section / 4; stride > 0; stride /= 2) {
        __syncthreads();
        for (int left = t; left + stride < section; left += threads)
            if ((left + 1) % (2 * stride) == 0) x[left + stride] = op(x[left], x[left + stride]);
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
