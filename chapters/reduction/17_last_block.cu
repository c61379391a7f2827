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
    // As in 15: five rounds of __shfl_down_sync, with strides from 16 down to 1, in which all 32 lanes take
    // part.
    kata::open();
    return value;
    // kata: end
}

/// Returns the values of all threads of the block, combined, in thread 0.
template <class T, class Op>
__device__ T reduce_block(T value, Op op) {
    // kata: begin
    // As in 15: each warp reduces its values, and after a barrier the first warp reduces their results.
    kata::open();
    return value;
    // kata: end
}

/// Returns the thread's own elements, combined, if a block has this number of segments.
template <class T, class Op>
__device__ T reduce_thread(const T* in, int n, int segments, Op op) {
    // kata: begin
    // As in 16, but a block has the `segments` segments that follow one another from blockIdx.x * segments *
    // segment on: of each that is whole all loads before the first pack is combined, then the packs of one
    // that is not, and the elements at the end that fill no pack. Write #pragma unroll 1 before the loop over
    // the segments, or the compiler may take more registers for it than two blocks of a multiprocessor have.
    kata::open();
    return op.identity();
    // kata: end
}

/// Blocks of the running launch that are done. The last one leaves it at 0 for the next launch, so that two
/// launches must not run at the same time, as they may in two streams.
__device__ unsigned done;

// partials: room for a result of each block
template <class T, class Op>
__global__ void last_block(const T* in, T* out, int n, int segments, T* partials, Op op) {
    // kata: begin
    // Thread 0 stores the block's result in partials[blockIdx.x] and counts the block by atomicInc(&done,
    // gridDim.x - 1), which returns how many were done before and goes back to 0 by itself; with a
    // __threadfence() before it, and one after it in the block that is the last. All threads of the block
    // must know whether theirs is that one: through shared memory, and a barrier. The last block then reduces
    // the results, each thread the same ones in every run, and thread 0 stores *out.
    kata::open();
    // kata: end
}

template <class T, class Op>
void reduce(const T* in, T* out, int n, T* partials, Op op) {
    // kata: begin
    // One launch, with at least one block, also for no elements. A block has one segment, and more only
    // where there are more than all blocks that run at once could take: `resident` for each multiprocessor,
    // whose number cudaDeviceGetAttribute gives for cudaDevAttrMultiProcessorCount. Then it has up to
    // `most_segments`.
    // Also required: as in 16, any number of multiprocessors, and the same bits on every run.
    kata::open();
    // kata: end
}
