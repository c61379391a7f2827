// 10 Block look-back: all warps of the block look back, each at 32 tiles of its own. Changed against 09: a
// block sees 1024 tiles at a time instead of 32, so that the nearest prefix is found by one look, and not by
// some that wait for one another; and one block of 1024 threads has a whole multiprocessor, with a tile of
// 128 KB: there are half as many tiles, and at most 132 of them look at a time.
//
// Measured on an H100 80GB HBM3 (CUDA 13.0, L2 flushed, medians of 7 to 21; as an instance of a template, the
// same but for names; this text itself with 512 threads only), 2^28 floats: 0.840 ms = 0.85 of a copy, after
// 0.862 of 09. As fast as CUB, floats: 1.10 x at 2^20, 1.03 x at 2^24, 1.04 x at 2^28, 1.05 x at 2^30;
// ints 1.03 x at 2^20, 1.05 x at 2^28; maps of 8 bytes 1.66 x, 2.07 x. With 512 threads and two blocks it is
// slower than 09 (0.898 ms): more warps ask, and those that wait are in the way.
#include "messages.cuh"

constexpr int threads = 1024;
constexpr int warps = threads / 32;
constexpr int rows = 8;  // of a warp
template <class T>
constexpr int row = 32 * 16 / sizeof(T);  // elements: 16 bytes a lane
template <class T>
constexpr int tile = row<T>* rows* warps;  // elements of a block

/// Adds up what the 32 tiles before `end` have, back to the nearest prefix; lane 0 has the sum. Was there a
/// prefix?
template <class T, class Op>
__device__ bool look(Word* status, int end, T& sum, Op op) {
    const int lane = threadIdx.x % 32;
    const int i = end - 1 - lane;
    sum = op.identity();
    State state = prefix;     // before the first tile there is nothing to add
    unsigned known, nearest;  // a bit a lane: whose prefix is known; the lowest of them
    do {
        if (i >= 0) state = observe(status, i, sum);
        known = __ballot_sync(~0u, state == prefix);
        nearest = known & -known;
    } while (__ballot_sync(~0u, state == nothing) & (nearest - 1));  // somebody nearer has nothing yet
    if (~(2 * nearest - 1) >> lane & 1) sum = op.identity();         // farther than the nearest prefix
    // lane + stride has the tiles before the lane's: left operand
    for (int stride = 1; stride < 32; stride *= 2) sum = op(shuffle_down(sum, stride), sum);
    return known != 0;
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
    block_look_back(const T* in, T* out, int n, Kind kind, Word* status, int* started, Op op) {
    __shared__ T of_warp[warps];
    __shared__ T window[warps];  // what each warp saw, and whether a prefix was there
    __shared__ bool found[warps];
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

    // Every warp adds up the warps' sums, so that none has to wait for another one to do it.
    const T to_warp = scan_warp(lane < warps ? of_warp[lane] : op.identity(), op);
    const T whole = shuffle(to_warp, 31);
    if (t == 0) publish(status, s, aggregate, whole);
    T before_tile = op.identity();
    bool done = false;
    for (int end = s; !done; end -= 32 * warps) {
        T sum;
        const bool known = look(status, end - 32 * warp, sum, op);
        if (lane == 0) {
            window[warp] = sum;
            found[warp] = known;
        }
        __syncthreads();
        for (int w = 0; w < warps && !done; ++w) {  // nearest first
            before_tile = op(window[w], before_tile);
            done = found[w];
        }
        if (!done) __syncthreads();  // all have read: the next look may overwrite
    }
    if (t == 0) publish(status, s, prefix, op(before_tile, whole));
    const T left_warps = shuffle(to_warp, max(warp - 1, 0));
    const T before_warp = warp > 0 ? op(before_tile, left_warps) : before_tile;

#pragma unroll
    for (int r = 0; r < rows; ++r) {
        T running = op(before_warp, before[r]);
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
    block_look_back<<<tiles, threads>>>(in, out, n, kind, status, started, op);
    check(cudaGetLastError());
}
