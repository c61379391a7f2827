// Eight ballots find the lanes with the same digit, one for each bit: what __match_any_sync does where GPUs do
// not have it. Sixteen rows a warp.
#include "digits.cuh"

constexpr int threads = 256;  // one for each digit, whose counts it adds up
constexpr int warps = threads / 32;
constexpr int rows = 16;  // rows of 32 elements that a warp has
constexpr int tile = threads * rows;
constexpr int bits = 8;
constexpr int digits = 1 << bits;
static_assert(threads == digits);

/// Counts the digits of each tile. `counts` has the zeros of tile 0, 1, …, then their ones, and so on.
template <class T>
__global__ void count_digits(const T* in, int n, int shift, unsigned* counts) {
    __shared__ unsigned counters[digits];
    const int t = threadIdx.x;
    const int first = blockIdx.x * tile, count = min(tile, n - first);
    counters[t] = 0;
    __syncthreads();
    for (int e = t; e < count; e += threads) atomicAdd(&counters[digit_of<bits>(in[first + e], shift)], 1);
    __syncthreads();
    counts[t * gridDim.x + blockIdx.x] = counters[t];
}

/// `before` has the counts after the scan: how many elements come before those of a tile with a digit.
template <class T>
__global__ void __launch_bounds__(threads)
    scatter(const T* in, T* out, int n, int shift, const unsigned* before) {
    __shared__ T x[tile];
    __shared__ unsigned counters[warps][digits], to_result[digits];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int first = blockIdx.x * tile, count = min(tile, n - first);
    for (int w = 0; w < warps; ++w) counters[w][t] = 0;
    __syncthreads();

    // A warp has rows that follow one another, so that it goes over its elements in their order.
    T mine[rows];
    unsigned rank[rows];  // among the warp's elements with the same digit
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        // Places beyond the input get the largest number, which comes last.
        const int e = (warp * rows + r) * 32 + lane;
        mine[r] = e < count ? in[first + e] : largest<T>();
        unsigned& counter = counters[warp][digit_of<bits>(mine[r], shift)];
        unsigned same = ~0u;
        for (int bit = 0; bit < bits; ++bit) {
            const bool is_one = digit_of<1>(mine[r], shift + bit) == 1;
            const unsigned ones = __ballot_sync(~0u, is_one);
            same &= is_one ? ones : ~ones;
        }
        const unsigned left = same & ((1u << lane) - 1);
        rank[r] = counter + __popc(left);
        __syncwarp();                            // all lanes have read the counter
        if (left == 0) counter += __popc(same);  // one lane for all that have the digit
        __syncwarp();
    }
    __syncthreads();

    // Thread t adds up digit t: first over the warps, then all digits before it.
    unsigned of_tile = 0;
    for (int w = 0; w < warps; ++w) {
        const unsigned of_warp = counters[w][t];
        counters[w][t] = of_tile;
        of_tile += of_warp;
    }
    unsigned all;
    const unsigned begin = sum_before<threads>(of_tile, all);
    for (int w = 0; w < warps; ++w) counters[w][t] += begin;
    to_result[t] =
        before[t * gridDim.x + blockIdx.x] - begin;  // from a place in the tile to one in the result
    __syncthreads();

#pragma unroll
    for (int r = 0; r < rows; ++r) x[counters[warp][digit_of<bits>(mine[r], shift)] + rank[r]] = mine[r];
    __syncthreads();
    // Neighbours in the tile are neighbours in the result, unless a digit ends between them.
    for (int e = t; e < count; e += threads) out[to_result[digit_of<bits>(x[e], shift)] + e] = x[e];
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
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
}
