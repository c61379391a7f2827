// 08 Shuffles: a thread keeps its elements in registers, and warps scan by shuffles. Beyond the documents; in
// CUB it is WarpScanShfl. Changed from 07: shared memory only turns elements that lie side by side in
// memory into elements that a thread has in a row, and back. A thread reads them from there once and writes
// them once; five barriers take the place of 21.
#include "messages.cuh"

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int coarse_factor = 16;
constexpr int section = threads * coarse_factor;

/// Returns the sum of all sections before `s` to all lanes of the calling warp.
template <class T, class Op>
__device__ T look_back(Word* status, int s, Op op) {
    // kata: begin
    // As in 07. Lane l polls section end - 1 - l, the nearest for lane 0. `known` has a bit for each lane
    // whose section has a prefix, known & -known is the lowest of them, and nearest - 1 has a bit for each
    // lane below it, or all 32 bits where no prefix is known: one of those sections without any sum means
    // polling again. The wait ends, as their blocks have started before this one. Lanes behind the nearest
    // prefix bring the identity, for it contains their sections (__ffs counts from 1). Section numbers fall
    // from lane to lane, so what lane + stride has is the left operand; op need not commute. Lane 0 then has
    // the sum. Without a prefix, the 32 sections before are next.
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
    // kata: end
}

/// Returns the values of lanes 0 up to this one, combined.
template <class T, class Op>
__device__ T scan_warp(T value, Op op) {
    // kata: begin
    const int lane = threadIdx.x % 32;
    for (int stride = 1; stride < 32; stride *= 2) {  // Kogge–Stone, as in 01, and no barrier
        const T left = shuffle_up(value, stride);     // also for lanes without one: all must take part
        if (lane >= stride) value = op(left, value);
    }
    return value;
    // kata: end
}

// `started` counts the blocks that have started.
template <class T, class Op>
__global__ void __launch_bounds__(threads)
    shuffle_scan(const T* in, T* out, int n, Kind kind, Word* status, int* started, Op op) {
    // kata: begin
    __shared__ T x[padded(section)];
    __shared__ T of_warp[warps];  // first each warp's sum, then the sum before the warp
    __shared__ int number;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    // A number is drawn when a block starts, so that all sections before this one belong to blocks that have
    // started.
    if (t == 0) number = atomicAdd(started, 1);
    __syncthreads();
    const int s = number, first = s * section;
    // Neighbouring threads load neighbouring elements, and element e of the section goes to place padded(e):
    // a free place after every 32 keeps lanes, which read 16 in a row below, in different banks.
#pragma unroll
    for (int k = 0; k < coarse_factor; ++k) {
        const int e = t + k * threads;
        x[padded(e)] = first + e < n ? in[first + e] : op.identity();
    }
    __syncthreads();  // x is complete: other threads have loaded it

    T* const mine =
        x + padded(t * coarse_factor);  // no free place lies among 16 in a row that begin at 16 · t
    T item[coarse_factor];              // in registers, as all loops over it are unrolled
#pragma unroll
    for (int k = 0; k < coarse_factor; ++k) item[k] = mine[k];
    T sum = item[0];
#pragma unroll
    for (int k = 1; k < coarse_factor; ++k) sum = op(sum, item[k]);
    // The warp scans its lanes' sums. Its last lane has the warp's, and the lane to the left has the sum
    // before this lane.
    const T up_to_here = scan_warp(sum, op);
    if (lane == 31) of_warp[warp] = up_to_here;
    const T left = shuffle_up(up_to_here, 1);
    const T before = lane > 0 ? left : op.identity();  // the sum of the warp's lanes to the left
    __syncthreads();                                   // of_warp is complete

    // The sum of the section comes first: sections behind it can go on with that while this one looks back.
    // All lanes come to each shuffle, and lanes without a warp bring the identity, so lane 31 has the whole.
    if (warp == 0) {
        const T to_warp = scan_warp(lane < warps ? of_warp[lane] : op.identity(), op);
        const T whole = shuffle(to_warp, 31);
        if (lane == 0) publish(status, s, aggregate, whole);
        const T before_section = look_back<T>(status, s, op);
        if (lane == 0) publish(status, s, prefix, op(before_section, whole));
        const T left_warps = shuffle_up(to_warp, 1);
        // No barrier before this: a lane overwrites the sum that it alone has read.
        if (lane < warps) of_warp[lane] = lane > 0 ? op(before_section, left_warps) : before_section;
    }
    __syncthreads();  // of_warp is the sum before each warp

    // The sum of all before the thread: the sections and warps before it, and then the lanes. Until the next
    // barrier no other thread reaches its 16 places.
    T running = op(of_warp[warp], before);
#pragma unroll
    for (int k = 0; k < coarse_factor; ++k) {
        // As the sum before an element is at hand, the exclusive scan needs no shift.
        const T next = op(running, item[k]);
        mine[k] = kind == Kind::inclusive ? next : running;
        running = next;
    }
    __syncthreads();  // x holds the results, for all threads
#pragma unroll
    for (int k = 0; k < coarse_factor; ++k) {
        const int e = t + k * threads;
        if (first + e < n) out[first + e] = x[padded(e)];
    }
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    if (n == 0) return;
    const int sections = ceil_div(n, section);
    auto* const status = reinterpret_cast<Word*>(workspace);
    auto* const started = reinterpret_cast<int*>(status + sections * words<T>);
    check(cudaMemset(status, 0, sections * words<T> * sizeof *status + sizeof *started));
    shuffle_scan<<<sections, threads>>>(in, out, n, kind, status, started, op);
    check(cudaGetLastError());
    // kata: end
}
