// 01 Kogge–Stone: a block scans a section in place, in shared memory; in each round every element takes in
// what stands `stride` elements to its left, and the stride doubles. Mirrors PMPP-scan 11.2; its listing sums
// int data in float, which is wrong above 2²⁴, and its exclusive variant loads X[i] where X[i − 1] is meant.
// log₂N rounds instead of N − 1 steps, at N·log₂N − (N − 1) additions instead of N − 1.
#include "sections.cuh"

// A thread per element of the section.
template <class T, class Op>
__global__ void kogge_stone(const T* in, T* out, int n, Kind kind, Op op) {
    // kata: begin
    __shared__ T x[scan::max_section];
    const int section = blockDim.x, t = threadIdx.x;
    const int i = blockIdx.x * section + t;
    T sum;
    if (kind == Kind::inclusive)
        sum = i < n ? in[i] : op.identity();
    else  // the same scan of the section, shifted by one
        sum = t > 0 && i < n ? in[i - 1] : op.identity();
    x[t] = sum;

    for (int stride = 1; stride < section; stride *= 2) {
        __syncthreads();
        if (t >= stride) sum = op(x[t - stride], sum);  // in this order: op need not commute
        __syncthreads();  // thread t + stride must have read x[t] before it changes
        x[t] = sum;
    }
    if (i < n) out[i] = sum;
    // kata: end
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    // kata: begin
    if (n == 0) return;
    kogge_stone<<<ceil_div(n, section), section>>>(in, out, n, kind, op);
    check(cudaGetLastError());
    // kata: end
}
