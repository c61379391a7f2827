// Ballots in place of __match_any_sync, and tiles of 18 rows. Usual in sorts for GPUs of all makers.
#include "digits.cuh"

#include <cuda/atomic>

constexpr int threads = 256;  // a thread for each digit
constexpr int warps = threads / 32;
constexpr int bits = 8;
constexpr int digits = 1 << bits;
static_assert(threads == digits);
template <class T>
constexpr int rows = sizeof(T) == 4 ? 18 : 12;  // rows of 32 elements that a warp has
template <class T>
constexpr int tile = threads* rows<T>;
template <class T>
constexpr int passes = key_bits<T> / bits;

/// The state of a digit in a tile. The lowest two bits of a published word hold it, the others the count.
/// The word is written and read as one, so no fence stands between state and count.
enum State : unsigned {
    nothing,  ///< nothing yet: this is 0, to which memory is set
    own,      ///< how often the digit is in this tile
    up_to     ///< how often the digit is in all tiles up to this one
};
__device__ void publish(unsigned& word, State state, unsigned count) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(word).store(count << 2 | state,
                                                                      cuda::memory_order_relaxed);
}
__device__ State observe(unsigned& word, unsigned& count) {
    const unsigned found =
        cuda::atomic_ref<unsigned, cuda::thread_scope_device>(word).load(cuda::memory_order_relaxed);
    count = found >> 2;
    return static_cast<State>(found & 3);
}

constexpr int loads = 16;             // per thread at a time
constexpr int max_blocks = 8 * 132;  // as many as an H100 runs at a time

/// Adds to counts[pass][digit] the digits of all passes.
template <class T>
__global__ void __launch_bounds__(threads) count_digits(const T* in, int n, unsigned (*counts)[digits]) {
    __shared__ unsigned counters[passes<T>][digits];
    const int t = threadIdx.x;
    for (int p = 0; p < passes<T>; ++p) counters[p][t] = 0;
    __syncthreads();
    for (int first = blockIdx.x * loads * threads; first < n; first += gridDim.x * loads * threads) {
        T mine[loads];  // all in flight before the first is counted
#pragma unroll
        for (int l = 0; l < loads; ++l) {
            const int i = first + l * threads + t;
            if (i < n) mine[l] = in[i];
        }
#pragma unroll
        for (int l = 0; l < loads; ++l)
            if (first + l * threads + t < n)
                for (int p = 0; p < passes<T>; ++p)
                    atomicAdd(&counters[p][digit_of<bits>(mine[l], p * bits)], 1);
    }
    __syncthreads();
    for (int p = 0; p < passes<T>; ++p)
        if (counters[p][t] > 0) atomicAdd(&counts[p][t], counters[p][t]);
}

/// Each block replaces the counts of a pass by the places where the digits begin in its result.
__global__ void __launch_bounds__(digits) scan_digits(unsigned (*counts)[digits]) {
    unsigned& count = counts[blockIdx.x][threadIdx.x];
    unsigned all;
    count = sum_before<digits>(count, all);
}

/// `status` has a word for each digit of each tile; `started` counts the blocks that have started.
template <class T>
__global__ void __launch_bounds__(threads)
    one_sweep(const T* in, T* out, int n, int shift, const unsigned* begins, unsigned (*status)[digits],
              int* started) {
    __shared__ T x[tile<T>];
    __shared__ unsigned counters[warps][digits], to_result[digits];
    __shared__ int number;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0) number = atomicAdd(started, 1);
    for (int w = 0; w < warps; ++w) counters[w][t] = 0;
    __syncthreads();
    const int tile_number = number, first = tile_number * tile<T>, count = min(tile<T>, n - first);

    T mine[rows<T>];
#pragma unroll
    for (int r = 0; r < rows<T>; ++r) {
        const int e = (warp * rows<T> + r) * 32 + lane;
        mine[r] = e < count ? in[first + e] : largest<T>();
    }
#pragma unroll
    for (int r = 0; r < rows<T>; ++r) atomicAdd(&counters[warp][digit_of<bits>(mine[r], shift)], 1);
    __syncthreads();

    unsigned of_tile = 0;
    for (int w = 0; w < warps; ++w) {
        const unsigned of_warp = counters[w][t];
        counters[w][t] = of_tile;
        of_tile += of_warp;
    }
    publish(status[tile_number][t], own, of_tile);  // before anything else: others wait for it
    unsigned all;
    const unsigned begin = sum_before<threads>(of_tile, all);
    for (int w = 0; w < warps; ++w) counters[w][t] += begin;
    __syncthreads();

#pragma unroll
    for (int r = 0; r < rows<T>; ++r) {
        const int digit = digit_of<bits>(mine[r], shift);
        unsigned& counter = counters[warp][digit];
        unsigned same = ~0u;
        for (int bit = 0; bit < bits; ++bit) {
            const bool is_one = digit >> bit & 1;
            const unsigned ones = __ballot_sync(~0u, is_one);
            same &= is_one ? ones : ~ones;
        }
        const unsigned left = same & ((1u << lane) - 1);
        const unsigned place = counter;
        __syncwarp();
        if (left == 0) counter = place + __popc(same);
        __syncwarp();
        x[place + __popc(left)] = mine[r];
    }
    unsigned before = 0;  // how often the digit is in all tiles to the left
    for (int i = tile_number - 1; i >= 0;) {
        unsigned found;
        const State state = observe(status[i][t], found);
        if (state == nothing) continue;  // it has started, so the wait ends
        before += found;
        if (state == up_to) break;
        --i;
    }
    publish(status[tile_number][t], up_to, before + of_tile);
    to_result[t] = begins[t] + before - begin;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < rows<T>; ++r) {
        const int e = r * threads + t;
        if (e < count) out[to_result[digit_of<bits>(x[e], shift)] + e] = x[e];
    }
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
    if (n == 0) return;
    const int tiles = ceil_div(n, tile<T>);
    // Behind the elements: the counts of all passes, the number of blocks that have started, and the status.
    auto* const counts = reinterpret_cast<unsigned(*)[digits]>(counts_behind(workspace, n));
    auto* const status = counts + passes<T>;
    auto* const started = reinterpret_cast<int*>(status + tiles);
    check(cudaMemset(counts, 0, passes<T> * sizeof *counts));
    count_digits<<<min(ceil_div(n, loads * threads), max_blocks), threads>>>(in, n, counts);
    check(cudaGetLastError());
    scan_digits<<<passes<T>, digits>>>(counts);
    check(cudaGetLastError());
    const T* from = in;
    for (int pass = 0; pass < passes<T>; ++pass) {
        T* const to = pass % 2 == 0 ? workspace : out;
        check(cudaMemset(status, 0, tiles * sizeof *status + sizeof *started));
        one_sweep<<<tiles, threads>>>(from, to, n, pass * bits, counts[pass], status, started);
        check(cudaGetLastError());
        from = to;
    }
}
