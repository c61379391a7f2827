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
    // As in 07.
    kata::open();
    return op.identity();
    // kata: end
}

/// Returns the values of lanes 0 up to this one, combined.
template <class T, class Op>
__device__ T scan_warp(T value, Op op) {
    // kata: begin
    // Kogge–Stone: in the round with stride s each lane gets the value of the lane s below by shuffle_up, and
    // the lanes from s on combine it as the left operand. All lanes shuffle.
    kata::open();
    return value;
    // kata: end
}

// `started` counts the blocks that have started.
template <class T, class Op>
__global__ void __launch_bounds__(threads)
    shuffle_scan(const T* in, T* out, int n, Kind kind, Word* status, int* started, Op op) {
    // kata: begin
    // Load the section into shared memory as in 07, and from there coarse_factor elements in a row into an
    // array of registers. Add them up, scan the threads' sums with scan_warp, and leave each warp's sum in
    // shared memory. The first warp scans these, publishes their sum, looks back, publishes again, and
    // replaces each by the sum of all before that warp. Each thread goes through its elements again, from the
    // sum of all before them, and writes results to shared memory. After a barrier all threads store these
    // side by side. An exclusive scan writes each sum before it adds the element.
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_whole(const T* in, T* out, int n, Kind kind, T* workspace, Op op) {
    // kata: begin
    // As in 07.
    // Also required: any n from 0 on; types of 4 and 8 bytes; op need not commute.
    kata::open();
    // kata: end
}
