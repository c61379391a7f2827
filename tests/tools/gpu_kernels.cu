// Kernels for the suite of the GPU back end, most of which break a rule.
#include "gpu_kernels.hpp"
#include "kata.hpp"

#include <cassert>

namespace {

__global__ void fill(int* out, std::size_t count) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) out[i] = static_cast<int>(i);
}

__global__ void store(int* out, int value) { *out = value; }

/// out[i] = in[count - 1 - i], through `count` elements of shared memory.
__global__ void reverse(const int* in, int* out, int count) {
    extern __shared__ int all[];
    for (int i = threadIdx.x; i < count; i += blockDim.x) all[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = all[count - 1 - i];
}

__global__ void endless(volatile int* out) {
    while (*out != -1) {
    }
}

__global__ void misaligned(char* out) { *reinterpret_cast<float4*>(out + 4) = float4{}; }

__global__ void asserts(const int* out) { assert(out == nullptr); }

__global__ void spin(long long nanoseconds) {
    long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < nanoseconds);
}

}  // namespace

void run_fill(int* out, std::size_t count) {
    launch(fill, {static_cast<unsigned>((count + 255) / 256), 256}, out, count);
}
void run_store(int* to, int value) { launch(store, {1, 1}, to, value); }
void run_reverse(const int* in, int* out, int count) {
    launch(reverse, {1, 256, count * sizeof(int)}, in, out, count);
}
void run_endless(int* out) { launch(endless, {1, 32}, out); }
void run_endless_and_wait(int* out) {
    launch(endless, {1, 32}, out);
    cudaDeviceSynchronize();
}
void run_misaligned(int* out) { launch(misaligned, {1, 1}, reinterpret_cast<char*>(out)); }
void run_asserts(const int* out) { launch(asserts, {1, 1}, out); }
void run_spin(long long nanoseconds) { launch(spin, {1, 1}, nanoseconds); }
void run_too_many_threads(int* out) { launch(store, {1, 2048}, out, 1); }
void run_too_many_threads_unseen(int* out) { store<<<1, 2048>>>(out, 1); }
