// Launches for the suite of the GPU back end. The kernels are in a module of their own, like a step.
#pragma once
#include <cstddef>
#include <cuda_runtime_api.h>

#pragma GCC visibility push(default)

void run_fill(int* out, std::size_t count);        ///< out[i] = i
void run_fill_twice(int* out, std::size_t count);  ///< and a third launch, which is refused
void run_store(int* to, int value);
/// Uses 4 * count bytes of dynamic shared memory, with or without calling cudaFuncSetAttribute before the
/// launch.
void run_reverse(const int* in, int* out, int count, bool ask);
void run_endless(int* out);
void run_endless_and_wait(int* out);
void run_misaligned(int* out);
void run_asserts(const int* out);
void run_spin(long long nanoseconds);
void run_store_over(int* out, dim3 grid, dim3 block, std::size_t shared_bytes = 0);
void run_store_unseen(int* out, dim3 grid, dim3 block);  ///< without looking at what CUDA says
void run_greedy(int* out);  ///< 1024 threads of a kernel that needs too many registers
void run_bad_copy(int* out);
void run_bad_copy_unseen(int* out);

#pragma GCC visibility pop
