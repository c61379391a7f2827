// The problem of the gemm chapter as a step gets it: matrices of floats or of bfloat16, their arrays on the
// device, and the expected results.
#pragma once
#include "check/data.hpp"
#include "gemm.hpp"
#include "judge/trial.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace matrices::problem {

using kata::Buffer;
using kata::Module;

/// The type of a step's A and B.
enum class Factors { floats, bf16, either };

inline Factors factors_of(const Module& step) {
    return step.has("gemm_bf16") ? Factors::bf16 : Factors::floats;
}

template <class T>
void call(const Module& step, const T* a, const T* b, float* c, const Shape& s) {
    step.function<void(const T*, const T*, float*, int, int, int)>(
        std::is_same_v<T, float> ? "gemm" : "gemm_bf16")(a, b, c, s.m, s.n, s.k);
}

template <class T>
T as_factor(float value) {
    if constexpr (std::is_same_v<T, float>)
        return value;
    else
        return to_bf16(value);
}

template <class T>
std::vector<T> as_factors(const std::vector<float>& values) {
    std::vector<T> factors(values.size());
    std::transform(values.begin(), values.end(), factors.begin(), as_factor<T>);
    return factors;
}

inline std::string text_of(const Shape& s) {
    return "m = " + std::to_string(s.m) + ", n = " + std::to_string(s.n) + ", k = " + std::to_string(s.k);
}

/// A matrix, padded with zeros to whole squares of this side, as tiles are. Rows and columns are exchanged
/// within each square if `exchanged`.
struct Squares {
    int rows, columns;
    std::vector<float> elements;

    Squares(const std::vector<float>& matrix, int of_rows, int of_columns, int side, bool exchanged)
        : rows((of_rows + side - 1) / side * side),
          columns((of_columns + side - 1) / side * side),
          elements(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {
        for (int row = 0; row < of_rows; ++row)
            for (int column = 0; column < of_columns; ++column) {
                const int to_row = exchanged ? row / side * side + column % side : row,
                          to_column = exchanged ? column / side * side + row % side : column;
                elements[static_cast<std::size_t>(to_row * columns + to_column)] =
                    matrix[static_cast<std::size_t>(row * of_columns + column)];
            }
    }
};

/// Returns in which tiles rows and columns are exchanged, if that explains every element of a wrong product.
inline std::optional<std::string> exchanged_in_tiles(const std::vector<float>& a, const std::vector<float>& b,
                                                     const Shape& shape, const std::vector<float>& result) {
    for (const int side : {32, 16, 8})
        for (const auto& [of_a, of_b] :
             {std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
            const Squares first(a, shape.m, shape.k, side, of_a), second(b, shape.k, shape.n, side, of_b);
            const auto all =
                reference(first.elements, second.elements, {first.rows, second.columns, first.columns});
            const auto agrees = [&](int row, int column) {
                return static_cast<double>(result[static_cast<std::size_t>(row * shape.n + column)]) ==
                       all[static_cast<std::size_t>(row * second.columns + column)];
            };
            bool all_agree = true;
            for (int row = 0; row < shape.m && all_agree; ++row)
                for (int column = 0; column < shape.n && all_agree; ++column) all_agree = agrees(row, column);
            if (!all_agree) continue;
            const std::string what = of_a && of_b ? "A and B" : of_a ? "A" : "B";
            return "it would be right if rows and columns were exchanged within each square of " +
                   std::to_string(side) + " x " + std::to_string(side) + " of " + what + ": does a tile of " +
                   (of_a && of_b ? "each" : what) +
                   " have its indices exchanged where it is stored, or else where it is read?";
        }
    return std::nullopt;
}

struct Problem {
    Shape shape;
    std::vector<float> a, b;
    bool exact = true;
    Factors factors = factors_of(kata::step());

    std::string text() const { return text_of(shape); }
    double outputs() const { return static_cast<double>(shape.elements_of_c()); }
    double operations() const { return matrices::operations(shape); }

    kata::Expected expected() const {
        factors == Factors::bf16 ? check_bf16(shape) : check(shape);
        kata::Expected e{reference(a, b, shape), {}, {{shape.n, shape.m}, {32, 32}}};
        if (exact) return e;
        // A sum of k products in any order is off by at most k · eps · Σ|terms|, to first order in eps.
        const double off =
            factors == Factors::bf16 ? bf16_rounding(shape.k) : (shape.k + 1) * kata::rounding<float>;
        e.bound = magnitude(a, b, shape);
        for (auto& bound : e.bound) bound *= off;
        return e;
    }

    /// Returns which other matrices give the wrong result, or else which products are in its first wrong
    /// element.
    std::optional<std::string> made_of(const Module& step, const kata::Conditions& conditions,
                                       const std::vector<float>& result) const {
        constexpr std::size_t few = 16;                          // fewer elements may be right by chance
        constexpr std::size_t asked_first = 8, most_asked = 64;  // each takes a run or two
        const auto count = result.size();
        if (!exact || shape.k == 0 ||
            count * static_cast<std::size_t>(shape.k) >= 16 * kata::too_large_to_ask)
            return std::nullopt;
        const auto is_of = [&](const std::vector<float>& first, const std::vector<float>& second) {
            const auto all = reference(first, second, shape);
            return count >= few && std::equal(result.begin(), result.end(), all.begin(),
                                              [](float x, double y) { return static_cast<double>(x) == y; });
        };
        const auto transposed = [](const std::vector<float>& matrix, int rows, int columns) {
            auto other = matrix;
            for (int row = 0; row < rows; ++row)
                for (int column = 0; column < columns; ++column)
                    other[static_cast<std::size_t>(row * columns + column)] =
                        matrix[static_cast<std::size_t>(column * rows + row)];
            return other;
        };
        const std::string read = "it would be right if ",
                          stored = " were stored column by column: is its index column * height + row?";
        if (is_of(a, transposed(b, shape.k, shape.n))) return read + "B" + stored;
        if (is_of(transposed(a, shape.m, shape.k), b)) return read + "A" + stored;
        if (count >= few)
            if (const auto text = exchanged_in_tiles(a, b, shape, result)) return text;

        const auto right = reference(a, b, shape);
        const auto wrong = static_cast<std::size_t>(
            std::mismatch(result.begin(), result.end(), right.begin()).first - result.begin());
        if (wrong == count) return std::nullopt;
        const auto n = static_cast<std::size_t>(shape.n), k = static_cast<std::size_t>(shape.k);
        const auto row = wrong / n, column = wrong % n;
        // A is 0 except for `ones` in the row of the element, and B is 1: only their products count.
        const auto sum_of = [&](const std::vector<int>& ones) {
            auto other = *this;
            other.b.assign(b.size(), 1);
            other.a.assign(a.size(), 0);
            std::copy(ones.begin(), ones.end(), other.a.begin() + static_cast<std::ptrdiff_t>(row * k));
            return kata::asked(step, other, conditions,
                               [&](const auto& c) { return kata::if_written(c[wrong]); });
        };
        const auto of_c =
            "what row " + std::to_string(row) + ", column " + std::to_string(column) + " of C is made of: ";
        if (const auto text = other_factor(step, conditions, wrong, 0, asked_first)) return of_c + *text;
        if (const auto text = kata::miscount(k, 0, k, sum_of, "product")) return of_c + *text;
        if (const auto text = other_factor(step, conditions, wrong, asked_first, most_asked))
            return of_c + *text;
        return std::nullopt;
    }

    /// Returns the first of the products `from` up to `to` of an element of C that has the right element of A
    /// and another one of B: "A[0][3] is multiplied by B[4][0], and not by B[3][0]".
    std::optional<std::string> other_factor(const Module& step, const kata::Conditions& conditions,
                                            std::size_t of_c, std::size_t from, std::size_t to) const {
        const auto n = static_cast<std::size_t>(shape.n), k = static_cast<std::size_t>(shape.k);
        const auto row = of_c / n, column = of_c % n;
        constexpr std::size_t bf16_counts_to = 256;
        if (factors == Factors::bf16 && b.size() > bf16_counts_to) return std::nullopt;
        const auto element = [](const char* of, std::size_t in_row, std::size_t in_column) {
            return std::string(of) + "[" + std::to_string(in_row) + "][" + std::to_string(in_column) + "]";
        };
        for (auto i = from; i < std::min(k, to); ++i) {
            auto other = *this;
            other.a.assign(a.size(), 0);
            other.a[row * k + i] = 1;
            // Elements of B are numbered from the first one, and then from the last. The two numbers agree
            // only if the result is one element.
            const auto numbered = [&](auto number_of) {
                for (std::size_t at = 0; at < b.size(); ++at) other.b[at] = static_cast<float>(number_of(at));
                return kata::asked(step, other, conditions,
                                   [&](const auto& c) { return kata::if_written(c[of_c]); });
            };
            const auto number = numbered([](std::size_t at) { return at + 1; });
            if (!number || *number == static_cast<double>(i * n + column + 1)) continue;
            const auto from_last = numbered([&](std::size_t at) { return b.size() - at; });
            const auto last = static_cast<double>(b.size());
            if (!from_last || *number + *from_last != last + 1) continue;
            if (*number != std::floor(*number) || *number < 1 || *number > last) continue;
            const auto partner = static_cast<std::size_t>(*number) - 1;
            return element("A", row, i) + " is multiplied by " + element("B", partner / n, partner % n) +
                   ", and not by " + element("B", i, column);
        }
        return std::nullopt;
    }

    struct Device {
        template <class T>
        struct Pair {
            kata::Input<T> a, b;
            explicit Pair(const Problem& p) : a("A", as_factors<T>(p.a)), b("B", as_factors<T>(p.b)) {}
        };
        Shape shape;
        std::optional<Pair<float>> floats = {};
        std::optional<Pair<Bf16>> bf16 = {};
        Buffer<float> c;

        explicit Device(const Problem& p, std::byte poison)
            : shape(p.shape), c("C", p.shape.elements_of_c(), poison) {
            if (p.factors != Factors::bf16) floats.emplace(p);
            if (p.factors != Factors::floats) bf16.emplace(p);
        }
        void run(const Module& step) {
            if (factors_of(step) == Factors::bf16)
                call(step, bf16.value().a.data(), bf16.value().b.data(), c.data(), shape);
            else
                call(step, floats.value().a.data(), floats.value().b.data(), c.data(), shape);
        }
        std::optional<std::string> damage() const {
            const auto of_factors = [](const auto& pair) {
                return pair ? kata::damage_of(pair->a, pair->b) : std::nullopt;
            };
            if (auto text = of_factors(floats)) return text;
            if (auto text = of_factors(bf16)) return text;
            return c.damage();
        }
        const void* output() { return c.data(); }
        auto result() const { return c.values(); }
    };
};

/// Returns the shape for a step with such factors: for bfloat16, n and k are rounded up to multiples of
/// eight.
inline Shape taken(Shape s, Factors factors) {
    const auto up = [](int length) { return (length + bf16_granule - 1) / bf16_granule * bf16_granule; };
    if (factors == Factors::bf16) s.n = up(s.n), s.k = up(s.k);
    return s;
}

/// Small integers: every sum is exact in float, whatever the order, and a wrong index shows.
inline Problem coded(const Shape& for_floats, unsigned seed, Factors factors) {
    const auto s = taken(for_floats, factors);
    return {s, kata::coded(s.elements_of_a(), seed), kata::coded(s.elements_of_b(), seed + 1000), true,
            factors};
}
inline Problem coded(const Shape& s, unsigned seed = 1) { return coded(s, seed, factors_of(kata::step())); }

/// Numbers that the step's type represents exactly, so that only its sums are rounded.
inline Problem real(const Shape& for_floats, unsigned seed, Factors factors) {
    const auto s = taken(for_floats, factors);
    Problem p{s, kata::reals(s.elements_of_a(), seed), kata::reals(s.elements_of_b(), seed + 1000), false,
              factors};
    if (factors == Factors::bf16)
        for (auto* matrix : {&p.a, &p.b})
            for (auto& value : *matrix) value = to_float(to_bf16(value));
    return p;
}
inline Problem real(const Shape& s, unsigned seed = 1) { return real(s, seed, factors_of(kata::step())); }

/// Matrices that are zero except for two opposite corners of A and of B, in memory of their full size.
template <class T>
struct Corners {
    Shape shape;
    Buffer<T> a, b;
    Buffer<float> c;

    explicit Corners(const Shape& s)
        : shape(s),
          a("a", s.elements_of_a(), kata::zeros),
          b("b", s.elements_of_b(), kata::zeros),
          c("c", s.elements_of_c(), kata::zeros) {
        a.set(0, as_factor<T>(2));
        a.set(s.elements_of_a() - 1, as_factor<T>(3));
        b.set(0, as_factor<T>(5));
        b.set(s.elements_of_b() - 1, as_factor<T>(7));
    }
    std::string text() const { return text_of(shape); }
    std::size_t elements() const { return shape.elements_of_c(); }
    void run(const Module& step) { call(step, a.data(), b.data(), c.data(), shape); }
    /// The first element of C is the product of the first corners, and the last element is that of the last
    /// corners. A matrix of one element has its last corner only.
    std::optional<std::string> fault() const {
        const int first = (shape.elements_of_a() == 1 ? 3 : 2) * (shape.elements_of_b() == 1 ? 7 : 5);
        const auto last = elements() - 1;
        for (const auto& [i, expected] : {std::pair(std::size_t{0}, first), std::pair(last, 21)})
            if (c.element(i) != expected)
                return "element " + std::to_string(i) + " of " + std::to_string(elements()) + ": expected " +
                       std::to_string(expected) + ", got " + std::to_string(c.element(i));
        return kata::damage_of(a, b, c);
    }
};

}  // namespace matrices::problem
