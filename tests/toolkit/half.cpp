// 16-bit numbers.
#include "simt/intrinsics.hpp"
#include "simt/toolkit/cuda_bf16.h"
#include "simt/toolkit/cuda_fp16.h"
#include "suite.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

// A number with 113 bits if the platform has one.
#if defined(__SIZEOF_FLOAT128__)
using Wide = __float128;
constexpr bool wide_enough = true;
#else
using Wide = long double;
constexpr bool wide_enough = std::numeric_limits<Wide>::digits >= 113;
#endif

template <class Number>
struct Layout;
template <>
struct Layout<half> {
    static constexpr int fraction = 10, bias = 15;
};
template <>
struct Layout<nv_bfloat16> {
    static constexpr int fraction = 7, bias = 127;
};

/// Returns the value of a number by the definition of its format.
template <class Number>
double value_of(int bits) {
    using L = Layout<Number>;
    const int exponent = (bits & 0x7fff) >> L::fraction, fraction = bits & ((1 << L::fraction) - 1);
    const double sign = bits >> 15 ? -1 : 1;
    if (exponent == 2 * L::bias + 1)
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    return exponent == 0 ? sign * std::ldexp(fraction, 1 - L::bias - L::fraction)
                         : sign * std::ldexp((1 << L::fraction) + fraction, exponent - L::bias - L::fraction);
}
template <class Number>
int largest() {
    return ((2 * Layout<Number>::bias + 1) << Layout<Number>::fraction) - 1;
}

/// Returns the bits of the number nearest to x, ties to even. Searches, because the bits of positive numbers
/// are ordered as the numbers are.
template <class Number>
int nearest(double x) {
    if (std::isnan(x)) return 0x7fff;
    const int sign = std::signbit(x) ? 0x8000 : 0;
    x = std::fabs(x);
    int low = 0, high = largest<Number>() + 1;  // infinity, one step above the largest number
    const double step = value_of<Number>(high - 1) - value_of<Number>(high - 2);
    const auto value = [&](int bits) {
        return bits == high ? value_of<Number>(bits - 1) + step : value_of<Number>(bits);
    };
    const int infinity = high;
    if (x >= value(infinity)) return sign | infinity;
    int above = infinity;
    while (above - low > 1) {
        const int middle = (low + above) / 2;
        (value_of<Number>(middle) <= x ? low : above) = middle;
    }
    const double down = x - value_of<Number>(low),
                 up = (above == infinity ? value(infinity) : value_of<Number>(above)) - x;
    return sign | (down < up || (down == up && low % 2 == 0) ? low : above);
}

/// Returns a + b rounded to odd: rounding that to 16 bits gives the same result as rounding a + b.
double odd_sum_of(Wide a, Wide b) {
    const Wide sum = a + b;
    auto result = static_cast<double>(sum);
    if (!std::isfinite(result) || std::bit_cast<std::uint64_t>(result) % 2 != 0) return result;
    // what 113 bits lose; the larger number first
    const bool in_order = (a < 0 ? -a : a) >= (b < 0 ? -b : b);
    const Wide rest = in_order ? b - (sum - a) : a - (sum - b), beyond = sum - result;
    if (beyond > 0 || (beyond == 0 && rest > 0)) return std::nextafter(result, HUGE_VAL);
    if (beyond < 0 || (beyond == 0 && rest < 0)) return std::nextafter(result, -HUGE_VAL);
    return result;
}

}  // namespace

TEMPLATE_TEST_CASE("all 16-bit numbers have the values of the standard", "[half]", half, nv_bfloat16) {
    int wrong = 0;
    for (int bits = 0; bits < 0x10000; ++bits) {
        const auto number = TestType::of_bits(static_cast<unsigned short>(bits));
        const double expected = value_of<TestType>(bits);
        const float wide = number;
        wrong += std::isnan(expected) ? !std::isnan(wide) || !__hisnan(number)
                                      : wide != static_cast<float>(expected);
        wrong += std::signbit(wide) != std::signbit(expected) && !std::isnan(expected);
        wrong += TestType(wide).bits() != (std::isnan(expected) ? 0x7fff : bits);  // and the round trip
    }
    CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("values between two 16-bit numbers round to the nearest, ties to even", "[half]", half,
                   nv_bfloat16) {
    int wrong = 0;
    for (int bits = 0; bits < largest<TestType>(); ++bits)
        for (const double sign : {1.0, -1.0}) {
            const double low = value_of<TestType>(bits), high = value_of<TestType>(bits + 1),
                         middle = (low + high) / 2;
            const int s = sign < 0 ? 0x8000 : 0, even = bits % 2 == 0 ? bits : bits + 1;
            wrong += TestType(sign * middle).bits() != (s | even);
            wrong += TestType(sign * std::nextafter(middle, 0)).bits() != (s | bits);
            wrong += TestType(sign * std::nextafter(middle, HUGE_VAL)).bits() != (s | (bits + 1));
        }
    CHECK(wrong == 0);
    const double most = value_of<TestType>(largest<TestType>());
    const double half_a_step = (most - value_of<TestType>(largest<TestType>() - 1)) / 2;
    CHECK(TestType(most + half_a_step).bits() == largest<TestType>() + 1);  // infinity
    CHECK(TestType(std::nextafter(most + half_a_step, 0)).bits() == largest<TestType>());
}

TEST_CASE("a float is rounded to a half in the requested direction", "[half]") {
    std::mt19937 random(2);
    for (int i = 0; i < 20'000; ++i) {
        const auto x = std::bit_cast<float>(static_cast<unsigned>(random()) >> 2 |
                                            static_cast<unsigned>(random() & 1) << 31);
        const float near = __half2float(__float2half_rn(x)), zero = __half2float(__float2half_rz(x));
        const float up = __half2float(__float2half_ru(x)), down = __half2float(__float2half_rd(x));
        CHECK((down <= x && x <= up && (near == up || near == down) && zero == (x > 0 ? down : up)));
        const auto next = __half_as_ushort(__float2half_rd(x));
        if (down != up && down >= 0) CHECK(next + 1 == __half_as_ushort(__float2half_ru(x)));
        CHECK(__float2half(x).bits() == nearest<half>(x));
    }
    CHECK(__float2half_rz(1e9f).bits() == largest<half>());
    CHECK(__float2half(1e9f).bits() == largest<half>() + 1);
    CHECK((__half2int_rn(half(2.5f)) == 2 && __half2int_rz(half(-2.5f)) == -2 &&
           __half2int_ru(half(2.5f)) == 3));
    CHECK(half((1ll << 40) + 1).bits() == largest<half>() + 1);
    CHECK(nv_bfloat16((1ll << 62) + (1ll << 54) + 1).bits() ==
          nv_bfloat16(0x1p62).bits() + 1);  // just above the middle
}

TEMPLATE_TEST_CASE("16-bit arithmetic is exact and rounded once", "[half]", half, nv_bfloat16) {
    if (!wide_enough) SKIP("this machine has no number to compute the exact result with");
    std::mt19937 random(3);
    const auto number = [&] {
        const auto bits = static_cast<unsigned short>(random());
        // half of the numbers near 1, so that sums are inexact
        return TestType::of_bits(static_cast<unsigned short>(
            random() % 2 ? bits : (bits & 0x83ff) | Layout<TestType>::bias << Layout<TestType>::fraction));
    };
    const auto bits = [](double x) { return nearest<TestType>(x); };
    int wrong = 0;
    for (int i = 0; i < 100'000; ++i) {
        const auto a = number(), b = number(), c = number();
        const double x = value_of<TestType>(a.bits()), y = value_of<TestType>(b.bits()),
                     z = value_of<TestType>(c.bits());
        const double odd = odd_sum_of(static_cast<Wide>(x) * y, z), sum = odd_sum_of(x, y);
        wrong += __hadd(a, b).bits() != bits(sum);
        wrong += (a * b).bits() != bits(x * y);
        wrong += (a / b).bits() != bits(x / y);
        wrong += __hfma(a, b, c).bits() != bits(odd);
        wrong += (a < b) != (x < y) || (a == b) != (x == y) || (a != b) != (x != y) ||
                 __hne(a, b) != (x < y || x > y);
        if (!std::isnan(x) && !std::isnan(y))
            wrong += static_cast<float>(__hmax(a, b)) != static_cast<float>(std::max(x, y));
    }
    CHECK(wrong == 0);
    CHECK(__hmax(TestType::of_bits(0x7fff), TestType(1)) == TestType(1));
    CHECK(__hisnan(__hmin_nan(TestType::of_bits(0x7fff), TestType(1))));
    CHECK(__hfma_relu(TestType(-1), TestType(1), TestType(0)).bits() == 0);
    CHECK(__hadd_sat(TestType(1), TestType(1)) == TestType(1));
}

TEST_CASE("a fused product is rounded once even if two roundings would differ", "[half]") {
    // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20: nearly the middle of two halves once 2^-11 is added
    const half a(1 + 0x1p-10), c(0x1p-11);
    CHECK(static_cast<float>(__hfma(a, a, c)) == 1 + 0x1p-9f + 0x1p-10f);
    CHECK(static_cast<float>(a * a + c) == 1 + 0x1p-9f);
    // too small to change a double near 1: only its sign matters
    const nv_bfloat16 x(1 + 0x1p-7), tiny(0x1p-100);
    CHECK(static_cast<float>(__hfma(nv_bfloat16(0.5), nv_bfloat16(1 + 0x1p-7), nv_bfloat16(0.5))) == 1.0f);
    CHECK(static_cast<float>(__hadd(x, tiny)) == 1 + 0x1p-7f);
}

TEST_CASE("pairs of halves go through memory, atomics and shuffles", "[half]") {
    static_assert(sizeof(half) == 2 && alignof(half) == 2 && sizeof(half2) == 4 && alignof(half2) == 4);
    std::vector<unsigned short> in;
    for (int i = 0; i < 64; ++i) in.push_back(half(i).bits());
    auto words = upload("words", in);
    auto sums = zeros<unsigned short>("sums", 2);
    Buffer<float> out("out", 64);
    const auto seen = observe({}, [&] { kernels::halves(words.data(), sums.data(), out.data()); });
    CHECK(seen.findings == Findings{});
    // x of the neighbour, and twice y plus 1
    CHECK(out.values() == listed<float>(64, [](int i) { return i % 2 == 0 ? i ^ 2 : 2 * i + 1; }));
    CHECK(half::of_bits(sums.values()[0]) == half(2 * (0 + 31) * 16));  // 0, 2, …, 62
    CHECK(half::of_bits(sums.values()[1]) == half(32));
    if (!seen.counts) return;
    CHECK(seen.counts->global_load.bytes == 128);
    CHECK(seen.counts->global_load.transactions == 4);
    CHECK(seen.counts->global_atomic.accesses == 32 + 32);
}
