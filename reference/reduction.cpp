#include "reduction.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace reduction {

namespace {

template <class T>
double sum_of_magnitudes(std::span<const T> values) {
    double sum = 0;
    for (const double value : values) sum += std::abs(value);
    return sum;
}

template <class T>
double largest(std::span<const T> values) {
    double most = -std::numeric_limits<double>::infinity();
    for (const double value : values) most = std::max(most, value);
    return most;
}

}  // namespace

void check(int n) {
    if (n < 0)
        throw std::invalid_argument(std::to_string(n) + " elements refused: the number must be 0 or more");
}

int sum(std::span<const int> values) {
    return static_cast<int>(std::accumulate(values.begin(), values.end(), std::int64_t{0}));
}
double sum(std::span<const float> values) { return std::accumulate(values.begin(), values.end(), 0.0); }
double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double magnitude(std::span<const float> values) { return sum_of_magnitudes(values); }
double magnitude(std::span<const double> values) { return sum_of_magnitudes(values); }

int max(std::span<const int> values) {
    int most = std::numeric_limits<int>::lowest();
    for (const int value : values) most = std::max(most, value);
    return most;
}
double max(std::span<const float> values) { return largest(values); }
double max(std::span<const double> values) { return largest(values); }

double recursive_sum(std::span<double> values) {
    if (values.size() <= 1) return values.empty() ? 0 : values[0];
    const auto half = (values.size() + 1) / 2;  // the middle element of an odd length stays as it is
    for (std::size_t i = half; i < values.size(); ++i) values[i - half] += values[i];
    return recursive_sum(values.first(half));
}

}  // namespace reduction
