// 05 Digits: four bits in a pass instead of one. Mirrors the radix sort of PMPP's chapter on sort with a
// larger radix and coalesced stores; the model is Satish, Harris and Garland. Changed from 04: there are 16
// counts for each block, and a half of a byte takes one pass instead of four. A block first sorts its tile by
// the digit in shared memory, bit by bit as in 04. Then elements with the same digit are neighbours, and they
// go to neighbouring places of the result.
#include "digits.cuh"

constexpr int threads = 256;
constexpr int each = 7;  // elements of a thread: an odd number, so that lanes begin in different banks
constexpr int tile = threads * each;
constexpr int bits = 4;
constexpr int digits = 1 << bits;

/// Counts the digits of each tile. `counts` has the zeros of tile 0, 1, …, then their ones, and so on.
template <class T>
__global__ void count_digits(const T* in, int n, int shift, unsigned* counts) {
    // kata: begin
    // 16 counters in shared memory, as in histogram 03. In `counts` all tiles' counts of digit 0 come
    // first, in the order of the tiles, then those of digit 1.
    kata::open();
    // kata: end
}

/// `before` has the counts after the scan: how many elements come before those of a tile with a digit.
template <class T>
__global__ void __launch_bounds__(threads)
    scatter(const T* in, T* out, int n, int shift, const unsigned* before) {
    // kata: begin
    // Load the tile into shared memory. Sort it by the digit, bit by bit: a thread has `each`
    // neighbours; sum_before() turns its number of zeros into the number of all before them, and from
    // both the place of its first one follows. Read all elements before any is stored. Then find where
    // each digit begins in the tile, and store: the place of an element in the result is that of its
    // digit, from `before`, plus how many of the same digit are to its left in the tile.
    kata::open();
    // kata: end
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
    // kata: begin
    // As in 04, with digits of `bits` bits. How many counts are there to scan?
    // Also required: keys of 32 and of 64 bits and pairs; from 0 to 2^30 elements; equal keys in their
    // order; `in` is only read.
    kata::open();
    // kata: end
}
