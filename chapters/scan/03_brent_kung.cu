// 03 Brent–Kung: a reduction tree going up, then a reverse tree that hands its partial sums to the
// elements between. Mirrors PMPP-scan 11.4. Changed from 01: 2N − 2 − log₂N additions, less than twice
// the sequential N − 1, in nearly twice as many rounds. The threads with work are the first ones of
// the block, whatever the stride, so that the other warps have nothing to execute; spread over all
// warps, they would keep all of them busy.
#include "sections.cuh"

template <class T, class Op>
__global__ void brent_kung(const T* in, T* out, int n, Kind kind, Op op) {
    // kata: begin
    // Half as many threads as elements: each loads two, as far apart as there are threads.
    // Reduction tree, stride 1, 2, 4, … below the section: the last element of each 2 * stride takes in the
    // last one of the left half. Thread t has the pair that ends at (t + 1) * 2 * stride - 1, so that those
    // with work stand side by side.
    // Reverse tree, stride from a quarter of the section down to 1: the element at (t + 1) * 2 * stride - 1
    // is complete, and the one `stride` after it, if there is one in the section, takes it in.
    // A barrier before each round, and one before the elements are stored as they were loaded.
    kata::open();
    // kata: end
}

template <class T, class Op>
void scan_sections(const T* in, T* out, int n, int section, Kind kind, Op op) {
    // kata: begin
    // A block a section, with half as many threads as the section has elements.
    // Also required: any n from 0 on; sections of 32 to 1024; types of 4 and 8 bytes; op need not commute.
    kata::open();
    // kata: end
}
