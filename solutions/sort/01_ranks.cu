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
    int low = 0, high = length;  // the rank is from low to high
    while (low < high) {
        const int middle = (low + high) / 2;
        const Key<T> found = key_of(list[middle]);
        // If this element precedes, all up to it do; if not, neither does any after it.
        if (found < key || (equals_precede && found == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
    // kata: end
}

template <class T>
__global__ void merge_by_ranks(const T* a, int m, const T* b, int n, T* out) {
    // kata: begin
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < m) {
        const T element = a[i];
        out[i + rank_in(b, n, key_of(element), false)] = element;
    } else if (i < m + n) {
        // Equal keys of `a` come first. If both lists let each other go first, two elements would meet.
        const int j = i - m;
        const T element = b[j];
        out[j + rank_in(a, m, key_of(element), true)] = element;
    }
    // kata: end
}

template <class T>
void merge_lists(const T* a, int m, const T* b, int n, T* out) {
    // kata: begin
    if (m + n == 0) return;  // a grid without blocks is an error
    merge_by_ranks<<<ceil_div(m + n, threads), threads>>>(a, m, b, n, out);
    check(cudaGetLastError());
    // kata: end
}
