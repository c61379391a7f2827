// Threads that have nothing to add leave the loop, and with it its barriers.
//
// Rejected: barrier
// On a GPU: nothing
#include "kata.hpp"
#include "operators.hpp"
#include "scan.hpp"

using scan::Kind;

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
void scan_on_device(const T* in, T* out, int n, int section, Kind kind, Op op) {
    launch(kogge_stone<T, Op>, {ceil_div(n, section), section}, in, out, n, kind, op);
}

void scan_sections(const void* in, void* out, int n, int section, Kind kind, kata::Operation operation) {
    with_operator(scan::Offered{}, operation, in, out,
                  [&](auto in, auto out, auto op) { scan_on_device(in, out, n, section, kind, op); });
}
