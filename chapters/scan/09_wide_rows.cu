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
    // As in 07.
    kata::open();
    return op.identity();
    // kata: end
}

/// Returns the values of lanes 0 up to this one, combined.
template <class T, class Op>
__device__ T scan_warp(T value, Op op) {
    // kata: begin
    // As in 08.
    kata::open();
    return value;
    // kata: end
}

/// The elements from i on, a multiple of the width; past the end of the input, identities.
template <class T, class Op>
__device__ Pack<T> load(const T* in, int i, int n, Op op) {
    // kata: begin
    // One load of 16 bytes where all elements exist; where the input ends, one after the other, and
    // identities after it.
    kata::open();
    return {};
    // kata: end
}

/// Stores the elements from i on, up to the end of the output.
template <class T>
__device__ void store(T* out, int i, int n, Pack<T> pack) {
    // kata: begin
    // The same, for stores.
    kata::open();
    // kata: end
}

// `started` counts the blocks that have started.
template <class T, class Op>
__global__ void __launch_bounds__(threads)
    wide_scan(const T* in, T* out, int n, Kind kind, Word* status, int* started, Op op) {
    // kata: begin
    // Warp w has the rows w * rows up to (w + 1) * rows - 1 of the section; lane l has the l-th pack of each.
    // Load all of them into an array of registers before the first is needed. For each row, add up the lane's
    // pack, scan the sums of the lanes with scan_warp, and note the sum of all before the pack in the warp's
    // rows. Each warp leaves its sum in shared memory; the first warp goes on as in 08. Then each lane goes
    // through its packs once more, starting from the sum of all before them, and stores them.
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
