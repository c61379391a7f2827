// 08 Choice of match: a warp looks at its first row, and then finds equal digits in the way that suits.
// Beyond the documents; CUB's sort has one of these ways. Changed from 07: __match_any_sync seems to take a
// round for each different digit in the row, so up to 32. If there are many, a warp takes two ways in turn:
// in one row, lanes set their bits in a word of shared memory for each digit, and in the next one, eight
// ballots find the same. The one takes accesses to shared memory and the other instructions, and in turn they
// are faster than either alone. Lanes that meet in one word wait for each other: then all rows have ballots.
// Registers are few enough for three blocks on a multiprocessor. A tile of 64-bit elements takes more shared
// memory than a block gets by default.
//
// Needs: sm_80, 64 KiB
#include "digits.cuh"

#include <cuda/atomic>

constexpr int bits = 8;
constexpr int digits = 1 << bits;
constexpr int threads = 256;  // a thread for each digit
constexpr int warps = threads / 32;
static_assert(threads == digits);
template <class T>
constexpr int rows = sizeof(T) == 4 ? 30 : 23;  // rows of 32 elements that a warp has
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

template <class T>
constexpr int loads = 64 / sizeof(T);  // per thread at a time
constexpr int max_blocks = 8 * 132;    // as many as an H100 runs at a time

/// Adds to counts[pass][digit] the digits of all passes.
template <class T>
__global__ void __launch_bounds__(threads, 8) count_digits(const T* in, int n, unsigned (*counts)[digits]) {
    // kata: begin
    __shared__ unsigned counters[passes<T>][digits];
    const int t = threadIdx.x;
    for (int p = 0; p < passes<T>; ++p) counters[p][t] = 0;
    __syncthreads();
    for (int first = blockIdx.x * loads<T> * threads; first < n; first += gridDim.x * loads<T> * threads) {
        T mine[loads<T>];  // all in flight before the first is counted
#pragma unroll
        for (int l = 0; l < loads<T>; ++l) {
            const int i = first + l * threads + t;
            if (i < n) mine[l] = in[i];
        }
#pragma unroll
        for (int l = 0; l < loads<T>; ++l)
            if (first + l * threads + t < n)
                for (int p = 0; p < passes<T>; ++p)
                    atomicAdd(&counters[p][digit_of<bits>(mine[l], p * bits)], 1);
    }
    __syncthreads();
    for (int p = 0; p < passes<T>; ++p)
        if (counters[p][t] > 0) atomicAdd(&counts[p][t], counters[p][t]);
    // kata: end
}

/// Each block replaces the counts of a pass by the places where the digits begin in its result.
__global__ void __launch_bounds__(digits) scan_digits(unsigned (*counts)[digits]) {
    // kata: begin
    unsigned& count = counts[blockIdx.x][threadIdx.x];
    unsigned all;
    count = sum_before<digits>(count, all);
    // kata: end
}

/// Ways to find the lanes with the same digit.
enum class Match { any, ballots, in_turn };

/// Returns the way that suits a warp with such digits.
__device__ Match match_for(int digit) {
    // kata: begin
    const unsigned same = __match_any_sync(~0u, digit);
    const unsigned most = __reduce_max_sync(~0u, __popc(same));  // lanes that would meet in one word
    const bool is_first = (same & ((1u << threadIdx.x % 32) - 1)) == 0;
    const int different = __popc(__ballot_sync(~0u, is_first));
    if (different <= 16) return Match::any;
    return most <= 4 ? Match::in_turn : Match::ballots;
    // kata: end
}

/// Returns the lanes of the warp with the same digit: eight ballots, one for each bit.
__device__ unsigned match_by_ballots(int digit) {
    // kata: begin
    unsigned same = ~0u;
#pragma unroll
    for (int bit = 0; bit < bits; ++bit) {
        const bool is_one = digit >> bit & 1;
        const unsigned ones = __ballot_sync(~0u, is_one);
        same &= is_one ? ones : ~ones;
    }
    return same;
    // kata: end
}

/// Returns the same, and leaves it in the digit's mask, which must be zero before.
__device__ unsigned match_by_mask(unsigned& mask) {
    // kata: begin
    atomicOr(&mask, 1u << threadIdx.x % 32);
    __syncwarp();
    return mask;
    // kata: end
}

/// Stores a warp's elements to their places in x. `places` has the place of the next element for each digit,
/// and `masks` a word for each of them, all zero. A loop for each way to match, with registers of its own.
template <Match match, class T>
__device__ void rank(const T (&mine)[rows<T>], int shift, unsigned* places, unsigned* masks, T* x) {
    // kata: begin
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < rows<T>; ++r) {
        const int digit = digit_of<bits>(mine[r], shift);
        const bool by_mask = match == Match::in_turn && r % 2 == 1;  // known to the compiler
        const unsigned place = places[digit];                        // is in flight while lanes match
        const unsigned same = match == Match::any ? __match_any_sync(~0u, digit)
                              : by_mask           ? match_by_mask(masks[digit])
                                                  : match_by_ballots(digit);
        const unsigned left = same & ((1u << lane) - 1);
        __syncwarp();
        if (left == 0) {
            places[digit] = place + __popc(same);
            if (by_mask) masks[digit] = 0;  // for the next row
        }
        __syncwarp();
        x[place + __popc(left)] = mine[r];
    }
    // kata: end
}

/// `status` has a word for each digit of each tile; `started` counts the blocks that have started.
template <class T>
__global__ void __launch_bounds__(threads, 3)
    one_sweep(const T* in, T* out, int n, int shift, const unsigned* begins, unsigned (*status)[digits],
              int* started) {
    // kata: begin
    extern __shared__ int4 dynamic[];
    T* const x = reinterpret_cast<T*>(dynamic);
    __shared__ unsigned counters[warps][digits], masks[warps][digits], to_result[digits];
    __shared__ int number, shift_again;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0) number = atomicAdd(started, 1);
    if (t == 0) shift_again = shift;
    for (int w = 0; w < warps; ++w) counters[w][t] = masks[w][t] = 0;
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
    publish(status[tile_number][t], own, of_tile);
    unsigned all;
    const unsigned begin = sum_before<threads>(of_tile, all);
    for (int w = 0; w < warps; ++w) counters[w][t] += begin;
    __syncthreads();

    // With one variable for both, the compiler would keep each digit that it has counted in a register.
    shift = shift_again;
    switch (match_for(digit_of<bits>(mine[0], shift))) {
        case Match::any:
            rank<Match::any>(mine, shift, counters[warp], masks[warp], x);
            break;
        case Match::ballots:
            rank<Match::ballots>(mine, shift, counters[warp], masks[warp], x);
            break;
        case Match::in_turn:
            rank<Match::in_turn>(mine, shift, counters[warp], masks[warp], x);
            break;
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
    // kata: end
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
    // kata: begin
    if (n == 0) return;
    const int tiles = ceil_div(n, tile<T>);
    // Behind the elements: the counts of all passes, the number of blocks that have started, and the status.
    auto* const counts = reinterpret_cast<unsigned(*)[digits]>(counts_behind(workspace, n));
    auto* const status = counts + passes<T>;
    auto* const started = reinterpret_cast<int*>(status + tiles);
    check(cudaMemset(counts, 0, passes<T> * sizeof *counts));
    count_digits<<<min(ceil_div(n, loads<T> * threads), max_blocks), threads>>>(in, n, counts);
    check(cudaGetLastError());
    scan_digits<<<passes<T>, digits>>>(counts);
    check(cudaGetLastError());
    constexpr int bytes = tile<T> * sizeof(T);
    check(cudaFuncSetAttribute(one_sweep<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const T* from = in;
    for (int pass = 0; pass < passes<T>; ++pass) {
        T* const to = pass % 2 == 0 ? workspace : out;
        check(cudaMemset(status, 0, tiles * sizeof *status + sizeof *started));
        one_sweep<<<tiles, threads, bytes>>>(from, to, n, pass * bits, counts[pass], status, started);
        check(cudaGetLastError());
        from = to;
    }
    // kata: end
}
