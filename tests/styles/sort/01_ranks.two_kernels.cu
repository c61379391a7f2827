// A kernel for each list, with the searches as the standard library has them. Usual where lower_bound and
// upper_bound are written first.
#include "lists.cuh"

template <class T>
__device__ int lower_bound(const T* x, int n, Key<T> key) {
    int first = 0;
    while (n > 0) {
        const int half = n / 2;
        if (key_of(x[first + half]) < key) {
            first += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return first;
}

template <class T>
__device__ int upper_bound(const T* x, int n, Key<T> key) {
    int first = 0;
    while (n > 0) {
        const int half = n / 2;
        if (!(key < key_of(x[first + half]))) {
            first += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return first;
}

template <class T>
__global__ void place_first(const T* a, int m, const T* b, int n, T* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) out[i + lower_bound(b, n, key_of(a[i]))] = a[i];
}

template <class T>
__global__ void place_second(const T* a, int m, const T* b, int n, T* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i + upper_bound(a, m, key_of(b[i]))] = b[i];
}

template <class T>
void merge_lists(const T* a, int m, const T* b, int n, T* out) {
    if (m > 0) place_first<<<ceil_div(m, 128), 128>>>(a, m, b, n, out);
    if (n > 0) place_second<<<ceil_div(n, 128), 128>>>(a, m, b, n, out);
    check(cudaGetLastError());
}
