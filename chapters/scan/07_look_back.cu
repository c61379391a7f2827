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
    // As in 06.
    kata::open();
    // kata: end
}

/// Returns the sum of all sections before `s` to all lanes of the calling warp.
template <class T, class Op>
__device__ T look_back(Word* status, int s, Op op) {
    // kata: begin
    // Lane 0 of the warp looks at section s - 1, lane 1 at s - 2, and so on; before section 0 a lane takes
    // the identity for a prefix. They poll with observe() until each lane that is nearer than the nearest
    // prefix has something. All of them learn that from __ballot_sync(~0u, …): a bit for each lane in which
    // the condition is true; __ffs() finds the lowest. Own sums nearer than the nearest prefix, and the
    // prefix, are combined by shuffle_down; the sum from further left is the left operand. Without a prefix
    // among the 32 the next 32 follow. All lanes return the result.
    kata::open();
    return op.identity();
    // kata: end
}

// `started` counts the blocks that have started.
template <class T, class Op>
__global__ void look_back_scan(const T* in, T* out, int n, Kind kind, Word* status, int* started, Op op) {
    // kata: begin
    // As in 06 up to the scan of the section. The first warp then publishes the section's own sum, calls
    // look_back<T>(), publishes the sum of all up to its end, and leaves the sum before the section in shared
    // memory. After a barrier all threads store.
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    // In the workspace lie words<T> words for each section and then the counter of the blocks that have
    // started; all of it starts as 0. It has scan::workspace_bytes(n) bytes.
    // Also required: any n from 0 on; types of 4 and 8 bytes; op need not commute.
    kata::open();
    // kata: end
}
