#include "attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>

namespace attention {

namespace {

// Errors of float computations, to first order in the largest relative error of one rounding.
constexpr double rounding = 0x1p-24;
// CUDA's expf() and exp2f() are off by 2 ulp. Relative to the exponent x are the rounding of the difference
// x, that of log2 e where exp2f() is called, and 1.173 ulp, or 2.4 roundings, of __expf().
constexpr double of_exponential = 4, of_exponent = 5;
// An online softmax multiplies what it has by exp(old maximum - new maximum), once for each element at most.
// Maxima only rise, so the exponents of these factors and that of the element add up to its distance from the
// last maximum: of_exponent counts once. The factor and the product remain, and the addition of an element.
constexpr double of_an_addition = 1, of_a_maximum = of_exponential + 1;
constexpr double of_an_element = of_an_addition + of_a_maximum;
// A quotient by __fdividef() is off by 2 ulp.
constexpr double of_the_quotient = 4;
// Numbers below may become 0.
constexpr double smallest = std::numeric_limits<float>::min();

std::string text_of(const Shape& s) {
    return "attention with " + std::to_string(s.heads) + " heads, n = " + std::to_string(s.n) +
           " and d = " + std::to_string(s.d) + " refused: ";
}

}  // namespace

void check(const Matrix& m) {
    const auto text =
        "softmax of " + std::to_string(m.rows) + " x " + std::to_string(m.columns) + " elements refused: ";
    if (m.rows < 0 || m.columns < 0 || m.elements() > INT32_MAX)
        throw std::invalid_argument(
            text + "lengths must not be negative and a matrix must have less than 2^31 elements");
    if (m.columns > max_columns)
        throw std::invalid_argument(text + "a row has at most " + std::to_string(max_columns));
}

// The exponent of an element is off by of_exponent times its distance from the largest, and by a rounding of
// either, if they are multiplied by log2 e first. The sum of n exponentials has the errors of its terms,
// weighted by their shares, and those of n additions. An element has the error of its own exponential, that
// of the sum and that of the quotient.
Result softmax_of(std::span<const float> in, const Matrix& m) {
    check(m);
    Result result;
    const auto columns = static_cast<std::size_t>(m.columns);
    for (std::size_t first = 0; first < m.elements(); first += columns) {
        const auto row = in.subspan(first, columns);
        double largest = -std::numeric_limits<double>::infinity();
        for (const float x : row) largest = std::fmax(largest, x);  // NaN is left to the sum
        const auto off = [&](float x) {                             // error in roundings; exp(-inf) is exact
            return std::isinf(x) ? 0 : of_exponent * (largest - x) + std::abs(x) + std::abs(largest);
        };
        double sum = 0, all_off = 0;
        for (const float x : row) {
            sum += std::exp(x - largest);
            all_off += std::exp(x - largest) * off(x);
        }
        for (const float x : row) {
            const double y = std::exp(x - largest) / sum;
            result.values.push_back(y);
            result.bound.push_back(y * rounding *
                                       (off(x) + all_off / sum + 2 * of_exponential +
                                        of_an_element * m.columns + of_the_quotient) +
                                   2 * smallest);
        }
    }
    return result;
}

void check(const Shape& s) {
    if (s.heads < 0 || s.n < 0 || s.heads > max_heads)
        throw std::invalid_argument(text_of(s) + "lengths must not be negative, and there are at most " +
                                    std::to_string(max_heads) + " heads");
    if (std::ranges::find(head_sizes, s.d) == std::end(head_sizes))
        throw std::invalid_argument(text_of(s) + "d is 64 or 128");
    if (s.elements() > INT32_MAX)
        throw std::invalid_argument(text_of(s) + "arrays must have less than 2^31 elements");
}

void check_with_scores(const Shape& s) {
    check(s);
    if (s.scores() > INT32_MAX)
        throw std::invalid_argument(text_of(s) + "there must be less than 2^31 scores");
}

// Let A be the largest Σ |q| |k| / √d of a query and a key that it sees. The exponent of a weight is off by
//   d roundings of A in the product of the query and the key, whatever the order of the sum;
//   2 of A where 1 / √d is rounded and multiplied by;
//   2 of A if the score and the maximum are multiplied by log2 e before one is subtracted from the other;
//   of_exponent of 2 A for the difference, which is not above 2 A.
// A weight also has the error of its exponential, and those of n maxima and n additions. An element of O is a
// sum of weighted elements of V divided by the sum of the weights. Both have this error, relative to the mean
// of |V| with the same weights. The quotient, or a product with a reciprocal, comes last.
//
// A tensor core drops bits where it adds, for each product and each time that it adds at_a_time of them
// (bf16_rounding() of gemm). A drop is two roundings. Products of two bfloat16 are exact. A weight that is
// rounded to bfloat16 is off by 2^-9.
Result reference(std::span<const float> q, std::span<const float> k, std::span<const float> v, const Shape& s,
                 Factors factors) {
    constexpr double at_a_time = 4, of_narrow_weight = 0x1p-9 / rounding;
    const bool is_narrow = factors == Factors::bf16;
    const double of_a_product = is_narrow ? 2 * (1 + 2 / at_a_time) : 1;
    check(s);
    const auto n = static_cast<std::size_t>(s.n), d = static_cast<std::size_t>(s.d);
    const double scale = 1 / std::sqrt(s.d);
    Result result;
    std::vector<double> weight(n), sum(d), magnitude(d);
    for (std::size_t query = 0; query < static_cast<std::size_t>(s.heads) * n; ++query) {
        const std::size_t first = query / n * n;  // the first query of the head
        const std::size_t keys = s.causal ? query - first + 1 : n;
        double largest = -std::numeric_limits<double>::infinity(), terms = 0;
        for (std::size_t j = 0; j < keys; ++j) {
            double score = 0, all = 0;
            for (std::size_t i = 0; i < d; ++i) {
                const double term = static_cast<double>(q[query * d + i]) * k[(first + j) * d + i];
                score += term;
                all += std::abs(term);
            }
            weight[j] = score * scale;
            largest = std::max(largest, weight[j]);
            terms = std::max(terms, all * scale);
        }
        double weights = 0, largest_v = 0;
        std::ranges::fill(sum, 0);
        std::ranges::fill(magnitude, 0);
        for (std::size_t j = 0; j < keys; ++j) {
            const double w = std::exp(weight[j] - largest);
            weights += w;
            for (std::size_t i = 0; i < d; ++i) {
                const double x = v[(first + j) * d + i];
                sum[i] += w * x;
                magnitude[i] += w * std::abs(x);
                largest_v = std::max(largest_v, std::abs(x));
            }
        }
        const auto count = static_cast<double>(keys);
        const double off = rounding * ((of_a_product * s.d + 4 + 2 * of_exponent) * terms + of_exponential +
                                       (is_narrow ? of_narrow_weight : 0) +
                                       (of_a_product + of_a_maximum) * count + 1 + of_the_quotient);
        for (std::size_t i = 0; i < d; ++i) {
            result.values.push_back(sum[i] / weights);
            result.bound.push_back(2 * off * magnitude[i] / weights + smallest * count * (1 + largest_v));
        }
    }
    return result;
}

double operations(const Shape& s) {
    const double seen = s.causal ? (s.n + 1.0) / 2 : s.n;
    return 4.0 * s.heads * s.n * seen * s.d;
}

}  // namespace attention
