// 04 Coarsened: each thread scans a subsection of its own sequentially, the threads together scan the
// last elements of the subsections, and each thread adds what comes before its own. Mirrors
// PMPP-scan 11.5.
// Changed from 01: the parallel scan, with its many additions, covers a quarter of the elements.
// Neighbouring threads still load and store neighbouring elements. Only shared memory is walked through
// in subsections, and it is padded: else the lanes of a warp would meet in the same banks.
#include "sections.cuh"

constexpr int coarse_factor = 4;  // elements of a subsection

/// Where element e of a section lies in x. Lanes read coarse_factor places apart, so that only every
/// fourth of the 32 banks would be used. One free place after every 32 elements shifts those that
/// would meet to banks of their own.
__device__ constexpr int padded(int e) { return e + e / 32; }

template <class T, class Op>
__global__ void coarsened(const T* in, T* out, int n, Kind kind, Op op) {
    // kata: begin
    // A block loads its section in rounds, in which neighbouring threads load neighbouring elements; element
    // e goes to x[padded(e)]. Phase 1: thread t scans elements t * coarse_factor to (t + 1) * coarse_factor -
    // 1 in place, and puts the last one into an array of its own. Phase 2: step 01 over that array, which has
    // an element for each thread. Phase 3: each thread but the first combines the array's sum of the previous
    // thread, as the left operand, with its elements but the last; that one is complete in the array: copy
    // it back. Store as you loaded. Which phases need a barrier between them?
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    // kata: begin
    // A block for each section; each thread has coarse_factor elements.
    // Also required: any n from 0 on; sections of 32 to 1024; types of 4 and 8 bytes; op need not commute.
    kata::open();
    // kata: end
}
