// Built-in variables and launches, in the spellings that students use. A comment `mark: …` names a line.
#include "kata.hpp"
#include "kernels.hpp"

#include <cstddef>
#include <cstdio>

namespace kernels {

__device__ unsigned linear(const uint3& at, const dim3& of) { return (at.z * of.y + at.y) * of.x + at.x; }

__global__ void places_kernel(unsigned* out) {
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned* mine = out + 12 * (block * threads + thread);
    mine[0] = threadIdx.x, mine[1] = threadIdx.y, mine[2] = threadIdx.z;
    mine[3] = blockIdx.x, mine[4] = blockIdx.y, mine[5] = blockIdx.z;
    mine[6] = blockDim.x, mine[7] = blockDim.y, mine[8] = blockDim.z;
    mine[9] = gridDim.x, mine[10] = gridDim.y, mine[11] = gridDim.z;
}
void places(unsigned* out, dim3 grid, dim3 block) { places_kernel<<<grid, block>>>(out); }

__global__ void places_by_reference_kernel(unsigned* out) {
    const dim3 block = blockDim;
    const uint3 thread = threadIdx;
    out[linear(blockIdx, gridDim) * block.x + linear(thread, block)] = blockIdx.x * warpSize + thread.x;
}
void places_by_reference(unsigned* out, unsigned blocks, unsigned threads) {
    places_by_reference_kernel<<<blocks, threads>>>(out);
}

__global__ void order_of_arrival_kernel(unsigned* ticket, unsigned* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[atomicAdd(ticket, 1u)] = i;
}
void order_of_arrival(unsigned* ticket, unsigned* out, unsigned blocks, unsigned threads) {
    order_of_arrival_kernel<<<blocks, threads>>>(ticket, out);
}

__global__ void nothing_kernel() {}
void nothing(dim3 grid, dim3 block, std::size_t shared_bytes) {
    nothing_kernel<<<grid, block, shared_bytes>>>();
}

__global__ void fill_kernel(int* out) { out[threadIdx.x] = threadIdx.x; }
__global__ void square_kernel(const int* in, int* out) {
    out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x];
}
void two_kernels(int* out, int threads) {
    int* between = nullptr;
    cudaMalloc(&between, threads * sizeof(int));
    fill_kernel<<<1, threads>>>(between);
    square_kernel<<<1, threads>>>(between, out);
    cudaDeviceSynchronize();
    cudaFree(between);
}

__global__ void may_trap_kernel(int number) {
    if (number == 2) __trap();  // mark: second fails
}
void asks(Asks when) {
    may_trap_kernel<<<1, 1>>>(1);
    if (when == Asks::behind_each || when == Asks::in_between) check(cudaGetLastError());
    may_trap_kernel<<<2, dim3(8, 4)>>>(when == Asks::fails ? 2 : 3);  // mark: second launch
    if (when == Asks::behind_each) check(cudaGetLastError());
    if (when == Asks::at_the_end) check(cudaPeekAtLastError());
    if (when == Asks::compared && cudaGetLastError() != cudaSuccess) check(cudaErrorInvalidValue);
    if (when == Asks::dropped) (void)cudaGetLastError();
    if (when == Asks::dropped_in_branch)
        cudaPeekAtLastError();
    else if (when == Asks::kept) {
        auto error = cudaGetLastError();
        if (error == cudaSuccess) error = cudaDeviceSynchronize();
        check(error);
    }
    const auto ask = [when] {
        if (when != Asks::by_lambda) return cudaErrorUnknown;
        return cudaGetLastError();
    };
    if (ask() == cudaSuccess) std::printf("%s", ask() == cudaSuccess ? "" : "failed");
}

template <class T>
__global__ void templated(T* out, T first) {
    out[threadIdx.x] = first + static_cast<T>(threadIdx.x);
}
__global__ void overloaded(int* out) { out[threadIdx.x] += 1; }
__global__ void overloaded(double* out) { out[threadIdx.x] += 0.5; }
void chosen_by_arguments(int* ints, double* doubles) {
    templated<<<1, 4>>>(ints, 0);
    templated<<<1, 4>>>(doubles, 0.0);
    overloaded<<<1, 4>>>(ints);
    overloaded<<<1, 4>>>(doubles);
}

__global__ void idle_blocks_kernel(int n) {
    if (n < 0) __trap();
}
void idle_blocks(unsigned blocks, unsigned threads, int n) { idle_blocks_kernel<<<blocks, threads>>>(n); }

template <int most>
__global__ __launch_bounds__(2 * most /* threads, */, 1) void bounded_kernel(int* out) {
    out[threadIdx.x] = 1;
}
void bounded(int* out, int threads) { bounded_kernel<32><<<1, dim3(threads / 2, 2)>>>(out); }

template <class T, int n>
__global__ void summed_apart_kernel(T* out) {
    T sums[n / 8][8] = {}, few[2];
    for (int i = 0; i < n; ++i) sums[i / 8][i % 8] += out[i];
    few[0] = few[1] = sums[n / 8 - 1][7];
    out[512 + threadIdx.x] = few[threadIdx.x % 2];
}
template <int blocks>
__global__ void __launch_bounds__(64, blocks) promised_kernel(float* out) {
    const float table[64] = {};
    float sums[64] = {};
    for (int i = 0; i < 64; ++i) sums[i] += out[i] + table[i];
    out[512 + threadIdx.x] = sums[63];
}
void summed_apart(Apart how, void* out) {
    auto* const floats = static_cast<float*>(out);
    if (how == Apart::sums_of_248) summed_apart_kernel<float, 248><<<1, 64>>>(floats);
    if (how == Apart::sums_of_256) summed_apart_kernel<float, 256><<<1, 64>>>(floats);
    if (how == Apart::doubles) summed_apart_kernel<double, 128><<<1, 64>>>(static_cast<double*>(out));
    if (how == Apart::in_1024_threads) summed_apart_kernel<float, 64><<<1, 1024>>>(floats);
    if (how == Apart::in_960_threads) summed_apart_kernel<float, 64><<<1, 960>>>(floats);
    if (how == Apart::promised_15) promised_kernel<15><<<1, 64>>>(floats);
    if (how == Apart::promised_16) promised_kernel<16><<<1, 64>>>(floats);
}

// A kernel launches a kernel through a host function. The translator cannot see that, so the launch itself
// must report it.
inline void start() { nothing_kernel<<<1, 1>>>(); }
__global__ void launching_kernel() { start(); }
void launch_in_kernel() { launching_kernel<<<1, 1>>>(); }

__global__ void add_one_kernel(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
void add_one(const int* in, int* out, int n, int blocks, int threads) {
    add_one_kernel<<<blocks, threads>>>(in, out, n);
}

}  // namespace kernels
