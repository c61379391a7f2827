// The kernels of tests/meter.cpp, whose traffic can be counted by hand. A comment `mark: …` names a line.
#include "kata.hpp"
#include "meter_kernels.hpp"
#include "operators.hpp"

#include <algorithm>
#include <atomic>
#include <cuda/atomic>
#include <cuda_pipeline.h>
#include <memory>
#include <mma.h>
#include <vector>

namespace kernels {

// Traffic.

template <class T>
__global__ void copy_kernel(const T* in, T* out, int stride) {
    const int i = threadIdx.x;
    out[i] = in[i * stride];
}
#define COPY(T)                                               \
    void copy(const T* in, T* out, int stride, int threads) { \
        copy_kernel<T><<<1, threads>>>(in, out, stride);      \
    }
COPY(float)
COPY(double)
COPY(float4)
COPY(unsigned char)
COPY(float3)

template <class V, class... T>
__device__ V made_of(T... component) {
    return {component...};
}
template <class V, class T, class... Rest>
__device__ void make_vector(Made how, const T* in, V& out, T first, T second, Rest... rest) {
    if (how == Made::braces) out = {first, second, rest...};
    if (how == Made::typed_braces) out = V{first, second, rest...};
    if (how == Made::call) out = made_of<V>(first, second, rest...);
    if (how == Made::either)
        out = first < second ? V{first, second, rest...} : made_of<V>(second, first, rest...);
    if (how == Made::local) {
        const V made{first, second, rest...};
        out = made;
    }
    if (how == Made::members) {
        out.x = *in;
        out.y = *in;
    }
    if (how == Made::elements) {
        T* const component = &out.x;
        int i = 0;
        component[i++] = first, component[i++] = second, (..., (component[i++] = rest));
    }
}
template <class T, class V, class... Component>
__global__ void make_vectors_kernel(Made how, const T* in, V* out, Component... component) {
    make_vector(how, &in[threadIdx.x], out[threadIdx.x], component...);
}
void make_vectors(Made how, const unsigned char* in, uchar4* out) {
    using T = unsigned char;
    make_vectors_kernel<<<1, 32>>>(how, in, out, T{0}, T{1}, T{2}, T{3});
}
void make_vectors(Made how, const float* in, float2* out) {
    make_vectors_kernel<<<1, 32>>>(how, in, out, 0.0f, 1.0f);
}
void make_vectors(Made how, const float* in, float3* out) {
    make_vectors_kernel<<<1, 32>>>(how, in, out, 0.0f, 1.0f, 2.0f);
}
void make_vectors(Made how, const float* in, float4* out) {
    make_vectors_kernel<<<1, 32>>>(how, in, out, 0.0f, 1.0f, 2.0f, 3.0f);
}
void make_vectors(Made how, const double* in, double4* out) {
    make_vectors_kernel<<<1, 32>>>(how, in, out, 0.0, 1.0, 2.0, 3.0);
}

template <class T>
__global__ void copy_in_shared_kernel(T* out, int stride) {
    __shared__ T tile[1024];
    const int i = threadIdx.x;
    tile[i * stride] = T{};
    __syncthreads();
    out[i] = tile[i * stride];
}
#define COPY_IN_SHARED(T)                                      \
    void copy_in_shared(T* out, int stride, int threads) {     \
        copy_in_shared_kernel<T><<<1, threads>>>(out, stride); \
    }
COPY_IN_SHARED(float)
COPY_IN_SHARED(double)
COPY_IN_SHARED(float4)
COPY_IN_SHARED(unsigned char)

template <class T>
__global__ void load_from_shared_kernel(const int* index, T* out) {
    __shared__ T tile[64];
    const int t = threadIdx.x, i = index[t];
    tile[t] = T{};
    tile[t + 32] = T{};
    __syncwarp();
    if (i >= 0) out[t] = tile[i];
}
void load_from_shared(const int* index, float* out) { load_from_shared_kernel<float><<<1, 32>>>(index, out); }
void load_from_shared(const int* index, double* out) {
    load_from_shared_kernel<double><<<1, 32>>>(index, out);
}
void load_from_shared(const int* index, float4* out) {
    load_from_shared_kernel<float4><<<1, 32>>>(index, out);
}

__global__ void transpose_naive(const float* in, float* out, int n) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}
template <int padding>
__global__ void transpose_tiled(const float* in, float* out, int n) {
    __shared__ float tile[32][32 + padding];
    const int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx];
    __syncthreads();
    out[(blockIdx.x * 32 + ty) * n + blockIdx.y * 32 + tx] = tile[tx][ty];
}
void transpose(Transpose how, const float* in, float* out, int n) {
    const auto kernel = how == Transpose::naive   ? transpose_naive
                        : how == Transpose::tiled ? transpose_tiled<0>
                                                  : transpose_tiled<1>;
    const dim3 grid(n / 32, n / 32), block(32, 32);
    kernel<<<grid, block>>>(in, out, n);
}

__global__ void broadcast_kernel(const float* in, float* out) {
    __shared__ float word;
    if (threadIdx.x == 0) word = 1.0f;
    __syncthreads();
    out[threadIdx.x] = in[0] + word;
}
void broadcast(const float* in, float* out, int threads) { broadcast_kernel<<<1, threads>>>(in, out); }

__global__ void read_only_kernel(const float* in, float* out) { out[threadIdx.x] = __ldg(in + threadIdx.x); }
void read_only(const float* in, float* out, int threads) { read_only_kernel<<<1, threads>>>(in, out); }

__global__ void reversed_kernel(const float* in, float* out) {
    out[blockDim.x - 1 - threadIdx.x] = in[blockDim.x - 1 - threadIdx.x];
}
void reversed(const float* in, float* out, int threads) { reversed_kernel<<<1, threads>>>(in, out); }

__constant__ float table[64];
__global__ void constant_broadcast_kernel(float* out) { out[threadIdx.x] = table[3]; }
void constant_broadcast(float* out, int threads) { constant_broadcast_kernel<<<1, threads>>>(out); }
__global__ void constant_by_lane_kernel(float* out) { out[threadIdx.x] = table[threadIdx.x]; }
void constant_by_lane(float* out, int threads) { constant_by_lane_kernel<<<1, threads>>>(out); }

__global__ void atomics_kernel(int* sums, int different) { atomicAdd(&sums[threadIdx.x % different], 1); }
void atomics(int* sums, int different, int threads) { atomics_kernel<<<1, threads>>>(sums, different); }
__global__ void atomics_in_shared_kernel(int* sums, int different) {
    __shared__ int sum[64];
    if (threadIdx.x < 64) sum[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sum[threadIdx.x % different], 1);
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < different) sums[threadIdx.x] = sum[threadIdx.x];
}
void atomics_in_shared(int* sums, int different, int threads) {
    atomics_in_shared_kernel<<<1, threads>>>(sums, different);
}

// Control flow.

__global__ void two_halves_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    if (lane < 16)
        out[lane] = in[lane];
    else
        out[lane + 32] = -in[lane + 32];
}
void two_halves(const float* in, float* out) { two_halves_kernel<<<1, 32>>>(in, out); }

__global__ void nested_halves_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float x;
    if (lane < 16) {
        if (lane < 8)
            x = in[lane];
        else
            x = in[lane + 32] + 1.0f;
        x += in[lane + 64];
    } else {
        x = in[lane + 96] + 2.0f;
    }
    out[lane] = x;
}
void nested_halves(const float* in, float* out) { nested_halves_kernel<<<1, 32>>>(in, out); }

__global__ void skipped_iterations_kernel(const float* in, float* out, int rounds) {
    const int lane = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < rounds; ++i)
        if ((lane + i) % 2 == 0) sum += in[i * 32 + lane];
    out[lane] = sum;
}
void skipped_iterations(const float* in, float* out, int rounds) {
    skipped_iterations_kernel<<<1, 32>>>(in, out, rounds);
}

__global__ void continued_iterations_kernel(const float* in, float* out, int rounds) {
    const int lane = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < rounds; ++i) {
        if ((lane ^ i) % 4 == 0) continue;
        const float x = in[i * 32 + lane];
        if (x < 0.0f) continue;
        sum += x;
    }
    out[lane] = sum;
}
void continued_iterations(const float* in, float* out, int rounds) {
    continued_iterations_kernel<<<1, 32>>>(in, out, rounds);
}

__global__ void broken_loop_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < 32; ++i) {
        if (i == lane / 4) break;
        sum += in[i * 32 + lane];
    }
    out[lane] = sum;
}
void broken_loop(const float* in, float* out) { broken_loop_kernel<<<1, 32>>>(in, out); }

__global__ void trip_counts_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < lane; ++i) sum += in[i * 32 + lane];
    out[lane] = sum;
}
void trip_counts(const float* in, float* out) { trip_counts_kernel<<<1, 32>>>(in, out); }

__global__ void nested_trip_counts_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < (lane + i) % 4; ++k) sum += in[(4 * i + k) * 32 + lane];
        out[i * 32 + lane] = sum;
    }
}
void nested_trip_counts(const float* in, float* out) { nested_trip_counts_kernel<<<1, 32>>>(in, out); }

// Each lane halves its number until it is odd.
__global__ void while_not_done_kernel(const float* in, float* out) {
    int x = threadIdx.x + 32;
    float sum = 0.0f;
    while (x % 2 == 0) {
        sum += in[x];
        x /= 2;
    }
    out[threadIdx.x] = sum;
}
void while_not_done(const float* in, float* out) { while_not_done_kernel<<<1, 32>>>(in, out); }

__global__ void switched_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    float x = 0.0f;
    switch (lane % 4) {
        case 0:
            x = in[lane];
            break;
        case 1:
            x = in[32 + lane] * 2.0f;
            break;
        case 2:
            x = in[64 + lane] * 3.0f;
            [[fallthrough]];
        default:
            x += in[96 + lane];
    }
    out[lane] = x;
}
void switched(const float* in, float* out) { switched_kernel<<<1, 32>>>(in, out); }

__global__ void short_circuit_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    const bool both = lane % 2 == 0 && in[lane] > 0.0f && in[32 + lane] > 0.0f;
    out[lane] = both ? in[64 + lane] : 0.0f;
}
void short_circuit(const float* in, float* out) { short_circuit_kernel<<<1, 32>>>(in, out); }

__global__ void known_condition_kernel(const float* in, float* out) {
    const int lane = threadIdx.x;
    const bool at_end = lane == 0 || lane == 31;
    float sum = in[lane];
    if (!at_end) sum += in[lane - 1];
    out[lane] = sum;
}
void known_condition(const float* in, float* out) { known_condition_kernel<<<1, 32>>>(in, out); }

template <class T>
__device__ T smoothed(const T* in, int i) {
    T sum = 0;
    for (int k = 0; k < 3; ++k) {
        const T x = in[i + k];
        if (x > T(0)) sum += x / 3;
    }
    return sum;
}
__device__ float doubled(const float* in, int i) { return 2 * smoothed(in, i); }
__global__ void helpers_in_branches_kernel(const float* in, float* out, int rounds) {
    const int lane = threadIdx.x;
    for (int i = 0; i < rounds; ++i) {
        float x = 1.0f;
        if (lane % 2 == 0) x = smoothed(in, i * 32 + lane);
        if (lane % 4 == 1) x = doubled(in, i * 32 + lane);
        out[i * 32 + lane] = x;
    }
}
void helpers_in_branches(const float* in, float* out, int rounds) {
    helpers_in_branches_kernel<<<1, 32>>>(in, out, rounds);
}

__global__ void early_exit_kernel(const float* in, float* out, int n) {
    const int i = threadIdx.x;
    if (i >= n) return;
    const float x = in[i];
    if (x < 0.0f) return;
    out[i] = x;
}
void early_exit(const float* in, float* out, int n, int threads) {
    early_exit_kernel<<<1, threads>>>(in, out, n);
}

__global__ void one_pointer_kernel(const float* in, float* out) {
    __shared__ float tile[32];
    const int lane = threadIdx.x;
    tile[lane] = 1.0f;
    __syncwarp();
    const float* from = lane % 2 == 0 ? tile : in;
    out[lane] = from[lane];
}
void one_pointer(const float* in, float* out) { one_pointer_kernel<<<1, 32>>>(in, out); }

__global__ void long_until_barrier_kernel(const float* in, float* out, int rounds) {
    float sum = 0.0f;
    for (int i = 0; i < rounds; ++i) sum += in[(threadIdx.x + i) % blockDim.x];
    __syncthreads();
    out[threadIdx.x] = sum;
}
void long_until_barrier(const float* in, float* out, int rounds, int threads) {
    long_until_barrier_kernel<<<1, threads>>>(in, out, rounds);
}
__global__ void long_until_warp_kernel(const float* in, float* out, int rounds) {
    float sum = 0.0f;
    for (int i = 0; i < rounds; ++i) sum += in[(threadIdx.x + i) % blockDim.x];
    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    out[threadIdx.x] = sum;
}
void long_until_warp(const float* in, float* out, int rounds, int threads) {
    long_until_warp_kernel<<<1, threads>>>(in, out, rounds);
}

__global__ void uniform_kernel(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 5; ++k) sum += in[i + k];
    out[i] = sum;
}
void uniform(const float* in, float* out, int blocks, int threads) {
    uniform_kernel<<<blocks, threads>>>(in, out);
}

template <bool second_barrier>
__global__ void kogge_stone_kernel(float* data) {
    __shared__ float x[1024];
    const unsigned t = threadIdx.x;
    x[t] = data[t];
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        float sum = 0.0f;
        if (t >= stride) sum = x[t] + x[t - stride];  // mark: Kogge-Stone reads
        if (second_barrier) __syncthreads();
        if (t >= stride) x[t] = sum;  // mark: Kogge-Stone writes
    }
    data[t] = x[t];
}
void kogge_stone(float* data) { kogge_stone_kernel<true><<<1, 1024>>>(data); }
void kogge_stone_single_barrier(float* data) { kogge_stone_kernel<false><<<1, 1024>>>(data); }

__global__ void barriers_kernel(int count) {
    for (int i = 0; i < count; ++i) __syncthreads();
}
void barriers(int count, int blocks, int threads) { barriers_kernel<<<blocks, threads>>>(count); }

__global__ void each_block_kernel(const float* in, float* out) {
    float sum = 0.0f;
    for (unsigned k = 0; k <= blockIdx.x; ++k) sum += in[k * blockDim.x + threadIdx.x];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
void each_block(const float* in, float* out, int blocks) { each_block_kernel<<<blocks, 64>>>(in, out); }

__device__ int blocks_that_ran;

__global__ void one_block_fails_kernel(Failure how, unsigned block, int* ran) {
    if (threadIdx.x == 0) *ran = atomicAdd(&blocks_that_ran, 1) + 1;
    if (blockIdx.x != block) return;
    if (how == Failure::assertion) assert(blockIdx.x != block);
    if (how == Failure::crash) *reinterpret_cast<volatile int*>(std::uintptr_t{64}) = 1;
}
void one_block_fails(Failure how, unsigned block, int blocks, int* ran) {
    blocks_that_ran = 0;
    one_block_fails_kernel<<<blocks, 32>>>(how, block, ran);
}

// Races.

__global__ void all_write_one_kernel(int* out) {
    __shared__ int word;
    word = threadIdx.x;  // mark: all write one
    __syncthreads();
    if (threadIdx.x == 0) *out = word;
}
void all_write_one(int* out, int threads) { all_write_one_kernel<<<1, threads>>>(out); }

__global__ void two_write_one_kernel(int* out, int first, int second) {
    __shared__ int word[3];
    const int t = threadIdx.x;
    if (t == first) word[1] = 1;   // mark: the first writes
    if (t == second) word[1] = 2;  // mark: the second writes
    __syncthreads();
    if (t == 0) *out = word[1];
}
void two_write_one(int* out, int first, int second) { two_write_one_kernel<<<1, 128>>>(out, first, second); }

__global__ void neighbour_kernel(int* out, bool barrier) {
    __shared__ int tile[1024];
    const int t = threadIdx.x;
    tile[t] = t;  // mark: neighbour writes
    if (barrier) __syncthreads();
    out[t] = tile[(t + 1) % blockDim.x];  // mark: neighbour reads
}
void neighbour(int* out, int threads, bool barrier) { neighbour_kernel<<<1, threads>>>(out, barrier); }

__global__ void neighbour_in_warp_kernel(int* out, bool synchronise) {
    __shared__ int tile[32];
    const int t = threadIdx.x;
    tile[t] = t;
    if (synchronise) __syncwarp();
    out[t] = tile[t ^ 1];
}
void neighbour_in_warp(int* out, bool synchronise) { neighbour_in_warp_kernel<<<1, 32>>>(out, synchronise); }

__global__ void two_lines_kernel(int* out) {
    __shared__ int a[64], b[64];
    const int t = threadIdx.x;
    a[t] = t;
    b[t] = t;
    int sum = a[t ^ 32];
    sum += b[t ^ 32];
    out[t] = sum;
}
void two_lines(int* out) { two_lines_kernel<<<1, 64>>>(out); }

__global__ void many_lines_kernel(int* out) {
    __shared__ int a[64];
    const int t = threadIdx.x, other = t ^ 32;
    a[t] = t;
    const volatile int* const again = a;
    int sum = again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    sum += again[other];
    out[t] = sum;
}
void many_lines(int* out) { many_lines_kernel<<<1, 64>>>(out); }

__global__ void double_buffer_kernel(float* data, bool barrier) {
    __shared__ float a[256], b[256];
    const unsigned t = threadIdx.x;
    float *from = a, *to = b;
    from[t] = data[t];
    __syncthreads();
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        to[t] = t >= stride ? from[t] + from[t - stride] : from[t];  // mark: double buffer
        float* const swapped = from;
        from = to;
        to = swapped;
        if (barrier) __syncthreads();
    }
    data[t] = from[t];
}
void double_buffer(float* data, bool barrier) { double_buffer_kernel<<<1, 256>>>(data, barrier); }

// The last steps of a reduction, as they were written before Volta and as they must be since.
__device__ void volatile_tail(volatile float* x, unsigned t) {
    x[t] = x[t] + x[t + 32];  // mark: volatile tail
    x[t] = x[t] + x[t + 16];
    x[t] = x[t] + x[t + 8];
    x[t] = x[t] + x[t + 4];
    x[t] = x[t] + x[t + 2];
    x[t] = x[t] + x[t + 1];
}
__device__ void synchronised_tail(float* x, unsigned t) {
    for (unsigned d = 32; d > 0; d /= 2) {
        const float sum = x[t] + x[t + d];
        __syncwarp();
        x[t] = sum;
        __syncwarp();
    }
}
__global__ void reduction_tail_kernel(Tail tail, float* data) {
    __shared__ float tile[64];
    const unsigned t = threadIdx.x;
    const bool in_shared = tail == Tail::volatile_shared || tail == Tail::synchronised_shared;
    tile[t] = data[t];
    __syncthreads();
    if (t >= 32) return;
    float* const x = in_shared ? tile : data;
    if (tail == Tail::volatile_shared || tail == Tail::volatile_global)
        volatile_tail(x, t);
    else
        synchronised_tail(x, t);
    if (t == 0) data[0] = x[0];
}
void reduction_tail(Tail tail, float* data) { reduction_tail_kernel<<<1, 64>>>(tail, data); }

__global__ void histogram_kernel(const int* in, int* bins, int n, bool atomic) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (atomic)
        atomicAdd(&bins[in[i]], 1);
    else
        bins[in[i]] += 1;  // mark: histogram
}
void histogram(const int* in, int* bins, int n, bool atomic) {
    histogram_kernel<<<ceil_div(n, 64), 64>>>(in, bins, n, atomic);
}

__global__ void private_histogram_kernel(const int* in, int* bins, int n, bool zeroed, bool atomic,
                                         bool barrier) {
    __shared__ int mine[16];
    const int t = threadIdx.x;
    if (zeroed && t < 16) mine[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)
        if (atomic)
            atomicAdd(&mine[in[i]], 1);  // mark: private histogram counts
        else
            ++mine[in[i]];  // mark: private histogram counts plainly
    if (barrier) __syncthreads();
    if (t < 16) atomicAdd(&bins[t], mine[t]);  // mark: private histogram adds
}
void private_histogram(const int* in, int* bins, int n, bool zeroed, bool atomic, bool barrier) {
    private_histogram_kernel<<<2, 128>>>(in, bins, n, zeroed, atomic, barrier);
}

__global__ void bytes_of_words_kernel(unsigned char* out, int step) {
    out[threadIdx.x * step / 4] = static_cast<unsigned char>(threadIdx.x);
}
void bytes_of_words(unsigned char* out, int threads, int step) {
    bytes_of_words_kernel<<<1, threads>>>(out, step);
}
__global__ void byte_read_by_other_kernel(unsigned char* out) {
    const int t = threadIdx.x;
    if (t < 4) out[t] = 1;
    if (t == 40) out[8] = out[0];
}
void byte_read_by_other(unsigned char* out, int threads) { byte_read_by_other_kernel<<<1, threads>>>(out); }

__global__ void blocks_write_one_kernel(int* out) {
    if (threadIdx.x == 0) *out = blockIdx.x;
}
void blocks_write_one(int* out, int blocks) { blocks_write_one_kernel<<<blocks, 32>>>(out); }

__global__ void block_reads_other_kernel(int* data) {
    const int b = blockIdx.x;
    data[b] = b;
    __syncthreads();
    data[gridDim.x + b] = data[(b + 1) % gridDim.x];
}
void block_reads_other(int* data, int blocks) { block_reads_other_kernel<<<blocks, 1>>>(data); }

__global__ void block_counts_down_kernel(int* count, Count how) {
    if (threadIdx.x > 1) return;
    if (how == Count::of_device) atomicSub(count, 1);
    if (how == Count::of_block) atomicSub_block(count, 1);  // mark: block's own atomic
    if (how == Count::of_system) atomicSub_system(count, 1);
    if (how == Count::plain && threadIdx.x == 0) *count = *count - 1;
}
void block_counts_down(int* count, int blocks, Count how) {
    block_counts_down_kernel<<<blocks, 32>>>(count, how);
}

__global__ void volatile_between_blocks_kernel(Impatient how, int* words) {
    volatile int* const word = words;
    if (threadIdx.x != 0) return;
    if (how == Impatient::adds) *word = *word + 1;  // mark: volatile adds
    const cuda::atomic_ref<int, cuda::thread_scope_device> atomic(*words);
    if (how == Impatient::loads_and_stores) atomic.store(atomic.load() + 1);  // mark: loads and stores
    if (how == Impatient::adds_behind_a_flag) {
        volatile int* const taken = &words[1];
        while (*taken != 0 || atomicCAS(&words[1], 0, 1) != 0) {
        }
        __threadfence();
        *word = *word + 1;
        __threadfence();
        *taken = 0;
    }
    if (how == Impatient::tries_once) {
        const int before = atomicAdd(words, 0);
        atomicCAS(words, before, before + 1);
    }
    if (how == Impatient::tries_again)
        for (int before = *word, found; (found = atomicCAS(words, before, before + 1)) != before;)
            before = found;
    if (how == Impatient::adds_behind_a_lock) {
        while (atomicCAS(&words[1], 0, 1) != 0) {
        }
        __threadfence();
        *word = *word + 1;
        __threadfence();
        atomicExch(&words[1], 0);
    }
    if (how == Impatient::passes_on) {
        const int turn = atomicAdd(&words[1], 1);
        while (*word != turn) {
        }
        *word = turn + 1;
    }
    if (how == Impatient::sets_once && *word == 0) *word = 1;
}
void volatile_between_blocks(Impatient how, int* words, int blocks) {
    volatile_between_blocks_kernel<<<blocks, 32>>>(how, words);
}

__global__ void read_only_while_written_kernel(ReadOnly how, const int* in, int* out) {
    const int t = threadIdx.x;
    if (how == ReadOnly::of_output_before) out[t] = 2 * __ldg(&out[t]);
    if (how == ReadOnly::of_input) out[t] = __ldg(&in[t]);
    if (how == ReadOnly::of_output) {
        out[t] = in[t];  // mark: written before __ldg
        __syncthreads();
        if (t > 0) out[64 + t] = __ldg(&out[t - 1]);  // mark: __ldg of output
    }
}
void read_only_while_written(ReadOnly how, const int* in, int* out) {
    const bool twice = how == ReadOnly::in_two_launches;
    read_only_while_written_kernel<<<1, 64>>>(twice ? ReadOnly::of_input : how, in, out);
    if (twice) read_only_while_written_kernel<<<1, 64>>>(ReadOnly::of_input, out, out + 64);
}

// A block hands its sum to the next one: the flag must not overtake the sums, of which there are two.
__global__ void chained_scan_kernel(Fence fence, ReadFence read_fence, const int* in, int* out,
                                    unsigned* ticket, int* flags, int* sums) {
    __shared__ unsigned block;
    const unsigned t = threadIdx.x;
    if (t == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    if (t == 0 && block > 0)
        while (atomicAdd(&flags[block - 1], 0) == 0) {
        }
    if (t == 0 && read_fence == ReadFence::by_asker) __threadfence();
    if (t == 40 && read_fence == ReadFence::by_another_before_the_barrier) __threadfence();
    __syncthreads();
    if (t < 2 && read_fence == ReadFence::by_readers) __threadfence();
    if (t == 40 && read_fence == ReadFence::by_another) __threadfence();
    int sum = in[block];
    if (t < 2 && block > 0) {
        const int* const before = &sums[2 * (block - 1) + t];
        if (read_fence == ReadFence::reads_volatile)
            sum += *static_cast<const volatile int*>(before);  // mark: chained scan reads volatile
        else
            sum += *before;  // mark: chained scan reads
    }
    if (t < 2) sums[2 * block + t] = sum;  // mark: chained scan writes
    if (fence == Fence::block) __threadfence_block();
    if (fence == Fence::by_all || (fence == Fence::by_some && t != 1)) __threadfence();
    __syncthreads();
    if (fence == Fence::device) __threadfence();
    if (t == 0) atomicExch(&flags[block], 1);
    if (t == 0) out[block] = sum;
}
void chained_scan(Fence fence, ReadFence read_fence, const int* in, int* out, unsigned* ticket, int* flags,
                  int* sums, int blocks) {
    chained_scan_kernel<<<blocks, 64>>>(fence, read_fence, in, out, ticket, flags, sums);
}

// The first block to start writes, the second says so to the third, which asks nobody else.
__global__ void relay_kernel(Relay second, int* data, int* flags, unsigned* ticket, int* out) {
    __shared__ unsigned block;
    const unsigned t = threadIdx.x;
    if (t == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    if (block == 0 && t == 0) {
        *data = 1;  // mark: relay writes
        __threadfence();
        atomicExch(&flags[0], 1);
    }
    if (block == 1) {
        const unsigned asking = second == Relay::asks ? 0 : second == Relay::does_not_ask ? 64 : 32;
        if (t == asking)
            while (atomicAdd(&flags[0], 0) == 0) {
            }
        if (second == Relay::another_thread_asks_before_a_barrier) __syncthreads();
        if (t == 0) {
            __threadfence();
            atomicExch(&flags[1], 1);
        }
    }
    if (block == 2 && t == 0) {
        while (atomicAdd(&flags[1], 0) == 0) {
        }
        __threadfence();
        *out = *data;  // mark: relay reads
    }
}
void relay(Relay second, int* data, int* flags, unsigned* ticket, int* out) {
    relay_kernel<<<3, 64>>>(second, data, flags, ticket, out);
}

// Each block counts itself, and one of them sets the count back by a plain write: the last one, or its thread
// 1, which has not counted, or the first one, behind which others count.
__global__ void set_back_kernel(SetBack by, unsigned* count) {
    __shared__ unsigned before;
    if (threadIdx.x == 0) before = atomicAdd(count, 1u);  // mark: set back counts
    __syncthreads();
    const unsigned block = by == SetBack::first_block ? 0 : gridDim.x - 1;
    if (before == block && threadIdx.x == (by == SetBack::another_thread ? 1 : 0))
        *count = 0;  // mark: set back writes
}
void set_back(SetBack by, unsigned* count) { set_back_kernel<<<3, 64>>>(by, count); }

// One word holds a state and a value, so that there is nothing to overtake.
__global__ void look_back_scan_kernel(const int* in, int* out, unsigned* ticket, unsigned long long* states) {
    constexpr unsigned long long partial = 1ull << 32, complete = 2ull << 32;
    __shared__ unsigned block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    if (threadIdx.x != 0) return;
    const unsigned own = in[block];
    unsigned before = 0;
    if (block > 0) {
        atomicExch(&states[block], partial | own);
        for (unsigned b = block; b-- > 0;) {
            unsigned long long state;
            do {
                state = *static_cast<volatile unsigned long long*>(&states[b]);
            } while (state < partial);
            before += static_cast<unsigned>(state);
            if (state >= complete) break;
        }
    }
    atomicExch(&states[block], complete | (before + own));
    out[block] = before + own;
}
void look_back_scan(const int* in, int* out, unsigned* ticket, unsigned long long* states, int blocks) {
    look_back_scan_kernel<<<blocks, 32>>>(in, out, ticket, states);
}

__global__ void fill_kernel(int* data) { data[threadIdx.x] = threadIdx.x; }
__global__ void shift_kernel(int* data) {
    data[blockDim.x + threadIdx.x] = data[(threadIdx.x + 1) % blockDim.x];
}
void two_launches(int* data, int threads) {
    fill_kernel<<<1, threads>>>(data);
    shift_kernel<<<1, threads>>>(data);
}

__global__ void dynamic_neighbour_kernel(int* out, bool barrier) {
    extern __shared__ int line[];
    line[threadIdx.x] = threadIdx.x;
    if (barrier) __syncthreads();
    out[threadIdx.x] = line[(threadIdx.x + 1) % blockDim.x];
}
void dynamic_neighbour(int* out, int threads, bool barrier) {
    dynamic_neighbour_kernel<<<1, threads, threads * sizeof(int)>>>(out, barrier);
}

__global__ void unwritten_shared_kernel(int* out) {
    __shared__ int tile[32];
    if (threadIdx.x > 0) tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[31 - threadIdx.x];  // mark: unwritten shared
}
void unwritten_shared(int* out) { unwritten_shared_kernel<<<1, 32>>>(out); }
__global__ void unwritten_used_kernel(Use use, const int* in, int* out) {
    __shared__ int before[1], tile[32];
    const int t = threadIdx.x;
    tile[t] = in[t];
    if (t == 32) before[0] = 0;  // never, but a compiler would know of a variable that nobody writes
    __syncthreads();
    const int left = t > 0 ? tile[t - 1] : before[0];  // mark: unwritten used
    int result = tile[t];
    if (use == Use::sum) result += left;
    if (use == Use::choice && left > 0) result = 7;
    if (use == Use::maximum) result = max(result, left);
    out[t] = result;
}
void unwritten_used(Use use, const int* in, int* out) { unwritten_used_kernel<<<1, 32>>>(use, in, out); }
__global__ void unwritten_dynamic_kernel(int* out) {
    extern __shared__ int line[];
    out[threadIdx.x] = line[threadIdx.x];
}
void unwritten_dynamic(int* out) { unwritten_dynamic_kernel<<<1, 32, 32 * sizeof(int)>>>(out); }
__global__ void unwritten_global_kernel(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }
void unwritten_global(const int* in, int* out) { unwritten_global_kernel<<<1, 32>>>(in, out); }

__global__ void exchange_or_ask_kernel(int* data, bool exchange) {
    if (exchange)
        atomicExch(data, 1);
    else
        atomicAdd(data, 0);  // mark: asks atomically
    data[1] = 2;
}
void exchange_or_ask(int* data, bool exchange) { exchange_or_ask_kernel<<<1, 1>>>(data, exchange); }

__global__ void loads_behind_barrier_kernel(const int* in, int* out) {
    const int t = threadIdx.x;
    int sum = in[t] + in[t + 1] + in[t + 2];
    __syncthreads();
    if (t < 32) sum += in[t + 3] + in[t + 4];
    __syncthreads();
    out[t] = sum;
}
void loads_behind_barrier(const int* in, int* out, int threads) {
    loads_behind_barrier_kernel<<<1, threads>>>(in, out);
}

__global__ void second_tile_kernel(Way way, const int* in, int* out) {
    struct alignas(16) Pack {
        int at[4];
    };
    alignas(16) __shared__ int s[3][64];
    const int t = threadIdx.x;
    const auto* const from = reinterpret_cast<const Pack*>(in) + t;
    auto* const to = reinterpret_cast<Pack*>(s[0]) + t;
    const bool structures = way == Way::in_structures || way == Way::structures_ahead;
    if (!structures)
        s[0][t] = in[t];
    else if (t < 16)
        *to = *from;
    __syncthreads();
    int second = 0;
    Pack ahead{};
    if (way == Way::copied || way == Way::copied_at_once)
        __pipeline_memcpy_async(&s[1][t], &in[64 + t], 4);
    else if (!structures)
        second = in[64 + t];
    else if (t < 16 && way == Way::in_structures)
        to[16] = from[16];
    else if (t < 16)
        ahead = from[16];
    if (way == Way::at_once) s[1][t] = second;
    if (way == Way::ahead_beside_copy) __pipeline_memcpy_async(&s[2][t], &in[t], 4);
    __pipeline_commit();
    if (way == Way::copied_at_once) __pipeline_wait_prior(0);
    const int first = s[0][63 - t];
    if (way == Way::ahead || way == Way::ahead_beside_copy) s[1][t] = second;
    if (t < 16 && way == Way::structures_ahead) to[16] = ahead;
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = first + s[1][63 - t];
}
void second_tile(Way way, const int* in, int* out) { second_tile_kernel<<<1, 64>>>(way, in, out); }

__global__ void copy_tiles_kernel(Copiers how, const int* in, int* out, int tiles) {
    __shared__ int s[2][64];
    const int t = threadIdx.x, half = t % 64;
    const bool copies = how == Copiers::all_at_once || t < 64;
    const bool reads = how == Copiers::all_at_once || how == Copiers::half_at_once || t >= 64;
    const bool apart = how == Copiers::own_warps_at_once;  // what is read and what is copied
    int sum = 0;
    for (int tile = 0; tile <= tiles; ++tile) {
        if (reads && !apart && tile > 0) sum += s[(tile - 1) % 2][63 - half];
        if (copies && tile < tiles) {
            if (how != Copiers::all_at_once || t < 64)
                __pipeline_memcpy_async(&s[tile % 2][half], &in[64 * tile + half], 4);
            __pipeline_commit();
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        if (!apart) continue;
        if (reads && tile < tiles) sum += s[tile % 2][63 - half];
        __syncthreads();
    }
    out[t] = sum;
}
void copy_tiles(Copiers how, const int* in, int* out, int tiles) {
    copy_tiles_kernel<<<1, 128>>>(how, in, out, tiles);
}

__global__ void load_phases_kernel(const int* in, int* out) {
    const int t = threadIdx.x;
    int sum = in[t] + in[t + 1];
    if (t < 32)
        for (int k = 0; k < 3; ++k) {
            const int next = __shfl_down_sync(~0u, sum, 1);
            sum += next + in[t + k];
        }
    out[t] = sum;
}
void load_phases(const int* in, int* out) { load_phases_kernel<<<1, 64>>>(in, out); }

__global__ void phases_of_tiles_kernel(const int* in, int* out, int rounds, int more) {
    const int t = threadIdx.x, tile = t / 8;
    int sum = in[t];
    for (int k = 0; k < rounds + more * tile; ++k)
        sum += __shfl_xor_sync(0xffu << 8 * tile, sum, 1) + in[t + k];
    out[t] = sum;
}
void phases_of_tiles(const int* in, int* out, int rounds, int more) {
    phases_of_tiles_kernel<<<1, 32>>>(in, out, rounds, more);
}

__global__ void exchanges_of_tiles_kernel(int* out, int rounds, bool in_two_lines, bool together) {
    const int t = threadIdx.x, tile = t / 8;
    int sum = t;
    for (int k = 0; k < rounds; ++k)
        if (tile == 1 && in_two_lines)
            sum += __shfl_xor_sync(0xffu << 8 * tile, sum, 1);
        else
            sum += __shfl_xor_sync(0xffu << 8 * tile, sum, 2);
    if (together) sum += __shfl_xor_sync(~0u >> (32 - blockDim.x), sum, 4);
    out[t] = sum;
}
void exchanges_of_tiles(int* out, int threads, int rounds, bool in_two_lines, bool together) {
    exchanges_of_tiles_kernel<<<1, threads>>>(out, rounds, in_two_lines, together);
}

__global__ void exchanges_kernel(int* out, int rounds) {
    int sum = static_cast<int>(threadIdx.x);
    for (int i = 0; i < rounds; ++i) sum += __shfl_xor_sync(~0u, sum, 1);
    __syncwarp();
    if (threadIdx.x < 32) sum += __any_sync(~0u, sum > 0);
    out[threadIdx.x] = sum;
}
void exchanges(int* out, int rounds) { exchanges_kernel<<<1, 64>>>(out, rounds); }

__global__ void polled_late_kernel(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        for (int i = 0; i < 1000; ++i) *out = i;
        *data = 1;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
        __threadfence();
        out[1] = *data;
    }
}
void polled_late(int* data, int* flag, int* out) { polled_late_kernel<<<2, 1>>>(data, flag, out); }

__global__ void indexed_kernel(Index how, int* data) {
    const int t = threadIdx.x, b = blockIdx.x;
    if (how == Index::updated) {
        data[b + t] += 1;
        return;
    }
    data[how == Index::of_its_own ? b * 64 + t : how == Index::added ? b + t : b * 64 + t / 32] = t;
}
void indexed(Index how, int* data) { indexed_kernel<<<2, 64>>>(how, data); }

__global__ void pixels_kernel(int* out, int width, int height, bool each) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (each ? x < width && y < height : y * width + x < width * height) out[y * width + x] = x;
}
void pixels(int* out, int width, int height, bool each) {
    pixels_kernel<<<dim3((width + 7) / 8, (height + 7) / 8), dim3(8, 8)>>>(out, width, height, each);
}
__global__ void stretches_kernel(int* out, int apart) {
    for (int i = 0; i < 4; ++i) out[threadIdx.x * apart + i] = i;
}
__global__ void one_double_kernel(double* out) { out[0] = threadIdx.x; }
void one_double(double* out) { one_double_kernel<<<1, 32>>>(out); }
void stretches(int* out, int apart) { stretches_kernel<<<1, 32>>>(out, apart); }

// Out of bounds.

__global__ void read_two_kernel(const float* in, float* out, long first /* (in floats) */, long second) {
    out[threadIdx.x] = in[threadIdx.x == 0 ? first : second];  // mark: read two
}
void read_two(const float* in, float* out, long first, long second) {
    read_two_kernel<<<1, 2>>>(in, out, first, second);
}
__global__ void read_at_kernel(const float* in, float* out, long offset) {
    out[threadIdx.x] = in[threadIdx.x + offset];  // mark: read at
}
void read_at(const float* in, float* out, long offset) { read_at_kernel<<<1, 32>>>(in, out, offset); }
__global__ void write_at_kernel(float* out, long offset) {
    out[threadIdx.x + offset] = 1.0f;  // mark: write at
}
void write_at(float* out, long offset) { write_at_kernel<<<1, 32>>>(out, offset); }
__global__ void read_vector_at_kernel(const float4* in, float4* out, long offset) {
    out[threadIdx.x] = in[threadIdx.x + offset];
}
void read_vector_at(const float4* in, float4* out, long offset) {
    read_vector_at_kernel<<<1, 1>>>(in, out, offset);
}
static float host_weights[2] = {1, 2};
static const float host_constants[2] = {1, 2};
namespace device {
__device__ float weights[2] = {1, 2};
static __device__ const float constants[2] = {1, 2};
}  // namespace device
__device__ const float* own_table(int which) {
    static const float first[2] = {1, 2};
    constexpr static float second[2] = {1, 2};
    return which == 0 ? first : second;
}
__global__ void table_kernel(const float* weights, float* out) {
    out[threadIdx.x] = weights[threadIdx.x % 2];  // mark: table
}
template <class T>
__global__ void own_table_kernel(int which, T* out) {
    static const T mine[2] = {1, 2};
    constexpr T elements[2] = {1, 2};
    const char* text = which == 2 ? "\1\2" : "\2\1";
    const T* const table = which == 3 ? mine : which == 2 ? elements : own_table(which);
    T sum = table[threadIdx.x % 2] + text[threadIdx.x % 2];
    for (const T x : {T(1), T(2)}) sum += x;
    out[threadIdx.x] = sum;
}
__global__ void write_table_kernel(float* weights) {
    device::weights[threadIdx.x] = 3;
    weights[threadIdx.x] = 3;  // mark: write table
}
void read_table(Table table, float* out) {
    static float within[2] = {1, 2};
    const std::vector<float> heap{1, 2};
    void* symbol = nullptr;
    switch (table) {
        case Table::host:
            return table_kernel<<<1, 32>>>(host_weights, out);
        case Table::host_constant:
            return table_kernel<<<1, 32>>>(host_constants, out);
        case Table::host_function:
            return table_kernel<<<1, 32>>>(within, out);
        case Table::host_heap:
            return table_kernel<<<1, 32>>>(heap.data(), out);
        case Table::host_written:
            return write_table_kernel<<<1, 2>>>(host_weights);
        case Table::device:
            cudaGetSymbolAddress(&symbol, device::weights);
            break;
        case Table::device_constant:
            cudaGetSymbolAddress(&symbol, device::constants);
            break;
        case Table::constant:
            cudaGetSymbolAddress(&symbol, kernels::table);
            break;
        case Table::own:
            for (int which = 0; which < 4; ++which) own_table_kernel<<<1, 32>>>(which, out);
            return;
    }
    table_kernel<<<1, 32>>>(static_cast<const float*>(symbol), out);
}
__global__ void write_constant_kernel() {
    table[threadIdx.x] = 1.0f;  // mark: write constant
}
void write_constant() { write_constant_kernel<<<1, 32>>>(); }
__global__ void shared_at_kernel(float* out, long offset) {
    __shared__ float tile[32];
    tile[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = (tile + offset)[threadIdx.x];
}
void shared_at(float* out, long offset) { shared_at_kernel<<<1, 32>>>(out, offset); }
__global__ void dynamic_at_kernel(float* out, long offset) {
    extern __shared__ float line_of_floats[];
    line_of_floats[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = line_of_floats[threadIdx.x + offset];
}
void dynamic_at(float* out, long offset) { dynamic_at_kernel<<<1, 32, 32 * sizeof(float)>>>(out, offset); }

__global__ void local_at_kernel(float* out, int index) {
    float local[8];
    for (int i = 0; i < 8; ++i) local[i] = out[i];
    out[0] = local[index];  // mark: local at
}
void local_at(float* out, int index) { local_at_kernel<<<1, 1>>>(out, index); }
__global__ void neighbour_at_kernel(float* out, int index) {
    __shared__ float tile[32], other[32];
    tile[threadIdx.x] = other[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = tile[index] + other[threadIdx.x];  // mark: neighbour at
}
void neighbour_at(float* out, int index) { neighbour_at_kernel<<<1, 32>>>(out, index); }
__global__ void rows_at_kernel(float* out, int row, int column) {
    __shared__ float rows[4][8];
    rows[threadIdx.x / 8][threadIdx.x % 8] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = rows[row][column];  // mark: rows at
}
void rows_at(float* out, int row, int column) { rows_at_kernel<<<1, 32>>>(out, row, column); }
__global__ void flat_rows_at_kernel(float* out, int index) {
    __shared__ float rows[4][8];
    rows[threadIdx.x / 8][threadIdx.x % 8] = 1.0f;
    __syncthreads();
    const float* const flat = &rows[0][0];
    out[threadIdx.x] = flat[index];
}
void flat_rows_at(float* out, int index) { flat_rows_at_kernel<<<1, 32>>>(out, index); }
int host_local_at(int index) {
    int local[8] = {};
    volatile int beyond[8] = {};
    return local[index] + beyond[0];  // mark: host local at
}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
__global__ void uninitialised_kernel(float* out, int* ints, double* doubles, int n) {
    float x;
    int i;
    double d;
    const int t = threadIdx.x;
    if (t < n) {
        x = out[t];
        i = ints[t];
        d = doubles[t];
    }
    out[t] = x;
    ints[t] = i;
    doubles[t] = d;
}
#pragma GCC diagnostic pop
void uninitialised(float* out, int* ints, double* doubles, int n) {
    uninitialised_kernel<<<1, 4>>>(out, ints, doubles, n);
}

__global__ void copies_kernel(Copy how, const Large* in, Large* out, unsigned bytes, int lanes) {
    const int t = threadIdx.x;
    if (t >= lanes) return;
    if (how == Copy::library) memcpy(&out[t], &in[t], bytes);  // mark: library copies
    if (how == Copy::moved) memmove(&out[t], &in[t], bytes);
    if (how == Copy::set) memset(&out[t], 0, bytes);
    if (how == Copy::structure) out[t] = in[t];
    if (how == Copy::small) {
        float4 v;
        std::memcpy(&v, &in[t], sizeof v);
        std::memcpy(&out[t], &v, sizeof v);
    }
}
void copies(Copy how, const Large* in, Large* out, unsigned bytes, int lanes) {
    copies_kernel<<<1, 32>>>(how, in, out, bytes, lanes);
}
__global__ void overlapping_copies_kernel(char* out, int lanes) {
    if (static_cast<int>(threadIdx.x) < lanes) memset(out + 44 * threadIdx.x, 0, 48);  // mark: overlapping
}
void overlapping_copies(char* out, int lanes) { overlapping_copies_kernel<<<1, 32>>>(out, lanes); }

// Programs as data.

template <class T>
__device__ int access(Verb verb, char* at) {
    T* const word = reinterpret_cast<T*>(at);
    volatile T* const impatient = word;
    switch (verb) {
        case read:
            return static_cast<int>(*word);
        case write:
            *word = 1;
            return 0;
        case volatile_read:
            return static_cast<int>(*impatient);
        case volatile_write:
            *impatient = 1;
            return 0;
        default:
            return 0;
    }
}
template <cuda::thread_scope scope>
__device__ int access_atomically(Verb verb, char* at) {
    const cuda::atomic_ref<int, scope> word(*reinterpret_cast<int*>(at));
    if (verb == update_in_block) return word.fetch_add(1, cuda::memory_order_relaxed);
    if (verb == atomic_read || verb == atomic_read_in_block) return word.load(cuda::memory_order_relaxed);
    word.store(1, cuda::memory_order_relaxed);
    return 0;
}
__global__ void interpret_kernel(const Operation* program, int length, char* global, int* out) {
    __shared__ __align__(16) char shared[place_bytes];
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < place_bytes) shared[threadIdx.x] = 0;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < length; ++i) {
        const Operation op = program[thread * length + i];
        char* const at = op.place < shared_place ? global + op.place : shared + (op.place - shared_place);
        if (op.verb == barrier)
            __syncthreads();
        else if (op.verb == warp)
            __syncwarp(op.mask);
        else if (op.verb == update)
            sum += atomicAdd(reinterpret_cast<int*>(at), 1);
        else if (op.verb == atomic_read || op.verb == atomic_write)
            sum += access_atomically<cuda::thread_scope_device>(op.verb, at);
        else if (op.verb >= update_in_block)
            sum += access_atomically<cuda::thread_scope_block>(op.verb, at);
        else if (op.size == 1)
            sum += access<unsigned char>(op.verb, at);
        else if (op.size == 2)
            sum += access<unsigned short>(op.verb, at);
        else if (op.size == 4)
            sum += access<int>(op.verb, at);
        else if (op.size == 8)
            sum += access<long long>(op.verb, at);
    }
    out[thread] = sum;
}
void interpret(const Operation* program, int length, char* global, int* out, int blocks, int threads) {
    interpret_kernel<<<blocks, threads>>>(program, length, global, out);
}

// Work and span.

__global__ void rounds_by_warp_kernel(const int* first, const int* then, float* out, bool barrier) {
    const int warp = threadIdx.x / 32;
    float sum = 0.0f;
    for (int i = first[warp]; i > 0; --i) sum += i;
    if (barrier) __syncthreads();
    for (int i = then[warp]; i > 0; --i) sum += i;
    out[threadIdx.x] = sum;
}
void rounds_by_warp(const int* first, const int* then, float* out, int warps, bool barrier) {
    rounds_by_warp_kernel<<<1, 32 * warps>>>(first, then, out, barrier);
}

__global__ void one_lane_kernel(const float* in, float* out, int n) {
    if (threadIdx.x == 0)
        for (int i = 0; i < n; ++i) out[i] = in[i];
}
void one_lane(const float* in, float* out, int n, int threads) {
    one_lane_kernel<<<1, threads>>>(in, out, n);
}

__global__ void walk_kernel(const Deed* deeds, int length, unsigned* ticket, int* flags, int* counters,
                            float* out) {
    __shared__ unsigned block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned warp = (block * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int i = 0; i < length; ++i) {
        const Deed deed = deeds[warp * length + i];
        switch (deed.act) {
            case rest:
                break;
            case rounds:
                for (int k = 0; k < deed.value; ++k) sum += k;
                break;
            case all_meet:
                __syncthreads();
                break;
            case signal_to:
                atomicExch(&flags[deed.value * 32 + lane], 1);
                break;
            case wait_for:
                while (atomicAdd(&flags[deed.value * 32 + lane], 0) == 0) {
                }
                break;
            case count_up:
                atomicAdd(&counters[deed.value], 1);
                break;
        }
    }
    out[warp * 32 + lane] = sum;
}
void walk(const Deed* deeds, int length, unsigned* ticket, int* flags, int* counters, float* out, int blocks,
          int warps) {
    walk_kernel<<<blocks, 32 * warps>>>(deeds, length, ticket, flags, counters, out);
}

void host_writes(int* data) {
    data[2] = 1;  // mark: host writes
}
int host_reads(const int* data) {
    return data[2];  // mark: host reads
}
__global__ void nothing_kernel() {}
void host_writes_constant() {
    nothing_kernel<<<1, 1>>>();
    table[1] = 2.0f;  // mark: host writes constant
}
void host_copies(int* data) {
    const std::vector<int> four(4, 4);
    cudaMemcpy(data, four.data(), sizeof(int) * four.size(), cudaMemcpyHostToDevice);
}
void host_library_reaches(Library how, int* data) {
    int four[4] = {};
    if (how == Library::memcpy_from) memcpy(four, data, sizeof four);           // mark: host memcpy from
    if (how == Library::memcpy_to) std::memcpy(data, four, sizeof four);        // mark: host memcpy to
    if (how == Library::copy) std::copy(data, data + 4, four);                  // mark: host copy
    if (how == Library::vector) four[0] = std::vector<int>(data, data + 4)[3];  // mark: host vector
    if (how == Library::sort) std::sort(data, data + 4);                        // mark: host sort
    if (how == Library::after_launch) {
        cudaMemset(data, 0, sizeof four);
        nothing_kernel<<<1, 1>>>();
        memcpy(four, data, sizeof four);  // mark: host memcpy after launch
    }
}
void host_leaks(Leak leak) {
    int *data = nullptr, *on_stream = nullptr, *of_host = nullptr;
    cudaMalloc(&data, 4096);                     // mark: host allocates
    cudaMallocAsync(&on_stream, 4096, nullptr);  // mark: host allocates on a stream
    cudaMallocHost(&of_host, 4096);              // mark: host allocates of its own
    if (leak != Leak::device) cudaFree(data);
    if (leak != Leak::on_stream) cudaFreeAsync(on_stream, nullptr);
    if (leak != Leak::host) cudaFreeHost(of_host);
}
void host_clears(int* data, int first, int count) { cudaMemset(data + first, 0, count * sizeof(int)); }
void host_copies_much(int* data, int count) {
    std::vector<int> values(count);
    cudaMemcpy(values.data(), data, count * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(data, values.data(), count * sizeof(int), cudaMemcpyDefault);
    cudaMemcpyToSymbol(table, values.data(), 8);
    cudaMemcpyToSymbol(table, data, 8, 0, cudaMemcpyDeviceToDevice);
}
void host_copies_too_much(TooMuch what, int* data) {
    int four[4] = {};
    std::vector<int> many(100);
    if (what == TooMuch::source) cudaMemcpy(many.data(), data + 1, 16);
    if (what == TooMuch::target) cudaMemcpy(data + 1, many.data(), 16);
    if (what == TooMuch::behind) cudaMemcpy(many.data(), data + 4, 4);
    if (what == TooMuch::host_array) cudaMemcpy(four, data, 17);
    if (what == TooMuch::host_source) cudaMemcpy(data, four, 17);
    if (what == TooMuch::symbol) cudaMemcpyToSymbol(table, data + 2, 16, 0, cudaMemcpyDefault);
    if (what == TooMuch::host_memset) cudaMemset(many.data(), 0, 16);
}
int host_library(int x) {
    static const std::vector<int> first(1, x);
    const auto shared = std::make_shared<int>(x);
    const auto again = shared;
    static std::atomic<int> calls{0};
    return ++calls > 0 ? first[0] + *again : 0;
}

// Launches.

__global__ void doubled_kernel(const int* in, int* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }
__global__ void cleared_kernel(int* out) { out[threadIdx.x] = 0; }
__global__ void read_kernel(const int* in) { assert(in[threadIdx.x] != 0); }
void launch_twice(Superfluous how, const int* in, int* out) {
    if (how == Superfluous::clears_again || how == Superfluous::all_once_more) cleared_kernel<<<1, 64>>>(out);
    if (how == Superfluous::clears_again) cleared_kernel<<<1, 64>>>(out);
    doubled_kernel<<<1, 64>>>(in, out);
    if (how == Superfluous::once_more) doubled_kernel<<<1, 64>>>(in, out);  // mark: once more
    if (how == Superfluous::only_reads) read_kernel<<<1, 64>>>(in);
    if (how != Superfluous::all_once_more) return;
    cleared_kernel<<<1, 64>>>(out);
    doubled_kernel<<<1, 64>>>(in, out);  // mark: all once more
}

__global__ void reversed_in_local_kernel(const float* in, float* out) {
    float values[64] = {};  // and no __shared__
    values[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = values[63 - threadIdx.x];
}
__global__ void reversed_in_shared_kernel(const float* in, float* out) {
    __shared__ float values[64];
    values[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = values[63 - threadIdx.x];
}
void reversed_in_array(bool shared, const float* in, float* out) {
    if (shared)
        reversed_in_shared_kernel<<<1, 64>>>(in, out);
    else
        reversed_in_local_kernel<<<1, 64>>>(in, out);
}

__global__ void reversed_in_two_shared_kernel(const float* in, float* out) {
    __shared__ float mine[64];
    __shared__ float ours[64];
    float both[2];  // of which a thread needs all
    const int t = threadIdx.x;
    mine[t] = ours[t] = in[t];
    __syncthreads();
    for (int i = 0; i < 2; ++i) both[i] = i == 0 ? mine[63 - t] : ours[63 - t];
    out[t] = both[0] + both[1];
}
__global__ void reversed_in_one_shared_kernel(const float* in, float* out) {
    float mine[64];
    __shared__ float ours[64];
    const int t = threadIdx.x;
    mine[t] = ours[t] = in[t];
    __syncthreads();
    out[t] = mine[63 - t] + ours[63 - t];
}
void reversed_in_both(Lacks what, const float* in, float* out) {
    if (what == Lacks::nothing)
        reversed_in_two_shared_kernel<<<1, 64>>>(in, out);
    else
        reversed_in_one_shared_kernel<<<1, 64>>>(in, out);
}

__constant__ float tail_weights[4];
__global__ void weighed_kernel(const float* in, float* out) {
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += tail_weights[i] * in[(threadIdx.x + i) % 64];  // mark: weighed
    out[threadIdx.x] = sum;
}
void weighed(int copied, const float* in, float* out) {
    // zeros, too, which are no less set
    constexpr float none[4] = {};
    cudaMemcpyToSymbol(tail_weights, none, copied * sizeof(float));
    weighed_kernel<<<1, 64>>>(in, out);
}

__global__ void combined_kernel(int* sum) {
    kata::atomic_combine(sum, 1, kata::Sum<int>{});  // mark: combined
}
void combined(int* sum) { combined_kernel<<<1, 64>>>(sum); }

// Fragments.

namespace wmma = nvcuda::wmma;

template <class Use, class T, class Layout>
using Factor = wmma::fragment<Use, 16, 16, std::is_same_v<T, float> ? 8 : 16,
                              std::conditional_t<std::is_same_v<T, float>, wmma::precision::tf32, T>, Layout>;

template <class Use, class T, class Layout>
__global__ void load_factor_kernel(const T* in, int pitch, bool by_shared, float* out) {
    __shared__ alignas(32) T tile[16 * 48];
    Factor<Use, T, Layout> f;
    if (by_shared) {
        for (int i = threadIdx.x; i < 16 * pitch; i += 32) tile[i] = in[0];
        __syncthreads();
        wmma::load_matrix_sync(f, tile, pitch);
    } else {
        wmma::load_matrix_sync(f, in, pitch);
    }
    float sum = 0;
    for (int i = 0; i < f.num_elements; ++i) sum += static_cast<float>(f.x[i]);
    out[threadIdx.x] = sum;
}
template <class T>
void load_factor(bool of_a, bool by_rows, const T* in, int pitch, bool by_shared, float* out) {
    using wmma::col_major, wmma::matrix_a, wmma::matrix_b, wmma::row_major;
    const auto kernel = of_a      ? by_rows ? load_factor_kernel<matrix_a, T, row_major>
                                            : load_factor_kernel<matrix_a, T, col_major>
                             : by_rows ? load_factor_kernel<matrix_b, T, row_major>
                                  : load_factor_kernel<matrix_b, T, col_major>;
    kernel<<<1, 32>>>(in, pitch, by_shared, out);
}
void load_floats(bool of_a, bool by_rows, const float* in, int pitch, bool by_shared, float* out) {
    load_factor(of_a, by_rows, in, pitch, by_shared, out);
}
void load_halves(bool of_a, bool by_rows, const unsigned short* in, int pitch, bool by_shared, float* out) {
    load_factor(of_a, by_rows, reinterpret_cast<const half*>(in), pitch, by_shared, out);
}

__global__ void store_sums_kernel(bool by_rows, float* out, int pitch, bool to_shared) {
    __shared__ alignas(32) float tile[16 * 48];
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::store_matrix_sync(to_shared ? tile : out, sum, pitch,
                            by_rows ? wmma::mem_row_major : wmma::mem_col_major);
}
void store_sums(bool by_rows, float* out, int pitch, bool to_shared) {
    store_sums_kernel<<<1, 32>>>(by_rows, out, pitch, to_shared);
}

template <int products>
__global__ void multiply_kernel(float* out, int rounds) {
    Factor<wmma::matrix_a, float, wmma::row_major> a;
    Factor<wmma::matrix_b, float, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(a, 1.0f);
    wmma::fill_fragment(b, 1.0f);
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < rounds; ++i) {
        if constexpr (products > 0) wmma::mma_sync(sum, a, b, sum);
        if constexpr (products > 1) wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}
void multiply(int products, float* out, int rounds) {
    const auto kernel = products == 0   ? multiply_kernel<0>
                        : products == 1 ? multiply_kernel<1>
                                        : multiply_kernel<2>;
    kernel<<<1, 32>>>(out, rounds);
}

}  // namespace kernels
