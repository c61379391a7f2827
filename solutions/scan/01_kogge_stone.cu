// 01 Kogge–Stone: a block scans one section in shared memory, with a thread for each element. In each
// round every element adds the one `stride` places to its left, and then the stride doubles.
// Mirrors PMPP-scan 11.2. log₂N rounds instead of N − 1 steps, for N·log₂N − (N − 1) additions instead
// of N − 1.
#include "sections.cuh"

template <class T, class Op>
__global__ void kogge_stone(const T* in, T* out, int n, Kind kind, Op op) {
    // kata: begin
    __shared__ T x[scan::max_section];  // the section; one array for all threads of the block
    // Signed, although blockIdx and threadIdx are unsigned: below 0 an unsigned index would wrap around.
    const int section = blockDim.x, t = threadIdx.x;
    // The thread's element in the whole array, and a sum that ends with it: of one element, then of 2, 4, …
    const int i = blockIdx.x * section + t;
    T sum;
    if (kind == Kind::inclusive) {
        // The last section may hang over the end. The identity there changes no sum.
        sum = i < n ? in[i] : op.identity();
    } else {
        // The same scan, shifted by one: each sum then ends before its own element.
        sum = t > 0 && i < n ? in[i - 1] : op.identity();
    }
    x[t] = sum;

    for (int stride = 1; stride < section; stride *= 2) {
        __syncthreads();  // all of x is written: by the loads, or by the round before
        // The value to the left is the left operand, because op need not commute.
        if (t >= stride) sum = op(x[t - stride], sum);
        __syncthreads();  // thread t + stride has read x[t], which may change now
        if (t >= stride) x[t] = sum;
    }
    // Only here: a thread beyond the end that returned earlier would be missing at the barriers.
    if (i < n) out[i] = sum;
    // kata: end
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    // kata: begin
    if (n == 0) return;  // a grid without blocks is an error in CUDA
    // A block for each section; ceil_div rounds up, so that the last one may be a part of a section.
    kogge_stone<<<ceil_div(n, section), section>>>(in, out, n, kind, op);
    check(cudaGetLastError());  // a launch returns nothing: this asks whether it was refused
    // kata: end
}
