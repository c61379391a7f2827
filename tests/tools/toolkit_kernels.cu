// The kernels of tests/toolkit.cpp. A comment `mark: …` names a line.
#include "kata.hpp"
#include "toolkit_kernels.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

namespace cg = cooperative_groups;

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

__global__ void copies_ahead_kernel(const int* in, int* out, int groups) {
    __shared__ int s[2][32];
    const unsigned t = threadIdx.x;
    for (int i = 0; i < 2; ++i) {
        __pipeline_memcpy_async(&s[i][t], &in[32 * i + t], sizeof(int));
        __pipeline_commit();
    }
    __pipeline_wait_prior(groups);
    out[t] = s[0][t];
    __pipeline_wait_prior(0);
    out[32 + t] = s[1][t];
}
void copies_ahead(const int* in, int* out, int groups) { copies_ahead_kernel<<<1, 32>>>(in, out, groups); }

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

// Cooperative groups.

__global__ void group_ranks_kernel(unsigned* out) {
    const auto block = cg::this_thread_block();
    const auto eight = cg::tiled_partition<8>(block);
    const auto four = cg::tiled_partition<4>(eight);
    unsigned* mine = out + 8 * block.thread_rank();
    mine[0] = block.thread_rank(), mine[1] = block.size();
    mine[2] = eight.thread_rank(), mine[3] = eight.meta_group_rank(), mine[4] = eight.meta_group_size();
    mine[5] = four.thread_rank(), mine[6] = four.meta_group_rank(), mine[7] = four.meta_group_size();
}
void group_ranks(unsigned* out, dim3 block) { group_ranks_kernel<<<1, block>>>(out); }

template <unsigned size>
__global__ void tile_shuffle_kernel(Tile_shuffle kind, unsigned argument, const int* in, int* out) {
    const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
    const int t = threadIdx.x, value = in[t];
    switch (kind) {
        case Tile_shuffle::index:
            out[t] = tile.shfl(value, argument);
            break;
        case Tile_shuffle::up:
            out[t] = tile.shfl_up(value, argument);
            break;
        case Tile_shuffle::down:
            out[t] = tile.shfl_down(value, argument);
            break;
        case Tile_shuffle::exclusive_or:
            out[t] = tile.shfl_xor(value, argument);
            break;
    }
}
void tile_shuffle(Tile_shuffle kind, int size, unsigned argument, const int* in, int* out) {
    const auto kernel = size == 1    ? tile_shuffle_kernel<1>
                        : size == 2  ? tile_shuffle_kernel<2>
                        : size == 4  ? tile_shuffle_kernel<4>
                        : size == 8  ? tile_shuffle_kernel<8>
                        : size == 16 ? tile_shuffle_kernel<16>
                                     : tile_shuffle_kernel<32>;
    kernel<<<1, 64>>>(kind, argument, in, out);
}
__global__ void warp_shuffle_kernel(const int* in, int* out) {
    out[threadIdx.x] = __shfl_down_sync(~0u, in[threadIdx.x], 3, 8);
}
void warp_shuffle(const int* in, int* out) { warp_shuffle_kernel<<<1, 64>>>(in, out); }

__global__ void wide_shuffle_kernel(double* out) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const double t = threadIdx.x;
    const double4 next = warp.shfl_xor(make_double4(t, -t, 2 * t, 0.5), 1);
    double* mine = out + 4 * threadIdx.x;
    mine[0] = next.x, mine[1] = next.y, mine[2] = next.z, mine[3] = next.w;
}
void wide_shuffle(double* out) { wide_shuffle_kernel<<<1, 32>>>(out); }

template <unsigned size>
__global__ void tile_reduce_kernel(const int* in, int* out, float* sums) {
    const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
    const int t = threadIdx.x, value = in[t];
    out[6 * t] = cg::reduce(tile, value, cg::plus<int>());
    out[6 * t + 1] = cg::reduce(tile, value, cg::less<int>());
    out[6 * t + 2] = cg::reduce(tile, value, cg::greater<int>());
    out[6 * t + 3] = cg::reduce(tile, value, cg::bit_and<int>());
    out[6 * t + 4] = cg::reduce(tile, value, cg::bit_or<int>());
    out[6 * t + 5] = cg::reduce(tile, value, cg::bit_xor<int>());
    sums[t] = cg::reduce(tile, 0.5f * value, cg::plus<float>());
}
void tile_reduce(int size, const int* in, int* out, float* sums) {
    const auto kernel = size == 2    ? tile_reduce_kernel<2>
                        : size == 16 ? tile_reduce_kernel<16>
                                     : tile_reduce_kernel<32>;
    kernel<<<1, 64>>>(in, out, sums);
}

__device__ int2 compose(int2 newer, int2 older) { return {older.x * newer.x, older.y * newer.x + newer.y}; }

__global__ void group_scan_kernel(bool coalesced, const int2* in, int2* inclusive, int2* exclusive) {
    const int t = threadIdx.x;
    const auto both = [&](const auto& group) {
        inclusive[t] = cg::inclusive_scan(group, in[t], [](int2 a, int2 b) { return compose(a, b); });
        exclusive[t] = cg::exclusive_scan(group, in[t], [](int2 a, int2 b) { return compose(a, b); });
    };
    if (!coalesced)
        both(cg::tiled_partition<8>(cg::this_thread_block()));
    else if (t % 3 == 0)
        both(cg::coalesced_threads());
}
void group_scan(bool coalesced, const int2* in, int2* inclusive, int2* exclusive) {
    group_scan_kernel<<<1, 32>>>(coalesced, in, inclusive, exclusive);
}

__global__ void lanes_together_kernel(unsigned mask, int* out) {
    const int t = threadIdx.x;
    if (!(mask >> t & 1)) return;
    const auto group = cg::coalesced_threads();
    out[4 * t] = group.thread_rank();
    out[4 * t + 1] = group.shfl(100 + t, group.size() - 1);
    out[4 * t + 2] = group.ballot(group.thread_rank() % 2);
    out[4 * t + 3] = cg::reduce(group, t, cg::plus<int>());
}
void lanes_together(unsigned mask, int* out) { lanes_together_kernel<<<1, 32>>>(mask, out); }

__global__ void tile_with_absent_lane_kernel(int* out) {
    const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    if (tile.thread_rank() < 3)
        out[threadIdx.x] = tile.shfl_down(static_cast<int>(threadIdx.x), 1);  // mark: absent lane
    __syncthreads();
}
void tile_with_absent_lane(int* out) { tile_with_absent_lane_kernel<<<1, 32>>>(out); }

__device__ int sum_of(cg::thread_group group, int* scratch, int value) {
    const unsigned rank = group.thread_rank();
    for (unsigned i = group.size() / 2; i > 0; i /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < i) value += scratch[rank + i];
        group.sync();
    }
    return value;
}
__global__ void reduce_through_group_kernel(const int* in, int* out) {
    __shared__ int scratch[128];
    const auto block = cg::this_thread_block();
    const auto sixteen = cg::tiled_partition(block, 16);
    const int t = threadIdx.x;
    const int whole = sum_of(block, scratch, in[t]);
    const int part = sum_of(sixteen, scratch + 64 + t / 16 * 16, in[t]);
    out[t] = t % 16 != 0 ? 0 : t == 0 ? whole : part;
}
void reduce_through_group(const int* in, int* out) { reduce_through_group_kernel<<<1, 64>>>(in, out); }

__global__ void group_barrier_kernel(bool divergent, int* out) {
    __shared__ int s[64];
    const auto block = cg::this_thread_block();
    s[threadIdx.x] = threadIdx.x;
    if (!divergent || threadIdx.x < 10) block.sync();  // mark: barrier of a group
    out[threadIdx.x] = s[63 - threadIdx.x];
}
void group_barrier(bool divergent, int* out) { group_barrier_kernel<<<1, 64>>>(divergent, out); }

__global__ void grid_barrier_kernel() { cg::this_grid().sync(); }  // mark: barrier of the grid
void grid_barrier() { grid_barrier_kernel<<<1, 1>>>(); }

// Asynchronous copies.

__global__ void copy_reversed_kernel(Wait wait, const int* in, int* out) {
    __shared__ int s[2][32];
    const int t = threadIdx.x;
    for (int half = 0; half < 2; ++half) {
        if (t / 32 == half) __pipeline_memcpy_async(&s[half][t % 32], &in[t], 4);  // mark: copy
        if (wait != Wait::no_commit) __pipeline_commit();
    }
    if (wait == Wait::barrier_first) __syncthreads();
    if (wait == Wait::too_few)
        __pipeline_wait_prior(1);
    else if (wait != Wait::none)
        __pipeline_wait_prior(0);
    if (wait != Wait::no_barrier && wait != Wait::barrier_first) __syncthreads();
    out[t] = s[1 - t / 32][31 - t % 32];  // mark: read of the copy
}
void copy_reversed(Wait wait, const int* in, int* out) { copy_reversed_kernel<<<1, 64>>>(wait, in, out); }

__global__ void copy_in_dynamic_kernel(const int* in, int* out) {
    extern __shared__ int dynamic_copy[];
    __pipeline_memcpy_async(&dynamic_copy[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = dynamic_copy[threadIdx.x];
}
void copy_in_dynamic(const int* in, int* out) { copy_in_dynamic_kernel<<<1, 64, 4096>>>(in, out); }

__global__ void copy_with_zeros_kernel(const int* in, int* out) {
    __shared__ int4 s[16];
    const int t = threadIdx.x;
    if (t < 16) __pipeline_memcpy_async(&s[t], &in[4 * t], 16, 4 * (t % 5));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = reinterpret_cast<int*>(s)[t];
}
void copy_with_zeros(const int* in, int* out) { copy_with_zeros_kernel<<<1, 64>>>(in, out); }

__global__ void copy_by_group_kernel(bool waits, const int* in, int* out) {
    __shared__ alignas(16) int s[64];
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof s);  // mark: copy of a group
    if (waits) cg::wait(block);
    out[threadIdx.x] = s[63 - threadIdx.x];  // mark: read of the group
}
void copy_by_group(bool waits, const int* in, int* out) { copy_by_group_kernel<<<1, 64>>>(waits, in, out); }

__global__ void copy_badly_kernel(int bytes, const char* from, int* out) {
    __shared__ alignas(16) int s[8];
    int* const to = out ? out : s;
    __pipeline_memcpy_async(to, from, bytes);  // mark: bad copy
}
__global__ void copy_first_from_kernel(Copy_from from, bool by_group, const int* in, int* out) {
    __shared__ int s[2][32];
    const int t = threadIdx.x;
    int own = 7;
    s[0][t] = in[t];
    const int* const source = from == Copy_from::global   ? &in[t]
                              : from == Copy_from::shared ? &s[0][t]
                                                          : &own;
    if (by_group) {
        const auto alone = cg::tiled_partition<1>(cg::this_thread_block());
        cg::memcpy_async(alone, &s[1][t], source, sizeof(int));
        cg::wait(alone);
    } else {
        __pipeline_memcpy_async(&s[1][t], source, sizeof(int));  // mark: copies from
        __pipeline_commit();
        __pipeline_wait_prior(0);
    }
    out[t] = s[1][t];
}
void copy_first_from(Copy_from from, bool by_group, const int* in, int* out) {
    copy_first_from_kernel<<<1, 32>>>(from, by_group, in, out);
}
void copy_badly(int bytes, int offset, bool to_global, int* out) {
    copy_badly_kernel<<<1, 1>>>(bytes, reinterpret_cast<const char*>(out) + offset,
                                to_global ? out : nullptr);
}

__global__ void overwrite_copy_kernel(const int* in, int* out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &in[t], 4);  // mark: overwritten copy
    __pipeline_commit();
    s[t] = 1;  // mark: write before the copy
    __pipeline_wait_prior(0);
    out[t] = s[t];
}
void overwrite_copy(const int* in, int* out) { overwrite_copy_kernel<<<1, 32>>>(in, out); }

// Atomics of libcu++.

template <cuda::thread_scope scope>
__device__ void hand_over_by(cuda::memory_order store, cuda::memory_order load, int* data, int* flag,
                             int* out) {
    cuda::atomic_ref<int, scope> ready(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 7 * threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) ready.store(1, store);
    } else {
        if (threadIdx.x == 0)
            while (ready.load(load) == 0) {
            }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];
    }
}
__global__ void hand_over_kernel(Handover how, int* data, int* flag, int* out) {
    using cuda::memory_order_relaxed;
    if (how == Handover::right)
        hand_over_by<cuda::thread_scope_device>(cuda::memory_order_release, cuda::memory_order_acquire, data,
                                                flag, out);
    else if (how == Handover::relaxed)
        hand_over_by<cuda::thread_scope_device>(memory_order_relaxed, memory_order_relaxed, data, flag, out);
    else if (how == Handover::of_block)
        hand_over_by<cuda::thread_scope_block>(cuda::memory_order_release, cuda::memory_order_acquire, data,
                                               flag, out);
    else if (blockIdx.x == 0 && threadIdx.x == 0)
        *flag = 1;
    else if (blockIdx.x == 1)
        out[threadIdx.x] = cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).load(memory_order_relaxed);
}
void hand_over(Handover how, int* data, int* flag, int* out) {
    hand_over_kernel<<<2, 32>>>(how, data, flag, out);
}

__global__ void fetch_all_kernel(int* values, int* before) {
    const auto of = [&](int i) { return cuda::atomic_ref<int, cuda::thread_scope_device>(values[i]); };
    before[0] = of(0).fetch_add(5);
    before[1] = of(1).fetch_sub(5, cuda::memory_order_relaxed);
    before[2] = of(2).fetch_and(6);
    before[3] = of(3).fetch_or(6);
    before[4] = of(4).fetch_xor(6);
    before[5] = of(5).fetch_min(-6);
    before[6] = of(6).fetch_max(60);
    before[7] = of(7).exchange(9);
}
void fetch_all(int* values, int* before) { fetch_all_kernel<<<1, 1>>>(values, before); }

__global__ void count_in_block_kernel(int* out) {
    __shared__ int count;
    cuda::atomic_ref<int, cuda::thread_scope_block> counter(count);
    if (threadIdx.x == 0) counter.store(0, cuda::memory_order_relaxed);
    __syncthreads();
    counter.fetch_add(2, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = counter.load(cuda::memory_order_relaxed);
}
void count_in_block(int* out) { count_in_block_kernel<<<3, 64>>>(out); }

__global__ void compare_and_swap_kernel(int* value) {
    cuda::atomic_ref<int, cuda::thread_scope_device> all(*value);
    int seen = all.load(cuda::memory_order_relaxed);
    while (!all.compare_exchange_weak(seen, seen + 3, cuda::memory_order_relaxed)) {
    }
}
void compare_and_swap(int* value, int n) { compare_and_swap_kernel<<<n, 32>>>(value); }

__global__ void atomic_traffic_kernel(unsigned long long* words) {
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> mine(words[threadIdx.x]);
    const auto value = mine.load(cuda::memory_order_relaxed);
    mine.store(value + 1, cuda::memory_order_relaxed);
    mine.fetch_add(1, cuda::memory_order_relaxed);
}
void atomic_traffic(unsigned long long* words) { atomic_traffic_kernel<<<1, 32>>>(words); }

// Halves.

__global__ void halves_kernel(const half2* in, half* sums, float* out) {
    const int t = threadIdx.x;
    const half2 pair = __ldg(&in[t]), neighbour = __shfl_xor_sync(~0u, pair, 1);
    const half2 sum = __hfma2(pair, __float2half2_rn(2.0f), __float2half2_rn(1.0f));
    atomicAdd(&sums[0], pair.x);
    atomicAdd(&sums[1], half(1));
    out[2 * t] = __low2float(neighbour);
    out[2 * t + 1] = __half2float(sum.y);
}
void halves(const unsigned short* in, unsigned short* sums, float* out) {
    halves_kernel<<<1, 32>>>(reinterpret_cast<const half2*>(in), reinterpret_cast<half*>(sums), out);
}

// Tensor cores.

namespace wmma = nvcuda::wmma;

template <class A, class B>
__global__ void multiply_halves_kernel(wmma::layout_t layout, const half* a, const half* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, A> f;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, B> g;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(sum, c, 16, layout);
    wmma::load_matrix_sync(f, a, 16);
    wmma::load_matrix_sync(g, b, 16);
    wmma::mma_sync(sum, f, g, sum);
    wmma::store_matrix_sync(c, sum, 16, layout);
}
void multiply_halves(bool a_by_rows, bool b_by_rows, bool c_by_rows, const unsigned short* a,
                     const unsigned short* b, float* c) {
    using wmma::col_major, wmma::row_major;
    const auto kernel = a_by_rows   ? b_by_rows ? multiply_halves_kernel<row_major, row_major>
                                                : multiply_halves_kernel<row_major, col_major>
                          : b_by_rows ? multiply_halves_kernel<col_major, row_major>
                                    : multiply_halves_kernel<col_major, col_major>;
    kernel<<<1, 32>>>(c_by_rows ? wmma::mem_row_major : wmma::mem_col_major, reinterpret_cast<const half*>(a),
                      reinterpret_cast<const half*>(b), c);
}

__global__ void multiply_tf32_kernel(bool rounds, const float* a, const float* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> f;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> g;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(f, a, 8);
    wmma::load_matrix_sync(g, b, 16);
    if (rounds) {
        for (auto& x : f.x) x = wmma::__float_to_tf32(x);
        for (auto& x : g.x) x = wmma::__float_to_tf32(x);
    }
    wmma::mma_sync(sum, f, g, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}
void multiply_tf32(bool rounds, const float* a, const float* b, float* c) {
    multiply_tf32_kernel<<<1, 32>>>(rounds, a, b, c);
}

template <int k, class T, class Layout, class Element>
__global__ void elements_of_lanes_kernel(const Element* b, unsigned pitch, float* out) {
    wmma::fragment<wmma::matrix_b, 16, 16, k, T, Layout> f;
    wmma::load_matrix_sync(f, b, pitch);
    for (int i = 0; i < f.num_elements; ++i)
        out[threadIdx.x * f.num_elements + i] = static_cast<float>(f.x[i]);
}
void elements_of_lanes(bool tf32, bool by_rows, const float* b, const unsigned short* narrow, float* out) {
    using wmma::col_major, wmma::row_major;
    const auto* const bf16 = reinterpret_cast<const __nv_bfloat16*>(narrow);
    if (tf32 && by_rows)
        elements_of_lanes_kernel<8, wmma::precision::tf32, row_major><<<1, 32>>>(b, 16, out);
    else if (tf32)
        elements_of_lanes_kernel<8, wmma::precision::tf32, col_major><<<1, 32>>>(b, 8, out);
    else if (by_rows)
        elements_of_lanes_kernel<16, __nv_bfloat16, row_major><<<1, 32>>>(bf16, 16, out);
    else
        elements_of_lanes_kernel<16, __nv_bfloat16, col_major><<<1, 32>>>(bf16, 16, out);
}

__global__ void multiply_badly_kernel(Bad_matrix how, float* c) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    const int t = threadIdx.x;
    if (how == Bad_matrix::gone_lane && t == 5) return;
    if (how == Bad_matrix::off_alignment) c += 4;
    if (how == Bad_matrix::unlike_address && t == 9) c += 8;
    const unsigned pitch = how == Bad_matrix::odd_pitch                ? 18
                           : how == Bad_matrix::unlike_pitch && t == 9 ? 20
                                                                       : 16;
    const auto layout =
        how == Bad_matrix::unlike_layout && t == 9 ? wmma::mem_col_major : wmma::mem_row_major;
    if (how == Bad_matrix::other_line && t >= 16)
        wmma::store_matrix_sync(c, sum, pitch, layout);  // mark: other line
    else if (how != Bad_matrix::absent_lane || t != 5)
        wmma::store_matrix_sync(c, sum, pitch, layout);  // mark: bad matrix
    __syncthreads();
}
void multiply_badly(Bad_matrix how, float* c) {
    multiply_badly_kernel<<<1, how == Bad_matrix::half_a_warp ? 16 : 32>>>(how, c);
}

__global__ void through_a_fragment_kernel(bool waits, const float* in, float* out) {
    __shared__ alignas(32) float s[16 * 16];
    for (int i = 4 * threadIdx.x; i < 256; i += 128) __pipeline_memcpy_async(&s[i], &in[i], 16);
    __pipeline_commit();
    if (waits) __pipeline_wait_prior(0);
    __syncthreads();
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> f;
    wmma::load_matrix_sync(f, s, 16, wmma::mem_row_major);  // mark: fragment of a copy
    wmma::store_matrix_sync(out, f, 16, wmma::mem_row_major);
}
void through_a_fragment(bool waits, const float* in, float* out) {
    through_a_fragment_kernel<<<1, 32>>>(waits, in, out);
}

__global__ void round_to_tf32_kernel(const float* in, float* out) {
    out[threadIdx.x] = wmma::__float_to_tf32(in[threadIdx.x]);
}
void round_to_tf32(const float* in, float* out, int n) { round_to_tf32_kernel<<<1, n>>>(in, out); }

}  // namespace kernels
