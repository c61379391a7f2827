// A thread for each element and a scan of the block, as a book has it; the block's zeros and ones are counted, and
// not those of its warps.
#include "digits.cuh"

constexpr int threads = 512;

template <class T>
__global__ void count_bits(const T* in, int n, int bit, unsigned* counts) {
    const int i = blockIdx.x * threads + threadIdx.x;
    const int ones = __syncthreads_count(i < n && digit_of<1>(in[i], bit) == 1);
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = min(threads, n - int(blockIdx.x) * threads) - ones;
        counts[gridDim.x + blockIdx.x] = ones;
    }
}

template <class T>
__global__ void scatter(const T* in, T* out, int n, int bit, const unsigned* before) {
    const int t = threadIdx.x, i = blockIdx.x * threads + t;
    T element;
    if (i < n) element = in[i];
    const unsigned one = i < n && digit_of<1>(element, bit) == 1;
    unsigned all_ones;
    const unsigned ones = sum_before<threads>(one, all_ones);
    if (i < n) out[one ? before[gridDim.x + blockIdx.x] + ones : before[blockIdx.x] + t - ones] = element;
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
    if (n == 0) return;
    const int blocks = ceil_div(n, threads);
    unsigned* const counts = counts_behind(workspace, n);
    for (int bit = 0; bit < key_bits<T>; ++bit) {
        const T* const from = bit == 0 ? in : bit % 2 == 0 ? out : workspace;
        count_bits<<<blocks, threads>>>(from, n, bit, counts);
        scan_counts(counts, 2 * blocks);
        scatter<<<blocks, threads>>>(from, bit % 2 == 0 ? workspace : out, n, bit, counts);
        check(cudaGetLastError());
    }
}
