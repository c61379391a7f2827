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
    // How many of the first `place` elements of the merged list come from `a`? At least max(0, place - n)
    // and at most min(place, m). Search in between: with `middle` elements from a, is a[middle] one of
    // the first, or is b[place - 1 - middle] before it?
    kata::open();
    return 0;
    // kata: end
}

template <class T>
__global__ void __launch_bounds__(threads) merge_path(const T* a, int m, const T* b, int n, T* out) {
    // kata: begin
    // The tile of the block begins at blockIdx.x * tile of the result; the last one may have fewer
    // elements. Two threads find where it begins and ends in `a`; the rest is from `b`. Load both parts
    // into shared memory, a's first, with neighbouring threads for neighbouring elements. Then each thread
    // finds its own seven elements there, merges them into registers, and stores them to shared memory.
    // From there neighbouring threads store neighbouring elements to the result. Where are barriers needed?
    kata::open();
    // kata: end
}

template <class T>
void merge_lists(const T* a, int m, const T* b, int n, T* out) {
    // kata: begin
    // A block for each tile; for two empty lists none. After the launch, check cudaGetLastError().
    // Also required: keys of 32 and of 64 bits and pairs, up to 2^30 elements in both lists together;
    // either list may be empty.
    kata::open();
    // kata: end
}
