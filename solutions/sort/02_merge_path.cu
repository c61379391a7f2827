// 02 Merge path: each thread has a share of the result, and finds where it begins in both lists. Mirrors
// co-rank and the tiled kernel of PMPP's chapter on merge; the name is that of Green, McColl and Bader (GPU
// Merge Path, 2012). Changed from 01: one binary search for seven elements and not for each. A block searches
// for its tile first, loads it into shared memory, and there its threads search again. Global memory is read
// and written by neighbours, except for two searches of each block.
#include "lists.cuh"

constexpr int threads = 128;
constexpr int each = 7;  // elements of a thread: an odd number, so that lanes begin in different banks
constexpr int tile = threads * each;

/// Returns how many of the first `place` elements of the merged list are from `a`.
template <class T>
__device__ int split(const T* a, int m, const T* b, int n, int place) {
    // kata: begin
    int low = max(0, place - n), high = min(place, m);  // no more than there are in b, and in a
    while (low < high) {
        const int middle = (low + high) / 2;
        // With `middle` elements from a, b[place - 1 - middle] is the last one from b. If it must stand
        // behind a[middle], then a[middle] belongs to the first ones, too.
        if (key_of(a[middle]) <= key_of(b[place - 1 - middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
    // kata: end
}

template <class T>
__global__ void __launch_bounds__(threads) merge_path(const T* a, int m, const T* b, int n, T* out) {
    // kata: begin
    __shared__ T x[tile];
    __shared__ int from_a[2];  // elements of a before the tile, and up to its end
    const int t = threadIdx.x;
    const int first = blockIdx.x * tile, count = min(tile, m + n - first);
    if (t < 2) from_a[t] = split(a, m, b, n, first + t * count);
    __syncthreads();
    const int a_first = from_a[0], a_count = from_a[1] - a_first;
    const int b_first = first - a_first, b_count = count - a_count;
    for (int e = t; e < count; e += threads) x[e] = e < a_count ? a[a_first + e] : b[b_first + e - a_count];
    __syncthreads();

    // The same again, on chip: the part from a lies before that from b.
    const T *const a_s = x, *const b_s = x + a_count;
    const int place = min(t * each, count);
    int i = split(a_s, a_count, b_s, b_count, place), j = place - i;
    T merged[each];
#pragma unroll
    for (int e = 0; e < each; ++e)
        if (place + e < count) {
            const bool take_a = i < a_count && (j == b_count || key_of(a_s[i]) <= key_of(b_s[j]));
            merged[e] = take_a ? a_s[i++] : b_s[j++];
        }
    __syncthreads();  // all have read x, which is used again
#pragma unroll
    for (int e = 0; e < each; ++e)
        if (place + e < count) x[place + e] = merged[e];
    __syncthreads();
    for (int e = t; e < count; e += threads) out[first + e] = x[e];
    // kata: end
}

template <class T>
void merge_lists(const T* a, int m, const T* b, int n, T* out) {
    // kata: begin
    if (m + n == 0) return;
    merge_path<<<ceil_div(m + n, tile), threads>>>(a, m, b, n, out);
    check(cudaGetLastError());
    // kata: end
}
