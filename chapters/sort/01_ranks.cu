// 01 Ranks: each element finds its own place in the merged list. The problem is that of PMPP's chapter on
// merge; its model is the rank-based merge that Satish, Harris and Garland use (Designing Efficient Sorting
// Algorithms for Manycore GPUs, 2009). An element stands behind all that precede it: in its own list these
// are as many as its index says, and in the other one a binary search counts them. No thread waits for
// another.
#include "lists.cuh"

constexpr int threads = 256;

/// Returns how many elements of the sorted list precede one with this key from the other list: those with
/// smaller keys and, if `equals_precede`, those with the same.
template <class T>
__device__ int rank_in(const T* list, int length, Key<T> key, bool equals_precede) {
    // kata: begin
    // How many elements of `list` precede an element of the other list with this key? The list is sorted, so
    // a binary search finds it: keep a range in which the answer must be, and halve it until one number is
    // left. Elements with the same key are counted only if `equals_precede`.
    kata::open();
    return 0;
    // kata: end
}

template <class T>
__global__ void merge_by_ranks(const T* a, int m, const T* b, int n, T* out) {
    // kata: begin
    // A thread for each element of both lists: first those of `a`, then those of `b`. Its place in the
    // result is its index in its own list plus its rank in the other one. Which of two equal keys comes
    // first, and do both searches agree on that?
    kata::open();
    // kata: end
}

template <class T>
void merge_lists(const T* a, int m, const T* b, int n, T* out) {
    // kata: begin
    // A thread for each element, in blocks of `threads`; for two empty lists no block. After the launch,
    // check cudaGetLastError().
    // Also required: keys of 32 and of 64 bits and pairs, up to 2^30 elements in both lists together;
    // either list may be empty.
    kata::open();
    // kata: end
}
