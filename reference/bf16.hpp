// bfloat16, the upper half of a float, on the host: 8 significant bits, and the exponents of a float.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace bfloat16 {

struct Bf16 {
    std::uint16_t bits;
};

/// Returns the nearest value, or the even one of two. Infinities and NaN stay what they are.
inline Bf16 to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return {0x7fff};
    return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

inline float to_float(Bf16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }

}  // namespace bfloat16
