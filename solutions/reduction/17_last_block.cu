// 17 Last block: one launch and nothing before it, and the same bits every time. Beyond the documents;
// NVIDIA's sample threadFenceReduction has the idea. Changed from 16: a block leaves its result in an
// array instead of combining it atomically, and counts itself; the one that finds all others done combines
// these results. Which operation comes first no longer depends on which block is done first, and `out` need
// not be set before. Each block pays for a fence and for two barriers, at which its warps have no load in
// flight. So a block of a long input reduces four segments before it pays for these.
#include "partials.cuh"

constexpr int block_dim = 1024;             // threads of a block
constexpr int resident = 2;                 // blocks at a time on a multiprocessor of 2048 threads
constexpr int loads = 4;                    // per thread, in flight at once
constexpr int segment = loads * block_dim;  // packs that a block loads at once
constexpr int most_segments = 4;            // per block

/// As many elements as one load takes. The alignment makes it one load.
template <class T>
struct alignas(16) Pack {
    static constexpr int width = 16 / sizeof(T);
    T x[width];
};

/// Returns the values of all lanes, combined, in lane 0.
template <class T, class Op>
__device__ T reduce_warp(T value, Op op) {
    // kata: begin
    // As in 15. All lanes take part in every round, also those whose result is not used: the mask names 32.
    for (int stride = 16; stride > 0; stride /= 2) value = op(value, __shfl_down_sync(~0u, value, stride));
    return value;
    // kata: end
}

/// Returns the values of all threads of the block, combined, in thread 0.
template <class T, class Op>
__device__ T reduce_block(T value, Op op) {
    // kata: begin
    __shared__ T of_warp[block_dim / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = reduce_warp(value, op);
    // The last block calls this twice. A barrier of the kernel separates the reads of the first call from the
    // stores of the second, so none is needed here.
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) value = reduce_warp(lane < block_dim / 32 ? of_warp[lane] : op.identity(), op);
    return value;
    // kata: end
}

/// Returns the thread's own elements, combined, if a block has this number of segments.
template <class T, class Op>
__device__ T reduce_thread(const T* in, int n, int segments, Op op) {
    // kata: begin
    constexpr int width = Pack<T>::width;
    const auto* const packs = reinterpret_cast<const Pack<T>*>(in);
    const int whole = n / width;
    const int t = threadIdx.x, of_block = segments * segment;
    // The segments of a block lie side by side. Which elements a thread takes depends on `segments` and not
    // on when its block runs, and so do the last bits of the sum.
    int begin = blockIdx.x * of_block;
    const int end = min(begin + of_block, whole);
    T value = op.identity();
    const auto combine = [&](Pack<T> pack) {
        for (T x : pack.x) value = op(value, x);
    };
    // Not unrolled: that takes registers, and with more than 32 a multiprocessor holds one block.
#pragma unroll 1
    for (; end - begin >= segment; begin += segment) {
        Pack<T> pack[loads];
#pragma unroll
        for (int k = 0; k < loads; ++k) pack[k] = packs[begin + t + k * block_dim];
#pragma unroll
        for (int k = 0; k < loads; ++k) combine(pack[k]);
    }
    // The rest of the block's packs, fewer than a segment has.
#pragma unroll 1
    for (int i = begin + t; i < end; i += block_dim) combine(packs[i]);
    if (blockIdx.x == 0 && t < n % width) value = op(value, in[whole * width + t]);
    return value;
    // kata: end
}

/// Blocks of the running launch that are done. The last one leaves it at 0 for the next launch, so that two
/// launches must not run at the same time, as they may in two streams.
__device__ unsigned done;

// partials: room for a result of each block
template <class T, class Op>
__global__ void last_block(const T* in, T* out, int n, int segments, T* partials, Op op) {
    // kata: begin
    __shared__ bool last;
    T value = reduce_block(reduce_thread(in, n, segments, op), op);
    if (threadIdx.x == 0) {
        // The result, then a fence, then the count. atomicInc returns what it has found, how many blocks were
        // done before: the last one finds all others.
        partials[blockIdx.x] = value;
        __threadfence();  // a thread that sees the count sees the result, too
        // atomicInc counts up to its second argument, and from there on to 0.
        last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
        if (last) __threadfence();  // reads from here on are not older than the count
    }
    __syncthreads();    // `last` goes to all threads, and with it what thread 0 has seen
    if (!last) return;  // the whole block or none of it: barriers may follow
    value = op.identity();
    // A thread takes the same results every time, in the same order; eight of them are in flight at once.
    const int results = gridDim.x;
    for (int first = threadIdx.x; first < results; first += 8 * block_dim)
#pragma unroll
        for (int i = first; i < first + 8 * block_dim; i += block_dim)
            if (i < results) value = op(value, partials[i]);
    value = reduce_block(value, op);
    if (threadIdx.x == 0) *out = value;
    // kata: end
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, T* partials, Op op) {
    // kata: begin
    // A block takes more than one segment only if there are more segments than blocks that run at once: a
    // short input is spread over as many multiprocessors as possible.
    int device = 0, processors = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    const int all = max(ceil_div(n / Pack<T>::width, segment), 1);  // 1 even if there are no elements
    const int segments = min(ceil_div(all, resident * processors), most_segments);
    last_block<<<ceil_div(all, segments), block_dim>>>(in, out, n, segments, partials, op);
    check(cudaGetLastError());
    // kata: end
}
