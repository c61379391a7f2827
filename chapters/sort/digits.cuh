// Included by the steps from 04 on: what sort.cuh has, digits of keys, and the scans that the scan chapter
// teaches. Not to be changed: grading takes the repository's own.
#pragma once
#include "sort.cuh"

/// The bits of a key.
template <class T>
constexpr int key_bits = 8 * sizeof(Key<T>);

/// Returns the digit of `bits` bits that begins at bit `shift` of the key.
template <int bits, class T>
__device__ int digit_of(T element, int shift) {
    return static_cast<int>(key_of(element) >> shift & ((1u << bits) - 1));
}

/// Returns an element that sorts behind all others. It fills places beyond the input.
template <class T>
__device__ T largest() {
    if constexpr (std::is_same_v<T, Pair>)
        return {~0u, 0};
    else
        return ~T{0};
}

/// Where counts begin in the workspace: behind its n elements.
template <class T>
unsigned* counts_behind(T* workspace, int n) {
    return reinterpret_cast<unsigned*>(workspace + ceil_div(n, 4) * 4);
}

/// Returns the sum of `value` over the threads before this one; in `total` that over all threads of the
/// block. All of them must come: there are barriers in it. Scan 08.
template <int threads>
__device__ unsigned sum_before(unsigned value, unsigned& total) {
    __shared__ unsigned of_warp[threads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = value;
    for (int stride = 1; stride < 32; stride *= 2) {
        const unsigned left = __shfl_up_sync(~0u, sum, stride);
        if (lane >= stride) sum += left;
    }
    if (lane == 31) of_warp[warp] = sum;
    __syncthreads();
    unsigned before = 0;
    total = 0;
    for (int w = 0; w < threads / 32; ++w) {
        if (w == warp) before = total;
        total += of_warp[w];
    }
    __syncthreads();  // a next call may store again
    return before + sum - value;
}

constexpr int scan_threads = 512;

/// Each block adds up a part of the counts. The sums stand behind the counts.
__global__ void __launch_bounds__(scan_threads) sum_parts(unsigned* counts, int n) {
    const int part = ceil_div(n, gridDim.x), begin = blockIdx.x * part, end = min(begin + part, n);
    unsigned sum = 0, total;
    for (int i = begin + threadIdx.x; i < end; i += scan_threads) sum += counts[i];
    sum_before<scan_threads>(sum, total);
    if (threadIdx.x == 0) counts[n + blockIdx.x] = total;
}

/// Each block replaces the counts of its part by the sum of all before.
__global__ void __launch_bounds__(scan_threads) scan_parts(unsigned* counts, int n) {
    unsigned before;
    sum_before<scan_threads>(threadIdx.x < blockIdx.x ? counts[n + threadIdx.x] : 0, before);
    const int part = ceil_div(n, gridDim.x), begin = blockIdx.x * part, end = min(begin + part, n);
    for (int first = begin; first < end; first += scan_threads) {
        const int i = first + threadIdx.x;
        const unsigned count = i < end ? counts[i] : 0;
        unsigned total;
        const unsigned sum = before + sum_before<scan_threads>(count, total);
        if (i < end) counts[i] = sum;
        before += total;
    }
}

/// Replaces each of the n counts by the sum of all before it. Takes one launch or two, with a block for each
/// part of the counts, as in scan 05. Behind the counts there must be room for the sums of 512 parts.
inline void scan_counts(unsigned* counts, int n) {
    const int parts = min(ceil_div(n, 8 * scan_threads), scan_threads);
    if (parts > 1) {  // before the first part there is nothing to add
        sum_parts<<<parts, scan_threads>>>(counts, n);
        check(cudaGetLastError());
    }
    scan_parts<<<parts, scan_threads>>>(counts, n);
    check(cudaGetLastError());
}
