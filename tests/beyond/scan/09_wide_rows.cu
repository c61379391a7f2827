// 09 Wide rows: 16 bytes a load, and no shared memory on the way. Changed against 08: a lane keeps what one
// load brings, four neighbours of a row of 128 floats; the warp scans row after row by shuffles, instead of
// turning the section around in shared memory. Eight loads of a thread are under way at once, four times as
// much as before; two blocks with 64 KB each fill the registers of a multiprocessor (of floats and ints).
//
// Measured on an H100 80GB HBM3 (CUDA 13.0, L2 flushed, medians of 15), 2^28 floats: 0.862 ms = 0.83 of a
// copy, after 1.019 of 08. As fast as CUB, floats, inclusive: 1.23 x at 2^20, 1.00 x at 2^24, 1.02 x at
// 2^28, 1.01 x at 2^30; ints 1.20, 1.01, 1.01, 1.01 x; maps of 8 bytes 1.9 x, of 4 bytes 1.8 x. No second
// number in __launch_bounds__: to ask for two blocks spills the registers of dear operators (maps of 4
// bytes 2.38 ms instead of 1.06). Floats and ints were timed with `__launch_bounds__(512, 2)`: without the 2
// the machine code for ints is the same, that for floats differs in 16 instructions.
#include "whole.cuh"

#include <cuda/atomic>

constexpr int threads = 512;
constexpr int warps = threads / 32;
constexpr int rows = 8;  // of a warp
template <class T>
constexpr int row = 32 * 16 / sizeof(T);  // elements: 16 bytes a lane
template <class T>
constexpr int tile = row<T>* rows* warps;  // elements of a block

/// Shuffles take numbers of four and eight bytes; a value of another type travels as one of these.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
template <class T>
__device__ Bits<T> to_bits(T value) {
    Bits<T> bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
template <class T>
__device__ T from_bits(Bits<T> bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T>
__device__ T shuffle(T value, int lane) {
    return from_bits<T>(__shfl_sync(~0u, to_bits(value), lane));
}
template <class T>
__device__ T shuffle_up(T value, int lanes) {
    return from_bits<T>(__shfl_up_sync(~0u, to_bits(value), lanes));
}
template <class T>
__device__ T shuffle_down(T value, int lanes) {
    return from_bits<T>(__shfl_down_sync(~0u, to_bits(value), lanes));
}

// What a tile tells those after it: its state, and the sum that goes with it. Both lie in one 64-bit word, or
// half a sum in each of two, and a word is written and read as one: whoever sees the state has the sum, and
// no fence is needed. Two words of different states are a sum that is just being replaced: nothing, yet.
using Word = unsigned long long;
constexpr unsigned nothing = 0;    // what the memory is set to before the launch
constexpr unsigned aggregate = 1;  // the sum of the tile
constexpr unsigned prefix = 2;     // the sum of all up to the end of the tile
template <class T>
constexpr int words = sizeof(T) / 4;

using Shared_word = cuda::atomic_ref<Word, cuda::thread_scope_device>;

template <class T>
__device__ void publish(Word* status, int tile, unsigned state, T sum) {
    unsigned half[words<T>];
    memcpy(half, &sum, sizeof sum);
    for (int k = 0; k < words<T>; ++k)
        Shared_word(status[tile * words<T> + k])
            .store(Word{state} << 32 | half[k], cuda::memory_order_relaxed);
}

template <class T>
__device__ unsigned observe(Word* status, int tile, T& sum) {
    unsigned half[words<T>], state = nothing;
    bool torn = false;
    for (int k = 0; k < words<T>; ++k) {
        const Word word = Shared_word(status[tile * words<T> + k]).load(cuda::memory_order_relaxed);
        half[k] = static_cast<unsigned>(word);
        const auto seen = static_cast<unsigned>(word >> 32);
        torn = torn || (k > 0 && seen != state);
        state = seen;
    }
    memcpy(&sum, half, sizeof sum);
    return torn ? nothing : state;
}

/// As in 07: the sum of all tiles before `tile`. A warp looks at 32 of them at a time, lane 0 at the nearest,
/// and adds up what they have back to the nearest prefix. It waits only for tiles that started before it.
template <class T, class Op>
__device__ T look_back(Word* status, int tile, Op op) {
    const int lane = threadIdx.x % 32;
    T before = op.identity();
    for (int end = tile;; end -= 32) {
        const int i = end - 1 - lane;
        T sum = op.identity();
        unsigned state = prefix;  // before the first tile there is nothing to add
        unsigned known, nearest;  // a bit a lane: whose prefix is known; the lowest of them
        do {
            if (i >= 0) state = observe(status, i, sum);
            known = __ballot_sync(~0u, state == prefix);
            nearest = known & -known;
        } while (__ballot_sync(~0u, state == nothing) & (nearest - 1));  // somebody nearer has nothing yet
        if (~(2 * nearest - 1) >> lane & 1) sum = op.identity();         // farther than the nearest prefix
        // lane + stride has the tiles before the lane's: left operand
        for (int stride = 1; stride < 32; stride *= 2) sum = op(shuffle_down(sum, stride), sum);
        before = op(shuffle(sum, 0), before);
        if (known) return before;
    }
}

/// Inclusive scan over the lanes of a warp: Kogge–Stone, as in 01, from register to register.
template <class T, class Op>
__device__ T scan_warp(T value, Op op) {
    const int lane = threadIdx.x % 32;
    for (int stride = 1; stride < 32; stride *= 2) {
        const T left = shuffle_up(value, stride);  // all lanes shuffle, also those that have no left
        if (lane >= stride) value = op(left, value);
    }
    return value;
}

/// As many elements as one load takes. The alignment is what makes it one load.
template <class T>
struct alignas(16) Pack {
    static constexpr int width = 16 / sizeof(T);
    T x[width];
};

/// Elements i and following.
template <class T>
__device__ Pack<T> load(const T* in, int i) {
    return *reinterpret_cast<const Pack<T>*>(in + i);
}
/// The same, with the identity where there are none.
template <class T, class Op>
__device__ Pack<T> load_end(const T* in, int i, int n, Op op) {
    Pack<T> pack;
    for (int k = 0; k < Pack<T>::width; ++k) pack.x[k] = i + k < n ? in[i + k] : op.identity();
    return pack;
}
template <class T>
__device__ void store(T* out, int i, int n, const Pack<T>& pack) {
    if (n - i >= Pack<T>::width)
        *reinterpret_cast<Pack<T>*>(out + i) = pack;
    else
        for (int k = 0; k < Pack<T>::width; ++k)
            if (i + k < n) out[i + k] = pack.x[k];
}

template <class T, class Op>
__global__ void __launch_bounds__(threads)
    wide_scan(const T* in, T* out, int n, Kind kind, Word* status, int* started, Op op) {
    __shared__ T of_warp[warps];  // first each warp's sum, then what stands before it
    __shared__ int number;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0) number = atomicAdd(started, 1);
    __syncthreads();
    const int s = number;

    // The warp's rows, all under way at once: lane after lane 16 bytes, row after row.
    const int first = s * tile<T> + warp * rows * row<T> + lane * Pack<T>::width;
    Pack<T> x[rows];
    if (n - s * tile<T> >= tile<T>) {  // the same for the whole block: no branch stands between the loads
#pragma unroll
        for (int r = 0; r < rows; ++r) x[r] = load(in, first + r * row<T>);
    } else {
#pragma unroll
        for (int r = 0; r < rows; ++r) x[r] = load_end(in, first + r * row<T>, n, op);
    }

    T before[rows];  // what stands before the lane's pack in the rows of the warp
    T total = op.identity();
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        T sum = x[r].x[0];
        for (int k = 1; k < Pack<T>::width; ++k) sum = op(sum, x[r].x[k]);
        const T up_to_here = scan_warp(sum, op);
        const T left = shuffle_up(up_to_here, 1);
        before[r] = lane > 0 ? op(total, left) : total;
        total = op(total, shuffle(up_to_here, 31));
    }
    if (lane == 0) of_warp[warp] = total;
    __syncthreads();

    if (warp == 0) {
        const T to_warp = scan_warp(lane < warps ? of_warp[lane] : op.identity(), op);
        const T whole = shuffle(to_warp, 31);
        if (lane == 0) publish(status, s, aggregate, whole);
        const T before_tile = look_back<T>(status, s, op);
        if (lane == 0) publish(status, s, prefix, op(before_tile, whole));
        const T left_warps = shuffle_up(to_warp, 1);
        if (lane < warps) of_warp[lane] = lane > 0 ? op(before_tile, left_warps) : before_tile;
    }
    __syncthreads();

#pragma unroll
    for (int r = 0; r < rows; ++r) {
        T running = op(of_warp[warp], before[r]);
        for (T& element : x[r].x) {
            const T next = op(running, element);
            element = kind == Kind::inclusive ? next : running;
            running = next;
        }
        store(out, first + r * row<T>, n, x[r]);
    }
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    if (n == 0) return;
    const int tiles = ceil_div(n, tile<T>);
    auto* const status = reinterpret_cast<Word*>(workspace);
    auto* const started = reinterpret_cast<int*>(status + tiles * words<T>);
    // nothing is published, none has started
    check(cudaMemsetAsync(status, 0, tiles * words<T> * sizeof(Word) + sizeof(int)));
    wide_scan<<<tiles, threads>>>(in, out, n, kind, status, started, op);
    check(cudaGetLastError());
}
