// 16-bit floating point, for <cuda_fp16.h> and <cuda_bf16.h>. Results are exact and rounded once, to nearest
// even.
//
// CUDA has the same function names for both formats, so all of them are friends, found by their arguments.
#pragma once
#include "simt/cuda.hpp"

#include <cstdint>
#include <type_traits>

namespace simt {

/// A format with one sign bit.
template <int exponent, int fraction>
struct Format {
    static constexpr int fraction_bits = fraction, bias = (1 << (exponent - 1)) - 1;
    static constexpr unsigned infinity = ((1u << exponent) - 1) << fraction, nan = 0x7fff;
};

template <class F>
SIMT_UNSEEN __host__ __device__ double to_double(unsigned short bits) {
    const unsigned magnitude = bits & 0x7fff, exponent = magnitude >> F::fraction_bits;
    const auto fraction = static_cast<std::uint64_t>(magnitude & ((1u << F::fraction_bits) - 1));
    const auto sign = static_cast<std::uint64_t>(bits >> 15) << 63;
    std::uint64_t biased = exponent - F::bias + 1023;
    if (exponent == 0) {
        constexpr auto smallest =
            __builtin_bit_cast(double, std::uint64_t{1024 - F::bias - F::fraction_bits} << 52);
        return __builtin_bit_cast(
            double, sign | __builtin_bit_cast(std::uint64_t, static_cast<double>(fraction) * smallest));
    }
    if (magnitude >= F::infinity) biased = 2047;
    return __builtin_bit_cast(double, sign | biased << 52 | fraction << (52 - F::fraction_bits));
}

/// Rounds a double that is exact or from odd_sum().
template <class F>
SIMT_UNSEEN __host__ __device__ unsigned short to_narrow(double x, Round round = Round::nearest) {
    if (__builtin_isnan(x)) return F::nan;
    const unsigned sign = __builtin_signbit(x) ? 0x8000 : 0;
    const double magnitude = __builtin_fabs(x);
    const bool up =
        round == Round::nearest || (round == Round::up && sign == 0) || (round == Round::down && sign != 0);
    if (__builtin_isinf(x)) return static_cast<unsigned short>(sign | F::infinity);
    const int exponent = static_cast<int>(__builtin_bit_cast(std::uint64_t, magnitude) >> 52) - 1023;
    const int least = 1 - F::bias, at = exponent < least ? least : exponent;
    const double scaled = __builtin_ldexp(magnitude, F::fraction_bits - at);
    const double whole = round == Round::nearest ? __builtin_rint(scaled)
                         : up                    ? __builtin_ceil(scaled)
                                                 : __builtin_floor(scaled);
    // Rounding up may carry into the exponent, and a subnormal number has exponent 0.
    auto bits = static_cast<unsigned>(whole) + (static_cast<unsigned>(at - least) << F::fraction_bits);
    if (at > F::bias || bits >= F::infinity) bits = up ? F::infinity : F::infinity - 1;
    return static_cast<unsigned short>(sign | bits);
}

/// A 16-bit floating-point number.
template <class F>
class Narrow {
    template <class T>
    static constexpr bool converts =
        std::is_arithmetic_v<T> &&
        !one_of<T, bool, char, signed char, unsigned char, wchar_t, char16_t, char32_t, long double>;

  public:
    Narrow() = default;
    template <class T>
    requires converts<T> __host__ __device__ Narrow(T value) : __x(to_narrow<F>(exact(value))) {}
    template <class Other>
    requires(!std::is_same_v<F, Other>) __host__ __device__ explicit Narrow(Narrow<Other> other)
        : __x(to_narrow<F>(static_cast<float>(other))) {}
    __host__ __device__ static Narrow of_bits(unsigned short bits) {
        Narrow result;
        result.__x = bits;
        return result;
    }
    __host__ __device__ unsigned short bits() const { return __x; }
    __host__ __device__ __forceinline__ double wide() const { return to_double<F>(__x); }

    __host__ __device__ __forceinline__ operator float() const { return static_cast<float>(wide()); }
    template <std::integral T>
    __host__ __device__ operator T() const {
        if constexpr (std::is_same_v<T, bool>)
            return (__x & 0x7fff) != 0;
        else
            return to_integer<T>(wide(), Round::zero);
    }

    __host__ __device__ friend Narrow operator+(const Narrow& a, const Narrow& b) {
        return round(odd_sum(a.wide(), b.wide()));
    }
    __host__ __device__ friend Narrow operator-(const Narrow& a, const Narrow& b) {
        return round(odd_sum(a.wide(), -b.wide()));
    }
    __host__ __device__ friend Narrow operator*(const Narrow& a, const Narrow& b) {
        return round(a.wide() * b.wide());
    }
    __host__ __device__ friend Narrow operator/(const Narrow& a, const Narrow& b) {
        return round(a.wide() / b.wide());
    }
    __host__ __device__ Narrow& operator+=(const Narrow& b) { return *this = *this + b; }
    __host__ __device__ Narrow& operator-=(const Narrow& b) { return *this = *this - b; }
    __host__ __device__ Narrow& operator*=(const Narrow& b) { return *this = *this * b; }
    __host__ __device__ Narrow& operator/=(const Narrow& b) { return *this = *this / b; }
    __host__ __device__ Narrow& operator++() { return *this += Narrow(1); }
    __host__ __device__ Narrow& operator--() { return *this -= Narrow(1); }
    __host__ __device__ Narrow operator++(int) {
        const auto old = *this;
        ++*this;
        return old;
    }
    __host__ __device__ Narrow operator--(int) {
        const auto old = *this;
        --*this;
        return old;
    }
    __host__ __device__ friend Narrow operator+(const Narrow& a) { return a; }
    __host__ __device__ friend Narrow operator-(const Narrow& a) { return of_bits(a.__x ^ 0x8000); }
    __host__ __device__ friend bool operator==(const Narrow& a, const Narrow& b) {
        return a.wide() == b.wide();
    }
    __host__ __device__ friend bool operator!=(const Narrow& a, const Narrow& b) {
        return a.wide() != b.wide();
    }
    __host__ __device__ friend bool operator<(const Narrow& a, const Narrow& b) {
        return a.wide() < b.wide();
    }
    __host__ __device__ friend bool operator>(const Narrow& a, const Narrow& b) {
        return a.wide() > b.wide();
    }
    __host__ __device__ friend bool operator<=(const Narrow& a, const Narrow& b) {
        return a.wide() <= b.wide();
    }
    __host__ __device__ friend bool operator>=(const Narrow& a, const Narrow& b) {
        return a.wide() >= b.wide();
    }

    __host__ __device__ friend Narrow __hadd(Narrow a, Narrow b) { return a + b; }
    __host__ __device__ friend Narrow __hadd_rn(Narrow a, Narrow b) { return a + b; }
    __host__ __device__ friend Narrow __hsub(Narrow a, Narrow b) { return a - b; }
    __host__ __device__ friend Narrow __hsub_rn(Narrow a, Narrow b) { return a - b; }
    __host__ __device__ friend Narrow __hmul(Narrow a, Narrow b) { return a * b; }
    __host__ __device__ friend Narrow __hmul_rn(Narrow a, Narrow b) { return a * b; }
    __host__ __device__ friend Narrow __hdiv(Narrow a, Narrow b) { return a / b; }
    __host__ __device__ friend Narrow __hneg(Narrow a) { return -a; }
    __host__ __device__ friend Narrow __habs(Narrow a) { return of_bits(a.__x & 0x7fff); }
    __host__ __device__ friend Narrow __hadd_sat(Narrow a, Narrow b) { return (a + b).saturated(); }
    __host__ __device__ friend Narrow __hsub_sat(Narrow a, Narrow b) { return (a - b).saturated(); }
    __host__ __device__ friend Narrow __hmul_sat(Narrow a, Narrow b) { return (a * b).saturated(); }
    __device__ friend Narrow __hfma(Narrow a, Narrow b, Narrow c) {
        return round(odd_sum(a.wide() * b.wide(), c.wide()));
    }
    __device__ friend Narrow __hfma_sat(Narrow a, Narrow b, Narrow c) { return __hfma(a, b, c).saturated(); }
    __device__ friend Narrow __hfma_relu(Narrow a, Narrow b, Narrow c) {
        const auto sum = __hfma(a, b, c);
        return sum.wide() < 0 ? Narrow(0) : sum;
    }

    // Functions with the suffix u are also true for unordered operands.
    __host__ __device__ friend bool __heq(Narrow a, Narrow b) { return a == b; }
    __host__ __device__ friend bool __hne(Narrow a, Narrow b) { return a < b || a > b; }
    __host__ __device__ friend bool __hlt(Narrow a, Narrow b) { return a < b; }
    __host__ __device__ friend bool __hgt(Narrow a, Narrow b) { return a > b; }
    __host__ __device__ friend bool __hle(Narrow a, Narrow b) { return a <= b; }
    __host__ __device__ friend bool __hge(Narrow a, Narrow b) { return a >= b; }
    __host__ __device__ friend bool __hequ(Narrow a, Narrow b) { return !__hne(a, b); }
    __host__ __device__ friend bool __hneu(Narrow a, Narrow b) { return a != b; }
    __host__ __device__ friend bool __hltu(Narrow a, Narrow b) { return !(a >= b); }
    __host__ __device__ friend bool __hgtu(Narrow a, Narrow b) { return !(a <= b); }
    __host__ __device__ friend bool __hleu(Narrow a, Narrow b) { return !(a > b); }
    __host__ __device__ friend bool __hgeu(Narrow a, Narrow b) { return !(a < b); }
    __host__ __device__ friend bool __hisnan(Narrow a) { return (a.__x & 0x7fffu) > F::infinity; }
    __host__ __device__ friend int __hisinf(Narrow a) {
        return (a.__x & 0x7fffu) != F::infinity ? 0 : a.__x >> 15 ? -1 : 1;
    }
    __host__ __device__ friend Narrow __hmax(Narrow a, Narrow b) {
        return __hisnan(a) ? b : __hisnan(b) ? a : a < b || (a == b && a.__x >> 15) ? b : a;
    }
    __host__ __device__ friend Narrow __hmin(Narrow a, Narrow b) {
        return __hisnan(a) ? b : __hisnan(b) ? a : b < a || (a == b && b.__x >> 15) ? b : a;
    }
    __host__ __device__ friend Narrow __hmax_nan(Narrow a, Narrow b) {
        return __hisnan(a) || __hisnan(b) ? of_bits(F::nan) : __hmax(a, b);
    }
    __host__ __device__ friend Narrow __hmin_nan(Narrow a, Narrow b) {
        return __hisnan(a) || __hisnan(b) ? of_bits(F::nan) : __hmin(a, b);
    }

    __device__ friend Narrow hsqrt(Narrow a) { return round(__builtin_sqrt(a.wide())); }
    __device__ friend Narrow hrsqrt(Narrow a) { return round(1.0 / __builtin_sqrt(a.wide())); }
    __device__ friend Narrow hrcp(Narrow a) { return round(1.0 / a.wide()); }
    __device__ friend Narrow hexp(Narrow a) { return round(__builtin_exp(a.wide())); }
    __device__ friend Narrow hexp2(Narrow a) { return round(__builtin_exp2(a.wide())); }
    __device__ friend Narrow hexp10(Narrow a) { return round(__builtin_pow(10.0, a.wide())); }
    __device__ friend Narrow hlog(Narrow a) { return round(__builtin_log(a.wide())); }
    __device__ friend Narrow hlog2(Narrow a) { return round(__builtin_log2(a.wide())); }
    __device__ friend Narrow hlog10(Narrow a) { return round(__builtin_log10(a.wide())); }
    __device__ friend Narrow hsin(Narrow a) { return round(__builtin_sin(a.wide())); }
    __device__ friend Narrow hcos(Narrow a) { return round(__builtin_cos(a.wide())); }
    __device__ friend Narrow htanh(Narrow a) { return round(__builtin_tanh(a.wide())); }
    __device__ friend Narrow hfloor(Narrow a) { return round(__builtin_floor(a.wide())); }
    __device__ friend Narrow hceil(Narrow a) { return round(__builtin_ceil(a.wide())); }
    __device__ friend Narrow hrint(Narrow a) { return round(__builtin_rint(a.wide())); }
    __device__ friend Narrow htrunc(Narrow a) { return round(__builtin_trunc(a.wide())); }

  private:
    /// A double does not hold all 64-bit integers: its last bit stands for the bits left out.
    template <class T>
    __host__ __device__ static double exact(T value) {
        if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
            const auto high = static_cast<double>(value >> 32) * 4294967296.0;
            return odd_sum(high, static_cast<double>(static_cast<std::uint32_t>(value)));
        } else {
            return static_cast<double>(value);
        }
    }
    __host__ __device__ static Narrow round(double x) { return of_bits(to_narrow<F>(x)); }
    /// Clamps to 0 … 1; NaN becomes 0.
    __host__ __device__ Narrow saturated() const {
        return !(wide() > 0) ? Narrow(0) : wide() > 1 ? Narrow(1) : *this;
    }

    unsigned short __x;
};

/// Two numbers in a word.
template <class F>
struct alignas(4) Narrow2 {
    using Half = Narrow<F>;
    Half x, y;

    Narrow2() = default;
    __host__ __device__ Narrow2(const Half& a, const Half& b) : x(a), y(b) {}

    template <class Each>
    __host__ __device__ static Narrow2 each(const Narrow2& a, const Narrow2& b, Each each) {
        return {each(a.x, b.x), each(a.y, b.y)};
    }
    __host__ __device__ friend Narrow2 operator+(const Narrow2& a, const Narrow2& b) {
        return {a.x + b.x, a.y + b.y};
    }
    __host__ __device__ friend Narrow2 operator-(const Narrow2& a, const Narrow2& b) {
        return {a.x - b.x, a.y - b.y};
    }
    __host__ __device__ friend Narrow2 operator*(const Narrow2& a, const Narrow2& b) {
        return {a.x * b.x, a.y * b.y};
    }
    __host__ __device__ friend Narrow2 operator/(const Narrow2& a, const Narrow2& b) {
        return {a.x / b.x, a.y / b.y};
    }
    __host__ __device__ Narrow2& operator+=(const Narrow2& b) { return *this = *this + b; }
    __host__ __device__ Narrow2& operator-=(const Narrow2& b) { return *this = *this - b; }
    __host__ __device__ Narrow2& operator*=(const Narrow2& b) { return *this = *this * b; }
    __host__ __device__ Narrow2& operator/=(const Narrow2& b) { return *this = *this / b; }
    __host__ __device__ friend Narrow2 operator-(const Narrow2& a) { return {-a.x, -a.y}; }
    __host__ __device__ friend bool operator==(const Narrow2& a, const Narrow2& b) {
        return a.x == b.x && a.y == b.y;
    }
    __host__ __device__ friend bool operator!=(const Narrow2& a, const Narrow2& b) {
        return a.x != b.x && a.y != b.y;
    }
    __host__ __device__ friend bool operator<(const Narrow2& a, const Narrow2& b) {
        return a.x < b.x && a.y < b.y;
    }
    __host__ __device__ friend bool operator>(const Narrow2& a, const Narrow2& b) {
        return a.x > b.x && a.y > b.y;
    }
    __host__ __device__ friend bool operator<=(const Narrow2& a, const Narrow2& b) {
        return a.x <= b.x && a.y <= b.y;
    }
    __host__ __device__ friend bool operator>=(const Narrow2& a, const Narrow2& b) {
        return a.x >= b.x && a.y >= b.y;
    }

    __host__ __device__ friend Narrow2 __hadd2(Narrow2 a, Narrow2 b) { return a + b; }
    __host__ __device__ friend Narrow2 __hadd2_rn(Narrow2 a, Narrow2 b) { return a + b; }
    __host__ __device__ friend Narrow2 __hsub2(Narrow2 a, Narrow2 b) { return a - b; }
    __host__ __device__ friend Narrow2 __hsub2_rn(Narrow2 a, Narrow2 b) { return a - b; }
    __host__ __device__ friend Narrow2 __hmul2(Narrow2 a, Narrow2 b) { return a * b; }
    __host__ __device__ friend Narrow2 __hmul2_rn(Narrow2 a, Narrow2 b) { return a * b; }
    __host__ __device__ friend Narrow2 __h2div(Narrow2 a, Narrow2 b) { return a / b; }
    __host__ __device__ friend Narrow2 __hneg2(Narrow2 a) { return -a; }
    __host__ __device__ friend Narrow2 __habs2(Narrow2 a) { return {__habs(a.x), __habs(a.y)}; }
    __device__ friend Narrow2 __hfma2(Narrow2 a, Narrow2 b, Narrow2 c) {
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
    }
    __host__ __device__ friend Narrow2 __hmax2(Narrow2 a, Narrow2 b) {
        return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
    }
    __host__ __device__ friend Narrow2 __hmin2(Narrow2 a, Narrow2 b) {
        return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
    }
    __host__ __device__ friend Narrow2 __heq2(Narrow2 a, Narrow2 b) {
        return {Half(int{a.x == b.x}), Half(int{a.y == b.y})};
    }
    __host__ __device__ friend Narrow2 __hlt2(Narrow2 a, Narrow2 b) {
        return {Half(int{a.x < b.x}), Half(int{a.y < b.y})};
    }
    __host__ __device__ friend Narrow2 __hgt2(Narrow2 a, Narrow2 b) {
        return {Half(int{a.x > b.x}), Half(int{a.y > b.y})};
    }
    __host__ __device__ friend Narrow2 __hle2(Narrow2 a, Narrow2 b) {
        return {Half(int{a.x <= b.x}), Half(int{a.y <= b.y})};
    }
    __host__ __device__ friend Narrow2 __hge2(Narrow2 a, Narrow2 b) {
        return {Half(int{a.x >= b.x}), Half(int{a.y >= b.y})};
    }
    __host__ __device__ friend bool __hbeq2(Narrow2 a, Narrow2 b) { return a == b; }
    __host__ __device__ friend bool __hblt2(Narrow2 a, Narrow2 b) { return a < b; }
    __host__ __device__ friend bool __hbgt2(Narrow2 a, Narrow2 b) { return a > b; }
    __host__ __device__ friend bool __hble2(Narrow2 a, Narrow2 b) { return a <= b; }
    __host__ __device__ friend bool __hbge2(Narrow2 a, Narrow2 b) { return a >= b; }
    __device__ friend Narrow2 h2sqrt(Narrow2 a) { return {hsqrt(a.x), hsqrt(a.y)}; }
    __device__ friend Narrow2 h2rsqrt(Narrow2 a) { return {hrsqrt(a.x), hrsqrt(a.y)}; }
    __device__ friend Narrow2 h2rcp(Narrow2 a) { return {hrcp(a.x), hrcp(a.y)}; }
    __device__ friend Narrow2 h2exp(Narrow2 a) { return {hexp(a.x), hexp(a.y)}; }
    __device__ friend Narrow2 h2exp2(Narrow2 a) { return {hexp2(a.x), hexp2(a.y)}; }
    __device__ friend Narrow2 h2log(Narrow2 a) { return {hlog(a.x), hlog(a.y)}; }
    __host__ __device__ friend float __low2float(Narrow2 a) { return a.x; }
    __host__ __device__ friend float __high2float(Narrow2 a) { return a.y; }
};

template <class F>
inline constexpr bool loads_whole<Narrow<F>> = true;
template <class F>
inline constexpr bool loads_whole<Narrow2<F>> = true;
template <class F>
inline constexpr bool shuffles_whole<Narrow<F>> = true;
template <class F>
inline constexpr bool shuffles_whole<Narrow2<F>> = true;

}  // namespace simt

template <class F>
SIMT_UNSEEN __device__ simt::Narrow<F> atomicAdd(simt::Narrow<F>* address,
                                                 std::type_identity_t<simt::Narrow<F>> value) {
    const simt::AtomicUpdate now(address, sizeof value, __builtin_return_address(0));
    const auto old = *address;
    *address = old + value;
    return old;
}
template <class F>
SIMT_UNSEEN __device__ simt::Narrow2<F> atomicAdd(simt::Narrow2<F>* address,
                                                  std::type_identity_t<simt::Narrow2<F>> value) {
    const simt::AtomicUpdate now(address, sizeof value, __builtin_return_address(0));
    const auto old = *address;
    *address = old + value;
    return old;
}

// Functions with the format in their names; `name` is half or bfloat16.
#define SIMT_NARROW_ROUNDING(name, Type, F, end, round)                         \
    __host__ __device__ inline Type __float2##name##_##end(float x) {           \
        return Type::of_bits(simt::to_narrow<F>(x, round));                     \
    }                                                                           \
    __host__ __device__ inline Type __int2##name##_##end(int x) {               \
        return Type::of_bits(simt::to_narrow<F>(x, round));                     \
    }                                                                           \
    __host__ __device__ inline Type __uint2##name##_##end(unsigned x) {         \
        return Type::of_bits(simt::to_narrow<F>(x, round));                     \
    }                                                                           \
    __host__ __device__ inline Type __short2##name##_##end(short x) {           \
        return Type::of_bits(simt::to_narrow<F>(x, round));                     \
    }                                                                           \
    __host__ __device__ inline Type __ushort2##name##_##end(unsigned short x) { \
        return Type::of_bits(simt::to_narrow<F>(x, round));                     \
    }                                                                           \
    __host__ __device__ inline int __##name##2int_##end(Type x) {               \
        return simt::to_integer<int>(x.wide(), round);                          \
    }                                                                           \
    __host__ __device__ inline unsigned __##name##2uint_##end(Type x) {         \
        return simt::to_integer<unsigned>(x.wide(), round);                     \
    }                                                                           \
    __host__ __device__ inline short __##name##2short_##end(Type x) {           \
        return simt::to_integer<short>(x.wide(), round);                        \
    }                                                                           \
    __host__ __device__ inline unsigned short __##name##2ushort_##end(Type x) { \
        return simt::to_integer<unsigned short>(x.wide(), round);               \
    }                                                                           \
    __host__ __device__ inline long long __##name##2ll_##end(Type x) {          \
        return simt::to_integer<long long>(x.wide(), round);                    \
    }
#define SIMT_NARROW_NAMES(name, Type, Type2, F)                                                             \
    SIMT_NARROW_ROUNDING(name, Type, F, rn, simt::Round::nearest)                                           \
    SIMT_NARROW_ROUNDING(name, Type, F, rz, simt::Round::zero)                                              \
    SIMT_NARROW_ROUNDING(name, Type, F, ru, simt::Round::up)                                                \
    SIMT_NARROW_ROUNDING(name, Type, F, rd, simt::Round::down)                                              \
    __host__ __device__ inline Type __float2##name(float x) { return Type(x); }                             \
    __host__ __device__ inline Type __double2##name(double x) { return Type(x); }                           \
    __host__ __device__ inline float __##name##2float(Type x) { return x; }                                 \
    __host__ __device__ inline Type __ll2##name##_rn(long long x) { return Type(x); }                       \
    __host__ __device__ inline Type __ull2##name##_rn(unsigned long long x) { return Type(x); }             \
    __host__ __device__ inline unsigned short __##name##_as_ushort(Type x) { return x.bits(); }             \
    __host__ __device__ inline short __##name##_as_short(Type x) { return static_cast<short>(x.bits()); }   \
    __host__ __device__ inline Type __ushort_as_##name(unsigned short x) { return Type::of_bits(x); }       \
    __host__ __device__ inline Type __short_as_##name(short x) {                                            \
        return Type::of_bits(static_cast<unsigned short>(x));                                               \
    }                                                                                                       \
    __host__ __device__ inline Type2 __##name##2##name##2(Type x) { return {x, x}; }                        \
    __host__ __device__ inline Type2 __float2##name##2_rn(float x) { return {Type(x), Type(x)}; }           \
    __host__ __device__ inline Type2 __floats2##name##2_rn(float x, float y) { return {Type(x), Type(y)}; } \
    __host__ __device__ inline Type2 __float22##name##2_rn(float2 v) { return {Type(v.x), Type(v.y)}; }     \
    __host__ __device__ inline float2 __##name##22float2(Type2 v) { return {v.x, v.y}; }                    \
    __host__ __device__ inline Type2 __halves2##name##2(Type x, Type y) { return {x, y}; }                  \
    __host__ __device__ inline Type __low2##name(Type2 v) { return v.x; }                                   \
    __host__ __device__ inline Type __high2##name(Type2 v) { return v.y; }                                  \
    __host__ __device__ inline Type2 __low2##name##2(Type2 v) { return {v.x, v.x}; }                        \
    __host__ __device__ inline Type2 __high2##name##2(Type2 v) { return {v.y, v.y}; }                       \
    __host__ __device__ inline Type2 make_##name##2(Type x, Type y) { return {x, y}; }
