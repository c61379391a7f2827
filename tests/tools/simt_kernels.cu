// The kernels of tests/simt.cpp: CUDA C++ in the spellings that students use. A comment `mark: …` names a
// line.
#include "kata.hpp"
#include "operators.hpp"
#include "simt_kernels.hpp"

#include <cuda_runtime.h>
#include <vector>

#define CHECK(call) \
    ((call) == cudaSuccess ? (void)0 : (void)printf("%s\n", cudaGetErrorString(cudaGetLastError())))
#define AT(row, column, width) ((row) * (width) + (column))

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

// Memory.

__global__ void reverse_static_kernel(const int* in, int* out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
void reverse_static(const int* in, int* out) { reverse_static_kernel<<<1, 64>>>(in, out); }

__global__ void reverse_static_volume_kernel(const int* in, int* out) {
    __shared__ int volume[4][4][4], plane[4][4];
    const int i = (threadIdx.z * 4 + threadIdx.y) * 4 + threadIdx.x;
    volume[threadIdx.z][threadIdx.y][threadIdx.x] = in[i];
    if (threadIdx.z == 0) plane[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    out[i] = volume[3 - threadIdx.z][3 - threadIdx.y][3 - threadIdx.x] + plane[threadIdx.x][threadIdx.y];
}
void reverse_static_volume(const int* in, int* out) {
    reverse_static_volume_kernel<<<1, dim3(4, 4, 4)>>>(in, out);
}

__shared__ int tile_of_all[64];
static __shared__ int offset_of_all;
__device__ void store_in_namespace(int value) { tile_of_all[threadIdx.x] = value; }

__global__ void reverse_in_namespace_kernel(const int* in, int* out) {
    if (threadIdx.x == 0) offset_of_all = 63;
    store_in_namespace(in[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = tile_of_all[offset_of_all - threadIdx.x];
}
void reverse_in_namespace(const int* in, int* out) { reverse_in_namespace_kernel<<<1, 64>>>(in, out); }

__global__ void reverse_dynamic_kernel(const int* in, int* out) {
    extern __shared__ int buffer[];
    buffer[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}
void reverse_dynamic(const int* in, int* out, int n) {
    reverse_dynamic_kernel<<<1, n, n * sizeof(int)>>>(in, out);
}

__global__ void reverse_dynamic_volatile_kernel(const int* in, int* out) {
    extern volatile __shared__ int impatient[];
    impatient[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = impatient[blockDim.x - 1 - threadIdx.x];
}
void reverse_dynamic_volatile(const int* in, int* out, int n) {
    reverse_dynamic_volatile_kernel<<<1, n, n * sizeof(int)>>>(in, out);
}

extern __shared__ __align__(sizeof(int4)) int pool[];
__device__ int* pool_end() { return pool + blockDim.x; }

__global__ void reverse_dynamic_in_namespace_kernel(const int* in, int* out) {
    pool[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = *(pool_end() - 1 - threadIdx.x);
}
void reverse_dynamic_in_namespace(const int* in, int* out, int n) {
    reverse_dynamic_in_namespace_kernel<<<1, n, n * sizeof(int)>>>(in, out);
}

__global__ void reverse_dynamic_rows_kernel(const int* in, int* out) {
    extern __shared__ int rows[][4];
    const unsigned i = threadIdx.x, mirrored = blockDim.x - 1 - i;
    rows[i / 4][i % 4] = in[i];
    __syncthreads();
    out[i] = rows[mirrored / 4][mirrored % 4];
}
void reverse_dynamic_rows(const int* in, int* out, int n) {
    reverse_dynamic_rows_kernel<<<1, n, n * sizeof(int)>>>(in, out);
}

template <class T>
__global__ void reverse_dynamic_template_kernel(const T* in, T* out) {
    extern __shared__ T elements[];
    elements[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = elements[blockDim.x - 1 - threadIdx.x];
}
void reverse_dynamic_template(const double* in, double* out, int n) {
    reverse_dynamic_template_kernel<double><<<1, n, n * sizeof(double)>>>(in, out);
}

// Through n elements of dynamic shared memory, in one block of 256 threads.
__global__ void reverse_large_kernel(const int* in, int* out, int n) {
    extern __shared__ int large[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) large[i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = large[n - 1 - i];
}
void reverse_large(const int* in, int* out, int n, int asked) {
    if (asked >= 0)
        check(cudaFuncSetAttribute(reverse_large_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, asked));
    reverse_large_kernel<<<1, 256, n * sizeof(int)>>>(in, out, n);
}

template <class T>
__global__ void beside_static_kernel(T* out, int n) {
    extern __shared__ T beside[];
    __shared__ T fixed[2 * 1024];
    for (int i = threadIdx.x; i < n; i += blockDim.x) beside[i] = i;
    for (int i = threadIdx.x; i < 2 * 1024; i += blockDim.x) fixed[i] = i;
    __syncthreads();
    out[threadIdx.x] = beside[n - 1 - threadIdx.x] + fixed[threadIdx.x];
}
void beside_static(int* out, int n, int asked, bool named) {
    check(
        cudaFuncSetAttribute(beside_static_kernel<int>, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    if (asked >= 0)
        check(cudaFuncSetAttribute(reinterpret_cast<const void*>(&beside_static_kernel<int>),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize, asked));
    if (named)
        beside_static_kernel<int><<<1, 256, n * sizeof(int)>>>(out, n);
    else
        beside_static_kernel<<<1, 256, n * sizeof(int)>>>(out, n);
}

template <class T>
__device__ T pick(const T* from, int at) {
    return from[at];
}

__global__ void reverse_cut_by_hand_kernel(const int* in, const double* weights, double* out) {
    extern __shared__ __align__(16) char raw[];
    const int n = blockDim.x, i = threadIdx.x;
    double* const weight = reinterpret_cast<double*>(raw);
    int* const value = (int*)(raw + n * sizeof(double));
    weight[i] = weights[i];
    value[i] = in[i];
    __syncthreads();
    out[i] = pick(weight, n - 1 - i) * pick(value, n - 1 - i);
}
void reverse_cut_by_hand(const int* in, const double* weights, double* out, int n) {
    reverse_cut_by_hand_kernel<<<1, n, n*(sizeof(double) + sizeof(int))>>>(in, weights, out);
}

struct __align__(16) Pair {
    float a, b;
};
__global__ void aligned_shared_kernel(unsigned* misfit) {
    __shared__ alignas(128) int before[3];
    __shared__ __align__(16) float behind[5];
    __shared__ Pair pairs[2];
    *misfit = reinterpret_cast<std::uintptr_t>(before) % 128 + reinterpret_cast<std::uintptr_t>(behind) % 16 +
              reinterpret_cast<std::uintptr_t>(pairs) % 16 + sizeof(Pair) % 16;
}
void aligned_shared(unsigned* misfit) { aligned_shared_kernel<<<1, 1>>>(misfit); }

__constant__ float table[8];
static __constant__ float factor = 2.0f;
__global__ void constants_kernel(float* out) { out[threadIdx.x] = factor * table[threadIdx.x]; }
void constants(const float* values, std::size_t count, std::size_t offset, float* out) {
    CHECK(cudaMemcpyToSymbol(table, values, count * sizeof(float), offset * sizeof(float)));
    constants_kernel<<<1, 8>>>(out);
}
void constants_read_back(float* values, std::size_t count) {
    CHECK(cudaMemcpyFromSymbol(values, table, count * sizeof(float)));
}

void constants_by_address(const float* values, std::size_t count, float* back) {
    void* address = nullptr;
    std::size_t bytes = 0;
    CHECK(cudaGetSymbolAddress(&address, table));
    CHECK(cudaGetSymbolSize(&bytes, table));
    CHECK(cudaMemset(address, 0, bytes));
    CHECK(cudaMemcpy(address, values, count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyFromSymbol(back, table, bytes));
}

__device__ int counter;
__global__ void count_on_the_device_kernel() { atomicAdd(&counter, 1); }
__global__ void fetch_counter_kernel(int* out) { *out = counter; }
void count_on_the_device(int* out, int threads) {
    const int zero = 0;
    cudaMemcpyToSymbol(counter, &zero, sizeof zero);
    count_on_the_device_kernel<<<1, threads>>>();
    fetch_counter_kernel<<<1, 1>>>(out);
}

__device__ unsigned blocks_done;
__global__ void number_last_block_kernel(int* out) {
    if (atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1) *out = gridDim.x;
}
void number_last_block(int* out, int blocks) { number_last_block_kernel<<<blocks, 1>>>(out); }
int launches_remembered(int* out, int blocks) {
    static std::vector<int> launched;
    number_last_block(out, blocks);
    launched.push_back(blocks);
    return static_cast<int>(launched.size());
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

void check_errors(bool fails) {
    check(cudaSuccess);
    check(cudaGetLastError());
    if (fails) check(cudaErrorInvalidValue);  // mark: check
}

void copy_within(void* to, const void* from, std::size_t bytes) {
    cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}

__constant__ float unasked[8];  // of which nobody has asked the address
void to_symbol_as_to_an_address(const float* from) {
    cudaMemcpy(unasked, from, 8 * sizeof(float), cudaMemcpyHostToDevice);
}
void to_symbol(const float* from, Direction kind) {
    cudaMemcpyToSymbol(table, from, 8 * sizeof(float), 0, static_cast<cudaMemcpyKind>(kind));
}
void from_symbol(float* to, Direction kind) {
    cudaMemcpyFromSymbol(to, table, 8 * sizeof(float), 0, static_cast<cudaMemcpyKind>(kind));
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

void copy_to_host(void* to, const void* from, std::size_t bytes) {
    cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}
void free_it(void* pointer) { cudaFree(pointer); }
void free_twice() {
    void* pointer = nullptr;
    cudaMalloc(&pointer, 4);
    cudaFree(pointer);
    cudaFree(pointer);
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

// Barriers and warps.

__global__ void counting_barriers_kernel(const int* predicate, int* out) {
    const int p = predicate[threadIdx.x];
    out[3 * threadIdx.x] = __syncthreads_count(p);
    out[3 * threadIdx.x + 1] = __syncthreads_and(p);
    out[3 * threadIdx.x + 2] = __syncthreads_or(p);
}
void counting_barriers(const int* predicate, int* out, int threads) {
    counting_barriers_kernel<<<1, threads>>>(predicate, out);
}

__global__ void shuffle_kernel(Shuffle kind, unsigned mask, int argument, int width, const int* in,
                               int* out) {
    const int value = in[threadIdx.x];
    if (!(mask >> threadIdx.x % 32 & 1)) return;
    switch (kind) {
        case Shuffle::index:
            out[threadIdx.x] = __shfl_sync(mask, value, argument, width);
            break;
        case Shuffle::up:
            out[threadIdx.x] = __shfl_up_sync(mask, value, argument, width);
            break;
        case Shuffle::down:
            out[threadIdx.x] = __shfl_down_sync(mask, value, argument, width);
            break;
        case Shuffle::exclusive_or:
            out[threadIdx.x] = __shfl_xor_sync(mask, value, argument, width);
            break;
    }
}
void shuffle(Shuffle kind, unsigned mask, int argument, int width, const int* in, int* out, int threads) {
    shuffle_kernel<<<1, threads>>>(kind, mask, argument, width, in, out);
}

__global__ void shuffle_types_kernel(double* doubles, long long* longs, unsigned* halves) {
    const unsigned lane = threadIdx.x;
    doubles[lane] = __shfl_xor_sync(0xffffffff, 0.5 + lane, 1);
    longs[lane] = __shfl_sync(0xffffffff, (1ll << 40) + lane, 31 - lane);
    halves[lane] = __shfl_down_sync(0xffffffff, static_cast<unsigned short>(lane), 1);
}
void shuffle_types(double* doubles, long long* longs, unsigned* halves) {
    shuffle_types_kernel<<<1, 32>>>(doubles, longs, halves);
}

__global__ void votes_kernel(unsigned mask, const int* predicate, unsigned* out) {
    if (!(mask >> threadIdx.x % 32 & 1)) return;
    out[3 * threadIdx.x] = __ballot_sync(mask, predicate[threadIdx.x]);
    out[3 * threadIdx.x + 1] = __any_sync(mask, predicate[threadIdx.x]);
    out[3 * threadIdx.x + 2] = __all_sync(mask, predicate[threadIdx.x]);
}
void votes(unsigned mask, const int* predicate, unsigned* out, int threads) {
    votes_kernel<<<1, threads>>>(mask, predicate, out);
}

__global__ void matches_kernel(unsigned mask, const int* values, unsigned* out) {
    if (!(mask >> threadIdx.x % 32 & 1)) return;
    int same = 7;
    out[3 * threadIdx.x] = __match_any_sync(mask, values[threadIdx.x]);
    out[3 * threadIdx.x + 1] = __match_all_sync(mask, values[threadIdx.x], &same);
    out[3 * threadIdx.x + 2] = same;
}
void matches(unsigned mask, const int* values, unsigned* out, int threads) {
    matches_kernel<<<1, threads>>>(mask, values, out);
}

__global__ void sums_kernel(unsigned mask, const int* values, int* out) {
    if (mask >> threadIdx.x % 32 & 1) out[threadIdx.x] = __reduce_add_sync(mask, values[threadIdx.x]);
}
void sums(unsigned mask, const int* values, int* out, int threads) {
    sums_kernel<<<1, threads>>>(mask, values, out);
}

// The halves of a warp each swap neighbours through shared memory, in different code.
__global__ void swap_in_halves_kernel(const int* in, int* out) {
    __shared__ int tile[32];
    const unsigned lane = threadIdx.x;
    tile[lane] = in[lane];
    if (lane < 16) {
        __syncwarp(0x0000ffff);
        out[lane] = tile[lane ^ 1];
    } else {
        __syncwarp(0xffff0000);
        out[lane] = tile[lane ^ 3];
    }
}
void swap_in_halves(const int* in, int* out) { swap_in_halves_kernel<<<1, 32>>>(in, out); }

// Lanes come to one place after loops of very different lengths.
__global__ void active_lanes_kernel(const int* rounds, unsigned* out) {
    volatile int sum = 0;
    for (int i = 0; i < rounds[threadIdx.x]; ++i) sum = sum + i;
    out[threadIdx.x] = __activemask();
}
void active_lanes(const int* rounds, unsigned* out, int threads) {
    active_lanes_kernel<<<1, threads>>>(rounds, out);
}

__global__ void active_halves_kernel(unsigned* out) {
    if (threadIdx.x % 2 == 0)
        out[threadIdx.x] = __activemask();
    else if (threadIdx.x < 24)
        out[threadIdx.x] = __activemask();
}
void active_halves(unsigned* out) { active_halves_kernel<<<1, 32>>>(out); }

__global__ void active_rest_kernel(unsigned* out) {
    if (threadIdx.x >= 16) return;
    out[threadIdx.x] = __activemask();
}
void active_rest(unsigned* out) { active_rest_kernel<<<1, 32>>>(out); }

// Atomics.

template <class T>
__global__ void add_up_kernel(T* sum, T* before, T value) {
    before[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(sum, value);
}
#define ADD_UP(T)                                                 \
    void add_up(T* sum, T* before, T value, int threads) {        \
        add_up_kernel<T><<<2, threads / 2>>>(sum, before, value); \
    }
ADD_UP(int)
ADD_UP(unsigned)
ADD_UP(unsigned long long)
ADD_UP(float)
ADD_UP(double)

__global__ void exchange_all_kernel(int* word, int* before) {
    before[threadIdx.x] = atomicExch(word, threadIdx.x);
}
void exchange_all(int* word, int* before, int threads) { exchange_all_kernel<<<1, threads>>>(word, before); }

__global__ void extremes_kernel(int* least, int* most, long long* long_least, unsigned long long* long_most) {
    const int value = (static_cast<int>(threadIdx.x) * 37) % 64 - 20;
    atomicMin(least, value);
    atomicMax(most, value);
    atomicMin(long_least, value * 1'000'000'000'000ll);
    atomicMax(long_most, (threadIdx.x + 1ull) << 40);
}
void extremes(int* least, int* most, long long* long_least, unsigned long long* long_most, int threads) {
    extremes_kernel<<<1, threads>>>(least, most, long_least, long_most);
}

__global__ void bits_kernel(unsigned* all, unsigned* any, unsigned* odd) {
    atomicAnd(all, ~(1u << threadIdx.x % 32));
    atomicOr(any, 1u << threadIdx.x % 32);
    atomicXor(odd, 1u << threadIdx.x % 32);
}
void bits(unsigned* all, unsigned* any, unsigned* odd, int threads) {
    bits_kernel<<<1, threads>>>(all, any, odd);
}

template <class T, class Op>
__global__ void combine_all_kernel(const T* in, T* out, Op op) {
    atomic_combine(out, in[blockIdx.x * blockDim.x + threadIdx.x], op);
}
void combine_all(kata::Operation operation, const void* in, void* out, int threads) {
    using enum kata::Arithmetic;
    using All = kata::Arithmetics<sum_of_int, max_of_int, sum_of_float, max_of_float, sum_of_double,
                                  max_of_double, counted_sum>;
    with_operator(All{}, operation, in, out, [&](auto in, auto out, auto op) {
        using T = std::remove_pointer_t<decltype(out)>;
        combine_all_kernel<T, decltype(op)><<<2, threads / 2>>>(in, out, op);
    });
}

__global__ void subtract_kernel(int* word, int* before) { before[threadIdx.x] = atomicSub(word, 2); }
void subtract(int* word, int* before, int threads) { subtract_kernel<<<1, threads>>>(word, before); }

__global__ void wrap_kernel(unsigned* up, unsigned* down, unsigned limit) {
    atomicInc(up, limit);
    atomicDec(down, limit);
}
void wrap(unsigned* up, unsigned* down, unsigned limit, int threads) {
    wrap_kernel<<<1, threads>>>(up, down, limit);
}

__device__ void atomic_max(float* address, float value) {
    int old = __float_as_int(*address), expected;
    do {
        expected = old;
        if (__int_as_float(expected) >= value) return;
        old = atomicCAS(reinterpret_cast<int*>(address), expected, __float_as_int(value));
    } while (old != expected);
}
__global__ void compare_and_swap_kernel(float* most, const float* values) {
    atomic_max(most, values[threadIdx.x]);
}
void compare_and_swap(float* most, const float* values, int threads) {
    compare_and_swap_kernel<<<1, threads>>>(most, values);
}
__global__ void compare_and_swap_short_kernel(unsigned short* word) {
    unsigned short old = atomicCAS(word, static_cast<unsigned short>(0), static_cast<unsigned short>(1)),
                   expected;
    do {
        expected = old;
        old = atomicCAS(word, expected, static_cast<unsigned short>(expected + 1));
    } while (old != expected);
}
void compare_and_swap_short(unsigned short* word, int threads) {
    compare_and_swap_short_kernel<<<1, threads>>>(word);
}

__global__ void scopes_kernel(int* word) {
    atomicAdd_block(word, 1);
    atomicAdd_system(word, 1);
}
void scopes(int* word, int threads) { scopes_kernel<<<1, threads>>>(word); }

__global__ void last_block_sums_kernel(const int* in, int* partial, int* sum, unsigned* done) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicInc(done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || threadIdx.x != 0) return;
    const volatile int* const uncached = partial;
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += uncached[b];
    *sum = total;
}
void last_block_sums(const int* in, int* partial, int* sum, unsigned* done, int blocks) {
    last_block_sums_kernel<<<blocks, 32>>>(in, partial, sum, done);
}

// What else stands in kernels.

__global__ void arithmetic_kernel(const float* in, float* floats, int* ints, unsigned* words) {
    const float x = in[0];  // 2.25
    int n = 0;
    floats[n++] = rsqrtf(x);
    floats[n++] = __fdividef(9.0f, x);
    floats[n++] = __saturatef(x);
    floats[n++] = __saturatef(-x);
    floats[n++] = __fmaf_rn(x, x, 1.0f);
    floats[n++] = __fsqrt_rn(x);
    floats[n++] = __frcp_rn(x);
    floats[n++] = __int_as_float(__float_as_int(x));
    floats[n++] = fmaxf(x, 3.0f);
    floats[n++] = fabsf(-x);
    floats[n++] = max(x, 2.0f);
    floats[n++] = static_cast<float>(min(static_cast<double>(x), 1.0f));
    floats[n++] = fminf(x, __int_as_float(0x7fc00000));  // not a number loses
    n = 0;
    ints[n++] = __float2int_rn(2.5f);
    ints[n++] = __float2int_rn(3.5f);
    ints[n++] = __float2int_rz(-2.75f);
    ints[n++] = __popc(0xf0f0u);
    ints[n++] = __popcll(~0ull);
    ints[n++] = __ffs(8);
    ints[n++] = __ffs(0);
    ints[n++] = __clz(1);
    ints[n++] = __clz(0);
    ints[n++] = __clzll(1);
    ints[n++] = __mulhi(1 << 30, 1 << 30);
    ints[n++] = min(-3, 2);
    ints[n++] = max(static_cast<long long>(-3), 2ll) == 2;
    ints[n++] = abs(-7);
    n = 0;
    words[n++] = __brev(1u);
    words[n++] = __umulhi(1u << 31, 6u);
    words[n++] = __float_as_uint(1.0f);
    words[n++] = max(threadIdx.x, 5);
    words[n++] = min(-1, 7u);
    static_assert(std::is_same_v<decltype(min(1, 2u)), unsigned>);
    static_assert(std::is_same_v<decltype(min(1l, 2ul)), unsigned long>);
    static_assert(std::is_same_v<decltype(max(1ll, 2ull)), unsigned long long>);
    static_assert(std::is_same_v<decltype(max(1.0f, 2.0)), double>);
}
void arithmetic(const float* in, float* floats, int* ints, unsigned* words) {
    arithmetic_kernel<<<1, 1>>>(in, floats, ints, words);
}

__global__ void read_only_cache_kernel(const float* __restrict__ in, float* __restrict__ out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = 2.0f * __ldg(&in[i]);
}
void read_only_cache(const float* in, float* out, int n) {
    read_only_cache_kernel<<<ceil_div(n, 32), 32>>>(in, out, n);
}

__global__ void vector_copy_kernel(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    const float4 v = reinterpret_cast<const float4*>(in)[i];
    reinterpret_cast<float4*>(out)[i] = make_float4(v.w, v.z, v.y, v.x);
}
void vector_copy(const float* in, float* out, int n) {
    vector_copy_kernel<<<ceil_div(n / 4, 32), 32>>>(in, out, n);
}

__global__ void grid_stride_kernel(const int* in, int* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = in[i] + 1;
}
void grid_stride(const int* in, int* out, int n, int blocks, int threads) {
    grid_stride_kernel<<<blocks, threads>>>(in, out, n);
}

typedef unsigned char uchar;
struct Window {
    int first, count;
    __host__ __device__ bool contains(int i) const { return i >= first && i - first < count; }
};
__device__ __forceinline__ int fold(const int* in, int i, uint width) {
    int sum = 0;
#pragma unroll 4
    for (uint k = 0; k < width; ++k) sum += in[AT(i, k, width)];
    return sum;
}
template <int width, class Weight>
__global__ void __launch_bounds__(128, 2)
    odds_and_ends_kernel(const int* in, int* out, int n, Window window, Weight weight) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !window.contains(i)) return;
    volatile int keep = fold(in, i, width);
    const uchar low = static_cast<uchar>(keep);
    out[i] = weight(keep, low);
}
struct Difference {
    __device__ int operator()(int a, int b) const { return a - b; }
};
void odds_and_ends(const int* in, int* out, int n) {
    odds_and_ends_kernel<3, Difference>
        <<<ceil_div(n, 128), 128>>>(in, out, n, Window{1, n - 2}, Difference{});
}

template <int scale>
__global__ void chevrons_kernel(const int* in, int* out, int n) {
    extern __shared__ int staged[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    staged[threadIdx.x] = in[i];
    out[i] = scale * staged[threadIdx.x];
}
void chevrons(const int* in, int* out, int n) {
    constexpr int threads = 1 << 5;
    const dim3 grid((n + threads - 1) / threads), block(threads);
    chevrons_kernel<3><<<grid, block, threads * sizeof(int)>>>(in, out, n / 2);
    chevrons_kernel<(3 > 2) ? 3 : 2><<<grid,  // a comment with >>> in it
                                       block, threads * sizeof(int), nullptr>>>(in, out, n);
}

__global__ void speak_kernel() {
    if (threadIdx.x % 2 == 1)
        printf("thread %d says %.2f\n", static_cast<int>(threadIdx.x), 0.25 * threadIdx.x);
}
void speak(int threads) { speak_kernel<<<1, threads>>>(); }

__global__ void open_kernel() {
    __syncthreads();
    kata::open();
}
void open_in_kernel() { open_kernel<<<2, 64>>>(); }
void open_on_host() { kata::open(); }

// What must be refused or diagnosed.

__global__ void assertion_kernel(int n) {
    assert(static_cast<int>(threadIdx.x) < n);  // mark: assertion
}
void assertion(int n) { assertion_kernel<<<2, 8>>>(n); }

__global__ void divergent_barrier_kernel(int n) {
    if (static_cast<int>(threadIdx.x) >= n) return;
    __syncthreads();  // mark: divergent barrier
}
void divergent_barrier(int threads, int n) { divergent_barrier_kernel<<<dim3(2, 2), threads>>>(n); }

__global__ void barrier_in_loop_kernel(int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) __syncthreads();
}
void barrier_in_loop(int n) { barrier_in_loop_kernel<<<1, 64>>>(n); }

__global__ void idle_blocks_kernel(int n) {
    if (n < 0) __trap();
}
void idle_blocks(unsigned blocks, unsigned threads, int n) { idle_blocks_kernel<<<blocks, threads>>>(n); }

__global__ void two_barriers_kernel(int n) {
    if (static_cast<int>(threadIdx.x) < n)
        __syncthreads();  // mark: first of two barriers
    else
        __syncthreads();  // mark: second of two barriers
}
void two_barriers(int threads, int n) { two_barriers_kernel<<<1, threads>>>(n); }

// clang-format off
__global__ void two_barriers_in_a_line_kernel(int n) {
    if (static_cast<int>(threadIdx.x) < n) __syncthreads(); else __syncthreads();  // mark: two in a line
}
// clang-format on
void two_barriers_in_a_line(int threads, int n) { two_barriers_in_a_line_kernel<<<1, threads>>>(n); }

__device__ void meet() {
    __syncthreads();  // mark: helper's barrier
}
__global__ void barriers_in_a_helper_kernel(int n) {
    if (static_cast<int>(threadIdx.x) < n)
        meet();  // mark: first call of the helper
    else
        meet();  // mark: second call of the helper
    for (unsigned i = 0; i < 3; ++i) meet();
}
void barriers_in_a_helper(int threads, int n) { barriers_in_a_helper_kernel<<<1, threads>>>(n); }

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

__global__ void barrier_against_shuffle_kernel() {
    if (threadIdx.x % 32 < 16)
        __syncthreads();  // mark: barrier against shuffle
    else
        __syncwarp();  // mark: shuffle against barrier
}
void barrier_against_shuffle(int threads) { barrier_against_shuffle_kernel<<<1, threads>>>(); }

__global__ void absent_lanes_kernel(int* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_down_sync(0xffffffff, 1, 1);  // mark: absent lanes
    __syncwarp();
}
void absent_lanes(int* out) { absent_lanes_kernel<<<1, 32>>>(out); }

__global__ void early_return_kernel(const int* in, int* out, int n) {
    const int lane = threadIdx.x;
    if (lane >= n) return;
    int sum = in[lane];
    for (int d = 16; d > 0; d /= 2) {
        const int other = __shfl_down_sync(0xffffffff, sum, d);
        if (lane + d < n) sum += other;
    }
    out[lane] = sum;
    __syncwarp();
    int all = 0;
    __match_all_sync(0xffffffff, 7, &all);
    out[32 + lane] = all && __all_sync(0xffffffff, 1) ? __popc(__ballot_sync(0xffffffff, 1)) : -1;
}
void early_return(const int* in, int* out, int n) { early_return_kernel<<<1, 32>>>(in, out, n); }
template <class T>
__global__ void from_absent_lane_kernel(T* out, int n, unsigned mask) {
    const int lane = threadIdx.x;
    if (lane >= n) return;
    out[lane] = __shfl_down_sync(mask, T{1}, 1);
}
void from_absent_lane(int* out, int n, unsigned mask) { from_absent_lane_kernel<<<1, 32>>>(out, n, mask); }
void from_absent_lane(float* out, int n, unsigned mask) { from_absent_lane_kernel<<<1, 32>>>(out, n, mask); }
void from_absent_lane(double* out, int n, unsigned mask) { from_absent_lane_kernel<<<1, 32>>>(out, n, mask); }

__global__ void foreign_mask_kernel(int* out) {
    out[threadIdx.x] = __ballot_sync(0x0000ffff, 1);  // mark: foreign mask
}
void foreign_mask(int* out) { foreign_mask_kernel<<<1, 32>>>(out); }

__global__ void unlike_masks_kernel(int* out) {
    const unsigned mask = threadIdx.x < 16 ? 0xffffffff : 0xffff0000;
    out[threadIdx.x] = __any_sync(mask, 1);  // mark: unlike masks
}
void unlike_masks(int* out) { unlike_masks_kernel<<<1, 32>>>(out); }

__global__ void divide_kernel(int by, int* out) {
    out[threadIdx.x] = 100 / (static_cast<int>(threadIdx.x) - by);  // mark: divide
}
void divide(int threads, int by, int* out) { divide_kernel<<<1, threads>>>(by, out); }

__global__ void endless_kernel(volatile int* out) {
    for (unsigned i = 0; i != threadIdx.x + 1; i += 2) *out = i;  // mark: endless
}
void endless(int* out) { endless_kernel<<<1, 2>>>(out); }

__global__ void endless_without_memory_kernel() {
    if (threadIdx.x == blockDim.x - 1)  // mark: endless without memory
        for (;;) {
        }
}
void endless_without_memory(int threads) { endless_without_memory_kernel<<<1, threads>>>(); }

// Not volatile, so that the flag is read once and never again.
__global__ void spin_on_plain_kernel(const int* flag) {
    while (*flag == 0) {
    }
}
void spin_on_plain(int* flag) { spin_on_plain_kernel<<<1, 2>>>(flag); }

__global__ void loop_beside_vote_kernel(int* flag, int* out) {
    const int t = threadIdx.x;
    volatile int rounds = 1;
    int set = 0;
    for (int i = 0; t == 0 && i < 100; ++i) set += atomicAdd(flag, 0);
    if (t == 1 && *flag == 0)
        while (rounds > 0) {
        }
    out[t] = __any_sync(~0u, set);
}
void loop_beside_vote(int* flag, int* out) { loop_beside_vote_kernel<<<1, 32>>>(flag, out); }

__global__ void spin_on_volatile_kernel(volatile int* flag) {
    while (*flag == 0) {
    }
}
void spin_on_volatile(int* flag) { spin_on_volatile_kernel<<<1, 2>>>(flag); }

__global__ void spin_on_atomic_kernel(int* flag) {
    while (atomicAdd(flag, 0) == 0) {  // mark: spin on atomic
    }
}
void spin_on_atomic(int* flag) { spin_on_atomic_kernel<<<1, 2>>>(flag); }

__global__ void count_for_ever_kernel(int* count) {
    int i = 0;
    while (i < 16) atomicAdd(count, 1);  // mark: count for ever
}
void count_for_ever(int* count) { count_for_ever_kernel<<<1, 64>>>(count); }

// The first warp waits, and gives up in the end; the second one raises the flag after its work, if at all.
__global__ void wait_for_work_kernel(int* flag, int polls, unsigned work, bool raises) {
    if (threadIdx.x == 0)
        for (int i = 0; i < polls && atomicAdd(flag, 0) == 0; ++i) {
        }
    if (threadIdx.x != 32) return;
    unsigned made = 1;
    for (unsigned i = 0; i < work; ++i) made = 5 * made + i;
    if (raises) atomicExch(flag, made == 0 ? 2 : 1);
}
void wait_for_work(int* flag, int polls, unsigned work, bool raises) {
    wait_for_work_kernel<<<1, 64>>>(flag, polls, work, raises);
}

// Passes a sum from block to block: wrong, for blocks may start in any order; and right.
__device__ void pass_on(unsigned block, int* flags, int* out) {
    int before = 0;
    if (block > 0)
        while ((before = atomicAdd(&flags[block - 1], 0)) == 0)  // mark: wait for block before
            __nanosleep(20);
    out[block] = before;
    atomicExch(&flags[block], before + 1);
}
__global__ void wait_for_block_before_kernel(int* flags, int* out) {
    if (threadIdx.x == 0) pass_on(blockIdx.x, flags, out);
}
void wait_for_block_before(int* flags, int* out, int blocks) {
    wait_for_block_before_kernel<<<blocks, 32>>>(flags, out);
}
__global__ void wait_for_ticket_before_kernel(unsigned* ticket, int* flags, int* out) {
    __shared__ unsigned block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    if (threadIdx.x == 0) pass_on(block, flags, out);
}
void wait_for_ticket_before(unsigned* ticket, int* flags, int* out, int blocks) {
    wait_for_ticket_before_kernel<<<blocks, 32>>>(ticket, flags, out);
}

// The same, with a whole warp that asks and votes until all lanes have their answer.
__global__ void warp_waits_for_ticket_before_kernel(unsigned* ticket, int* flags, int* out) {
    __shared__ unsigned block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    const unsigned mine = block;
    while (__any_sync(~0u, mine > 0 && threadIdx.x == 7 && atomicAdd(&flags[mine - 1], 0) == 0)) {
    }
    if (threadIdx.x == 0) pass_on(mine, flags, out);
}
void warp_waits_for_ticket_before(unsigned* ticket, int* flags, int* out, int blocks) {
    warp_waits_for_ticket_before_kernel<<<blocks, 32>>>(ticket, flags, out);
}

// All blocks wait until all have come, which needs as many places for resident blocks.
__global__ void meet_kernel(unsigned* arrived) {
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x) {
    }
}
void meet(unsigned* arrived, int blocks) { meet_kernel<<<blocks, 1>>>(arrived); }

// The block that starts first says how many others have come when it goes on behind its second barrier. They
// wait for it, with one thread or with a barrier each time that they look.
__global__ void wait_for_first_kernel(unsigned* ticket, int* arrived, int* flag, int* seen, bool together) {
    __shared__ unsigned block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    __syncthreads();
    if (together && block > 0)
        while (!__syncthreads_or(threadIdx.x == 0 && atomicAdd(flag, 0) != 0)) {
        }
    if (threadIdx.x > 0) return;
    if (block == 0) {
        *seen = atomicAdd(arrived, 0);
        atomicExch(flag, 1);
    } else {
        atomicAdd(arrived, 1);
        while (atomicAdd(flag, 0) == 0) {
        }
    }
}
void wait_for_first(unsigned* ticket, int* arrived, int* flag, int* seen, int blocks, bool together) {
    wait_for_first_kernel<<<blocks, 64>>>(ticket, arrived, flag, seen, together);
}

// Behind its second barrier each block waits for the one that started before it.
__global__ void wait_in_a_chain_kernel(unsigned* ticket, int* flags) {
    __shared__ unsigned block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    __syncthreads();
    if (threadIdx.x > 0) return;
    while (block > 0 && atomicAdd(&flags[block - 1], 0) == 0) {
    }
    atomicExch(&flags[block], 1);
}
void wait_in_a_chain(unsigned* ticket, int* flags, int blocks) {
    wait_in_a_chain_kernel<<<blocks, 64>>>(ticket, flags);
}

// One block counts how often a value changes between two looks at it, the other one changes it.
__global__ void look_twice_kernel(int* value, int* changes, int looks) {
    for (int i = 0; i < looks; ++i) {
        const int one = atomicAdd(value, static_cast<int>(blockIdx.x));
        const int other = atomicAdd(value, static_cast<int>(blockIdx.x));
        if (blockIdx.x == 0) *changes += one != other;
    }
}
void look_twice(int* value, int* changes, int looks) { look_twice_kernel<<<2, 1>>>(value, changes, looks); }

// A thread waits for a later one, which a scheduler that never turns to the latter would not survive.
__global__ void wait_for_flag_in_block_kernel(int* out) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) atomicExch(&flag, 1);
    while (atomicAdd(&flag, 0) == 0) {
    }
    out[threadIdx.x] = 1;
}
void wait_for_flag_in_block(int* out, int threads) { wait_for_flag_in_block_kernel<<<1, threads>>>(out); }

template <int bytes>
__global__ void static_shared_kernel(int* out) {
    __shared__ int all[bytes / sizeof(int)];
    for (unsigned i = threadIdx.x; i < bytes / sizeof(int); i += blockDim.x) all[i] = i;
    __syncthreads();
    out[threadIdx.x] = all[bytes / sizeof(int) - 1 - threadIdx.x];
}
void shared_over_limit(int* out) { static_shared_kernel<40 * 1024><<<1, 256, 8 * 1024 + 4>>>(out); }
void static_shared_at_limit(int* out) { static_shared_kernel<48 * 1024><<<1, 256>>>(out); }

__global__ void read_through_kernel(const int* pointer, int* out) {
    out[threadIdx.x] = pointer[threadIdx.x];  // mark: read through
}
void read_through(const int* pointer, int* out) { read_through_kernel<<<1, 4>>>(pointer, out); }

void unasked_dynamic_shared(int* out) { reverse_dynamic_kernel<<<1, 8>>>(out, out); }

__global__ void misaligned_kernel(const float* in, float* out, int offset) {
    const float4 v = *reinterpret_cast<const float4*>(in + offset);  // mark: misaligned
    *out = v.x;
}
void misaligned(const float* in, float* out, int offset) { misaligned_kernel<<<1, 1>>>(in, out, offset); }

__device__ int depth_of(int* out, int depth) {
    if (depth == 0) return 0;
    *out = depth;
    return depth_of(out, depth - 1) + *out;
}
__global__ void recurse_kernel(int* out, int depth) { *out = depth_of(out, depth); }
void recurse(int* out, int depth) { recurse_kernel<<<1, 1>>>(out, depth); }

__global__ void large_frame_kernel(int* out, int n) {
    volatile int local[100'000];
    for (int i = 0; i < n; ++i) local[i] = i;
    *out = local[n - 1];
}
void large_frame(int* out, int n) { large_frame_kernel<<<1, 2>>>(out, n); }

// What no text shows: a function of the host's, called by a thread.
inline void start() { nothing_kernel<<<1, 1>>>(); }
__global__ void launching_kernel() { start(); }
void launch_in_kernel() { launching_kernel<<<1, 1>>>(); }

__global__ void add_one_kernel(const int* in, int* out, int n, Elements elements) {
    const bool far_apart = elements == Elements::far_apart;
    int i = far_apart ? threadIdx.x * gridDim.x + blockIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
    if (elements == Elements::behind_a_barrier) __syncthreads();
    if (elements == Elements::of_last_threads) i += n - 1 - static_cast<int>((gridDim.x - 1) * blockDim.x);
    if (elements == Elements::of_middle_threads) i -= static_cast<int>(gridDim.x / 2 * blockDim.x);
    if (i >= 0 && i < n) out[i] = in[i] + 1;
}
void add_one(const int* in, int* out, int n, int blocks, int threads, Elements elements) {
    add_one_kernel<<<blocks, threads>>>(in, out, n, elements);
}

}  // namespace kernels
