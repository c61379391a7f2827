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

/// Uses more registers a thread than a block of 1024 threads has.
__global__ void greedy(int* out) {
    int all[200];
    for (int i = 0; i < 200; ++i) all[i] = out[i];
#pragma unroll
    for (int round = 0; round < 4; ++round)
#pragma unroll
        for (int i = 0; i < 200; ++i) all[i] += all[(i * 7 + 1) % 200];
#pragma unroll
    for (int i = 0; i < 200; ++i) out[i] = all[i];
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
    fill<<<static_cast<unsigned>((count + 255) / 256), 256>>>(out, count);
    check(cudaGetLastError());
}
void run_fill_twice(int* out, std::size_t count) {
    run_fill(out, count);
    fill<<<dim3(1), dim3(1, 1, 1), 0, nullptr>>>(out, 1);
    store<<<1, 2048>>>(out, 1);  // no device accepts it
}
void run_store(int* to, int value) { store<<<1, 1>>>(to, value); }
void run_reverse(const int* in, int* out, int count, bool ask) {
    const auto bytes = static_cast<int>(count * sizeof(int));
    if (ask) check(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    reverse<<<1, 256, count * sizeof(int)>>>(in, out, count);
    check(cudaGetLastError());
}
void run_endless(int* out) { endless<<<1, 32>>>(out); }
void run_endless_and_wait(int* out) {
    endless<<<1, 32>>>(out);
    cudaDeviceSynchronize();
}
void run_misaligned(int* out) { misaligned<<<1, 1>>>(reinterpret_cast<char*>(out)); }
void run_asserts(const int* out) { asserts<<<1, 1>>>(out); }
void run_spin(long long nanoseconds) { spin<<<1, 1>>>(nanoseconds); }
void run_store_over(int* out, dim3 grid, dim3 block, std::size_t shared_bytes) {
    store<<<grid, block, shared_bytes>>>(out, 1);
    check(cudaGetLastError());  // mark: refused
}
void run_store_unseen(int* out, dim3 grid, dim3 block) { store<<<grid, block>>>(out, 1); }
void run_greedy(int* out) {
    greedy<<<1, 1024>>>(out);
    check(cudaGetLastError());
}
void run_bad_copy(int* out) { check(cudaMemcpy(out, nullptr, 4, static_cast<cudaMemcpyKind>(77))); }
void run_bad_copy_unseen(int* out) { cudaMemcpy(out, nullptr, 4, static_cast<cudaMemcpyKind>(77)); }
