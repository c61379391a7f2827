// The kernels of the toolkit's suite, each behind a host function that launches it.
#pragma once
#include "simt/memory_calls.hpp"
#include "simt/types.hpp"

#include <cstddef>

#pragma GCC visibility push(default)  // the library is built like a step, whose other names are its own
namespace kernels {

// A warp reduces its values by __reduce_{add,min,max}_sync of int and by all six operations of unsigned.
void reduce_lanes(unsigned mask, const int* in, int* out, unsigned* bits);
void ticks(long long* out, int rounds);  // repeated results of clock64()
void trap(bool goes_off);
/// Two launches in two streams, ordered by an event. Returns the milliseconds between two events.
float through_streams(const int* in, int* out, int n);
void launch_on_destroyed_stream(int* out);
void copies_ahead(const int* in, int* out, int groups);
/// A copy and a launch that reads its target, in streams that are:
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
/// A copy in one stream and other work in another stream, which may access the same memory.
enum class Beside { nothing_shared, both_read, another_part, same_part, anything, copy, rows, from_symbol };
void beside_a_copy(Beside, const int* in, int* between, int* out, int n);
/// Work in two streams, which needs an order only if both access the same bytes.
enum class Apart {
    halves_of_rows,
    base_and_offset,
    structure,
    another_symbol,
    launches_that_add,
    through_pageable_memory,
    memory_of_before,
    // these need an order
    rows_that_overlap,
    all_of_it,
    symbol_by_address,
    constant,
    launches_that_write,
    through_pinned_memory
};
void in_two_streams(Apart, const int* in, int* between, int* out, int n);
std::size_t tasks_of_two_streams(int copies, bool host_waits);  // returns the number remembered at the end
void rows(const int* in, int* out, int width, int height);      // uses memory with a pitch
cudaError_t occupancy(int* blocks, int threads, std::size_t dynamic_shared);
cudaError_t best_block(int* grid, int* block);

// Cooperative groups. `out` gets a number for each thread of the block unless noted otherwise.
void group_ranks(unsigned* out,
                 dim3 block);  // eight for each thread: of the block, a tile of 8 and a tile of 4 in it
enum class Tile_shuffle { index, up, down, exclusive_or };
void tile_shuffle(Tile_shuffle, int size, unsigned argument, const int* in, int* out);  // 64 threads
void warp_shuffle(const int* in, int* out);  // the same as tile_shuffle with shfl_down in tiles of 8
void wide_shuffle(double* out);              // four for each thread
void tile_reduce(int size, const int* in, int* out, float* sums);  // 64 threads, six numbers for each
/// Scans the composition of maps x → a x + b, in tiles or among every third lane.
void group_scan(bool coalesced, const int2* in, int2* inclusive, int2* exclusive);
void lanes_together(unsigned mask, int* out);  // 32 threads, four numbers for each
void tile_with_absent_lane(int* out);
void reduce_through_group(const int* in, int* out);  // 64 threads, by a function that takes a thread_group
void group_barrier(bool divergent, int* out);
void grid_barrier();

// Asynchronous copies: out = in reversed, in one block of 64 threads.
enum class Wait { right, none, no_commit, no_barrier, too_few, barrier_first };
void copy_reversed(Wait, const int* in, int* out);
void copy_in_dynamic(const int* in, int* out);  // 64 elements, in dynamic shared memory
void copy_with_zeros(const int* in, int* out);  // copies three of four elements
void copy_by_group(bool waits, const int* in, int* out);
/// A block of 64 threads reverses each of `batches` batches of 64, by copies through a pipeline of two stages
/// or by the first warp for the second at a barrier.
enum class Pipe { right, one_stage, no_wait, no_release, of_thread };
void through_pipeline(Pipe, const int* in, int* out, int batches);
enum class At_barrier { right, no_wait, too_many };
void at_barrier(At_barrier, const int* in, int* out);
enum class Copy_from { global, shared, own };
void copy_first_from(Copy_from, bool by_group, const int* in, int* out);  // 32 threads
void copy_badly(int bytes, int offset, bool to_global, int* out);
void overwrite_copy(const int* in, int* out);

// Atomics of libcu++.
enum class Handover { right, relaxed, of_block, plain_flag };
void hand_over(Handover, int* data, int* flag, int* out);  // from block 0 to block 1
void fetch_all(int* values, int* before);                  // eight values
void count_in_block(int* out);
void compare_and_swap(int* value, int n);
void atomic_traffic(unsigned long long* words);  // 32 threads; each loads, stores and adds

// 32 pairs of halves, given as bits: sums of the first halves, and two numbers for each thread.
void halves(const unsigned short* in, unsigned short* sums, float* out);

// Tensor cores: c += a b with 16 x 16 elements, halves given as bits, and the layouts of a, b and c.
void multiply_halves(bool a_by_rows, bool b_by_rows, bool c_by_rows, const unsigned short* a,
                     const unsigned short* b, float* c);
void multiply_tf32(bool rounds, const float* a, const float* b, float* c);  // 8 elements along K
/// Stores the elements of a second factor that each lane holds: 8 x 16 tf32 or 16 x 16 bfloat16 elements,
/// stored by rows or by columns.
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
/// Copies 16 x 16 elements through a fragment that a warp loads from shared memory.
void through_a_fragment(bool waits, const float* in, float* out);
void round_to_tf32(const float* in, float* out, int n);

}  // namespace kernels
#pragma GCC visibility pop
