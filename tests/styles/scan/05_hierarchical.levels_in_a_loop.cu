// Sections of 2048 elements, 8 a thread. The levels are a loop up and a loop down instead of a recursion, and
// in a third kernel four blocks share a section.
#include "whole.cuh"

constexpr int threads = 256;
constexpr int coarse_factor = 8;
constexpr int section = threads * coarse_factor;

template <class T, class Op>
__device__ void scan_in_place(T* x, Op op) {
    __shared__ T last[threads];
    const int t = threadIdx.x;
    __syncthreads();
    T* const mine = x + padded(t * coarse_factor);
    T sum = mine[0];
    for (int k = 1; k < coarse_factor; ++k) mine[k] = sum = op(sum, mine[k]);
    last[t] = sum;
    for (int stride = 1; stride < threads; stride *= 2) {
        __syncthreads();
        if (t >= stride) sum = op(last[t - stride], sum);
        __syncthreads();
        if (t >= stride) last[t] = sum;
    }
    __syncthreads();
    if (t > 0) {
        const T before = last[t - 1];
        for (int k = 0; k < coarse_factor - 1; ++k) mine[k] = op(before, mine[k]);
    }
    mine[coarse_factor - 1] = sum;
    __syncthreads();
}

template <class T, class Op>
__global__ void scan_each_section(const T* in, T* out, int n, Kind kind, T* sums, Op op) {
    __shared__ T x[padded(section)];
    const int first = blockIdx.x * section;
    for (int e = threadIdx.x; e < section; e += threads) {
        const int i = kind == Kind::inclusive ? first + e : first + e - 1;
        x[padded(e)] = i >= 0 && i < n ? in[i] : op.identity();
    }
    scan_in_place(x, op);
    for (int e = threadIdx.x; e < section && first + e < n; e += threads) out[first + e] = x[padded(e)];
    if (threadIdx.x == 0) sums[blockIdx.x] = x[padded(section - 1)];
}

constexpr int quarter = section / 4;

template <class T, class Op>
__global__ void add_sums(T* out, int n, const T* sums, Op op) {
    const int first = section + blockIdx.x * quarter;
    const T before = sums[blockIdx.x / 4];
    for (int i = first + threadIdx.x; i < min(first + quarter, n); i += threads) out[i] = op(before, out[i]);
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    if (n == 0) return;
    // Up: each level scans its sections, and their sums are the next level.
    T* level[5];
    int count[5], levels = 0;
    T* free = workspace;
    for (int length = n;; length = ceil_div(length, section)) {
        level[levels] = levels == 0 ? out : free;
        count[levels] = length;
        if (levels > 0) free += length;
        const T* const source = levels == 0 ? in : level[levels];
        scan_each_section<<<ceil_div(length, section), threads>>>(
            source, level[levels], length, levels == 0 ? kind : Kind::inclusive, free, op);
        check(cudaGetLastError());
        ++levels;
        if (length <= section) break;
    }
    // Down: a level is complete when the one above it is.
    for (int l = levels - 2; l >= 0; --l) {
        add_sums<<<ceil_div(count[l] - section, quarter), threads>>>(level[l], count[l], level[l + 1], op);
        check(cudaGetLastError());
    }
}
