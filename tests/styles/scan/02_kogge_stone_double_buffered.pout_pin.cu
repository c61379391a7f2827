// One array of two halves, with pout and pin as their indices, as in GPU Gems 3.
#include "sections.cuh"

template <class T, class Op>
__global__ void scan_gems(const T* g_idata, T* g_odata, int n, Kind kind, Op op) {
    __shared__ T temp[2 * scan::max_section];
    const int thid = threadIdx.x, m = blockDim.x, at = blockIdx.x * m + thid;
    int pout = 0, pin = 1;
    if (kind == Kind::exclusive)
        temp[pout * m + thid] = thid > 0 && at < n ? g_idata[at - 1] : op.identity();
    else
        temp[pout * m + thid] = at < n ? g_idata[at] : op.identity();
    __syncthreads();
    for (int offset = 1; offset < m; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * m + thid] = op(temp[pin * m + thid - offset], temp[pin * m + thid]);
        else
            temp[pout * m + thid] = temp[pin * m + thid];
        __syncthreads();
    }
    if (at < n) g_odata[at] = temp[pout * m + thid];
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    if (n == 0) return;
    scan_gems<<<ceil_div(n, section), section>>>(in, out, n, kind, op);
    check(cudaGetLastError());
}
