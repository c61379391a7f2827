#include "convolution.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace convolution {

namespace {

template <class Term>
std::vector<double> sum_of(const Shape& s, Term term) {
    std::vector<double> out(static_cast<std::size_t>(s.outputs()));
    for (int y = 0; y < s.height; ++y)
        for (int x = 0; x < s.width; ++x) {
            double sum = 0;
            for (int j = 0; j < s.side(); ++j)
                for (int i = 0; i < s.side(); ++i) {
                    const int in_x = x - s.radius + i, in_y = y - s.radius + j;
                    if (in_x >= 0 && in_x < s.width && in_y >= 0 && in_y < s.height)
                        sum += term(static_cast<std::size_t>(j * s.side() + i),
                                    static_cast<std::size_t>(in_y) * static_cast<std::size_t>(s.width) +
                                        static_cast<std::size_t>(in_x));
                }
            out[static_cast<std::size_t>(y) * static_cast<std::size_t>(s.width) +
                static_cast<std::size_t>(x)] = sum;
        }
    return out;
}

}  // namespace

void check(const Shape& s) {
    if (s.radius < 0 || s.radius > max_radius)
        throw std::invalid_argument("radius " + std::to_string(s.radius) +
                                    " refused: the chapter takes 0 to " + std::to_string(max_radius));
    if (s.width < 0 || s.height < 0 || static_cast<std::int64_t>(s.width) * s.height > INT32_MAX)
        throw std::invalid_argument(
            "image of " + std::to_string(s.width) + " x " + std::to_string(s.height) +
            " refused: sizes must not be negative and must make less than 2^31 elements");
    if (s.width > max_width || s.height > max_height)
        throw std::invalid_argument("image of " + std::to_string(s.width) + " x " + std::to_string(s.height) +
                                    " refused: the chapter takes up to " + std::to_string(max_width) +
                                    " columns and " + std::to_string(max_height) + " rows");
}

std::vector<double> reference(std::span<const float> in, std::span<const float> filter, const Shape& s) {
    return sum_of(s, [&](std::size_t w, std::size_t i) { return static_cast<double>(filter[w]) * in[i]; });
}

std::vector<double> magnitude(std::span<const float> in, std::span<const float> filter, const Shape& s) {
    return sum_of(
        s, [&](std::size_t w, std::size_t i) { return std::abs(static_cast<double>(filter[w]) * in[i]); });
}

double operations(const Shape& s) {
    // Along one axis of n elements, a weight at distance d has n − |d| of them.
    const auto met = [&](int n) {
        double sum = 0;
        for (int d = -s.radius; d <= s.radius; ++d) sum += std::max(0, n - std::abs(d));
        return sum;
    };
    return 2 * met(s.width) * met(s.height);
}

}  // namespace convolution
