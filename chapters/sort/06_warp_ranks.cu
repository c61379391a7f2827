// 06 Warp ranks: eight bits in a pass, and no tile is sorted bit by bit. Beyond the documents; the model is
// the ranking in Adinets and Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022.
// Changed from 05: the lanes of a warp find those with the same digit at once, by __match_any_sync. A lane's
// rank among them is the number of those to its left, and a counter of the warp knows how many came in the
// rows before. So each element knows its place in the tile after one look at it, and there are four passes
// instead of eight.
#include "digits.cuh"

constexpr int threads = 256;  // one for each digit, whose counts it adds up
constexpr int warps = threads / 32;
constexpr int rows = 15;  // rows of 32 elements that a warp has
constexpr int tile = threads * rows;
constexpr int bits = 8;
constexpr int digits = 1 << bits;
static_assert(threads == digits);

/// Counts the digits of each tile. `counts` has the zeros of tile 0, 1, …, then their ones, and so on.
template <class T>
__global__ void count_digits(const T* in, int n, int shift, unsigned* counts) {
    // kata: begin
    // As in 05, with 256 digits: each thread has one of the counters.
    kata::open();
    // kata: end
}

/// `before` has the counts after the scan: how many elements come before those of a tile with a digit.
template <class T>
__global__ void __launch_bounds__(threads)
    scatter(const T* in, T* out, int n, int shift, const unsigned* before) {
    // kata: begin
    // Each warp has counters of its own, and goes over its part of the tile row by row. __match_any_sync
    // tells a lane which lanes have the same digit. Its rank is the warp's counter of the digit plus the
    // number of those to its left; one of them adds all to the counter. When may it, and when may the
    // next row begin? Fill the last tile with largest(). Then thread t adds up digit t over the warps,
    // and sum_before() adds over the digits. Store each element to its place in shared memory. From there
    // neighbouring threads store neighbouring elements to the result.
    kata::open();
    // kata: end
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
    // kata: begin
    // As in 05.
    // Also required: keys of 32 and of 64 bits and pairs; from 0 to 2^30 elements; equal keys in their
    // order; `in` is only read.
    kata::open();
    // kata: end
}
