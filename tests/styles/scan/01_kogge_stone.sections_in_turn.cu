// A grid of at most 1024 blocks, each of which takes one section after the other: usual for persistent blocks.
#include "sections.cuh"

template <class T, class Op>
__global__ void scan_in_turn(const T* in, T* out, int n, int sections, Kind kind, Op op) {
    __shared__ T s[scan::max_section];
    const int t = threadIdx.x;
    for (int number = blockIdx.x; number < sections; number += gridDim.x) {
        const int i = number * blockDim.x + t;
        T value = op.identity();
        if (kind == Kind::inclusive) {
            if (i < n) value = in[i];
        } else {
            if (t > 0 && i < n) value = in[i - 1];
        }
        s[t] = value;
        __syncthreads();
        for (int d = 1; d < blockDim.x; d <<= 1) {
            if (t >= d) value = op(s[t - d], value);
            __syncthreads();
            s[t] = value;
            __syncthreads();
        }
        if (i < n) out[i] = value;
    }
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    if (n == 0) return;
    const int sections = ceil_div(n, section);
    scan_in_turn<<<min(sections, 1024), section>>>(in, out, n, sections, kind, op);
    check(cudaGetLastError());
}
