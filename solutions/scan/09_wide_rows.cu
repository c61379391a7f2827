// 09 Wide rows: 16 bytes a load, and no shared memory on the way. Beyond the documents. Changed from 08: a
// lane keeps what one load brings, four neighbours of a row of 128 floats, and the warp scans row after row
// by shuffles, instead of rearranging the section in shared memory. Eight loads of a thread are in flight at
// once, each of them four times as wide. Sections are four times as long, so there are fewer to look back
// at.
#include "messages.cuh"

constexpr int threads = 512;
constexpr int warps = threads / 32;
constexpr int rows = 8;  // rows that a warp scans
template <class T>
constexpr int row = 32 * 16 / sizeof(T);  // elements: 16 bytes for each lane
template <class T>
constexpr int section = row<T>* rows* warps;

/// As many elements as one load takes. The alignment makes it one load.
template <class T>
struct alignas(16) Pack {
    static constexpr int width = 16 / sizeof(T);
    T x[width];
};

/// Returns the sum of all sections before `s` to all lanes of the calling warp.
template <class T, class Op>
__device__ T look_back(Word* status, int s, Op op) {
    // kata: begin
    // As in 07 and 08. Lane l polls section end - 1 - l, the nearest for lane 0. `known` has a bit for each
    // lane whose section has a prefix, known & -known is the lowest of them, and nearest - 1 has a bit for
    // each lane below it, or all 32 bits where no prefix is known: one of those sections without any sum
    // means polling again. The wait ends, as their blocks have started before this one. Lanes behind the
    // nearest prefix bring the identity, for it contains their sections (__ffs counts from 1). Section
    // numbers fall from lane to lane, so what lane + stride has is the left operand; op need not commute.
    // Lane 0 then has the sum. Without a prefix, the 32 sections before are next.
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
    for (int stride = 1; stride < 32; stride *= 2) {
        const T left = shuffle_up(value, stride);
        if (lane >= stride) value = op(left, value);
    }
    return value;
    // kata: end
}

/// The elements from i on, a multiple of the width; past the end of the input, identities.
template <class T, class Op>
__device__ Pack<T> load(const T* in, int i, int n, Op op) {
    // kata: begin
    if (n - i >= Pack<T>::width) return *reinterpret_cast<const Pack<T>*>(in + i);
    Pack<T> pack;
    for (int k = 0; k < Pack<T>::width; ++k) pack.x[k] = k < n - i ? in[i + k] : op.identity();
    return pack;
    // kata: end
}

/// Stores the elements from i on, up to the end of the output.
template <class T>
__device__ void store(T* out, int i, int n, Pack<T> pack) {
    // kata: begin
    if (n - i >= Pack<T>::width) {
        *reinterpret_cast<Pack<T>*>(out + i) = pack;
    } else {
        for (int k = 0; k < Pack<T>::width; ++k)
            if (k < n - i) out[i + k] = pack.x[k];
    }
    // kata: end
}

// `started` counts the blocks that have started.
template <class T, class Op>
__global__ void __launch_bounds__(threads)
    wide_scan(const T* in, T* out, int n, Kind kind, Word* status, int* started, Op op) {
    // kata: begin
    __shared__ T of_warp[warps];  // first each warp's sum, then the sum before the warp
    __shared__ int number;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    // A number is drawn when a block starts, so that all sections before this one belong to blocks that have
    // started.
    if (t == 0) number = atomicAdd(started, 1);
    __syncthreads();
    const int s = number;

    // The rows of the warp, lane after lane 16 bytes.
    const int first = s * section<T> + warp * rows * row<T> + lane * Pack<T>::width;
    Pack<T> x[rows];
    if (n - s * section<T> >= section<T>) {  // the same for all threads: no branch stands between the loads
#pragma unroll
        for (int r = 0; r < rows; ++r) x[r] = *reinterpret_cast<const Pack<T>*>(in + first + r * row<T>);
    } else {
#pragma unroll
        for (int r = 0; r < rows; ++r) x[r] = load(in, first + r * row<T>, n, op);
    }

    // Row after row: `total` is the sum of the warp's rows so far, the same in all lanes, because each row's
    // last lane hands its sum to all. It stands left of the row, and so it is the left operand.
    T before[rows];  // the sum before the lane's pack in the rows of the warp
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
    __syncthreads();  // of_warp is complete

    // The sum of the section is published first: sections behind it can go on with that while this one looks
    // back. A lane of this warp overwrites only the element of of_warp that it alone has read.
    if (warp == 0) {  // as in 08
        const T to_warp = scan_warp(lane < warps ? of_warp[lane] : op.identity(), op);
        const T whole = shuffle(to_warp, 31);
        if (lane == 0) publish(status, s, aggregate, whole);
        const T before_section = look_back<T>(status, s, op);
        if (lane == 0) publish(status, s, prefix, op(before_section, whole));
        const T left_warps = shuffle_up(to_warp, 1);
        if (lane < warps) of_warp[lane] = lane > 0 ? op(before_section, left_warps) : before_section;
    }
    __syncthreads();  // of_warp is the sum before each warp

    // The packs are still in registers: the sum before each is known, and a thread scans its own elements.
    const T before_warp = of_warp[warp];
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
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    if (n == 0) return;
    const int sections = ceil_div(n, section<T>);
    auto* const status = reinterpret_cast<Word*>(workspace);
    auto* const started = reinterpret_cast<int*>(status + sections * words<T>);
    check(cudaMemset(status, 0, sections * words<T> * sizeof *status + sizeof *started));
    wide_scan<<<sections, threads>>>(in, out, n, kind, status, started, op);
    check(cudaGetLastError());
    // kata: end
}
