// 04 One bit: elements whose bit is 0 go to the front, the others behind them, and each keeps its order. Done
// for every bit, from the lowest on, that sorts. Mirrors radix sort in PMPP's chapter on sort. Changed from
// 03: keys are not compared at all, so the number of passes depends on their length and not on n. The place
// of a zero is the number of zeros before it, which is a scan. Warps count with ballots.
#include "digits.cuh"

constexpr int threads = 256;
constexpr int section = 512;  // elements of a warp

/// Counts the zeros and the ones of each warp's section. `counts` has the zeros of all sections in order, and
/// then their ones.
template <class T>
__global__ void count_bits(const T* in, int n, int bit, int sections, unsigned* counts) {
    // kata: begin
    // A warp counts in its own `section` elements. __ballot_sync gives the lanes whose element has the
    // bit set, and __popc counts them. Lanes beyond the end of the array have no element, but must come
    // to the ballot. Where do the zeros of section s go in `counts`, and where its ones?
    kata::open();
    // kata: end
}

/// `before` has the counts after the scan: how many zeros there are before each section, and then how many
/// elements before its ones.
template <class T>
__global__ void scatter(const T* in, T* out, int n, int bit, int sections, const unsigned* before) {
    // kata: begin
    // The same section in the same order, in rows of 32. For each row, a ballot tells each lane how many
    // ones are to its left. Keep the places of the warp's next zero and next one, which `before` has for
    // its first row.
    kata::open();
    // kata: end
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
    // kata: begin
    // For each bit from the lowest on: count, scan the counts with scan_counts() of digits.cuh, move.
    // counts_behind() says where counts may stand. Elements go from `in` to the workspace, from there to
    // `out`, and back and forth.
    // Also required: keys of 32 and of 64 bits and pairs; from 0 to 2^30 elements; equal keys in their
    // order; `in` is only read.
    kata::open();
    // kata: end
}
