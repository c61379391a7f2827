// The problem of the sort chapter as a step gets it: elements, their arrays on the device, and the expected
// results.
#pragma once
#include "check/data.hpp"
#include "judge/trial.hpp"
#include "sort.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace sort::problem {

using kata::Buffer;
using kata::Module;

/// True if the step merges two lists; false if it sorts an array.
inline bool merges(const Module& step) { return step.has("merge_lists"); }

template <class T>
constexpr Type type_of = std::is_same_v<T, Pair>    ? Type::pairs
                         : sizeof(T) == sizeof(int) ? Type::keys_of_32_bits
                                                    : Type::keys_of_64_bits;

/// For messages.
constexpr const char* text_of(Type type) {
    switch (type) {
        case Type::keys_of_32_bits:
            return "keys of 32 bits";
        case Type::keys_of_64_bits:
            return "keys of 64 bits (x 0 is the lower half)";
        case Type::pairs:
            return "pairs of key (x 0) and value (x 1)";
    }
    return "";
}

template <class T>
struct Problem {
    std::vector<T> in;           ///< for a step that merges: one list behind the other, each sorted
    std::size_t first_list = 0;  ///< the length of the first one

    static constexpr int words = sizeof(T) / sizeof(unsigned);

    std::string text() const {
        return (first_list > 0 ? "m = " + std::to_string(first_list) + ", " : "") +
               "n = " + std::to_string(in.size() - first_list) + ", " + text_of(type_of<T>);
    }
    double outputs() const { return static_cast<double>(in.size()); }
    double operations() const { return 0; }  // only comparisons and moves
    /// Elements are compared as numbers of 32 bits, all of which a double has.
    kata::Expected expected() const {
        check(static_cast<long long>(in.size()));
        const auto all = in_words(reference<T>(in));
        const int n = static_cast<int>(in.size());
        if (words == 1) return {{all.begin(), all.end()}, {}, {{n}, {256}}};
        return {{all.begin(), all.end()}, {}, {{words, n}, {words, 256}}};
    }

    /// Returns each element as numbers of 32 bits: halves of a key, the lower one first, or key and value.
    static std::vector<unsigned> in_words(const std::vector<T>& elements) {
        std::vector<unsigned> all(elements.size() * words);
        if (!elements.empty()) std::memcpy(all.data(), elements.data(), elements.size() * sizeof(T));
        return all;
    }

    /// Returns how the result differs from the input as a whole, where that says more than its elements do.
    std::optional<std::string> made_of(const Module&, const kata::Conditions&,
                                       const std::vector<unsigned>& result) const {
        std::vector<T> got(in.size());
        if (got.size() < 2) return std::nullopt;
        std::memcpy(got.data(), result.data(), got.size() * sizeof(T));
        const auto by_key = [](T x, T y) { return sorted_by(x) < sorted_by(y); };
        const auto by_all = [](T x, T y) {
            if constexpr (std::is_same_v<T, Pair>)
                return std::pair(x.key, x.value) < std::pair(y.key, y.value);
            else
                return x < y;
        };
        auto before = in, after = got;
        std::ranges::sort(before, by_all);
        std::ranges::sort(after, by_all);
        if (before != after) {
            std::vector<T> lost, extra;
            std::ranges::set_difference(before, after, std::back_inserter(lost), by_all);
            return std::to_string(lost.size()) + " of " + std::to_string(in.size()) + " elements " +
                   (lost.size() == 1 ? "is" : "are") +
                   " missing from the result: in their places are others twice, or values that "
                   "were not in the input";
        }
        if (std::ranges::is_sorted(got, by_key))
            return "the keys are in order, but elements with the same key are not in the order of the input";
        return "every element of the input is there, in the wrong place";
    }

    struct Device {
        std::size_t first_list;
        kata::Input<T> in;
        Buffer<T> out;
        Buffer<unsigned char> workspace;

        explicit Device(const Problem& p, std::byte poison)
            : first_list(p.first_list),
              in("in", p.in),
              out("out", p.in.size(), poison),
              workspace("workspace", workspace_bytes(p.in.size(), sizeof(T)), poison) {}
        void run(const Module& step) {
            const int n = static_cast<int>(in.size()), m = static_cast<int>(first_list);
            if (merges(step))
                step.function<decltype(merge_lists)>("merge_lists")(in.data(), m, in.data() + m, n - m,
                                                                    out.data(), type_of<T>);
            else
                step.function<decltype(sort_elements)>("sort_elements")(in.data(), out.data(), n,
                                                                        workspace.data(), type_of<T>);
        }
        auto damage() const { return kata::damage_of(in, out, workspace); }
        auto result() const { return in_words(out.values()); }
    };
};

/// Returns n elements; for a step that merges they are two sorted lists, of which the first has `m` elements.
template <class T>
Problem<T> lists(std::size_t m, std::size_t n, Keys keys, unsigned seed = 1) {
    Problem<T> p;
    for (const auto length : {m, n}) {
        const auto begin = p.in.size();
        for (std::size_t i = 0; i < length; ++i) p.in.push_back(element<T>(keys, begin + i, m + n, seed));
        const std::vector<T> sorted = reference<T>(std::span(p.in).subspan(begin));
        std::ranges::copy(sorted, p.in.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    p.first_list = m;
    return p;
}
template <class T = std::uint32_t>
Problem<T> elements(std::size_t n, Keys keys = Keys::uniform, unsigned seed = 1,
                    const Module& step = kata::step()) {
    if (merges(step)) return lists<T>(n / 3, n - n / 3, keys, seed);
    Problem<T> p;
    for (std::size_t i = 0; i < n; ++i) p.in.push_back(element<T>(keys, i, n, seed));
    return p;
}

}  // namespace sort::problem
