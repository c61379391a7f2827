// Threads that have nothing to add leave the loop, and with it its barriers.
//
// Rejected: barrier
// On a GPU: nothing
#include "sections.cuh"

// A thread per element of the section.
template <class T, class Op>
__global__ void kogge_stone(const T* in, T* out, int n, Kind kind, Op op) {
    __shared__ T x[scan::max_section];
    const int section = blockDim.x, t = threadIdx.x;
    const int i = blockIdx.x * section + t;
    T sum;
    if (kind == Kind::inclusive)
        sum = i < n ? in[i] : op.identity();
    else  // the same scan of the section, shifted by one
        sum = t > 0 && i < n ? in[i - 1] : op.identity();
    x[t] = sum;

    for (int stride = 1; stride <= t; stride *= 2) {
        __syncthreads();
        sum = op(x[t - stride], sum);
        __syncthreads();
        x[t] = sum;
    }
    if (i < n) out[i] = sum;
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    if (n == 0) return;
    kogge_stone<<<ceil_div(n, section), section>>>(in, out, n, kind, op);
    check(cudaGetLastError());
}
