// An exclusive scan in which only the first section begins with the identity, and the others with the last
// element of the one before.
//
// Rejected: elements differ
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
        sum = i > 0 && i < n ? in[i - 1] : op.identity();
    x[t] = sum;

    for (int stride = 1; stride < section; stride *= 2) {
        __syncthreads();
        if (t >= stride) sum = op(x[t - stride], sum);  // in this order: op need not commute
        __syncthreads();  // thread t + stride must have read x[t] before it changes
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
