// The problems of the attention chapter as a step gets them: a matrix, or queries, keys and values, their
// arrays on the device, and the expected results.
#pragma once
#include "attention.hpp"
#include "check/data.hpp"
#include "judge/trial.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace attention::problem {

using kata::Buffer;
using kata::Module;

/// True if the step computes the softmax of rows; false if it computes attention.
inline bool is_softmax(const Module& step) { return step.has("softmax"); }
/// True if the step gets memory for scores.
inline bool has_scores(const Module& step) { return step.has("attend_with_scores"); }
/// Returns the type of a step's Q, K and V.
inline Factors factors_of(const Module& step) {
    return step.has("attend_bf16") ? Factors::bf16 : Factors::floats;
}

/// Returns by which factor the first wrong row is off, if its elements are in the right proportion, or that
/// all of it is NaN.
inline std::optional<std::string> off_by_a_factor(const std::vector<float>& got, const Result& right,
                                                  std::size_t columns) {
    for (std::size_t first = 0; first < got.size(); first += columns) {
        bool is_right = true, is_off = true;
        const auto row = right.values.begin() + static_cast<std::ptrdiff_t>(first);
        const auto most =
            first + static_cast<std::size_t>(
                        std::max_element(row, row + static_cast<std::ptrdiff_t>(columns),
                                         [](double x, double y) { return std::abs(x) < std::abs(y); }) -
                        row);
        const double factor = static_cast<double>(got[most]) / right.values[most];
        const auto of_row = got.begin() + static_cast<std::ptrdiff_t>(first);
        if (std::isfinite(right.values[most]) &&
            std::all_of(of_row, of_row + static_cast<std::ptrdiff_t>(columns),
                        [](float x) { return std::isnan(x); }))
            return "row " + std::to_string(first / columns) +
                   " is NaN, all of it: is it divided by a sum of 0, or is -inf subtracted from -inf, or inf "
                   "from inf?";
        if (!std::isfinite(factor) || factor <= 0) return std::nullopt;
        for (std::size_t i = first; i < first + columns; ++i) {
            const double off = std::abs(static_cast<double>(got[i]) - right.values[i]);
            const double off_otherwise = std::abs(static_cast<double>(got[i]) - factor * right.values[i]);
            is_right = is_right && off <= right.bound[i];
            is_off = is_off && off_otherwise <= 2 * std::max(factor, 1.0) * right.bound[i];
        }
        if (is_right) continue;
        // A row of one element is always in proportion.
        if (!is_off || columns < 2) return std::nullopt;
        return "row " + std::to_string(first / columns) + " is " + std::to_string(factor) +
               " times what it should be, all of it: is it divided by the sum of its own exponentials only, "
               "all relative to the row's largest element?";
    }
    return std::nullopt;
}

/// The softmax of rows.
struct Rows {
    Matrix matrix;
    std::vector<float> in;

    std::string text() const {
        return "rows = " + std::to_string(matrix.rows) + ", columns = " + std::to_string(matrix.columns);
    }
    double outputs() const { return static_cast<double>(matrix.elements()); }
    double operations() const { return 0; }  // memory bounds it
    kata::Expected expected() const {
        auto right = softmax_of(in, matrix);
        return {std::move(right.values), std::move(right.bound), {{matrix.columns, matrix.rows}, {0, 1}}};
    }
    std::optional<std::string> made_of(const Module&, const kata::Conditions&,
                                       const std::vector<float>& result) const {
        return off_by_a_factor(result, softmax_of(in, matrix), static_cast<std::size_t>(matrix.columns));
    }

    struct Device {
        Matrix matrix;
        kata::Input<float> in;
        Buffer<float> out;

        Device(const Rows& p, std::byte poison)
            : matrix(p.matrix), in("in", p.in), out("out", p.in.size(), poison) {}
        void run(const Module& step) {
            step.function<decltype(softmax)>("softmax")(in.data(), out.data(), matrix.rows, matrix.columns);
        }
        auto damage() const { return kata::damage_of(in, out); }
        const void* output() { return out.data(); }
        auto result() const { return out.values(); }
    };
};

/// Returns rows of random numbers.
inline Rows rows(const Matrix& m, unsigned seed = 1, float low = -8, float high = 8) {
    return {m, kata::reals(m.elements(), seed, low, high)};
}

inline std::vector<Bf16> narrow(const std::vector<float>& values) {
    std::vector<Bf16> all(values.size());
    std::transform(values.begin(), values.end(), all.begin(), to_bf16);
    return all;
}
inline std::vector<float> rounded(std::vector<float> values) {
    for (auto& value : values) value = to_float(to_bf16(value));
    return values;
}

struct Heads {
    Shape shape;
    std::vector<float> q, k, v;
    Factors factors = factors_of(kata::step());

    std::string text() const {
        return "heads = " + std::to_string(shape.heads) + ", n = " + std::to_string(shape.n) +
               ", d = " + std::to_string(shape.d) + (shape.causal ? ", causal" : "");
    }
    double outputs() const { return static_cast<double>(shape.elements()); }
    double operations() const { return attention::operations(shape); }
    /// Returns the result for the numbers that the step gets.
    Result right() const {
        if (factors == Factors::floats) return reference(q, k, v, shape);
        return reference(rounded(q), rounded(k), rounded(v), shape, factors);
    }
    kata::Expected expected() const {
        auto right = this->right();
        return {std::move(right.values), std::move(right.bound), {{shape.d, shape.n, shape.heads}}};
    }
    std::optional<std::string> made_of(const Module& step, const kata::Conditions& conditions,
                                       const std::vector<float>& result) const {
        const auto right = this->right();
        const auto d = static_cast<std::size_t>(shape.d);
        if (auto text = off_by_a_factor(result, right, d)) return text;
        for (std::size_t i = 0; i < result.size(); ++i)
            if (std::abs(static_cast<double>(result[i]) - right.values[i]) > right.bound[i] &&
                std::isfinite(result[i]))
                return wrong_weights(step, conditions, i / d);
        return std::nullopt;
    }

    /// Returns which weights the step gives to keys that should have others. They are read from a result: if
    /// V is 1 in column c of key first + c, and 0 elsewhere, column c of O is the weight of this key.
    std::optional<std::string> wrong_weights(const Module& step, const kata::Conditions& conditions,
                                             std::size_t row) const {
        const auto n = static_cast<std::size_t>(shape.n), d = static_cast<std::size_t>(shape.d);
        if (shape.scores() * d >= 64 * kata::too_large_to_ask) return std::nullopt;
        const auto head = row / n, query = row % n;
        std::vector<std::size_t> wrong;
        double sum = 0;
        std::string text;
        bool tells_of_hidden = false, all_weigh_more = true;
        for (std::size_t first = 0; first < n; first += d) {
            auto other = *this;
            other.v.assign(v.size(), 0);
            for (std::size_t c = 0; c < std::min(d, n - first); ++c)
                other.v[(head * n + first + c) * d + c] = 1;
            const auto right = other.right();
            std::vector<float> got;
            const auto keep = [&](const auto& all) {
                got = all;
                return 0.0;
            };
            if (!kata::asked(step, other, conditions, keep)) return std::nullopt;
            for (std::size_t c = 0; c < std::min(d, n - first); ++c) {
                const auto weight = static_cast<double>(got[row * d + c]),
                           expected = right.values[row * d + c];
                sum += weight;
                if (std::abs(weight - expected) <= right.bound[row * d + c]) continue;
                const auto key = first + c;
                const bool is_hidden = shape.causal && key > query;
                if (wrong.empty() || (is_hidden && !tells_of_hidden))
                    text = "key " + std::to_string(key) + " has " + std::to_string(weight) +
                           (is_hidden ? ", and the query does not see it"
                                      : " and should have " + std::to_string(expected));
                tells_of_hidden = tells_of_hidden || is_hidden;
                all_weigh_more = all_weigh_more && weight > expected;
                wrong.push_back(key);
            }
        }
        if (wrong.empty()) return std::nullopt;
        const bool are_first = wrong.size() < n && wrong.back() == wrong.size() - 1;
        return "of query " + std::to_string(query) + " of head " + std::to_string(head) +
               ", the weights of " + std::to_string(wrong.size()) + " of " + std::to_string(n) +
               " keys are wrong, from key " + std::to_string(wrong.front()) + " to key " +
               std::to_string(wrong.back()) + ": " + text + "; the sum of all is " + std::to_string(sum) +
               (are_first && all_weigh_more && !tells_of_hidden
                    ? ". These keys come first, and weigh too much: is the result so far multiplied when the "
                      "largest score rises?"
                    : "");
    }

    struct Device {
        template <class T>
        struct Inputs {
            kata::Input<T> q, k, v;
            Inputs(const std::vector<T>& q, const std::vector<T>& k, const std::vector<T>& v)
                : q("Q", q), k("K", k), v("V", v) {}
        };
        Shape shape;
        std::optional<Inputs<float>> floats = {};
        std::optional<Inputs<Bf16>> bf16 = {};
        Buffer<float> out;
        std::byte poison;
        std::optional<Buffer<float>> scores = {};  // only for a step that has such an argument

        Device(const Heads& p, std::byte poison)
            : shape(p.shape), out("out", p.shape.elements(), poison), poison(poison) {
            if (p.factors == Factors::floats) floats.emplace(p.q, p.k, p.v);
            if (p.factors == Factors::bf16) bf16.emplace(narrow(p.q), narrow(p.k), narrow(p.v));
        }
        void run(const Module& step) {
            const auto& [heads, n, d, causal] = shape;
            if (has_scores(step)) {
                check_with_scores(shape);
                if (!scores) scores.emplace("scores", shape.scores(), poison);
                auto& [q, k, v] = floats.value();
                step.function<decltype(attend_with_scores)>("attend_with_scores")(
                    q.data(), k.data(), v.data(), out.data(), heads, n, d, causal, scores->data());
            } else if (factors_of(step) == Factors::bf16) {
                auto& [q, k, v] = bf16.value();
                step.function<AttendBf16>("attend_bf16")(q.data(), k.data(), v.data(), out.data(), heads, n,
                                                         d, causal);
            } else {
                auto& [q, k, v] = floats.value();
                step.function<decltype(attend)>("attend")(q.data(), k.data(), v.data(), out.data(), heads, n,
                                                          d, causal);
            }
        }
        std::optional<std::string> damage() const {
            const auto of_inputs = [](const auto& inputs) {
                return inputs ? kata::damage_of(inputs->q, inputs->k, inputs->v) : std::nullopt;
            };
            if (auto text = of_inputs(floats)) return text;
            if (auto text = of_inputs(bf16)) return text;
            return scores ? kata::damage_of(out, *scores) : out.damage();
        }
        const void* output() { return out.data(); }
        auto result() const { return out.values(); }
    };
};

/// Returns random numbers: all keys that a query sees have some weight.
inline Heads heads(const Shape& s, unsigned seed, Factors factors) {
    const auto reals = [&](unsigned more) { return kata::reals<float>(s.elements(), seed + more, -2, 2); };
    return {s, reals(0), reals(1000), reals(2000), factors};
}
inline Heads heads(const Shape& s, unsigned seed = 1) { return heads(s, seed, factors_of(kata::step())); }

/// Returns queries that each have all weight on one key that they see: O has rows of V, so that a wrong index
/// shows. A key is a code of ±1, and a query 64 times the code of its key. The score of that is 64 √d, whose
/// exponential no float can hold. All others are smaller by more than 104, so that their weights are 0 in
/// float: two random codes agree in 58 of 64 places or more with a probability of 5e-12.
inline Heads codes(const Shape& s, unsigned seed = 1) {
    Heads p{s, std::vector<float>(s.elements()), std::vector<float>(s.elements()),
            kata::coded(s.elements(), seed)};
    std::mt19937 engine(seed);
    for (auto& x : p.k) x = engine() >> 31 ? 1 : -1;
    const auto n = static_cast<std::size_t>(s.n), d = static_cast<std::size_t>(s.d);
    for (std::size_t row = 0; row < p.q.size() / d; ++row) {
        const auto seen = s.causal ? row % n + 1 : n, key = row / n * n + engine() % seen;
        for (std::size_t i = 0; i < d; ++i) p.q[row * d + i] = 64 * p.k[key * d + i];
    }
    return p;
}

}  // namespace attention::problem
