// 07 One sweep: a pass reads each element once and writes it once. Beyond the documents: Adinets and Merrill,
// Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022, which is how CUB sorts. Changed from
// 06: the digits of all passes are counted before the first one, in a single kernel. A block learns the
// counts of other tiles while it sorts its own: by the look-back of scan 07, once for each digit. And a warp
// counts before it ranks, so a tile publishes early, and an element goes to its place on chip as soon as it
// has its rank.
#include "digits.cuh"

#include <cuda/atomic>

constexpr int threads = 256;  // a thread for each digit
constexpr int warps = threads / 32;
constexpr int bits = 8;
constexpr int digits = 1 << bits;
static_assert(threads == digits);
template <class T>
constexpr int rows = sizeof(T) == 4 ? 24 : 16;  // rows of 32 elements that a warp has
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
    // Read each element once and count the digits of all passes, in shared memory. Blocks go on in a
    // loop; load several elements before you count the first. Then add to `counts`, which is zero
    // before.
    kata::open();
    // kata: end
}

/// Each block replaces the counts of a pass by the places where the digits begin in its result.
__global__ void __launch_bounds__(digits) scan_digits(unsigned (*counts)[digits]) {
    // kata: begin
    // A block for each pass, and a thread for each digit: sum_before().
    kata::open();
    // kata: end
}

/// `status` has a word for each digit of each tile; `started` counts the blocks that have started.
template <class T>
__global__ void __launch_bounds__(threads)
    one_sweep(const T* in, T* out, int n, int shift, const unsigned* begins, unsigned (*status)[digits],
              int* started) {
    // kata: begin
    // The tile's number is that in the order in which blocks start, as in scan 06. Load the tile. Count
    // its digits for each warp with atomics, and add up over the warps; publish the tile's own counts at
    // once. Turn the counters into places in the tile, and rank as in 06: a counter of the warp now says
    // where the next element with the digit goes. Meanwhile others have published. Thread t looks back
    // for digit t, from the previous tile on, until it finds a count up to a tile. Then it publishes the
    // count up to its own. Store as in 06: `begins` has the places where digits begin in the result.
    kata::open();
    // kata: end
}

template <class T>
void sort_elements(const T* in, T* out, int n, T* workspace) {
    // kata: begin
    // Zero the counts, count, and scan. Then a launch for each pass, before which nothing has been
    // published and no block has started.
    // Also required: keys of 32 and of 64 bits and pairs; from 0 to 2^30 elements; equal keys in their
    // order; `in` is only read.
    kata::open();
    // kata: end
}
