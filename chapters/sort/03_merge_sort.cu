// 03 Merge sort: sorted runs are merged until one is left. PMPP's chapter on sort names it as what merge is
// for; the model is that of Satish, Harris and Garland, and of CUB's merge sort. Changed from 02: the lists
// are neighbouring runs of one array. A thread sorts seven elements, a block merges the runs of its threads
// on chip, and then each launch merges all pairs of runs in global memory, twice as long as before.
#include "sort.cuh"

constexpr int threads = 128;
constexpr int each = 7;
constexpr int tile = threads * each;

/// Returns how many of the first `place` elements of the merged list are from `a`.
template <class T>
__device__ int split(const T* a, int m, const T* b, int n, int place) {
    // kata: begin
    // As in 02.
    kata::open();
    return 0;
    // kata: end
}

/// Merges the thread's elements of the list that a and b make, from `place` on, as many as it has.
template <class T>
__device__ void merge(const T* a, int m, const T* b, int n, int place, T (&merged)[each]) {
    // kata: begin
    // The thread's part of 02, for lists of any length: split them at `place`, and merge up to `each`
    // elements into `merged`. The lists may end before.
    kata::open();
    // kata: end
}

/// Stores the threads' elements to x, which has `count` places. Begins and ends with a barrier.
template <class T>
__device__ void keep(T* x, int count, const T (&mine)[each]) {
    // kata: begin
    // Each thread stores the elements that it has, with a barrier before and behind.
    kata::open();
    // kata: end
}

template <class T>
__global__ void __launch_bounds__(threads) sort_tiles(const T* in, T* out, int n) {
    // kata: begin
    // Load the tile, and take seven neighbouring elements of it into registers. Sort them there: compare
    // neighbours in rounds, at even places and at odd ones in turn, and exchange two only if the right
    // one is smaller. Then merge runs of seven to runs of fourteen and so on, until one run is the tile.
    // Which two runs does a thread's element come from? The last runs may be short or missing.
    kata::open();
    // kata: end
}

template <class T>
__global__ void __launch_bounds__(threads) merge_runs(const T* in, T* out, int n, int run) {
    // kata: begin
    // The tile of 02, from a pair of neighbouring runs of `run` elements each. The pair begins at a
    // multiple of 2 * run; its runs may be short or missing at the end of the array.
    kata::open();
    // kata: end
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
    // kata: begin
    // Sort the tiles, and merge runs of one tile, of two, of four, until one run is left. Two arrays
    // swap roles in each round: begin with the one for which the last round writes to `out`.
    // Also required: keys of 32 and of 64 bits and pairs; from 0 to 2^30 elements; equal keys in their
    // order; `in` is only read.
    kata::open();
    // kata: end
}
