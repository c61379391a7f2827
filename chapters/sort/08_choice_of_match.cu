// 08 Choice of match: a warp looks at its first row, and then finds equal digits in the way that suits.
// Beyond the documents; CUB's sort has one of these ways. Changed from 07: __match_any_sync seems to take a
// round for each different digit in the row, so up to 32. If there are many, a warp takes two ways in turn:
// in one row, lanes set their bits in a word of shared memory for each digit, and in the next one, eight
// ballots find the same. The one takes accesses to shared memory and the other instructions, and in turn they
// are faster than either alone. Lanes that meet in one word wait for each other: then all rows have ballots.
// Registers are few enough for three blocks on a multiprocessor. A tile of 64-bit elements takes more shared
// memory than a block gets by default.
//
// Needs: sm_80, 64 KiB
#include "digits.cuh"

#include <cuda/atomic>

constexpr int bits = 8;
constexpr int digits = 1 << bits;
constexpr int threads = 256;  // a thread for each digit
constexpr int warps = threads / 32;
static_assert(threads == digits);
template <class T>
constexpr int rows = sizeof(T) == 4 ? 30 : 23;  // rows of 32 elements that a warp has
template <class T>
constexpr int tile = threads* rows<T>;
template <class T>
constexpr int passes = key_bits<T> / bits;

/// The state of a digit in a tile. The lowest two bits of a published word hold it, the others the count.
/// The word is written and read as one, so no fence stands between state and count.
enum State : unsigned {
    nothing,  ///< nothing yet: this is 0, to which memory is set
    own,      ///< how often the digit is in this tile
    up_to     ///< how often the digit is in all tiles up to this one
};
__device__ void publish(unsigned& word, State state, unsigned count) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(word).store(count << 2 | state,
                                                                      cuda::memory_order_relaxed);
}
__device__ State observe(unsigned& word, unsigned& count) {
    const unsigned found =
        cuda::atomic_ref<unsigned, cuda::thread_scope_device>(word).load(cuda::memory_order_relaxed);
    count = found >> 2;
    return static_cast<State>(found & 3);
}

template <class T>
constexpr int loads = 64 / sizeof(T);  // per thread at a time
constexpr int max_blocks = 8 * 132;    // as many as an H100 runs at a time

/// Adds to counts[pass][digit] the digits of all passes.
template <class T>
__global__ void __launch_bounds__(threads, 8) count_digits(const T* in, int n, unsigned (*counts)[digits]) {
    // kata: begin
    // As in 07, in blocks of `digits` threads.
    kata::open();
    // kata: end
}

/// Each block replaces the counts of a pass by the places where the digits begin in its result.
__global__ void __launch_bounds__(digits) scan_digits(unsigned (*counts)[digits]) {
    // kata: begin
    // As in 07.
    kata::open();
    // kata: end
}

/// Ways to find the lanes with the same digit.
enum class Match { any, ballots, in_turn };

/// Returns the way that suits a warp with such digits.
__device__ Match match_for(int digit) {
    // kata: begin
    // What does each way cost for a row with these digits? How many lanes have the most frequent one,
    // and how many digits differ? One __match_any_sync tells a lane which lanes are like it;
    // __reduce_max_sync and __ballot_sync tell all lanes about the row.
    kata::open();
    return Match::any;
    // kata: end
}

/// Returns the lanes of the warp with the same digit: eight ballots, one for each bit.
__device__ unsigned match_by_ballots(int digit) {
    // kata: begin
    // A lane is like this one if it has the same bit in each of the ballots.
    kata::open();
    return 0;
    // kata: end
}

/// Returns the same, and leaves it in the digit's mask, which must be zero before.
__device__ unsigned match_by_mask(unsigned& mask) {
    // kata: begin
    // Each lane sets its bit with atomicOr, and reads the word when all have done so.
    kata::open();
    return 0;
    // kata: end
}

/// Stores a warp's elements to their places in x. `places` has the place of the next element for each digit,
/// and `masks` a word for each of them, all zero. A loop for each way to match, with registers of its own.
template <Match match, class T>
__device__ void rank(const T (&mine)[rows<T>], int shift, unsigned* places, unsigned* masks, T* x) {
    // kata: begin
    // The loop of 07. In turn: which of two rows is matched by masks, and which by ballots, is known to the
    // compiler. The lane that raises the counter also zeroes the mask. The counter can be loaded before
    // lanes match, so that neither waits for the other.
    kata::open();
    // kata: end
}

/// `status` has a word for each digit of each tile; `started` counts the blocks that have started.
template <class T>
__global__ void __launch_bounds__(threads, 3)
    one_sweep(const T* in, T* out, int n, int shift, const unsigned* begins, unsigned (*status)[digits],
              int* started) {
    // kata: begin
    // As in 07, with the tile in dynamic shared memory. Each warp chooses once, by its first row. A register
    // for each element is enough: if digits are computed again from a `shift` that was kept in shared
    // memory, the compiler cannot keep them from the first time.
    kata::open();
    // kata: end
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
    // kata: begin
    // As in 07. A block has more than 48 KiB of shared memory: request it before the launch.
    // Also required: keys of 32 and of 64 bits and pairs; from 0 to 2^30 elements; equal keys in their
    // order; `in` is only read.
    kata::open();
    // kata: end
}
