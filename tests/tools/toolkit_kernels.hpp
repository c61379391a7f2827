// What tests/toolkit.cpp asks of the CPU back end, each as a host function that launches one kernel.
#pragma once
#include "simt/memory_calls.hpp"
#include "simt/types.hpp"

#include <cstddef>

#pragma GCC visibility push(default)  // the library is built like a step, whose other names are its own
namespace kernels {

// Of a warp: each thread's value made one by __reduce_{add,min,max}_sync of int, and by all six of unsigned.
void reduce_lanes(unsigned mask, const int* in, int* out, unsigned* bits);
void ticks(long long* out, int rounds);  // what clock64() says, again and again
void trap(bool goes_off);
/// Twice through two streams, with an event between them. Gives the milliseconds between two events.
float through_streams(const int* in, int* out, int n);
void launch_on_destroyed_stream(int* out);
void copies_ahead(const int* in, int* out, int groups);
/// A copy and a launch that reads what it has copied, in streams of which:
enum class Streams {
    both_default,
    two_blocking,
    joined_by_event,
    joined_by_host,
    waited_for_by_host,
    apart,
    non_blocking,
    non_blocking_at_the_end,
    never_destroyed
};
void copy_and_launch(Streams, const int* in, int* between, int* out, int n);
/// A copy in one stream and something else in another, which may have to do with each other.
enum class Beside { nothing_shared, both_read, another_part, same_part, anything, copy, rows, from_symbol };
void beside_a_copy(Beside, const int* in, int* between, int* out, int n);
/// Work of two streams, to which bytes that they have both written or read are what matters.
enum class Apart {
    halves_of_rows,
    base_and_offset,
    structure,
    another_symbol,
    launches_that_add,
    through_pageable_memory,
    memory_of_before,
    // of these one has to wait for the other
    rows_that_overlap,
    all_of_it,
    symbol_by_address,
    constant,
    launches_that_write,
    through_pinned_memory
};
void in_two_streams(Apart, const int* in, int* between, int* out, int n);
std::size_t tasks_of_two_streams(int copies, bool host_waits);  // that are remembered at the end
void rows(const int* in, int* out, int width, int height);      // through memory with a pitch
cudaError_t occupancy(int* blocks, int threads, std::size_t dynamic_shared);
cudaError_t best_block(int* grid, int* block);

// Cooperative groups. `out` has a number for each of the block's threads, if nothing else is said.
void group_ranks(unsigned* out, dim3 block);  // eight: of the block, a tile of 8 and a tile of 4 in it
enum class Tile_shuffle { index, up, down, exclusive_or };
void tile_shuffle(Tile_shuffle, int size, unsigned argument, const int* in, int* out);  // 64 threads
void warp_shuffle(const int* in, int* out);  // as tile_shuffle does by shfl_down in tiles of 8
void wide_shuffle(double* out);              // four a thread
void tile_reduce(int size, const int* in, int* out, float* sums);  // 64 threads, six a thread
/// Of maps x → a x + b, one behind the other: of tiles, or of every third lane.
void group_scan(bool coalesced, const int2* in, int2* inclusive, int2* exclusive);
void lanes_together(unsigned mask, int* out);  // four a thread, 32 threads
void tile_with_absent_lane(int* out);
void reduce_through_group(const int* in, int* out);  // 64 threads, by a function of a thread_group
void group_barrier(bool divergent, int* out);
void grid_barrier();

// Asynchronous copies: out = in reversed, in one block of 64 threads.
enum class Wait { right, none, no_commit, no_barrier, too_few, barrier_first };
void copy_reversed(Wait, const int* in, int* out);
void copy_in_dynamic(const int* in, int* out);  // 64 elements, in shared memory that no other kernel has
void copy_with_zeros(const int* in, int* out);  // three of four
void copy_by_group(bool waits, const int* in, int* out);
enum class Copy_from { global, shared, own };
void copy_first_from(Copy_from, bool by_group, const int* in, int* out);  // 32 threads
void copy_badly(int bytes, int offset, bool to_global, int* out);
void overwrite_copy(const int* in, int* out);

// Atomics of libcu++.
enum class Handover { right, relaxed, of_block, plain_flag };
void hand_over(Handover, int* data, int* flag, int* out);  // from block 0 to block 1
void fetch_all(int* values, int* before);                  // eight of each
void count_in_block(int* out);
void compare_and_swap(int* value, int n);
void atomic_traffic(unsigned long long* words);  // a load, a store and an addition a thread, 32 threads

// 32 pairs of halves, by their bits: sums of the first of each, and a count; two numbers a thread.
void halves(const unsigned short* in, unsigned short* sums, float* out);

// Tensor cores: c += a b, of 16 x 16 elements, half by its bits; the layouts of a and b, and of c.
void multiply_halves(bool a_by_rows, bool b_by_rows, bool c_by_rows, const unsigned short* a,
                     const unsigned short* b, float* c);
void multiply_tf32(bool rounds, const float* a, const float* b, float* c);  // 8 elements along K
/// Of a second factor, 8 x 16 of tf32 or 16 x 16 of bfloat16, by rows or by columns, what each lane holds.
void elements_of_lanes(bool tf32, bool by_rows, const float* b, const unsigned short* narrow, float* out);
enum class Bad_matrix {
    none,
    half_a_warp,
    absent_lane,
    gone_lane,
    other_line,
    off_alignment,
    odd_pitch,
    unlike_address,
    unlike_pitch,
    unlike_layout
};
void multiply_badly(Bad_matrix, float* c);
/// Stores 16 x 16 elements by way of a fragment, which a warp loads from a copy in shared memory.
void through_a_fragment(bool waits, const float* in, float* out);
void round_to_tf32(const float* in, float* out, int n);

}  // namespace kernels
#pragma GCC visibility pop
