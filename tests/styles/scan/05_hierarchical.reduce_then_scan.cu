// Reduce, scan, scan: the first kernel only sums the sections, one block scans the sums, and the third kernel
// scans each section from its sum on: usual in ModernGPU and older versions of Thrust.
#include "whole.cuh"

constexpr int T_PER_BLOCK = 256, ITEMS = 4, SECTION = T_PER_BLOCK * ITEMS;

/// Scans one value a thread. Returns the sum before the thread's own, and leaves the total in s[T_PER_BLOCK -
/// 1].
template <class T, class Op>
__device__ T scan_threads(T value, T* s, Op op) {
    const int t = threadIdx.x;
    s[t] = value;
    __syncthreads();
    for (int d = 1; d < T_PER_BLOCK; d *= 2) {
        if (t >= d) value = op(s[t - d], value);
        __syncthreads();
        s[t] = value;
        __syncthreads();
    }
    return t > 0 ? s[t - 1] : op.identity();
}

template <class T, class Op>
__device__ void load(const T* in, int n, int first, T* x, Op op) {
    for (int e = threadIdx.x; e < SECTION; e += T_PER_BLOCK) x[padded(e)] = first + e < n ? in[first + e] : op.identity();
    __syncthreads();
}

template <class T, class Op>
__global__ void upsweep(const T* in, int n, T* sums, Op op) {
    __shared__ T x[padded(SECTION)], s[T_PER_BLOCK];
    load(in, n, blockIdx.x * SECTION, x, op);
    T sum = x[padded(threadIdx.x * ITEMS)];
    for (int k = 1; k < ITEMS; ++k) sum = op(sum, x[padded(threadIdx.x * ITEMS + k)]);
    s[threadIdx.x] = sum;
    for (int d = 1; d < T_PER_BLOCK; d *= 2) {  // neighbours, because op need not commute
        __syncthreads();
        const int left = 2 * d * threadIdx.x;
        if (left + d < T_PER_BLOCK) s[left] = op(s[left], s[left + d]);
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = s[0];
}

template <class T, class Op>
__global__ void spine(T* sums, int count, Op op) {
    __shared__ T s[T_PER_BLOCK];
    T carry = op.identity();
    for (int first = 0; first < count; first += T_PER_BLOCK) {
        const int i = first + threadIdx.x;
        const T before = scan_threads(i < count ? sums[i] : op.identity(), s, op);
        const T total = s[T_PER_BLOCK - 1];
        if (i < count) sums[i] = op(carry, before);
        carry = op(carry, total);
        __syncthreads();
    }
}

template <class T, class Op>
__global__ void downsweep(const T* in, T* out, int n, Kind kind, const T* sums, Op op) {
    __shared__ T x[padded(SECTION)], s[T_PER_BLOCK];
    const int first = blockIdx.x * SECTION;
    load(in, n, first, x, op);
    T own[ITEMS];
    for (int k = 0; k < ITEMS; ++k) own[k] = x[padded(threadIdx.x * ITEMS + k)];
    T sum = own[0];
    for (int k = 1; k < ITEMS; ++k) sum = op(sum, own[k]);
    T running = op(sums[blockIdx.x], scan_threads(sum, s, op));
    for (int k = 0; k < ITEMS; ++k) {
        const T with_own = op(running, own[k]);
        x[padded(threadIdx.x * ITEMS + k)] = kind == Kind::inclusive ? with_own : running;
        running = with_own;
    }
    __syncthreads();
    for (int e = threadIdx.x; e < SECTION; e += T_PER_BLOCK)
        if (first + e < n) out[first + e] = x[padded(e)];
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    if (n == 0) return;
    const int sections = ceil_div(n, SECTION);
    upsweep<<<sections, T_PER_BLOCK>>>(in, n, workspace, op);
    check(cudaGetLastError());
    spine<<<1, T_PER_BLOCK>>>(workspace, sections, op);
    check(cudaGetLastError());
    downsweep<<<sections, T_PER_BLOCK>>>(in, out, n, kind, workspace, op);
    check(cudaGetLastError());
}
