#include "gemm.hpp"

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace matrices {

namespace {

template <class Term>
std::vector<double> sum_of(const Shape& s, Term term) {
    const auto m = static_cast<std::size_t>(s.m), n = static_cast<std::size_t>(s.n),
               k = static_cast<std::size_t>(s.k);
    std::vector<double> c(m * n);
    for (std::size_t row = 0; row < m; ++row)
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t col = 0; col < n; ++col) c[row * n + col] += term(row * k + i, i * n + col);
    return c;
}

}  // namespace

void check(const Shape& s) {
    const auto fits = [](int rows, int cols) {
        return rows >= 0 && cols >= 0 && static_cast<std::int64_t>(rows) * cols <= INT32_MAX;
    };
    const auto text = "product of " + std::to_string(s.m) + " x " + std::to_string(s.k) + " and " +
                      std::to_string(s.k) + " x " + std::to_string(s.n) + " refused: ";
    if (!fits(s.m, s.n) || !fits(s.m, s.k) || !fits(s.k, s.n))
        throw std::invalid_argument(
            text + "lengths must not be negative and matrices must have less than 2^31 elements");
    if (s.m > max_rows)
        throw std::invalid_argument(text + "a grid covers no more than " + std::to_string(max_rows) +
                                    " rows");
}

std::vector<double> reference(std::span<const float> a, std::span<const float> b, const Shape& s) {
    return sum_of(s, [&](std::size_t i, std::size_t j) { return static_cast<double>(a[i]) * b[j]; });
}

std::vector<double> magnitude(std::span<const float> a, std::span<const float> b, const Shape& s) {
    return sum_of(s,
                  [&](std::size_t i, std::size_t j) { return std::abs(static_cast<double>(a[i]) * b[j]); });
}

void check_bf16(const Shape& s) {
    check(s);
    if (s.n % bf16_granule != 0 || s.k % bf16_granule != 0)
        throw std::invalid_argument("product in bfloat16 with n = " + std::to_string(s.n) +
                                    " and k = " + std::to_string(s.k) + " refused: both are multiples of " +
                                    std::to_string(bf16_granule));
}

double bf16_rounding(int k) {
    constexpr int at_a_time = 4;  // on a V100; newer ones take more, and drop less often
    return (k + 2.0 * std::ceil(k / static_cast<double>(at_a_time))) * 0x1p-23;
}

double operations(const Shape& s) { return 2.0 * s.m * s.n * s.k; }

}  // namespace matrices
