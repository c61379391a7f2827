// CUDA C++ for a plain C++20 compiler: what a kernel may use on the CPU back end.
//
// A kernel is read as it stands, but for the few spellings that translate.py replaces; it also refuses, in
// one line, what has no meaning here (tensor cores, textures, inline PTX, …).
#pragma once
#if defined(__CUDA__)
#include "legality.hpp"
#endif
#include "runtime.hpp"
#include "types.hpp"

#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <type_traits>

#if defined(__CUDA__)  // clang's CUDA front end, which only says what nvcc refuses: translate.py asks it
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant, section("simt_constant")))
#define __managed__ __attribute__((device, section("simt_managed")))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define KATA_HOST_DEVICE __host__ __device__
#else
// nvcc inlines what a kernel calls. The meter counts on it: a helper of its own would lie at an address that
// does not tell when its callers execute it.
#if defined(__SANITIZE_THREAD__)
#define __global__ __attribute__((flatten))
#else
#define __global__
#endif
#define __device__
#define __host__
#define __managed__
#define __launch_bounds__(...)
#define KATA_HOST_DEVICE

// Shared memory is a block's own. The fibers of a block share one operating-system thread, so thread-local
// storage tells it from the variables of the device; AddressSanitizer sees overruns better in plain statics.
#if defined(__SANITIZE_ADDRESS__)
#define __shared__ static
#else
#define __shared__ thread_local
#endif
#define __constant__ __attribute__((section("simt_constant")))
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __restrict__ __restrict

// `extern __shared__ T name[]` is read as `extern T simt_name[]`, which only says the type, and by it and one
// of these a T* of that name: where the bytes are that the launch asked for.
#define SIMT_TEXT_OF(x) #x
#define SIMT_TEXT(x) SIMT_TEXT_OF(x)
#define SIMT_DYNAMIC(name) \
    [[maybe_unused]] simt::Dynamic<decltype(simt_##name)> name = simt::dynamic<decltype(simt_##name)>()
#define SIMT_DYNAMIC_OUTSIDE(name)                            \
    extern simt::Dynamic<decltype(simt_##name)> name __asm__( \
        SIMT_TEXT(__USER_LABEL_PREFIX__) "simt_dynamic_shared")
extern "C" std::byte* const simt_dynamic_shared;

using uint = unsigned;
using ushort = unsigned short;
using ulong = unsigned long;

// What the running thread is. Not to be assigned to, as in CUDA.
extern __device__ const uint3 threadIdx;
extern __device__ const uint3 blockIdx;
extern __device__ const dim3 blockDim;
extern __device__ const dim3 gridDim;
inline constexpr int warpSize = 32;

namespace simt {

template <class T>
struct DynamicForm {
    using type = T&;
};
template <class T>
struct DynamicForm<T[]> {
    using type = T* const;  // and no reference to an array without a size, which a lambda could not copy
};
template <class T>
using Dynamic = typename DynamicForm<T>::type;

template <class T>
Dynamic<T> dynamic() {
    if constexpr (std::is_unbounded_array_v<T>)
        return reinterpret_cast<Dynamic<T>>(simt_dynamic_shared);
    else
        return reinterpret_cast<T&>(*simt_dynamic_shared);
}

template <class T>
KATA_HOST_DEVICE std::uint64_t to_word(T value) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>, "shuffles take values of up to 8 bytes");
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return word;
}
template <class T>
KATA_HOST_DEVICE T from_word(std::uint64_t word) {
    T value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

template <class T, class... Allowed>
inline constexpr bool one_of = (std::is_same_v<T, Allowed> || ...);

/// What CUDA's shuffles take: numbers, of which small ones are promoted. Of a structure nvcc says that there
/// is no such function.
template <class T>
concept Shuffled = requires(T value) {
    value * 1.0;
};

}  // namespace simt

// Where the linker has put the constants of this module; null without any.
extern "C" [[gnu::weak, gnu::visibility("hidden")]] char __start_simt_constant[];
extern "C" [[gnu::weak, gnu::visibility("hidden")]] char __stop_simt_constant[];

// Most of what goes wrong is thrown where it happens; the rest of CUDA's errors is never met here.
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2 };
inline const char* cudaGetErrorString(cudaError_t error) {
    return error == cudaSuccess             ? "no error"
           : error == cudaErrorInvalidValue ? "invalid argument"
                                            : "out of memory";
}
inline const char* cudaGetErrorName(cudaError_t error) {
    return error == cudaSuccess             ? "cudaSuccess"
           : error == cudaErrorInvalidValue ? "cudaErrorInvalidValue"
                                            : "cudaErrorMemoryAllocation";
}

namespace kata::backend {

/// Throws kata::Error.
[[noreturn]] inline void fail(cudaError_t error, const char* file, int line) {
    simt::fail(cudaGetErrorString(error), file, line);
}

/// `thread` is called by each thread of the launch; `kernel` is what the launch names, where that is known.
template <class Thread>
void launch_threads(const Thread& thread, dim3 grid, dim3 block, std::size_t shared_bytes,
                    const void* kernel = nullptr) {
    const auto call = +[](const void* t) { (*static_cast<const Thread*>(t))(); };
    simt::run({grid, block, shared_bytes, reinterpret_cast<const void*>(call), kernel, __start_simt_constant,
               __stop_simt_constant, call, &thread, sizeof thread});
}

template <class... Parameters>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
            std::type_identity_t<Parameters>... arguments) {
    launch_threads([kernel, arguments...] { kernel(arguments...); }, grid, block, shared_bytes,
                   reinterpret_cast<const void*>(kernel));
}

KATA_HOST_DEVICE inline void open() { simt::open(); }

}  // namespace kata::backend

namespace simt {

/// Takes the address of what can only be one kernel: no name of several, and no template whose arguments the
/// call has to choose.
struct AddressOf {
    template <class Result, class... Parameters>
    auto operator()(Result (*kernel)(Parameters...)) const {
        static_assert(std::is_void_v<Result>, "a kernel returns void");
        return kernel;
    }
};

/// A launch that waits for its arguments. They become the kernel's parameters here, as in a call: 0 may be a
/// null pointer, and {1, 2} a structure.
template <class... Parameters>
struct Configured {
    void (*kernel)(Parameters...);
    dim3 grid, block;
    std::size_t shared_bytes;

    void operator()(Parameters... arguments) const {
        kata::backend::launch(kernel, grid, block, shared_bytes, arguments...);
    }
};

/// The same of a kernel with default arguments. They are no part of its type: a call has to fill them in.
template <class Call, class... Parameters>
struct ConfiguredWithDefaults : Configured<Parameters...> {
    Call call;

    using Configured<Parameters...>::operator();
    template <class... Arguments>
    requires(sizeof...(Arguments) < sizeof...(Parameters)) void operator()(Arguments... arguments) const {
        kata::backend::launch_threads([call = call, arguments...] { call(arguments...); }, this->grid,
                                      this->block, this->shared_bytes,
                                      reinterpret_cast<const void*>(this->kernel));
    }
};

/// Whether the call can do without the last parameters, or some of them.
template <class Call, class Given, class... Rest>
inline constexpr bool has_defaults = false;
template <class Call, class... Given, class Next, class... Rest>
inline constexpr bool has_defaults<Call, void(Given...), Next, Rest...> =
    std::is_invocable_v<Call, Given...> || has_defaults<Call, void(Given..., Next), Rest...>;

template <class Call, class... Parameters>
auto configured(void (*kernel)(Parameters...), Call call, dim3 grid, dim3 block, std::size_t shared_bytes) {
    const Configured<Parameters...> known{kernel, grid, block, shared_bytes};
    if constexpr (has_defaults<Call, void(), Parameters...>)
        return ConfiguredWithDefaults<Call, Parameters...>{known, call};
    else
        return known;
}

/// What kernel<<<grid, block, bytes, stream>>>(…) is read as: configured(SIMT_KERNEL(kernel), grid, …)(…).
template <class Address, class Call>
auto configured(Address address, Call call, dim3 grid, dim3 block = {}, std::size_t shared_bytes = 0,
                const void* /* stream */ = nullptr) {
    if constexpr (std::is_invocable_v<Address, AddressOf>)
        return configured(address(AddressOf{}), call, grid, block, shared_bytes);
    else
        return [=](auto... arguments) {
            static_assert(std::is_invocable_v<Call, decltype(arguments)&...>,
                          "no kernel of this name takes arguments of these types");
            static_assert(std::is_void_v<decltype(call(arguments...))>, "a kernel returns void");
            kata::backend::launch_threads([call, arguments...] { call(arguments...); }, grid, block,
                                          shared_bytes);
        };
}
/// The kernel in both forms that a launch may need: its address, if the name alone says it, and a call in
/// which the compiler finds out what the arguments choose.
#define SIMT_KERNEL(...)                                                                  \
    [&](auto address) -> decltype(address(__VA_ARGS__)) { return address(__VA_ARGS__); }, \
        [&](auto... arguments) -> decltype(__VA_ARGS__(arguments...)) { return __VA_ARGS__(arguments...); }

}  // namespace simt

// Barriers and warps. The mask names the lanes that take part; a lane that is named and does not come is
// diagnosed.

using simt::Site;

#if !defined(__CUDA__)  // there it is clang's own
__device__ inline void __syncthreads(Site site = Site::here()) { simt::barrier(1, "__syncthreads", site); }
#endif
__device__ inline int __syncthreads_count(int predicate, Site site = Site::here()) {
    return simt::barrier(predicate, "__syncthreads_count", site);
}
__device__ inline int __syncthreads_and(int predicate, Site site = Site::here()) {
    return simt::barrier(predicate == 0, "__syncthreads_and", site) == 0;
}
__device__ inline int __syncthreads_or(int predicate, Site site = Site::here()) {
    return simt::barrier(predicate, "__syncthreads_or", site) != 0;
}

__device__ inline void __syncwarp(unsigned mask = 0xffffffffu, Site site = Site::here()) {
    simt::exchange(simt::Collective::sync, mask, 0, 0, "__syncwarp", site);
}
__device__ inline unsigned __activemask(Site site = Site::here()) { return simt::active_mask(site); }

template <simt::Shuffled T>
__device__ T __shfl_sync(unsigned mask, T value, int source, int width = 32, Site site = Site::here()) {
    const int lane = simt::lane();
    return simt::from_word<T>(simt::exchange(simt::Collective::shuffle, mask, simt::to_word(value),
                                             (lane & ~(width - 1)) | (source & (width - 1)), "__shfl_sync",
                                             site));
}
template <simt::Shuffled T>
__device__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                            Site site = Site::here()) {
    const int lane = simt::lane(), d = static_cast<int>(delta);
    return simt::from_word<T>(simt::exchange(simt::Collective::shuffle, mask, simt::to_word(value),
                                             (lane & (width - 1)) >= d ? lane - d : lane, "__shfl_up_sync",
                                             site));
}
template <simt::Shuffled T>
__device__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                              Site site = Site::here()) {
    const int lane = simt::lane(), d = static_cast<int>(delta);
    return simt::from_word<T>(simt::exchange(simt::Collective::shuffle, mask, simt::to_word(value),
                                             (lane & (width - 1)) + d < width ? lane + d : lane,
                                             "__shfl_down_sync", site));
}
template <simt::Shuffled T>
__device__ T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, Site site = Site::here()) {
    const int lane = simt::lane(), source = lane ^ lanes;
    // a lane may read from a lower group of `width` lanes, never from a higher one
    return simt::from_word<T>(simt::exchange(simt::Collective::shuffle, mask, simt::to_word(value),
                                             source / width > lane / width ? lane : source, "__shfl_xor_sync",
                                             site));
}

__device__ inline unsigned __ballot_sync(unsigned mask, int predicate, Site site = Site::here()) {
    return static_cast<unsigned>(
        simt::exchange(simt::Collective::ballot, mask, predicate != 0, 0, "__ballot_sync", site));
}
__device__ inline int __any_sync(unsigned mask, int predicate, Site site = Site::here()) {
    return simt::exchange(simt::Collective::ballot, mask, predicate != 0, 0, "__any_sync", site) != 0;
}
__device__ inline int __all_sync(unsigned mask, int predicate, Site site = Site::here()) {
    return simt::exchange(simt::Collective::ballot, mask, predicate == 0, 0, "__all_sync", site) == 0;
}
template <class T>
__device__ unsigned __match_any_sync(unsigned mask, T value, Site site = Site::here()) {
    return static_cast<unsigned>(
        simt::exchange(simt::Collective::match, mask, simt::to_word(value), 0, "__match_any_sync", site));
}
template <class T>
__device__ unsigned __match_all_sync(unsigned mask, T value, int* all, Site site = Site::here()) {
    const auto same = static_cast<unsigned>(
        simt::exchange(simt::Collective::match, mask, simt::to_word(value), 0, "__match_all_sync", site));
    *all = same == (mask & simt::present_lanes());
    return *all ? mask : 0;
}
template <class T>
__device__ T __reduce_add_sync(unsigned mask, T value, Site site = Site::here()) {
    static_assert(simt::one_of<T, int, unsigned>, "__reduce_add_sync does not exist for this type in CUDA");
    return static_cast<T>(simt::exchange(simt::Collective::sum, mask, static_cast<unsigned>(value), 0,
                                         "__reduce_add_sync", site));
}

// Before Volta a warp moved in lockstep and these had no mask. No current architecture has them.
template <class T>
__device__ T __shfl(T, int, int = 32) = delete;
template <class T>
__device__ T __shfl_up(T, unsigned, int = 32) = delete;
template <class T>
__device__ T __shfl_down(T, unsigned, int = 32) = delete;
template <class T>
__device__ T __shfl_xor(T, int, int = 32) = delete;
__device__ int __any(int) = delete;
__device__ int __all(int) = delete;
__device__ unsigned __ballot(int) = delete;

__device__ inline void __threadfence() { simt::fence(); }
__device__ inline void __threadfence_system() { simt::fence(); }
// Says nothing to other blocks; within its own it takes a barrier.
__device__ inline void __threadfence_block() {}
__device__ inline void __nanosleep(unsigned) { simt::yield(); }

// Atomics, for the types that CUDA has them for. One operating-system thread runs all fibers, so nothing
// comes between the read and the write. They are kept out of the instrumentation, for the meter hears of them
// here.
#define SIMT_ATOMIC [[gnu::noinline, gnu::no_sanitize("thread"), gnu::no_sanitize_coverage]] inline
#if defined(__clang__)
#undef SIMT_ATOMIC
#define SIMT_ATOMIC [[gnu::noinline]] __device__ inline
#endif

#define SIMT_ATOMIC_FUNCTION(name, types, next)                                  \
    template <class T>                                                           \
    SIMT_ATOMIC T name(T* address, std::type_identity_t<T> value) {              \
        static_assert types, #name " does not exist for this type in CUDA");     \
        simt::before_atomic(address, sizeof(T), __builtin_return_address(0));    \
        const T old = *address;                                                  \
        *address = static_cast<T>(next);                                         \
        return old;                                                              \
    }                                                                            \
    template <class T>                                                           \
    __forceinline__ T name##_block(T* address, std::type_identity_t<T> value) {  \
        return name(address, value);                                             \
    }                                                                            \
    template <class T>                                                           \
    __forceinline__ T name##_system(T* address, std::type_identity_t<T> value) { \
        return name(address, value);                                             \
    }
#define SIMT_TYPES(...) (simt::one_of<T, __VA_ARGS__>

SIMT_ATOMIC_FUNCTION(atomicAdd, SIMT_TYPES(int, unsigned, unsigned long long, float, double), old + value)
SIMT_ATOMIC_FUNCTION(atomicSub, SIMT_TYPES(int, unsigned), old - value)
SIMT_ATOMIC_FUNCTION(atomicExch, SIMT_TYPES(int, unsigned, unsigned long long, float), value)
SIMT_ATOMIC_FUNCTION(atomicMin, SIMT_TYPES(int, unsigned, long long, unsigned long long),
                     value < old ? value : old)
SIMT_ATOMIC_FUNCTION(atomicMax, SIMT_TYPES(int, unsigned, long long, unsigned long long),
                     value > old ? value : old)
SIMT_ATOMIC_FUNCTION(atomicAnd, SIMT_TYPES(int, unsigned, unsigned long long), old& value)
SIMT_ATOMIC_FUNCTION(atomicOr, SIMT_TYPES(int, unsigned, unsigned long long), old | value)
SIMT_ATOMIC_FUNCTION(atomicXor, SIMT_TYPES(int, unsigned, unsigned long long), old ^ value)
SIMT_ATOMIC_FUNCTION(atomicInc, SIMT_TYPES(unsigned), old >= value ? 0 : old + 1)
SIMT_ATOMIC_FUNCTION(atomicDec, SIMT_TYPES(unsigned), old == 0 || old > value ? value : old - 1)
#undef SIMT_TYPES
#undef SIMT_ATOMIC_FUNCTION

template <class T>
SIMT_ATOMIC T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    static_assert(simt::one_of<T, int, unsigned, unsigned short, unsigned long long>,
                  "atomicCAS does not exist for this type in CUDA");
    simt::before_atomic(address, sizeof(T), __builtin_return_address(0));
    const T old = *address;
    if (old == expected) *address = value;
    return old;
}
#undef SIMT_ATOMIC

template <class T>
__device__ T __ldg(const T* address) {
    return *address;
}

// Arithmetic. CUDA declares min and max for these pairs of types, host and device alike.
#define SIMT_MIN_MAX(A, B, R)                                                                 \
    __host__ __device__ constexpr R min(A a, B b) {                                           \
        return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
    }                                                                                         \
    __host__ __device__ constexpr R max(A a, B b) {                                           \
        return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(b) : static_cast<R>(a); \
    }
SIMT_MIN_MAX(int, int, int)
SIMT_MIN_MAX(unsigned, unsigned, unsigned)
SIMT_MIN_MAX(int, unsigned, unsigned)
SIMT_MIN_MAX(unsigned, int, unsigned)
SIMT_MIN_MAX(long, long, long)
SIMT_MIN_MAX(unsigned long, unsigned long, unsigned long)
SIMT_MIN_MAX(long, unsigned long, unsigned long)
SIMT_MIN_MAX(unsigned long, long, unsigned long)
SIMT_MIN_MAX(long long, long long, long long)
SIMT_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
SIMT_MIN_MAX(long long, unsigned long long, unsigned long long)
SIMT_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef SIMT_MIN_MAX
__host__ __device__ inline float min(float a, float b) { return std::fmin(a, b); }
__host__ __device__ inline float max(float a, float b) { return std::fmax(a, b); }
__host__ __device__ inline double min(double a, double b) { return std::fmin(a, b); }
__host__ __device__ inline double max(double a, double b) { return std::fmax(a, b); }
__host__ __device__ inline double min(double a, float b) { return std::fmin(a, b); }
__host__ __device__ inline double max(double a, float b) { return std::fmax(a, b); }
__host__ __device__ inline double min(float a, double b) { return std::fmin(a, b); }
__host__ __device__ inline double max(float a, double b) { return std::fmax(a, b); }

__host__ __device__ inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
__host__ __device__ inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
__device__ inline float __fdividef(float a, float b) { return a / b; }
__device__ inline float __expf(float x) { return std::exp(x); }
__device__ inline float __logf(float x) { return std::log(x); }
__device__ inline float __sinf(float x) { return std::sin(x); }
__device__ inline float __cosf(float x) { return std::cos(x); }
__device__ inline float __powf(float a, float b) { return std::pow(a, b); }
__device__ inline float __saturatef(float x) { return std::fmin(std::fmax(x, 0.0f), 1.0f); }
__device__ inline float __fadd_rn(float a, float b) { return a + b; }
__device__ inline float __fmul_rn(float a, float b) { return a * b; }
__device__ inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
__device__ inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
__device__ inline float __frcp_rn(float x) { return 1.0f / x; }
__device__ inline float __fsqrt_rn(float x) { return std::sqrt(x); }
__device__ inline int __float2int_rn(float x) { return static_cast<int>(std::nearbyint(x)); }
__device__ inline int __float2int_rz(float x) { return static_cast<int>(x); }
__device__ inline float __int2float_rn(int x) { return static_cast<float>(x); }
__device__ inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__device__ inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
__device__ inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__device__ inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
__device__ inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__device__ inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
__device__ inline int __popc(unsigned x) { return __builtin_popcount(x); }
__device__ inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__device__ inline int __ffs(int x) { return __builtin_ffs(x); }
__device__ inline int __ffsll(long long x) { return __builtin_ffsll(x); }
__device__ inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
__device__ inline int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
__device__ inline unsigned __brev(unsigned x) {
    unsigned r = 0;
    for (int i = 0; i < 32; ++i) r |= (x >> i & 1u) << (31 - i);
    return r;
}
__device__ inline int __mul24(int a, int b) { return a * b; }
__device__ inline int __mulhi(int a, int b) {
    return static_cast<int>((static_cast<long long>(a) * b) >> 32);
}
__device__ inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
__device__ inline unsigned __umul24(unsigned a, unsigned b) { return a * b; }

// The part of the runtime interface that a step's host code needs. Everything is synchronous here.
using cudaStream_t = void*;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};

template <class T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
    *pointer = static_cast<T*>(simt::device_alloc(bytes));
    return cudaSuccess;
}
inline cudaError_t cudaFree(void* pointer) {
    simt::device_free(pointer);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                              cudaMemcpyKind kind = cudaMemcpyDefault) {
    if (kind != cudaMemcpyDefault) {
        simt::check_side("to", to, bytes, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice);
        simt::check_side("from", from, bytes,
                         kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice);
    }
    simt::copy_memory(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind = cudaMemcpyDefault, cudaStream_t = nullptr) {
    return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
    simt::fill_memory(to, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t = nullptr) {
    return cudaMemset(to, value, bytes);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
    simt::check_symbol(sizeof symbol, offset, bytes);
    std::memcpy(reinterpret_cast<char*>(&symbol) + offset, from, bytes);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                                    cudaMemcpyKind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    simt::check_symbol(sizeof symbol, offset, bytes);
    std::memcpy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes);
    return cudaSuccess;
}
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,  // a wish about the L1 cache, of which there is none
};
inline cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) simt::allow_shared(kernel, value);
    return cudaSuccess;
}
template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
