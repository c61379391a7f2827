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
    int low = max(0, place - n), high = min(place, m);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (key_of(a[middle]) <= key_of(b[place - 1 - middle]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
    // kata: end
}

/// Merges the thread's elements of the list that a and b make, from `place` on, as many as it has.
template <class T>
__device__ void merge(const T* a, int m, const T* b, int n, int place, T (&merged)[each]) {
    // kata: begin
    place = min(place, m + n);
    int i = split(a, m, b, n, place), j = place - i;
#pragma unroll
    for (int e = 0; e < each; ++e)
        if (place + e < m + n) {
            const bool take_a = i < m && (j == n || key_of(a[i]) <= key_of(b[j]));
            merged[e] = take_a ? a[i++] : b[j++];
        }
    // kata: end
}

/// Stores the threads' elements to x, which has `count` places. Begins and ends with a barrier.
template <class T>
__device__ void keep(T* x, int count, const T (&mine)[each]) {
    // kata: begin
    const int place = threadIdx.x * each;
    __syncthreads();
#pragma unroll
    for (int e = 0; e < each; ++e)
        if (place + e < count) x[place + e] = mine[e];
    __syncthreads();
    // kata: end
}

template <class T>
__global__ void __launch_bounds__(threads) sort_tiles(const T* in, T* out, int n) {
    // kata: begin
    __shared__ T x[tile];
    const int t = threadIdx.x;
    const int first = blockIdx.x * tile, count = min(tile, n - first);
    for (int e = t; e < count; e += threads) x[e] = in[first + e];
    __syncthreads();
    T mine[each];
#pragma unroll
    for (int e = 0; e < each; ++e)
        if (t * each + e < count) mine[e] = x[t * each + e];
            // Neighbours change places if the right one is smaller: equal ones never do. After as many rounds
            // as there are elements they are sorted, and each index is known to the compiler, so they stay in
            // registers.
#pragma unroll
    for (int round = 0; round < each; ++round)
#pragma unroll
        for (int e = round % 2; e + 1 < each; e += 2)
            if (t * each + e + 1 < count && key_of(mine[e + 1]) < key_of(mine[e])) {
                const T right = mine[e + 1];
                mine[e + 1] = mine[e];
                mine[e] = right;
            }
    keep(x, count, mine);
    for (int run = each; run < tile; run *= 2) {
        const int begin = min(t * each / (2 * run) * (2 * run), count);  // start of its pair of runs
        const int a_count = min(run, count - begin), b_count = min(run, count - begin - a_count);
        merge(x + begin, a_count, x + begin + a_count, b_count, t * each - begin, mine);
        keep(x, count, mine);
    }
    for (int e = t; e < count; e += threads) out[first + e] = x[e];
    // kata: end
}

template <class T>
__global__ void __launch_bounds__(threads) merge_runs(const T* in, T* out, int n, int run) {
    // kata: begin
    __shared__ T x[tile];
    __shared__ int from_a[2];
    const int t = threadIdx.x;
    const int first = blockIdx.x * tile, count = min(tile, n - first);
    // Runs consist of tiles, so a tile of the result belongs to one pair of them.
    const int begin = first / (2 * run) * (2 * run);
    const T* const a = in + begin;
    const int m = min(run, n - begin), b_length = min(run, n - begin - m);
    const T* const b = a + m;
    if (t < 2) from_a[t] = split(a, m, b, b_length, first - begin + t * count);
    __syncthreads();
    const int a_first = from_a[0], a_count = from_a[1] - a_first;
    const int b_first = first - begin - a_first;
    for (int e = t; e < count; e += threads) x[e] = e < a_count ? a[a_first + e] : b[b_first + e - a_count];
    __syncthreads();
    T merged[each];
    merge(x, a_count, x + a_count, count - a_count, t * each, merged);
    keep(x, count, merged);
    for (int e = t; e < count; e += threads) out[first + e] = x[e];
    // kata: end
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
    // kata: begin
    if (n == 0) return;
    const int tiles = ceil_div(n, tile);
    int rounds = 0;
    while (1 << rounds < tiles) ++rounds;
    // The two arrays swap roles in each round, and the last round writes to `out`.
    T *from = rounds % 2 == 0 ? out : workspace, *to = rounds % 2 == 0 ? workspace : out;
    sort_tiles<<<tiles, threads>>>(in, from, n);
    check(cudaGetLastError());
    for (int round = 0; round < rounds; ++round) {
        merge_runs<<<tiles, threads>>>(from, to, n, tile << round);
        check(cudaGetLastError());
        T* const merged = to;
        to = from;
        from = merged;
    }
    // kata: end
}
