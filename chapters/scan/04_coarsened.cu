// 04 Coarsened: each thread scans a subsection of its own one after the other, the threads scan the
// subsections' last elements together, and each adds what comes before its subsection. Mirrors
// PMPP-scan 11.5; in its listing every block loads the first section, the subsection's size is also used as
// the number of threads, and part 3 adds a thread's own sum and misses elements. Changed against 01: the
// parallel scan, which does more than the least work, is over a quarter of the elements. Global memory is
// read and written by neighbouring threads side by side, and only shared memory by subsections, whose places
// are padded against bank conflicts.
#include "sections.cuh"

constexpr int coarse_factor = 4;  // elements of a subsection, of which each thread has one

/// Where element e of a section lies in x: behind every 32 elements a place stays free. Subsections begin
/// coarse_factor elements apart; side by side, several lanes of a warp would always be in the same bank.
__device__ constexpr int padded(int e) { return e + e / 32; }

template <class T, class Op>
__global__ void coarsened(const T* in, T* out, int n, Kind kind, Op op) {
    // kata: begin
    // A block loads its section in rounds, neighbouring threads neighbouring elements; element e of it goes
    // to place padded(e) in shared memory. Phase 1: thread t scans elements t * coarse_factor to (t + 1) *
    // coarse_factor - 1 in place, and puts the last into an array of its own. Phase 2: step 01 over that
    // array, which has as many elements as there are threads. Phase 3: each thread but the first adds what
    // the array holds for the thread before it, from the left. The last of its elements is in the array
    // already. Store as they were loaded. Which phases need a barrier between them?
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    // kata: begin
    // A block a section; each thread has coarse_factor elements.
    kata::open();
    // kata: end
}
