// Intrinsics, streams and events. A comment `mark: …` names a line.
#include "kata.hpp"
#include "kernels.hpp"

#include <cstddef>

namespace kernels {

__global__ void reduce_lanes_kernel(unsigned mask, const int* in, int* out, unsigned* bits) {
    const int t = threadIdx.x;
    if (!(mask >> t & 1)) return;
    const unsigned u = in[t];
    out[3 * t] = __reduce_add_sync(mask, in[t]);
    out[3 * t + 1] = __reduce_min_sync(mask, in[t]);
    out[3 * t + 2] = __reduce_max_sync(mask, in[t]);
    bits[6 * t] = __reduce_add_sync(mask, u);
    bits[6 * t + 1] = __reduce_min_sync(mask, u);
    bits[6 * t + 2] = __reduce_max_sync(mask, u);
    bits[6 * t + 3] = __reduce_and_sync(mask, u);
    bits[6 * t + 4] = __reduce_or_sync(mask, u);
    bits[6 * t + 5] = __reduce_xor_sync(mask, u);
}
void reduce_lanes(unsigned mask, const int* in, int* out, unsigned* bits) {
    reduce_lanes_kernel<<<1, 32>>>(mask, in, out, bits);
}

__global__ void ticks_kernel(long long* out, int rounds) {
    for (int i = 0; i < rounds; ++i) out[i] = clock64();
    while (clock64() - out[0] < 100'000) {
    }
}
void ticks(long long* out, int rounds) { ticks_kernel<<<1, 1>>>(out, rounds); }

__global__ void trap_kernel(bool goes_off) {
    if (goes_off && threadIdx.x == 3) __trap();  // mark: trap
}
void trap(bool goes_off) { trap_kernel<<<1, 32>>>(goes_off); }

__global__ void add_one_kernel(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
float through_streams(const int* in, int* out, int n) {
    cudaStream_t first, second;
    check(cudaStreamCreate(&first));
    check(cudaStreamCreate(&second));
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    int* between;
    check(cudaMallocAsync(&between, n * sizeof(int), first));
    check(cudaEventRecord(start, first));
    add_one_kernel<<<n / 32 + 1, 32, 0, first>>>(in, between, n);
    check(cudaEventRecord(stop, first));
    check(cudaStreamWaitEvent(second, stop));
    add_one_kernel<<<n / 32 + 1, 32, 0, second>>>(between, out, n);
    check(cudaStreamSynchronize(second));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start, stop));
    check(cudaFreeAsync(between, second));
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    check(cudaStreamDestroy(first));
    check(cudaStreamDestroy(second));
    return milliseconds;
}

void copy_and_launch(Streams how, const int* in, int* between, int* out, int n) {
    using enum Streams;
    const auto bytes = n * sizeof(int);
    cudaStream_t first = nullptr, second = nullptr;
    cudaEvent_t copied;
    const bool free = how == non_blocking || how == non_blocking_at_the_end;
    check(cudaEventCreate(&copied));
    if (how != both_default && how != two_blocking) {
        check(cudaStreamCreateWithFlags(&first, free ? cudaStreamNonBlocking : 0u));  // mark: makes a stream
        check(cudaStreamCreate(&second));
    }
    if (how == two_blocking) check(cudaStreamCreate(&second));  // takes turns with the default stream
    if (how == non_blocking_at_the_end) check(cudaDeviceSynchronize());
    check(cudaMemcpyAsync(between, in, bytes, cudaMemcpyDeviceToDevice, first));  // mark: copies in a stream
    if (how == joined_by_event) {
        check(cudaEventRecord(copied, first));
        check(cudaStreamWaitEvent(second, copied));
    }
    if (how == joined_by_host || how == never_destroyed) check(cudaStreamSynchronize(first));
    if (how == waited_for_by_host) check(cudaDeviceSynchronize());
    const auto stream = free ? first : second;
    add_one_kernel<<<n / 32 + 1, 32, 0, stream>>>(between, out, n);  // mark: launches in a stream
    check(cudaEventDestroy(copied));
    if (first && how != never_destroyed) check(cudaStreamDestroy(first));
    if (second) check(cudaStreamDestroy(second));
}

struct Arrays {
    const int* in;
    int* out;
};
__global__ void add_one_in_kernel(Arrays arrays) { arrays.out[threadIdx.x] = arrays.in[threadIdx.x] + 1; }
__device__ int counted_launches;
__global__ void count_launch_kernel() { ++counted_launches; }
void beside_a_copy(Beside how, const int* in, int* between, int* out, int n) {
    using enum Beside;
    const auto half = n / 2, bytes = half * static_cast<int>(sizeof(int)),
               row = static_cast<int>(sizeof(int));
    constexpr auto inside = cudaMemcpyDeviceToDevice;
    cudaStream_t first, second;
    check(cudaStreamCreate(&first));
    check(cudaStreamCreate(&second));
    if (how == rows)
        check(cudaMemcpy2DAsync(between, row, in, row, row, half, inside, first));  // mark: rows
    else if (how == from_symbol)
        count_launch_kernel<<<1, 1, 0, first>>>();  // mark: counts itself
    else
        check(cudaMemcpyAsync(between, in, bytes, inside, first));
    if (how == both_read)
        add_one_kernel<<<1, n, 0, second>>>(in, out, half);
    else if (how == another_part)
        add_one_kernel<<<1, n, 0, second>>>(between + half, out, half);
    else if (how == same_part || how == rows)
        add_one_kernel<<<1, n, 0, second>>>(between, out, half);  // mark: beside a copy
    else if (how == anything)
        add_one_in_kernel<<<1, half, 0, second>>>({between, out});
    else if (how == copy)
        check(cudaMemcpyAsync(between, in + half, row, inside, second));
    else if (how == from_symbol)
        check(cudaMemcpyFromSymbolAsync(out, counted_launches, row, 0, inside, second));  // mark: asks
    else
        add_one_kernel<<<1, n, 0, second>>>(out, out + half, half);
    check(cudaStreamDestroy(first));
    check(cudaStreamDestroy(second));
}

__constant__ int added[32];
__global__ void add_constant_kernel(int* out) { out[threadIdx.x] = added[threadIdx.x]; }
__global__ void add_from_kernel(const int* in, int* out, int first, int n) {
    const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += in[i];
}
__global__ void add_atomically_kernel(int* sum) { atomicAdd(sum, 1); }
__device__ int another_symbol;
void in_two_streams(Apart how, const int* in, int* between, int* out, int n) {
    using enum Apart;
    constexpr auto inside = cudaMemcpyDeviceToDevice;
    const int half = n / 2;
    const std::size_t bytes = half * sizeof(int), row = 2 * sizeof(int);
    cudaStream_t first, second;
    check(cudaStreamCreate(&first));
    check(cudaStreamCreate(&second));
    int *pinned, pageable[1024];
    check(cudaMallocHost(&pinned, bytes));
    int* const host = how == through_pinned_memory ? pinned : pageable;
    if (how == halves_of_rows || how == rows_that_overlap) {
        const int wide = how == halves_of_rows ? 1 : 2;
        check(cudaMemcpy2DAsync(between, row, in, row, sizeof(int) * wide, half, inside, first));
        check(cudaMemcpy2DAsync(between + 1, row, in + 1, row, sizeof(int), half, inside, second));
    } else if (how == base_and_offset || how == all_of_it) {
        check(cudaMemcpyAsync(between, in, bytes, inside, first));
        const int begin = how == all_of_it ? 0 : half;
        add_from_kernel<<<n / 32, 32, 0, second>>>(in, between, begin, n);
    } else if (how == structure) {
        check(cudaMemcpyAsync(between, in, bytes, inside, first));
        add_one_in_kernel<<<1, half, 0, second>>>({in, out});
    } else if (how == another_symbol || how == symbol_by_address) {
        void* symbol = nullptr;
        check(how == another_symbol ? cudaGetSymbolAddress(&symbol, kernels::another_symbol)
                                    : cudaGetSymbolAddress(&symbol, counted_launches));
        count_launch_kernel<<<1, 1, 0, first>>>();
        check(cudaMemcpyAsync(out, symbol, sizeof(int), inside, second));
    } else if (how == constant) {
        check(cudaMemcpyToSymbolAsync(added, in, sizeof added, 0, inside, first));
        add_constant_kernel<<<1, 32, 0, second>>>(out);
    } else if (how == launches_that_add) {
        add_atomically_kernel<<<1, 32, 0, first>>>(out);
        add_atomically_kernel<<<1, 32, 0, second>>>(out);
    } else if (how == launches_that_write) {
        add_one_kernel<<<1, 32, 0, first>>>(in, out, 32);
        add_one_kernel<<<1, 32, 0, second>>>(between, out + 31, 1);
    } else if (how == through_pageable_memory || how == through_pinned_memory) {
        check(cudaMemcpyAsync(host, in, bytes, cudaMemcpyDeviceToHost, first));
        check(cudaMemcpyAsync(out, host, bytes, cudaMemcpyHostToDevice, second));
    } else {
        for (const auto stream : {first, second}) {
            int* own;
            check(cudaMallocAsync(&own, bytes, stream));
            check(cudaMemcpyAsync(own, in, bytes, inside, stream));
            check(cudaFreeAsync(own, stream));
        }
    }
    check(cudaFreeHost(pinned));
    check(cudaStreamDestroy(first));
    check(cudaStreamDestroy(second));
}
std::size_t tasks_of_two_streams(int copies, bool host_waits) {
    cudaStream_t streams[2];
    int* memory;
    for (auto& stream : streams) check(cudaStreamCreate(&stream));
    check(cudaMalloc(&memory, 2 * sizeof(int)));
    for (int i = 0; i < copies; ++i) {
        check(cudaMemsetAsync(memory + i % 2, 0, sizeof(int), streams[i % 2]));
        if (host_waits) check(cudaStreamSynchronize(streams[i % 2]));
    }
    const auto remembered = simt::tasks_remembered();
    for (auto& stream : streams) check(cudaStreamDestroy(stream));
    check(cudaFree(memory));
    return remembered;
}

void launch_on_destroyed_stream(int* out) {
    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    check(cudaStreamDestroy(stream));
    add_one_kernel<<<1, 32, 0, stream>>>(out, out, 1);
}

__global__ void rows_kernel(int* rows, std::size_t pitch, int width) {
    auto* const row = reinterpret_cast<int*>(reinterpret_cast<char*>(rows) + blockIdx.x * pitch);
    for (int x = threadIdx.x; x < width; x += blockDim.x) row[x] += blockIdx.x;
}
void rows(const int* in, int* out, int width, int height) {
    int* with_pitch;
    std::size_t pitch;
    const std::size_t bytes = width * sizeof(int);
    check(cudaMallocPitch(&with_pitch, &pitch, bytes, height));
    check(cudaMemcpy2D(with_pitch, pitch, in, bytes, bytes, height, cudaMemcpyDeviceToDevice));
    rows_kernel<<<height, 32>>>(with_pitch, pitch, width);
    check(cudaMemcpy2D(out, bytes, with_pitch, pitch, bytes, height, cudaMemcpyDeviceToDevice));
    check(cudaFree(with_pitch));
}

cudaError_t occupancy(int* blocks, int threads, std::size_t dynamic_shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, rows_kernel, threads, dynamic_shared);
}
cudaError_t best_block(int* grid, int* block) {
    return cudaOccupancyMaxPotentialBlockSize(grid, block, rows_kernel);
}

}  // namespace kernels
