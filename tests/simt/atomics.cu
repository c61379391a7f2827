// Atomics.
#include "kata.hpp"
#include "kernels.hpp"
#include "operators.hpp"

#include <cstdint>

namespace kernels {

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

}  // namespace kernels
