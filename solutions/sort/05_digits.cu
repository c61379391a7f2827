// 05 Digits: four bits in a pass instead of one. Mirrors the radix sort of PMPP's chapter on sort with a
// larger radix and coalesced stores; the model is Satish, Harris and Garland. Changed from 04: there are 16
// counts for each block, and a half of a byte takes one pass instead of four. A block first sorts its tile by
// the digit in shared memory, bit by bit as in 04. Then elements with the same digit are neighbours, and they
// go to neighbouring places of the result.
#include "digits.cuh"

constexpr int threads = 256;
constexpr int each = 7;  // elements of a thread: an odd number, so that lanes begin in different banks
constexpr int tile = threads * each;
constexpr int bits = 4;
constexpr int digits = 1 << bits;

/// Counts the digits of each tile. `counts` has the zeros of tile 0, 1, …, then their ones, and so on.
template <class T>
__global__ void count_digits(const T* in, int n, int shift, unsigned* counts) {
    // kata: begin
    __shared__ unsigned counters[digits];
    const int t = threadIdx.x;
    const int first = blockIdx.x * tile, count = min(tile, n - first);
    if (t < digits) counters[t] = 0;
    __syncthreads();
    for (int e = t; e < count; e += threads) atomicAdd(&counters[digit_of<bits>(in[first + e], shift)], 1);
    __syncthreads();
    if (t < digits) counts[t * gridDim.x + blockIdx.x] = counters[t];
    // kata: end
}

/// `before` has the counts after the scan: how many elements come before those of a tile with a digit.
template <class T>
__global__ void __launch_bounds__(threads)
    scatter(const T* in, T* out, int n, int shift, const unsigned* before) {
    // kata: begin
    __shared__ T x[tile];
    __shared__ int begin[digits];  // where a digit begins in the sorted tile
    const int t = threadIdx.x;
    const int first = blockIdx.x * tile, count = min(tile, n - first);
    for (int e = t; e < count; e += threads) x[e] = in[first + e];
    __syncthreads();
    for (int bit = shift; bit < shift + bits; ++bit) {
        T mine[each];
        unsigned zeros = 0, all_zeros;
#pragma unroll
        for (int e = 0; e < each; ++e)
            if (t * each + e < count) {
                mine[e] = x[t * each + e];
                zeros += digit_of<1>(mine[e], bit) == 0;
            }
        // The place of the thread's next zero. The barriers in this call also ensure that all have read x.
        unsigned zero = sum_before<threads>(zeros, all_zeros);
        unsigned one = all_zeros + t * each - zero;  // after all zeros and the earlier threads' ones
#pragma unroll
        for (int e = 0; e < each; ++e)
            if (t * each + e < count) x[digit_of<1>(mine[e], bit) == 0 ? zero++ : one++] = mine[e];
        __syncthreads();
    }
    for (int e = t; e < count; e += threads) {
        const int digit = digit_of<bits>(x[e], shift);
        if (e == 0 || digit_of<bits>(x[e - 1], shift) != digit) begin[digit] = e;
    }
    __syncthreads();
    for (int e = t; e < count; e += threads) {
        const int digit = digit_of<bits>(x[e], shift);
        out[before[digit * gridDim.x + blockIdx.x] + e - begin[digit]] = x[e];
    }
    // kata: end
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
    // kata: begin
    if (n == 0) return;
    const int tiles = ceil_div(n, tile);
    unsigned* const counts = counts_behind(workspace, n);
    const T* from = in;
    for (int shift = 0; shift < key_bits<T>; shift += bits) {
        T* const to = shift / bits % 2 == 0 ? workspace : out;  // the number of passes is even
        count_digits<<<tiles, threads>>>(from, n, shift, counts);
        check(cudaGetLastError());
        scan_counts(counts, digits * tiles);
        scatter<<<tiles, threads>>>(from, to, n, shift, counts);
        check(cudaGetLastError());
        from = to;
    }
    // kata: end
}
