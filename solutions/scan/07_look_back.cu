// 07 Look-back: a block that waits for its left neighbour does not stand still, but looks further left.
// Beyond the documents: Merrill and Garland, Single-pass parallel prefix scan with decoupled look-back,
// 2016, which is how CUB scans. Changed from 06: a block publishes the sum of its own section at once, and
// the sum of everything up to its end as soon as it has that. A later block goes left and adds up the
// sections' own sums, 32 at a time, until it meets a section that has published the sum of everything up to
// its end. The chain of n / 4096 links becomes a few steps, which all blocks take at the same time.
#include "messages.cuh"

constexpr int threads = 256;
constexpr int coarse_factor = 16;
constexpr int section = threads * coarse_factor;

/// Scans the section in x, which is padded, with all threads of the block. Begins and ends with a barrier.
template <class T, class Op>
__device__ void scan_in_place(T* x, Op op) {
    // kata: begin
    __shared__ T last[threads];
    const int t = threadIdx.x;
    T* const mine = x + padded(t * coarse_factor);
    __syncthreads();
    T sum = mine[0];
    for (int k = 1; k < coarse_factor; ++k) {
        sum = op(sum, mine[k]);
        mine[k] = sum;
    }
    last[t] = sum;
    for (int stride = 1; stride < threads; stride *= 2) {
        __syncthreads();
        if (t >= stride) sum = op(last[t - stride], sum);
        __syncthreads();
        if (t >= stride) last[t] = sum;
    }
    __syncthreads();
    if (t > 0) {
        const T before = last[t - 1];
        for (int k = 0; k < coarse_factor - 1; ++k) mine[k] = op(before, mine[k]);
    }
    mine[coarse_factor - 1] = sum;
    __syncthreads();
    // kata: end
}

/// Returns the sum of all sections before `s` to all lanes of the calling warp.
template <class T, class Op>
__device__ T look_back(Word* status, int s, Op op) {
    // kata: begin
    const int lane = threadIdx.x % 32;
    T before = op.identity();
    for (int end = s;; end -= 32) {  // the 32 sections before `end`; lane 0 polls the nearest
        const int i = end - 1 - lane;
        T sum = op.identity();
        State state = prefix;     // before the first section there is nothing to add
        unsigned known, nearest;  // whose prefix is known, a bit for each lane; the lowest of them
        do {
            // These sections' blocks have started before this one, as their numbers are lower: the wait ends.
            if (i >= 0) state = observe(status, i, sum);
            known = __ballot_sync(~0u, state == prefix);
            nearest = known & -known;
        } while (__ballot_sync(~0u, state == nothing) & (nearest - 1));  // a nearer one has published nothing
        if (known != 0 && lane >= __ffs(known)) sum = op.identity();     // farther than the nearest prefix
        // Lane + stride has the sum of sections further left.
        for (int stride = 1; stride < 32; stride *= 2) sum = op(shuffle_down(sum, stride), sum);
        before = op(shuffle(sum, 0), before);
        if (known != 0) return before;
    }
    // kata: end
}

// `started` counts the blocks that have started.
template <class T, class Op>
__global__ void look_back_scan(const T* in, T* out, int n, Kind kind, Word* status, int* started, Op op) {
    // kata: begin
    __shared__ T x[padded(section)];
    __shared__ T sum_before;
    __shared__ int number;
    const int t = threadIdx.x;
    if (t == 0) number = atomicAdd(started, 1);  // in the order in which blocks start, as in 06
    __syncthreads();
    const int s = number;
    const int first = s * section;
    const int shift = kind == Kind::exclusive ? 1 : 0;
    for (int e = t; e < section; e += threads) {
        const int i = first + e - shift;
        x[padded(e)] = i >= 0 && i < n ? in[i] : op.identity();
    }
    scan_in_place(x, op);

    if (t < 32) {  // one warp, whose lanes look together
        const T sum = x[padded(section - 1)];
        if (t == 0) publish(status, s, aggregate, sum);  // before anything else: others wait for it
        const T before = look_back<T>(status, s, op);
        if (t == 0) {
            publish(status, s, prefix, op(before, sum));
            sum_before = before;
        }
    }
    __syncthreads();  // sum_before is there
    const T before = sum_before;
    for (int e = t; e < section; e += threads) {
        if (first + e < n) out[first + e] = op(before, x[padded(e)]);
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
    // No section has published anything, and no block has started.
    check(cudaMemset(status, 0, sections * words<T> * sizeof *status + sizeof *started));
    look_back_scan<<<sections, threads>>>(in, out, n, kind, status, started, op);
    check(cudaGetLastError());
    // kata: end
}
