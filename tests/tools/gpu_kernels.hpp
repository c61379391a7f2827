// What the suite of the GPU back end runs: launches of kernels in a module of their own, as a step is one.
#pragma once
#include <cstddef>

#pragma GCC visibility push(default)

void run_fill(int* out, std::size_t count);  ///< out[i] = i
void run_store(int* to, int value);
void run_reverse(const int* in, int* out, int count);  ///< through 4 * count bytes of dynamic shared memory
void run_endless(int* out);
void run_endless_and_wait(int* out);
void run_misaligned(int* out);
void run_asserts(const int* out);
void run_spin(long long nanoseconds);
void run_too_many_threads(int* out);
void run_too_many_threads_unseen(int* out);  ///< with <<<>>>, and without looking at what CUDA says

#pragma GCC visibility pop
