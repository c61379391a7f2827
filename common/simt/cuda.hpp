// CUDA C++ for a plain C++20 compiler: the part of it that a kernel may use on the CPU back end.
//
// A kernel is compiled as it stands, except for a few spellings that translate.py replaces. translate.py also
// rejects what has no meaning here (textures, inline PTX, …). CUDA's other headers are in toolkit/.
#pragma once
#if defined(__CUDA__)
#include "simt/legality.hpp"
#endif
#include "simt/host.hpp"
#include "simt/intrinsics.hpp"
#include "simt/memory_calls.hpp"
#include "simt/runtime.hpp"
#include "simt/types.hpp"

#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

// Redirects calls of the C library to the meter. Copies of structures are instrumented by the compiler.
#if defined(__SANITIZE_THREAD__)
extern "C" {
void* memcpy(void* __restrict to, const void* __restrict from, std::size_t bytes) noexcept
    __asm__("simt_memcpy");
void* memmove(void* to, const void* from, std::size_t bytes) noexcept __asm__("simt_memmove");
void* memset(void* to, int value, std::size_t bytes) noexcept __asm__("simt_memset");
}
#endif

#if defined(__CUDA__)  // clang's CUDA front end, which only checks what nvcc would reject: legality.py
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant, section("simt_constant")))
#define __managed__ __attribute__((device, section("simt_managed")))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define KATA_HOST_DEVICE __host__ __device__
#else
// nvcc inlines what a kernel calls. The meter relies on it: the address of a separate helper would not tell
// when its callers execute it.
#if defined(__SANITIZE_THREAD__)
#define __global__ __attribute__((flatten))
#else
#define __global__
#endif
#define __managed__
#define __launch_bounds__(...)
#define KATA_HOST_DEVICE

// The fibers of a block share one operating-system thread, so thread-local storage separates shared memory
// from device variables; AddressSanitizer detects overruns better in plain statics. Shared memory is never
// constructed. constinit keeps g++ from checking whether an array of half, say, has been: the meter would
// count these checks.
#if defined(__SANITIZE_ADDRESS__)
#define __shared__ static
#elif defined(__SANITIZE_THREAD__) && defined(__clang__)  // whole: clang would split arrays into variables
#define __shared__ __attribute__((used)) thread_local
#elif defined(__SANITIZE_THREAD__)
#define __shared__ constinit thread_local
#else
#define __shared__ thread_local
#endif
#define __constant__ __attribute__((section("simt_constant")))
#endif
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __restrict__ __restrict

// `extern __shared__ T name[]` becomes `extern T simt_name[]`, which only gives the type, and one of these,
// which defines a T* of that name: the shared memory requested by the launch.
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

// The built-in variables. Constant, as in CUDA.
extern __device__ const uint3 threadIdx;
extern __device__ const uint3 blockIdx;
extern __device__ const dim3 blockDim;
extern __device__ const dim3 gridDim;
inline constexpr int warpSize = 32;

// One compilation makes the code of host and device, and both see the architecture. nvcc defines it for the
// device only.
#define __CUDACC__ 1
#define __CUDA_ARCH__ 900

namespace simt {

template <class T>
struct DynamicForm {
    using type = T&;
};
template <class T>
struct DynamicForm<T[]> {
    using type = T* const;  // a lambda could not copy a reference to an array of unknown size
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
    __builtin_memcpy(&word, &value, sizeof value);
    return word;
}
template <class T>
KATA_HOST_DEVICE T from_word(std::uint64_t word) {
    T value;
    __builtin_memcpy(static_cast<void*>(&value), &word, sizeof value);
    return value;
}

/// True for the types that CUDA's shuffles take: numbers, small ones promoted. For a structure nvcc finds no
/// function.
template <class T>
inline constexpr bool shuffles_whole = requires(T value) {
    value * 1.0;
};
template <class T>
concept Shuffled = shuffles_whole<T>;

}  // namespace simt

// The constants of this module; null if it has none.
extern "C" [[gnu::weak, gnu::visibility("hidden")]] char __start_simt_constant[];
extern "C" [[gnu::weak, gnu::visibility("hidden")]] char __stop_simt_constant[];
// The names that this module declares for the device; null if it has not been translated.
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const char __start_simt_of_device[];
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const char __stop_simt_of_device[];

#if !defined(__CUDA__)
namespace simt {

inline void first_constructor() {
    module_begins({__start_simt_constant, __stop_simt_constant, __start_simt_of_device, __stop_simt_of_device,
                   reinterpret_cast<const void*>(first_constructor)});
}
[[gnu::used, gnu::section(".init_array.00000")]] static void (*const before_others)() = first_constructor;

}  // namespace simt
#endif

namespace kata::backend {

/// Throws kata::Error.
[[noreturn]] inline void fail(cudaError_t error, const char* file, int line) {
    simt::fail(cudaGetErrorString(error), file, line);
}

/// A launch without its arguments.
struct Asked {
    const char* name;
    dim3 grid, block;
    std::size_t shared_bytes;
    simt::Site site;
    unsigned stream;  // its number in simt/order.hpp
};

template <class T>
const void* pointer_of(const T& argument) {
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(argument));
    else
        return nullptr;
}

template <class T>
std::optional<long long> number_of(const T& argument) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<long long>(argument);
    else
        return std::nullopt;
}

/// Each thread of the launch calls `thread`. `kernel` is null if unknown.
template <class Thread, class... Arguments>
void launch_threads(const Thread& thread, const Asked& asked, const void* kernel,
                    const Arguments&... arguments) {
    const auto call = +[](const void* t) { (*static_cast<const Thread*>(t))(); };
    const void* const pointers[]{pointer_of(arguments)..., nullptr};
    const std::optional<long long> numbers[]{number_of(arguments)..., std::nullopt};
    simt::run({asked.grid, asked.block, asked.shared_bytes, reinterpret_cast<const void*>(call), kernel,
               __start_simt_constant, __stop_simt_constant, __start_simt_of_device, __stop_simt_of_device,
               call, &thread, sizeof thread, asked.name, asked.site, asked.stream, pointers, numbers,
               sizeof...(arguments)});
}

KATA_HOST_DEVICE inline void open() { simt::open(); }

}  // namespace kata::backend

namespace simt {

/// Takes the address of a kernel whose name alone identifies it: not overloaded, and not a template whose
/// arguments are deduced.
struct AddressOf {
    template <class Result, class... Parameters>
    auto operator()(Result (*kernel)(Parameters...)) const {
        static_assert(std::is_void_v<Result>, "a kernel returns void");
        return kernel;
    }
};

/// A launch still without its arguments. They are converted to the kernel's parameters as in a call: 0 may be
/// a null pointer, and {1, 2} a structure.
template <class... Parameters>
struct Configured {
    void (*kernel)(Parameters...);
    kata::backend::Asked asked;

    void operator()(Parameters... arguments) const {
        kata::backend::launch_threads([kernel = kernel, arguments...] { kernel(arguments...); }, asked,
                                      reinterpret_cast<const void*>(kernel), arguments...);
    }
};

/// The same for a kernel with default arguments, which are not part of its type: a call fills them in.
template <class Call, class... Parameters>
struct ConfiguredWithDefaults : Configured<Parameters...> {
    Call call;

    using Configured<Parameters...>::operator();
    template <class... Arguments>
    requires(sizeof...(Arguments) < sizeof...(Parameters)) void operator()(Arguments... arguments) const {
        kata::backend::launch_threads([call = call, arguments...] { call(arguments...); }, this->asked,
                                      reinterpret_cast<const void*>(this->kernel), arguments...);
    }
};

/// True if the call can omit some of the last parameters.
template <class Call, class Given, class... Rest>
inline constexpr bool has_defaults = false;
template <class Call, class... Given, class Next, class... Rest>
inline constexpr bool has_defaults<Call, void(Given...), Next, Rest...> =
    std::is_invocable_v<Call, Given...> || has_defaults<Call, void(Given..., Next), Rest...>;

template <class Call, class... Parameters>
auto configured(void (*kernel)(Parameters...), Call call, const kata::backend::Asked& asked) {
    const Configured<Parameters...> known{kernel, asked};
    if constexpr (has_defaults<Call, void(), Parameters...>)
        return ConfiguredWithDefaults<Call, Parameters...>{known, call};
    else
        return known;
}

/// Stands for a 0 among the arguments of a launch, which may be a number or a null pointer.
struct Zero {
    constexpr operator int() const { return 0; }
    template <class T>
    constexpr operator T*() const {
        return nullptr;
    }
};
template <class T>
auto as_number(T argument) {
    if constexpr (std::is_same_v<T, Zero>)
        return 0;
    else
        return argument;
}

/// kernel<<<grid, block, bytes, stream>>>(…) becomes configured(SIMT_KERNEL(kernel), grid, …)(…).
template <class Address, class Call>
auto configured(const char* name, Address address, Call call, dim3 grid, dim3 block = {},
                std::size_t shared_bytes = 0, const void* stream = nullptr, Site site = Site::here()) {
    const kata::backend::Asked asked{name,         grid, block,
                                     shared_bytes, site, simt::number_of(stream, "launch")};
    if constexpr (std::is_invocable_v<Address, AddressOf>)
        return configured(address(AddressOf{}), call, asked);
    else
        return [=](auto... arguments) {
            const auto with = [&](auto... given) {
                static_assert(std::is_invocable_v<Call, decltype(given)&...>,
                              "no kernel of this name takes arguments of these types; if it is a template, "
                              "its template arguments come before <<<: tiled<r><<<grid, block>>>(...)");
                static_assert(std::is_void_v<decltype(call(given...))>, "a kernel returns void");
                kata::backend::launch_threads([call, given...] { call(given...); }, asked, nullptr, given...);
            };
            // For a parameter that is not deduced, a Zero converts to whatever it needs.
            if constexpr (std::is_invocable_v<Call, decltype(as_number(arguments))&...>)
                with(as_number(arguments)...);
            else
                with(arguments...);
        };
}
/// The kernel's name, a function that takes its address if the name alone identifies it, and one that calls
/// it, for which the compiler deduces and overloads.
#define SIMT_KERNEL(...) \
#__VA_ARGS__,                                                                         \
    [&](auto address) -> decltype(address(__VA_ARGS__)) { return address(__VA_ARGS__); }, \
        [&](auto... arguments) -> decltype(__VA_ARGS__(arguments...)) { return __VA_ARGS__(arguments...); }

}  // namespace simt

// Barriers and warps. The mask names the lanes that take part; a named lane that does not come is reported.

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
    // A lane may read from a lower group of `width` lanes, never from a higher one.
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
    *all = same == simt::partners();
    return *all ? mask : 0;
}
#define SIMT_REDUCE(name, types, of_signed, of_unsigned)                                                 \
    template <class T>                                                                                   \
    __device__ T name(unsigned mask, T value, Site site = Site::here()) {                                \
        static_assert types, #name " does not exist for this type in CUDA");                             \
        constexpr auto what =                                                                            \
            std::is_signed_v<T> ? simt::Collective::of_signed : simt::Collective::of_unsigned;           \
        return static_cast<T>(simt::exchange(what, mask, static_cast<unsigned>(value), 0, #name, site)); \
    }
#define SIMT_TYPES(...) (simt::one_of<T, __VA_ARGS__>
SIMT_REDUCE(__reduce_add_sync, SIMT_TYPES(int, unsigned), sum, sum)
SIMT_REDUCE(__reduce_min_sync, SIMT_TYPES(int, unsigned), least, least_unsigned)
SIMT_REDUCE(__reduce_max_sync, SIMT_TYPES(int, unsigned), most, most_unsigned)
SIMT_REDUCE(__reduce_and_sync, SIMT_TYPES(unsigned), all_bits, all_bits)
SIMT_REDUCE(__reduce_or_sync, SIMT_TYPES(unsigned), any_bit, any_bit)
SIMT_REDUCE(__reduce_xor_sync, SIMT_TYPES(unsigned), odd_bits, odd_bits)
#undef SIMT_REDUCE
#undef SIMT_TYPES

// The functions from before Volta, without a mask: warps ran in lockstep. No current architecture has them.
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
// Orders nothing for other blocks; within a block a barrier is needed anyway.
__device__ inline void __threadfence_block() {}
__device__ inline void __nanosleep(unsigned) { simt::yield(); }

// Atomics, for the types that CUDA supports. Not instrumented: they notify the meter themselves.
#define SIMT_ATOMIC SIMT_UNSEEN __device__

#define SIMT_SCOPED_ATOMIC(name, scope, types, next, replaces)                        \
    template <class T>                                                                \
    SIMT_ATOMIC T name(T* address, std::type_identity_t<T> value) {                   \
        static_assert(types, #name " does not exist for this type in CUDA");          \
        const simt::AtomicUpdate now(address, sizeof(T), __builtin_return_address(0), \
                                     simt::AtomicFor::scope, replaces);               \
        const T old = *address;                                                       \
        *address = static_cast<T>(next);                                              \
        return old;                                                                   \
    }
#define SIMT_ATOMIC_FUNCTION(name, types, next, ...)                                        \
    SIMT_SCOPED_ATOMIC(name, device, types, next, bool{__VA_ARGS__})                        \
    SIMT_SCOPED_ATOMIC(name##_block, block, types, next, bool{__VA_ARGS__})                 \
    template <class T>                                                                      \
    __device__ __forceinline__ T name##_system(T* address, std::type_identity_t<T> value) { \
        return name(address, value);                                                        \
    }
#define SIMT_TYPES(...) (simt::one_of<T, __VA_ARGS__>)

SIMT_ATOMIC_FUNCTION(atomicAdd, SIMT_TYPES(int, unsigned, unsigned long long, float, double), old + value)
SIMT_ATOMIC_FUNCTION(atomicSub, SIMT_TYPES(int, unsigned), old - value)
SIMT_ATOMIC_FUNCTION(atomicExch, SIMT_TYPES(int, unsigned, unsigned long long, float), value, true)
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
#undef SIMT_SCOPED_ATOMIC

#define SIMT_COMPARE_AND_SWAP(name, scope)                                                            \
    template <class T>                                                                                \
    SIMT_ATOMIC T name(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) { \
        static_assert(simt::one_of<T, int, unsigned, unsigned short, unsigned long long>,             \
                      #name " does not exist for this type in CUDA");                                 \
        const simt::AtomicUpdate now(address, sizeof(T), __builtin_return_address(0),                 \
                                     simt::AtomicFor::scope);                                         \
        const T old = *address;                                                                       \
        if (old != expected) return old;                                                              \
        *address = value;                                                                             \
        simt::swapped();                                                                              \
        return old;                                                                                   \
    }
SIMT_COMPARE_AND_SWAP(atomicCAS, device)
SIMT_COMPARE_AND_SWAP(atomicCAS_block, block)
SIMT_COMPARE_AND_SWAP(atomicCAS_system, device)
#undef SIMT_COMPARE_AND_SWAP
#undef SIMT_ATOMIC
