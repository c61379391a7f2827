// The kernels of the CPU back end's suite, each behind a host function that launches it.
#pragma once
#include "arithmetic.hpp"
#include "simt/types.hpp"

#include <cstddef>

#pragma GCC visibility push(default)  // the library is built like a step, whose other names are its own
namespace kernels {

// Built-in variables. `out` gets 12 numbers for each thread, in order of blocks and threads: threadIdx,
// blockIdx, blockDim, gridDim.
void places(unsigned* out, dim3 grid, dim3 block);
void places_by_reference(unsigned* out, unsigned blocks, unsigned threads);
void order_of_arrival(unsigned* ticket, unsigned* out, unsigned blocks, unsigned threads);
void nothing(dim3 grid, dim3 block, std::size_t shared_bytes);

// Memory. Each function reverses an array of n elements in one block of n threads through the named memory.
void reverse_static(const int* in, int* out);         // n = 64
void reverse_static_volume(const int* in, int* out);  // n = 64, 4 x 4 x 4
void reverse_in_namespace(const int* in, int* out);   // n = 64
void reverse_dynamic(const int* in, int* out, int n);
void reverse_dynamic_volatile(const int* in, int* out, int n);
void reverse_dynamic_in_namespace(const int* in, int* out, int n);
void reverse_dynamic_rows(const int* in, int* out, int n);  // n a multiple of 4
void reverse_dynamic_template(const double* in, double* out, int n);
void reverse_cut_by_hand(const int* in, const double* weights, double* out, int n);  // out = in * weights
// Calls cudaFuncSetAttribute first, unless `asked` is negative.
void reverse_large(const int* in, int* out, int n, int asked);
void beside_static(int* out, int n, int asked, bool named);  // n ints, and 8 KiB of static shared memory
void aligned_shared(unsigned* misfit);
void constants(const float* values, std::size_t count, std::size_t offset, float* out);  // 8 floats out
void constants_read_back(float* values, std::size_t count);
void constants_by_address(const float* values, std::size_t count,
                          float* back);  // `back` is host memory for 8 floats
void addresses_of_arrays(void** letter_address, void** letters_address);
void count_on_the_device(int* out, int threads);
/// A variable counts the blocks, and the block that finishes last stores their number.
void number_last_block(int* out, int blocks);
/// The same; returns the number of calls so far, from a vector that the host extends after the launch.
int launches_remembered(int* out, int blocks);
void two_kernels(int* out, int threads);
void copy_to_host(void* to, const void* from, std::size_t bytes);
enum class Direction {
    host_to_host,
    host_to_device,
    device_to_host,
    device_to_device,
    automatic
};  // as CUDA's
void to_symbol_as_to_an_address(const float* from);
void to_symbol(const float* from, Direction);  // 8 floats, the size of all symbols
void from_symbol(float* to, Direction);
/// Two launches: when their errors are checked, whether the result is dropped, and whether the second launch
/// fails.
enum class Asks {
    behind_each,
    at_the_end,
    in_between,
    compared,
    kept,
    by_lambda,
    never,
    dropped,
    dropped_in_branch,
    fails
};
void asks(Asks);
void free_it(void* pointer);
void free_twice();
void chosen_by_arguments(int* ints, double* doubles);  // 1, 2, 3, 4 and 0.5, 1.5, 2.5, 3.5
void check_errors(bool fails);
void copy_within(void* to, const void* from, std::size_t bytes);

// Barriers and warps.
void counting_barriers(const int* predicate, int* out, int threads);  // 3 numbers a thread: count, and, or
enum class Shuffle { index, up, down, exclusive_or };
void shuffle(Shuffle, unsigned mask, int argument, int width, const int* in, int* out, int threads);
void shuffle_types(double* doubles, long long* longs, unsigned* halves);
void votes(unsigned mask, const int* predicate, unsigned* out, int threads);  // 3 numbers a thread
void matches(unsigned mask, const int* values, unsigned* out, int threads);   // 3 numbers a thread
void sums(unsigned mask, const int* values, int* out, int threads);
void swap_in_halves(const int* in, int* out);
void active_lanes(const int* rounds, unsigned* out, int threads);
void active_halves(unsigned* out);
void active_rest(unsigned* out);  // 16 of 32 threads leave the kernel

// Atomics.
void add_up(int* sum, int* before, int value, int threads);
void add_up(unsigned* sum, unsigned* before, unsigned value, int threads);
void add_up(unsigned long long* sum, unsigned long long* before, unsigned long long value, int threads);
void add_up(float* sum, float* before, float value, int threads);
void add_up(double* sum, double* before, double value, int threads);
void exchange_all(int* word, int* before, int threads);
void extremes(int* least, int* most, long long* long_least, unsigned long long* long_most, int threads);
void bits(unsigned* all, unsigned* any, unsigned* odd, int threads);
void subtract(int* word, int* before, int threads);
void wrap(unsigned* up, unsigned* down, unsigned limit, int threads);
void compare_and_swap(float* most, const float* values, int threads);
void compare_and_swap_short(unsigned short* word, int threads);
void combine_all(kata::Operation, const void* in, void* out, int threads);
void scopes(int* word, int threads);
void last_block_sums(const int* in, int* partial, int* sum, unsigned* done, int blocks);

// Other device code.
void arithmetic(const float* in, float* floats, int* ints, unsigned* words);
void read_only_cache(const float* in, float* out, int n);
void vector_copy(const float* in, float* out, int n);  // n a multiple of 4
void grid_stride(const int* in, int* out, int n, int blocks, int threads);
void add_one(const int* in, int* out, int n, int blocks,
             int threads);  // out = in + 1, an element for each thread
void odds_and_ends(const int* in, int* out, int n);
void chevrons(const int* in, int* out, int n);
void speak(int threads);
void open_in_kernel();
void open_on_host();

// Code that must be refused or diagnosed.
void assertion(int n);
void divergent_barrier(int threads, int n);
void barrier_in_loop(int n);  // 64 threads distribute n rounds
/// Blocks that do nothing; the kernel gets n as an argument.
void idle_blocks(unsigned blocks, unsigned threads, int n);
void two_barriers(int threads, int n);
void two_barriers_in_a_line(int threads, int n);
void barriers_in_a_helper(int threads, int n);
void bounded(int* out, int threads);  // at most 64 threads, in two rows
enum class Apart {
    sums_of_248,
    sums_of_256,
    doubles,
    in_960_threads,
    in_1024_threads,
    promised_15,
    promised_16
};
void summed_apart(Apart, void* out);  // 2048 floats
void barrier_against_shuffle(int threads);
void absent_lanes(int* out);
void early_return(const int* in, int* out, int n);  // the lanes from n on return
void halves_of_16(int* out);
void from_absent_lane(int* out, int n, unsigned mask);  // shuffles from lane + 1, in the first n lanes
void from_absent_lane(float* out, int n, unsigned mask);
void from_absent_lane(double* out, int n, unsigned mask);
void foreign_mask(int* out);
void unlike_masks(int* out);
void endless(int* out);
void divide(int threads, int by, int* out);  // thread t divides by t - by
void endless_without_memory(int threads);
void spin_on_volatile(int* flag);
void spin_on_plain(int* flag);
/// One warp: lane 0 polls a flag 100 times, then all lanes vote, except lane 1, which loops while the flag is
/// 0.
void loop_beside_vote(int* flag, int* out);
void spin_on_atomic(int* flag);
void count_for_ever(int* count);
void rounds(int* out, int rounds, int blocks);  // `rounds` barriers in each block
void wait_for_work(int* flag, int polls, unsigned work, bool raises);
void wait_for_block_before(int* flags, int* out, int blocks);
void wait_for_ticket_before(unsigned* ticket, int* flags, int* out, int blocks);
void warp_waits_for_ticket_before(unsigned* ticket, int* flags, int* out, int blocks);
void meet(unsigned* arrived, int blocks);
void wait_for_first(unsigned* ticket, int* arrived, int* flag, int* seen, int blocks, bool together);
void wait_in_a_chain(unsigned* ticket, int* flags, int blocks);
void look_twice(int* value, int* changes, int looks);
void wait_for_flag_in_block(int* out, int threads);
void shared_over_limit(int* out);
void static_shared_at_limit(int* out);
void read_through(const int* pointer, int* out);
void unasked_dynamic_shared(int* out);
void misaligned(const float* in, float* out, int offset);
void recurse(int* out, int depth);
void large_frame(int* out, int n);
void launch_in_kernel();

}  // namespace kernels
#pragma GCC visibility pop
