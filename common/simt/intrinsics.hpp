// The functions of CUDA C++ that compute within a thread, and its loads and stores with cache hints.
#pragma once
#include "simt/runtime.hpp"
#include "simt/types.hpp"

#include <cmath>
#include <cstdint>
#include <ctime>
#include <limits>
#include <type_traits>

namespace simt {

/// The direction of rounding, as in the suffixes _rn, _rz, _ru and _rd of CUDA's names.
enum class Round { nearest, zero, up, down };

/// Returns x + y rounded to odd: rounding the result again, to fewer bits, is the same as rounding the exact
/// sum.
SIMT_UNSEEN __host__ __device__ double odd_sum(double x, double y) {
    const double sum = x + y;
    if (!__builtin_isfinite(sum)) return sum;
    const double of_y = sum - x, beyond = (x - (sum - of_y)) + (y - of_y);
    if (beyond == 0 || (__builtin_bit_cast(std::uint64_t, sum) & 1) != 0) return sum;
    return __builtin_nextafter(sum, beyond > 0 ? HUGE_VAL : -HUGE_VAL);
}

/// Rounds a double that is exact or from odd_sum().
SIMT_UNSEEN __host__ __device__ float to_float(double exact, Round round) {
    const auto near = static_cast<float>(exact);
    const double beyond = exact - near;
    if (round == Round::nearest || beyond == 0 || !__builtin_isfinite(exact)) return near;
    const bool down = round == Round::down || (round == Round::zero && exact > 0);
    if (down && near > exact) return __builtin_nextafterf(near, -HUGE_VALF);
    if (!down && near < exact) return __builtin_nextafterf(near, HUGE_VALF);
    return near;
}

// Variables, because the functions of the library are not device functions.
template <class T>
inline constexpr T largest = std::numeric_limits<T>::max();
template <class T>
inline constexpr T lowest = std::numeric_limits<T>::lowest();

/// Converts as a GPU does: values out of range become the largest or smallest number, and NaN becomes 0.
template <class To>
SIMT_UNSEEN __host__ __device__ To to_integer(double x, Round round) {
    constexpr To most = largest<To>, least = lowest<To>;
    constexpr double beyond = 2.0 * (most / 2 + 1);
    const double whole = round == Round::zero   ? __builtin_trunc(x)
                         : round == Round::up   ? __builtin_ceil(x)
                         : round == Round::down ? __builtin_floor(x)
                                                : __builtin_nearbyint(x);
    if (__builtin_isnan(whole)) return 0;
    return whole >= beyond ? most : whole < static_cast<double>(least) ? least : static_cast<To>(whole);
}

template <class T, class... Allowed>
inline constexpr bool one_of = (std::is_same_v<T, Allowed> || ...);

/// True for the types that __ldg and similar functions load. Headers of further types add theirs.
template <class T>
inline constexpr bool loads_whole =
    std::is_arithmetic_v<T> ? !one_of<T, bool, wchar_t, char16_t, char32_t, long double>
                            : one_of<T, char2, char4, uchar2, uchar4, short2, short4, ushort2, ushort4, int2,
                                     int4, uint2, uint4, longlong2, ulonglong2, float2, float4, double2>;
template <class T>
concept Loaded = loads_whole<T>;

}  // namespace simt

// Loads and stores with cache hints. There are no caches here.
#define SIMT_LOAD(name)                          \
    template <simt::Loaded T>                    \
    __device__ inline T name(const T* address) { \
        return *address;                         \
    }
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
#undef SIMT_LOAD
template <simt::Loaded T>
__device__ inline T __ldg(const T* address) {
    simt::before_read_only(address, sizeof(T));
    return *address;
}
template <simt::Loaded T>
__device__ inline T __ldcv(const T* address) {
    return *const_cast<const volatile T*>(address);
}
#define SIMT_STORE(name)                                                     \
    template <simt::Loaded T>                                                \
    __device__ inline void name(T* address, std::type_identity_t<T> value) { \
        *address = value;                                                    \
    }
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_STORE

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

// Floating point. CUDA's functions that are less accurate than those of the C library are as accurate here.
__host__ __device__ inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
__host__ __device__ inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
__host__ __device__ inline float rcbrtf(float x) { return 1.0f / std::cbrt(x); }
__host__ __device__ inline double rcbrt(double x) { return 1.0 / std::cbrt(x); }
__host__ __device__ inline float fdividef(float a, float b) { return a / b; }
__host__ __device__ inline double sinpi(double x) { return std::sin(M_PI * std::fmod(x, 2.0)); }
__host__ __device__ inline double cospi(double x) { return std::cos(M_PI * std::fmod(x, 2.0)); }
__host__ __device__ inline float sinpif(float x) { return static_cast<float>(sinpi(x)); }
__host__ __device__ inline float cospif(float x) { return static_cast<float>(cospi(x)); }
/// Divides as a GPU does, by a reciprocal: an integer quotient may come out just below.
__device__ inline float __fdividef(float a, float b) { return a * (1.0f / b); }
__device__ inline float __expf(float x) { return std::exp(x); }
__device__ inline float __exp10f(float x) { return std::pow(10.0f, x); }
__device__ inline float __logf(float x) { return std::log(x); }
__device__ inline float __log2f(float x) { return std::log2(x); }
__device__ inline float __log10f(float x) { return std::log10(x); }
__device__ inline float __sinf(float x) { return std::sin(x); }
__device__ inline float __cosf(float x) { return std::cos(x); }
__device__ inline float __tanf(float x) { return std::tan(x); }
__device__ inline void __sincosf(float x, float* s, float* c) { *s = std::sin(x), *c = std::cos(x); }
__device__ inline float __powf(float a, float b) { return std::pow(a, b); }
__device__ inline float __saturatef(float x) { return std::fmin(std::fmax(x, 0.0f), 1.0f); }
__device__ inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / std::sqrt(double{x})); }

#define SIMT_ROUNDING(end, round)                                                                           \
    __device__ inline float __fadd_##end(float a, float b) {                                                \
        return simt::to_float(simt::odd_sum(a, b), round);                                                  \
    }                                                                                                       \
    __device__ inline float __fsub_##end(float a, float b) {                                                \
        return simt::to_float(simt::odd_sum(a, -b), round);                                                 \
    }                                                                                                       \
    __device__ inline float __fmul_##end(float a, float b) { return simt::to_float(double{a} * b, round); } \
    __device__ inline float __fmaf_##end(float a, float b, float c) {                                       \
        return simt::to_float(simt::odd_sum(double{a} * b, c), round);                                      \
    }                                                                                                       \
    __device__ inline float __fdiv_##end(float a, float b) { return simt::to_float(double{a} / b, round); } \
    __device__ inline float __frcp_##end(float x) { return simt::to_float(1.0 / x, round); }                \
    __device__ inline float __fsqrt_##end(float x) { return simt::to_float(std::sqrt(double{x}), round); }  \
    __device__ inline float __double2float_##end(double x) { return simt::to_float(x, round); }             \
    __device__ inline int __float2int_##end(float x) { return simt::to_integer<int>(x, round); }            \
    __device__ inline int __double2int_##end(double x) { return simt::to_integer<int>(x, round); }          \
    __device__ inline unsigned __float2uint_##end(float x) { return simt::to_integer<unsigned>(x, round); } \
    __device__ inline unsigned __double2uint_##end(double x) {                                              \
        return simt::to_integer<unsigned>(x, round);                                                        \
    }                                                                                                       \
    __device__ inline long long __float2ll_##end(float x) { return simt::to_integer<long long>(x, round); } \
    __device__ inline long long __double2ll_##end(double x) {                                               \
        return simt::to_integer<long long>(x, round);                                                       \
    }                                                                                                       \
    __device__ inline unsigned long long __float2ull_##end(float x) {                                       \
        return simt::to_integer<unsigned long long>(x, round);                                              \
    }                                                                                                       \
    __device__ inline unsigned long long __double2ull_##end(double x) {                                     \
        return simt::to_integer<unsigned long long>(x, round);                                              \
    }                                                                                                       \
    __device__ inline float __int2float_##end(int x) { return simt::to_float(x, round); }                   \
    __device__ inline float __uint2float_##end(unsigned x) { return simt::to_float(x, round); }
SIMT_ROUNDING(rn, simt::Round::nearest)
SIMT_ROUNDING(rz, simt::Round::zero)
SIMT_ROUNDING(ru, simt::Round::up)
SIMT_ROUNDING(rd, simt::Round::down)
#undef SIMT_ROUNDING
__device__ inline double __int2double_rn(int x) { return x; }
__device__ inline double __uint2double_rn(unsigned x) { return x; }
__device__ inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
__device__ inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
__device__ inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
__device__ inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
__device__ inline double __dadd_rn(double a, double b) { return a + b; }
__device__ inline double __dsub_rn(double a, double b) { return a - b; }
__device__ inline double __dmul_rn(double a, double b) { return a * b; }
__device__ inline double __ddiv_rn(double a, double b) { return a / b; }
__device__ inline double __drcp_rn(double x) { return 1.0 / x; }
__device__ inline double __dsqrt_rn(double x) { return std::sqrt(x); }
__device__ inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

// Reinterpretation of bits.
__device__ inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__device__ inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
__device__ inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__device__ inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
__device__ inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__device__ inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
__device__ inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
__device__ inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
__device__ inline double __hiloint2double(int high, int low) {
    return __longlong_as_double(
        static_cast<long long>(static_cast<std::uint64_t>(high) << 32 | static_cast<unsigned>(low)));
}
__device__ inline int __popc(unsigned x) { return __builtin_popcount(x); }
__device__ inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__device__ inline int __ffs(int x) { return __builtin_ffs(x); }
__device__ inline int __ffsll(long long x) { return __builtin_ffsll(x); }
__device__ inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
__device__ inline int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
__device__ inline unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
__device__ inline unsigned long long __brevll(unsigned long long x) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
           __brev(static_cast<unsigned>(x >> 32));
}
/// Selects four of the eight bytes of b and a. A hexadecimal digit of `which` selects each; 8 more selects
/// its sign.
SIMT_UNSEEN __device__ unsigned __byte_perm(unsigned a, unsigned b, unsigned which) {
    const auto bytes = static_cast<std::uint64_t>(b) << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        auto byte = static_cast<unsigned>(bytes >> (8 * (which >> 4 * i & 7))) & 0xff;
        if ((which >> 4 * i & 8) != 0) byte = byte >> 7 != 0 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}
/// Returns the upper word of high:low shifted left.
__device__ inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}
__device__ inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
/// Returns the lower word of high:low shifted right.
__device__ inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) >> (shift & 31));
}
__device__ inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// Integers.
__device__ inline int __mulhi(int a, int b) {
    return static_cast<int>((static_cast<long long>(a) * b) >> 32);
}
__device__ inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
__device__ inline long long __mul64hi(long long a, long long b) {
    return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}
__device__ inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
/// Multiplies the lower 24 bits of each.
__device__ inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
__device__ inline int __mul24(int a, int b) {
    const auto low = [](int x) { return static_cast<int>(static_cast<unsigned>(x) << 8) >> 8; };
    return static_cast<int>(static_cast<unsigned>(low(a)) * static_cast<unsigned>(low(b)));
}
__device__ inline unsigned __sad(int a, int b, unsigned sum) {
    return sum + (a < b ? static_cast<unsigned>(b) - static_cast<unsigned>(a)
                        : static_cast<unsigned>(a) - static_cast<unsigned>(b));
}
__device__ inline unsigned __usad(unsigned a, unsigned b, unsigned sum) {
    return sum + (a < b ? b - a : a - b);
}
__device__ inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
__device__ inline int __rhadd(int a, int b) {
    return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
__device__ inline unsigned __uhadd(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
__device__ inline unsigned __urhadd(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}

namespace simt {

/// Returns sum + Σ a[i] · b[i] over parts of two words: `count` of type A in a, and of type B in b from part
/// `first` on.
template <class A, class B, class Sum>
SIMT_UNSEEN __device__ Sum dot(unsigned a, unsigned b, int count, int first, Sum sum) {
    auto total = static_cast<unsigned>(sum);
    for (int i = 0; i < count; ++i)
        total += static_cast<unsigned>(static_cast<A>(a >> 8 * sizeof(A) * i) *
                                       static_cast<B>(b >> 8 * sizeof(B) * (first + i)));
    return static_cast<Sum>(total);
}
template <class Word>
__device__ unsigned bits_of(Word word) {
    return __builtin_bit_cast(unsigned, word);
}

}  // namespace simt

// Products of bytes with bytes, and of halves of a word with the bytes of the lower or upper half of another.
#define SIMT_DOT(A, B2, B4, Half, Byte, Sum)                                         \
    __device__ inline Sum __dp4a(A a, A b, Sum sum) {                                \
        return simt::dot<Byte, Byte>(simt::bits_of(a), simt::bits_of(b), 4, 0, sum); \
    }                                                                                \
    __device__ inline Sum __dp4a(B4 a, B4 b, Sum sum) {                              \
        return simt::dot<Byte, Byte>(simt::bits_of(a), simt::bits_of(b), 4, 0, sum); \
    }                                                                                \
    __device__ inline Sum __dp2a_lo(A a, A b, Sum sum) {                             \
        return simt::dot<Half, Byte>(simt::bits_of(a), simt::bits_of(b), 2, 0, sum); \
    }                                                                                \
    __device__ inline Sum __dp2a_lo(B2 a, B4 b, Sum sum) {                           \
        return simt::dot<Half, Byte>(simt::bits_of(a), simt::bits_of(b), 2, 0, sum); \
    }                                                                                \
    __device__ inline Sum __dp2a_hi(A a, A b, Sum sum) {                             \
        return simt::dot<Half, Byte>(simt::bits_of(a), simt::bits_of(b), 2, 2, sum); \
    }                                                                                \
    __device__ inline Sum __dp2a_hi(B2 a, B4 b, Sum sum) {                           \
        return simt::dot<Half, Byte>(simt::bits_of(a), simt::bits_of(b), 2, 2, sum); \
    }
SIMT_DOT(int, short2, char4, short, signed char, int)
SIMT_DOT(unsigned, ushort2, uchar4, unsigned short, unsigned char, unsigned)
#undef SIMT_DOT

// Two or four small integers in a word.
#define SIMT_LANES(name, Lane, result)                                                      \
    SIMT_UNSEEN __device__ unsigned name(unsigned a, unsigned b) {                          \
        constexpr int bits = 8 * sizeof(Lane), most = static_cast<int>((1u << bits) - 1);   \
        unsigned all = 0;                                                                   \
        for (int shift = 0; shift < 32; shift += bits) {                                    \
            const int x = static_cast<Lane>(a >> shift), y = static_cast<Lane>(b >> shift); \
            all |= static_cast<unsigned>((result)&most) << shift;                           \
        }                                                                                   \
        return all;                                                                         \
    }
#define SIMT_LANES_OF(width, Signed, Unsigned)                         \
    SIMT_LANES(__vadd##width, Unsigned, x + y)                         \
    SIMT_LANES(__vsub##width, Unsigned, x - y)                         \
    SIMT_LANES(__vmaxs##width, Signed, x > y ? x : y)                  \
    SIMT_LANES(__vmins##width, Signed, x < y ? x : y)                  \
    SIMT_LANES(__vmaxu##width, Unsigned, x > y ? x : y)                \
    SIMT_LANES(__vminu##width, Unsigned, x < y ? x : y)                \
    SIMT_LANES(__vabsdiffs##width, Signed, x > y ? x - y : y - x)      \
    SIMT_LANES(__vabsdiffu##width, Unsigned, x > y ? x - y : y - x)    \
    SIMT_LANES(__vavgu##width, Unsigned, (x + y + 1) >> 1)             \
    SIMT_LANES(__vcmpeq##width, Unsigned, x == y ? -1 : 0)             \
    SIMT_LANES(__vcmpgtu##width, Unsigned, x > y ? -1 : 0)             \
    SIMT_LANES(__vcmpgts##width, Signed, x > y ? -1 : 0)               \
    SIMT_LANES(__vaddus##width, Unsigned, x + y < most ? x + y : most) \
    SIMT_LANES(__vsubus##width, Unsigned, x > y ? x - y : 0)
SIMT_LANES_OF(2, short, unsigned short)
SIMT_LANES_OF(4, signed char, unsigned char)
#undef SIMT_LANES_OF
#undef SIMT_LANES
__device__ inline unsigned __vsadu4(unsigned a, unsigned b) {
    return simt::dot<unsigned char, unsigned char>(__vabsdiffu4(a, b), 0x01010101, 4, 0, 0u);
}

// Clocks. Time is not simulated: the number grows with each call, so that a thread that waits for it
// continues. clock() is the C library's.
__device__ inline long long clock64() { return simt::ticks(); }
__device__ inline void __trap(simt::Site site = simt::Site::here()) { simt::trap(site); }
