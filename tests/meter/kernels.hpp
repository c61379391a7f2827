// The kernels of the meter's suite, each behind a host function that launches it.
#pragma once
#include "simt/types.hpp"

#include <cstddef>

#pragma GCC visibility push(default)  // the library is built like a step, whose other names are its own
namespace kernels {

// Traffic. One block of `threads` threads unless noted otherwise; most read in[…] and write out[i].
void copy(const float* in, float* out, int stride, int threads);
void copy(const double* in, double* out, int stride, int threads);
void copy(const float4* in, float4* out, int stride, int threads);
void copy(const unsigned char* in, unsigned char* out, int stride, int threads);
void copy(const float3* in, float3* out, int stride, int threads);
/// One warp. Sets out[i] to 0, 1, … by the expression that makes the vector; or component by component, with
/// a read of in[i] before each; or through a pointer to its components.
enum class Made { braces, typed_braces, call, either, local, members, elements };
void make_vectors(Made, const unsigned char* in, uchar4* out);
void make_vectors(Made, const float* in, float2* out);
void make_vectors(Made, const float* in, float3* out);
void make_vectors(Made, const float* in, float4* out);
void make_vectors(Made, const double* in, double4* out);
void copy_in_shared(float* out, int stride,
                    int threads);  // tile[i * stride] is stored and loaded, out[i] stored
void copy_in_shared(double* out, int stride, int threads);
void copy_in_shared(float4* out, int stride, int threads);
void copy_in_shared(unsigned char* out, int stride, int threads);
/// One warp: out[t] = element index[t] of an array of 64 in shared memory; lanes with a negative index idle.
void load_from_shared(const int* index, float* out);
void load_from_shared(const int* index, double* out);
void load_from_shared(const int* index, float4* out);
enum class Transpose { naive, tiled, padded };
void transpose(Transpose, const float* in, float* out, int n);  // n x n, in blocks of 32 x 32
void sum_in_memory(const float* in, float* out,
                   int n);  // by a block of 32 threads, each in an element of out
void broadcast(const float* in, float* out, int threads);  // in[0], and a word of shared memory
void read_only(const float* in, float* out, int threads);  // __ldg
void reversed(const float* in, float* out, int threads);
void constant_broadcast(float* out, int threads);
void constant_by_lane(float* out, int threads);
void atomics(int* sums, int different, int threads);  // sums[i % different]
void atomics_in_shared(int* sums, int different, int threads);

// Control flow. `in` and `out` have 32 elements an iteration.
void two_halves(const float* in, float* out);
void nested_halves(const float* in, float* out);
void skipped_iterations(const float* in, float* out, int rounds);
void continued_iterations(const float* in, float* out, int rounds);
void broken_loop(const float* in, float* out);
void trip_counts(const float* in, float* out);
void nested_trip_counts(const float* in, float* out);
void while_not_done(const float* in, float* out);
void switched(const float* in, float* out);
void short_circuit(const float* in, float* out);
void known_condition(const float* in, float* out);
void helpers_in_branches(const float* in, float* out, int rounds);
void early_exit(const float* in, float* out, int n, int threads);
void one_pointer(const float* in,
                 float* out);  // one load instruction, with half of the lanes on shared memory
void long_until_barrier(const float* in, float* out, int rounds, int threads);
void long_until_warp(const float* in, float* out, int rounds, int threads);
void uniform(const float* in, float* out, int blocks, int threads);
void kogge_stone(float* data);  // 1024 elements
void barriers(int count, int blocks, int threads);
void each_block(const float* in, float* out, int blocks);  // each thread of block b reads b + 1 elements
/// One block fails, or none. All blocks count themselves in a __device__ variable; `ran` gets the last count.
enum class Failure { none, assertion, crash };
void one_block_fails(Failure, unsigned block, int blocks, int* ran);

// Work and span.
/// Each warp runs first[warp] rounds of a loop, waits for the others if there is a barrier, and runs
/// then[warp] more rounds.
void rounds_by_warp(const int* first, const int* then, float* out, int warps, bool barrier);
void one_lane(const float* in, float* out, int n, int threads);  // thread 0 copies all
/// An action of all lanes of a warp with a value.
enum Act : int {
    rest,
    rounds,     // `value` rounds of a loop
    all_meet,   // __syncthreads()
    signal_to,  // an atomic of each lane that raises flag `value`
    wait_for,   // atomics until flag `value` is raised
    count_up,   // an atomic on counter `value`
};
struct Deed {
    Act act;
    int value;
};
/// Blocks take the deeds of their warps, `length` for each warp, in the order in which the blocks start.
void walk(const Deed* deeds, int length, unsigned* ticket, int* flags, int* counters, float* out, int blocks,
          int warps);

// Host code. `data` has four elements.
void host_writes(int* data);
int host_reads(const int* data);
void host_writes_constant();
void host_copies(int* data);  // sets each to 4, correctly
enum class Library { memcpy_from, memcpy_to, copy, vector, sort, after_launch };
void host_library_reaches(Library, int* data);
/// The one of three allocations of 4096 bytes that is not freed: device memory, the same on a stream, host
/// memory.
enum class Leak { none, device, on_stream, host, mapped };
void host_leaks(Leak);
void host_clears(int* data, int first, int count);  // `count` elements from `first` on
void host_sets_no_bytes(int* data, int bytes);      // the last two arguments are exchanged
void host_copies_much(int* data, int count);        // to the host, back, and to a symbol
enum class TooMuch { source, target, behind, host_array, host_source, symbol, host_memset };
void host_copies_too_much(TooMuch, int* data);
/// Doubles three numbers of the host in managed memory. Returns their sum.
int host_shares(bool waits);
int host_library(int x);  // x plus the x of the first call

// Races. One block of `threads` threads on words of shared memory unless noted otherwise.
void all_write_one(int* out, int threads);
void two_write_one(int* out, int first, int second);
void neighbour(int* out, int threads, bool barrier);
void neighbour_in_warp(int* out, bool synchronise);
void two_lines(int* out);
void many_lines(int* out);
void kogge_stone_single_barrier(float* data);
void double_buffer(float* data, bool barrier);
enum class Tail { volatile_shared, volatile_global, synchronised_shared, synchronised_global };
void reduction_tail(Tail, float* data);                        // 64 elements to data[0]
void histogram(const int* in, int* bins, int n, bool atomic);  // blocks of 64 threads, in global memory
void private_histogram(const int* in, int* bins, int n, bool zeroed, bool atomic, bool barrier);
void bytes_of_words(unsigned char* out, int threads, int step);  // thread i writes byte i * step / 4
void byte_read_by_other(unsigned char* out, int threads);
void blocks_write_one(int* out, int blocks);
enum class Index { of_its_own, added, of_warps, updated };
void indexed(Index, int* data);  // two blocks of 64 threads
/// One thread for each pixel, in blocks of 8 x 8; guarded along each axis, or by the index alone.
void pixels(int* out, int width, int height, bool each);
/// Each of 32 threads stores to four elements; the first ones of neighbouring threads are `apart` elements
/// apart.
void stretches(int* out, int apart);
void one_double(double* out);  // stored by each of 32 threads
void block_reads_other(int* data, int blocks);
enum class Count { plain, of_block, of_device, of_system };
void block_counts_down(int* count, int blocks, Count);
enum class Impatient {
    adds,
    loads_and_stores,
    tries_once,
    tries_again,
    adds_behind_a_lock,
    adds_behind_a_flag,
    passes_on,
    sets_once
};
void volatile_between_blocks(Impatient, int* words, int blocks);  // two words, zero at first
enum class ReadOnly { of_input, of_output, of_output_before, in_two_launches };
void read_only_while_written(ReadOnly, const int* in, int* out);
enum class Fence { none, block, device, by_all, by_some };
/// The thread that has a fence between the flag and the sums: none, the polling thread, another thread before
/// or after the barrier that follows, each reader; or none is needed, because volatile reads bypass the
/// cache.
enum class ReadFence {
    none,
    by_asker,
    by_another_before_the_barrier,
    by_another,
    by_readers,
    reads_volatile
};
enum class SetBack { last_block, another_thread, first_block };
void set_back(SetBack, unsigned* count);
void read_flag(int* flag, int* out);
void chained_scan(Fence, ReadFence, const int* in, int* out, unsigned* ticket, int* flags, int* sums,
                  int blocks);
enum class Relay { asks, does_not_ask, another_thread_asks, another_thread_asks_before_a_barrier };
void relay(Relay, int* data, int* flags, unsigned* ticket, int* out);
void look_back_scan(const int* in, int* out, unsigned* ticket, unsigned long long* states, int blocks);
void two_launches(int* data, int threads);
void dynamic_neighbour(int* out, int threads, bool barrier);
void unwritten_shared(int* out);
void unordered_shared(int* out);  // a barrier is missing
void unwritten_dynamic(int* out);
enum class Use { none, sum, choice, maximum };
void unwritten_used(Use, const int* in, int* out);  // reads shared memory before the first element
void unwritten_global(const int* in, int* out);
void exchange_or_add(int* data, bool exchange, int more);  // on one element, then on another
void loads_behind_barrier(const int* in, int* out,
                          int threads);  // three loads, a barrier, two loads by the first warp
/// How the second of two tiles of 64 elements is loaded into shared memory, before or after the first one is
/// read.
enum class Way { at_once, in_structures, ahead, ahead_beside_copy, structures_ahead, copied, copied_at_once };
void second_tile(Way, const int* in, int* out);
/// 128 threads copy `tiles` tiles of 64 elements through two buffers in shared memory: the next tile is in
/// flight while the previous one is read, or is awaited at once; half of the warps copy, or all.
enum class Copiers { own_warps, own_warps_at_once, all_at_once, half_at_once };
void copy_tiles(Copiers, const int* in, int* out, int tiles);
void load_phases(const int* in, int* out);  // two warps; one shuffles three times and loads
/// Each of the four tiles of a warp loads, and then shuffles and loads `rounds` times, and `more` times for
/// each tile before it.
void phases_of_tiles(const int* in, int* out, int rounds, int more);
/// Tiles of 8 lanes in a warp of `threads` shuffle `rounds` times, the second tile in another line if
/// `in_two_lines`. If `together`, all lanes then shuffle together.
void exchanges_of_tiles(int* out, int threads, int rounds, bool in_two_lines, bool together);
void exchanges(int* out, int rounds);              // two warps shuffle, and one votes
void polled_late(int* data, int* flag, int* out);  // block 1 polls long for a write of block 0

// Out of bounds. One warp.
void read_two(const float* in, float* out, long first, long second);  // one after the other
void read_at(const float* in, float* out, long offset);  // in[lane + offset], in units of a float
void write_at(float* out, long offset);
void read_vector_at(const float4* in, float4* out, long offset);
void write_constant();
/// Variables of the host, of the device, and those declared in kernels and their helpers.
enum class Table {
    host,
    host_constant,
    host_function,
    host_heap,
    host_written,
    device,
    device_constant,
    constant,
    own
};
void read_table(Table, float* out);
void shared_at(float* out, long offset);
void dynamic_at(float* out, long offset);
void local_at(float* out, int index);          // indexes local[8]
void neighbour_at(float* out, int index);      // indexes tile[32], which another array follows
void place_in_grid_at(float* out, int times);  // two blocks; indexes tile[32] by this many times their places
void rows_at(float* out, int row, int column);  // indexes 4 x 8 elements
void flat_rows_at(float* out, int index);       // the same through a pointer
int host_local_at(int index);                   // indexes local[8] in host code
void uninitialised(float* out, int* ints, double* doubles,
                   int n);  // variables stay uninitialized in threads from n on

// The C library's copies, and large structures.
enum class Copy { library, set, moved, structure, small };
struct Large {
    float values[12];
};
/// One warp; each lane copies its 48 bytes.
void copies(Copy, const Large* in, Large* out, unsigned bytes, int lanes);
void overlapping_copies(char* out, int lanes);  // lane l sets 48 bytes from 44 * l on

// Programs as data.
enum Verb : int {
    nothing,
    read,
    write,
    volatile_read,
    volatile_write,
    update,
    atomic_read,
    atomic_write,
    update_in_block,
    atomic_read_in_block,
    atomic_write_in_block,
    barrier,
    warp
};
struct alignas(16) Operation {
    Verb verb;
    int size;   // bytes accessed: 1, 2, 4 or 8
    int place;  // offset in bytes; from shared_place on in shared memory
    unsigned mask;
};
inline constexpr int shared_place = 1 << 20, place_bytes = 64;
/// Every thread runs its `length` operations.
void interpret(const Operation* program, int length, char* global, int* out, int blocks, int threads);

/// Launches over 64 elements that set `out` to twice `in`.
enum class Superfluous { none, clears_again, once_more, all_once_more, only_reads };
void launch_twice(Superfluous, const int* in, int* out);
void reversed_in_array(bool shared, const float* in, float* out);  // one block of 64
enum class Lacks { nothing, shared };
/// The same through two arrays, one of which may lack __shared__.
void reversed_in_both(Lacks, const float* in, float* out);
/// 64 sums of four products; only `copied` of the weights are copied before.
void weighed(int copied, const float* in, float* out);
void combined(int* sum);  // a helper of operators.hpp

/// A warp loads a fragment of a factor whose rows or columns start `pitch` elements apart, from device or
/// shared memory.
void load_floats(bool of_a, bool by_rows, const float* in, int pitch, bool by_shared, float* out);
void load_halves(bool of_a, bool by_rows, const unsigned short* in, int pitch, bool by_shared, float* out);
void store_sums(bool by_rows, float* out, int pitch, bool to_shared);
/// A warp multiplies `products` pairs of fragments in each round of a loop.
void multiply(int products, float* out, int rounds);

}  // namespace kernels
#pragma GCC visibility pop
