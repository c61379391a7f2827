// Test data, the same on every platform: std::mt19937 is specified to the bit, the distributions are not.
#pragma once
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace kata {

/// Added to every seed. Other than 0, data are such as no step has seen.
inline unsigned other_data = 0;

/// Returns `count` small integers that distinguish positions, so that one wrong index shows: neighbors always
/// differ, and elements at any other distance are equal no more often than by chance, whatever the length of
/// a row. They lie between -largest and largest and are never 0, because a forgotten element must change a
/// sum; for an unsigned `T` they begin at 1. Float arithmetic is exact in any order as long as n * largest <=
/// 2^24 for a sum of n values, or n * largest * largest <= 2^24 for a sum of n products: the default allows a
/// million values or seventy thousand products. With only two values (`largest` 1, or 2 if unsigned)
/// neighbors may be equal. Throws std::invalid_argument if `largest` is less than 1 or not a `T`.
template <class T = float>
std::vector<T> coded(std::size_t count, unsigned seed, int largest = 15) {
    if (largest < 1 || static_cast<double>(static_cast<T>(largest)) != largest)
        throw std::invalid_argument("coded: largest is out of range");
    const auto magnitudes = static_cast<unsigned long>(largest);
    const unsigned long codes = std::is_signed_v<T> ? 2 * magnitudes : magnitudes;
    std::mt19937 engine(seed + other_data);
    unsigned long code = 0;
    std::vector<T> values(count);
    for (T& value : values) {
        // A step of less than a full turn always changes the code. With two codes it would leave only one
        // sequence.
        code = codes > 2 ? (code + 1 + engine() % (codes - 1)) % codes : engine() % codes;
        const T magnitude = static_cast<T>(1 + code % magnitudes);
        value = code < magnitudes ? magnitude : static_cast<T>(-magnitude);
    }
    return values;
}

/// Returns `count` uniform random numbers from `low` to `high`, with as many bits as the type's fraction.
template <class T = float>
std::vector<T> reals(std::size_t count, unsigned seed, T low = -1, T high = 1) {
    static_assert(std::is_floating_point_v<T> && std::numeric_limits<T>::digits <= 53);
    std::mt19937 engine(seed + other_data);
    const double range = static_cast<double>(high) - static_cast<double>(low);
    std::vector<T> values(count);
    for (T& value : values) {
        double unit = static_cast<double>(engine() >> 8) * 0x1p-24;
        if constexpr (std::numeric_limits<T>::digits > 24)
            unit += static_cast<double>(engine() >> 3) * 0x1p-53;
        // An explicit fma, because compilers differ in whether they fuse.
        value = static_cast<T>(std::fma(range, unit, static_cast<double>(low)));
    }
    return values;
}

/// Returns `count` elements that repeat `few`: computing as many anew takes seconds for a large problem. A
/// prime number of elements shifts the pattern from row to row.
template <class T>
std::vector<T> repeated(const std::vector<T>& few, std::size_t count) {
    if (few.empty()) throw std::invalid_argument("repeated: nothing to repeat");
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = i < few.size() ? few[i] : values[i - few.size()];
    return values;
}

/// A prime number, for `repeated`.
inline constexpr std::size_t prime_period = 1'000'003;

}  // namespace kata
