// What tests/toolkit.cpp asks of the CPU back end, each as a host function that launches one kernel.
#pragma once
#include "simt/memory_calls.hpp"

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
void rows(const int* in, int* out, int width, int height);  // through memory with a pitch
cudaError_t occupancy(int* blocks, int threads, std::size_t dynamic_shared);
cudaError_t best_block(int* grid, int* block);

}  // namespace kernels
#pragma GCC visibility pop
