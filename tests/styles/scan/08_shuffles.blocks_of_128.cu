// Blocks of 128 threads, a separate array for the sums before the warps, and a loop for each kind of scan:
// usual where many registers and few conditions are wanted. Twice as many blocks have five barriers each.
#include "messages.cuh"

constexpr int threads = 128;
constexpr int warps = threads / 32;
constexpr int coarse_factor = 16;
constexpr int section = threads * coarse_factor;

/// Returns the sum of all sections before `s` to all lanes of the calling warp.
template <class T, class Op>
__device__ T look_back(Word* status, int s, Op op) {
    const int lane = threadIdx.x % 32;
    T before = op.identity();
    for (int end = s;; end -= 32) {
        const int i = end - 1 - lane;
        T sum = op.identity();
        State state = prefix;
        unsigned known, nearest;
        do {
            if (i >= 0) state = observe(status, i, sum);
            known = __ballot_sync(~0u, state == prefix);
            nearest = known & -known;
        } while (__ballot_sync(~0u, state == nothing) & (nearest - 1));
        if (known != 0 && lane >= __ffs(known)) sum = op.identity();
        for (int stride = 1; stride < 32; stride *= 2) sum = op(shuffle_down(sum, stride), sum);
        before = op(shuffle(sum, 0), before);
        if (known != 0) return before;
    }
}

/// Returns the values of lanes 0 to this one, combined.
template <class T, class Op>
__device__ T scan_warp(T value, Op op) {
    const int lane = threadIdx.x % 32;
    for (int stride = 1; stride < 32; stride *= 2) {  // Kogge–Stone, as in 01, and no barrier
        const T left = shuffle_up(value, stride);     // also for lanes without such a lane: all must take part
        if (lane >= stride) value = op(left, value);
    }
    return value;
}

// `started` counts the blocks that have started.
template <class T, class Op>
__global__ void __launch_bounds__(threads)
    shuffle_scan(const T* in, T* out, int n, Kind kind, Word* status, int* started, Op op) {
    __shared__ T x[padded(section)];
    __shared__ T of_warp[warps], before_warp[warps];
    __shared__ int number;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t == 0) number = atomicAdd(started, 1);
    __syncthreads();
    const int s = number, first = s * section;
#pragma unroll
    for (int k = 0; k < coarse_factor; ++k) {
        const int e = t + k * threads;
        x[padded(e)] = first + e < n ? in[first + e] : op.identity();
    }
    __syncthreads();  // x is complete: other threads have loaded it

    T* const mine =
        x + padded(t * coarse_factor);  // the 16 places from 16 · t on contain no padding
    T item[coarse_factor];              // in registers, as all loops over it are unrolled
#pragma unroll
    for (int k = 0; k < coarse_factor; ++k) item[k] = mine[k];
    T sum = item[0];
#pragma unroll
    for (int k = 1; k < coarse_factor; ++k) sum = op(sum, item[k]);
    const T up_to_here = scan_warp(sum, op);
    if (lane == 31) of_warp[warp] = up_to_here;
    const T left = shuffle_up(up_to_here, 1);
    const T before = lane > 0 ? left : op.identity();  // the sum of the warp's lanes to the left
    __syncthreads();                                   // of_warp is complete

    if (warp == 0) {
        const T to_warp = scan_warp(lane < warps ? of_warp[lane] : op.identity(), op);
        const T whole = shuffle(to_warp, 31);
        if (lane == 0) publish(status, s, aggregate, whole);
        const T before_section = look_back<T>(status, s, op);
        if (lane == 0) publish(status, s, prefix, op(before_section, whole));
        const T left_warps = shuffle_up(to_warp, 1);
        if (lane == 0)
            before_warp[0] = before_section;
        else if (lane < warps)
            before_warp[lane] = op(before_section, left_warps);
    }
    __syncthreads();  // before_warp is complete

    T running = op(before_warp[warp], before);
    if (kind == Kind::inclusive) {
#pragma unroll
        for (int k = 0; k < coarse_factor; ++k) mine[k] = running = op(running, item[k]);
    } else {
#pragma unroll
        for (int k = 0; k < coarse_factor; ++k) {
            mine[k] = running;
            running = op(running, item[k]);
        }
    }
    __syncthreads();  // x holds the results, for all threads
#pragma unroll
    for (int k = 0; k < coarse_factor; ++k) {
        const int e = t + k * threads;
        if (first + e < n) out[first + e] = x[padded(e)];
    }
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    if (n == 0) return;
    const int sections = ceil_div(n, section);
    auto* const status = reinterpret_cast<Word*>(workspace);
    auto* const started = reinterpret_cast<int*>(status + sections * words<T>);
    check(cudaMemset(status, 0, sections * words<T> * sizeof *status + sizeof *started));
    shuffle_scan<<<sections, threads>>>(in, out, n, kind, status, started, op);
    check(cudaGetLastError());
}
