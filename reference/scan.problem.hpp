// The problem of the scan chapter as a step gets it: elements, their arrays on the device, and the expected
// results.
#pragma once
#include "check/data.hpp"
#include "judge/trial.hpp"
#include "scan.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace scan::problem {

using kata::Affine;
using kata::Arithmetic;
using kata::Buffer;
using kata::Module;

/// True if the step scans sections, each by itself; false if it scans the whole array.
inline bool scans_sections(const Module& step) { return step.has("scan_sections"); }

inline void call(const Module& step, const void* in, void* out, int n, int section, Kind kind,
                 kata::Operation operation, void* workspace) {
    if (scans_sections(step))
        step.function<decltype(scan_sections)>("scan_sections")(in, out, n, section, kind, operation);
    else
        step.function<decltype(scan_whole)>("scan_whole")(in, out, n, kind, workspace, operation);
}

/// Returns the two coefficients of each map.
inline std::vector<unsigned> coefficients(const std::vector<Affine>& maps) {
    std::vector<unsigned> all;
    for (const auto& map : maps) all.insert(all.end(), {map.a, map.b});
    return all;
}

template <class T>
struct Problem {
    std::vector<T> in;
    int section = max_section;  ///< all of the elements, if the step scans the whole array
    Kind kind = Kind::inclusive;
    bool exact = true;
    Arithmetic arithmetic = std::is_same_v<T, int>     ? Arithmetic::sum_of_int
                            : std::is_same_v<T, float> ? Arithmetic::sum_of_float
                                                       : Arithmetic::composition;

    int elements() const { return static_cast<int>(in.size()); }
    std::string text() const {
        return "n = " + std::to_string(elements()) +
               (section < elements() ? ", in sections of " + std::to_string(section) : "") +
               (kind == Kind::inclusive ? ", inclusive, " : ", exclusive, ") + kata::text_of(arithmetic);
    }
    double outputs() const { return elements(); }
    double operations() const { return elements(); }

    kata::Expected expected() const {
        const auto values = reference(in, section, kind);
        const kata::Layout layout{{elements()}, {section}};
        if constexpr (std::is_same_v<T, Affine>) {
            const auto both = coefficients(values);
            return {{both.begin(), both.end()}, {}, {{2, elements()}, {2, section}}};
        } else if constexpr (std::is_same_v<T, float>) {
            if (exact) return {values, {}, layout};
            // A sum of n terms in any order is off by at most n · eps · Σ|terms|.
            auto bound = magnitude(in, section, kind);
            for (auto& b : bound) b *= kata::rounding<float>;
            return {values, bound, layout};
        } else {
            return {{values.begin(), values.end()}, {}, layout};
        }
    }

    /// Describes the first wrong output, which is a sum of the inputs of its section up to there; of maps,
    /// whether a sum of numbers is right.
    std::optional<std::string> made_of(const Module& step, const kata::Conditions& conditions,
                                       const auto& result) const {
        if constexpr (std::is_same_v<T, Affine>) {
            if (in.size() >= kata::too_large_to_ask) return std::nullopt;
            const Problem<int> numbers{kata::coded<int>(in.size(), 1), section, kind};
            const auto right = reference(numbers.in, section, kind);
            const auto is_right = kata::asked(step, numbers, conditions, [&](const auto& out) {
                return std::equal(out.begin(), out.end(), right.begin(), right.end()) ? 1 : 0;
            });
            if (is_right != 1) return std::nullopt;
            return "the sum of as many ints is right, and addition commutes: is the value from further left "
                   "the left operand of op, wherever op is applied?";
        } else {
            if (!exact || in.size() >= kata::too_large_to_ask) return std::nullopt;
            const auto right = reference(in, section, kind);
            const auto wrong = static_cast<std::size_t>(
                std::mismatch(result.begin(), result.end(), right.begin()).first - result.begin());
            if (wrong == in.size()) return std::nullopt;
            const auto sum_of = [&](const std::vector<int>& few) {
                auto other = *this;
                other.in.assign(few.begin(), few.end());
                return kata::asked(step, other, conditions,
                                   [&](const auto& out) { return kata::if_written(out[wrong]); });
            };
            const auto first = wrong - wrong % static_cast<std::size_t>(section);
            if (const auto text =
                    kata::miscount(in.size(), first, wrong + (kind == Kind::inclusive ? 1 : 0), sum_of))
                return "what output " + std::to_string(wrong) + " is made of: " + *text;
            return std::nullopt;
        }
    }

    struct Device {
        int section;
        Kind kind;
        Arithmetic arithmetic;
        kata::Input<T> in;
        Buffer<T> out;
        Buffer<unsigned char> workspace;
        Buffer<unsigned long long> applications{"applications", std::vector<unsigned long long>(1)};

        explicit Device(const Problem& p, std::byte poison)
            : section(p.section),
              kind(p.kind),
              arithmetic(p.arithmetic),
              in("in", p.in),
              out("out", p.in.size(), poison),
              workspace("workspace", workspace_bytes(p.elements()), poison) {}
        void run(const Module& step) {
            call(step, in.data(), out.data(), static_cast<int>(in.size()), section, kind,
                 {arithmetic, arithmetic == Arithmetic::counted_sum ? applications.data() : nullptr},
                 workspace.data());
        }
        auto damage() const { return kata::damage_of(in, out, workspace); }
        const void* output() { return out.data(); }
        auto result() const {
            if constexpr (std::is_same_v<T, Affine>)
                return coefficients(out.values());
            else
                return out.values();
        }
    };
};

/// Returns the problem as the step sees it: one section, if it scans the whole array.
template <class T>
Problem<T> for_step(const Module& step, Problem<T> p) {
    check({p.elements(), p.section});
    if (!scans_sections(step)) p.section = std::max(1, p.elements());
    return p;
}

/// Small integers: every sum is exact in any order, also in float, and a wrong index shows.
template <class T = int>
Problem<T> coded(int n, int section = max_section, Kind kind = Kind::inclusive, unsigned seed = 1,
                 const Module& step = kata::step()) {
    return for_step<T>(step, {kata::coded<T>(static_cast<std::size_t>(n), seed), section, kind});
}

/// Maps, which do not commute. Their factors are odd: the product of 32 even ones is 0, and would hide
/// everything to their left.
inline Problem<Affine> maps(int n, int section = max_section, Kind kind = Kind::inclusive, unsigned seed = 1,
                            const Module& step = kata::step()) {
    const auto size = static_cast<std::size_t>(n);
    const auto a = kata::coded<unsigned>(size, seed), b = kata::coded<unsigned>(size, seed + 1000);
    Problem<Affine> p{std::vector<Affine>(size), section, kind};
    for (std::size_t i = 0; i < size; ++i) p.in[i] = {2 * a[i] + 1, b[i]};
    return for_step(step, p);
}

inline Problem<float> real(int n, int section = max_section, Kind kind = Kind::inclusive, unsigned seed = 1,
                           const Module& step = kata::step()) {
    return for_step<float>(step, {kata::reals(static_cast<std::size_t>(n), seed), section, kind, false});
}

/// Maps in a tile of the step: half as many as numbers, if it loads 16 bytes at a time.
inline int tile_of_maps() {
    const auto& row = kata::this_step();
    if (row.tile == 0) throw kata::Error("the row of " + std::string(row.name) + " has no .tile");
    return has_traits(row, "[packs]") ? row.tile / 2 : row.tile;
}

/// The first of 40 sections publishes nothing until the 38 after it have published their own sums and wait.
/// The last one starts when the first one continues: everything that it needs is published, in 39 places.
inline constexpr int sections_held_back = 40;
inline kata::Conditions first_held_back() {
    return {.order = kata::Order::shuffled,
            .metered = false,
            .resident = sections_held_back - 1,
            .first_held_back = true,
            .latest_first = true,
            .polls_per_turn = 4};
}

/// Ints that are zero except at both ends of the array.
struct Long {
    Buffer<int> in, out;
    Buffer<unsigned char> workspace;

    explicit Long(int n)
        : in("in", static_cast<std::size_t>(n), kata::zeros),
          out("out", static_cast<std::size_t>(n), kata::zeros),
          workspace("workspace", workspace_bytes(n), kata::zeros) {
        in.set(0, 3);
        in.set(elements() - 2, 4);
        in.set(elements() - 1, 5);
    }
    std::string text() const { return "n = " + std::to_string(elements()); }
    std::size_t elements() const { return in.size(); }
    void run(const Module& step) {
        const int n = static_cast<int>(elements());
        call(step, in.data(), out.data(), n, scans_sections(step) ? max_section : n, Kind::inclusive,
             {Arithmetic::sum_of_int}, workspace.data());
    }
    std::optional<std::string> fault() const {
        const int first = scans_sections(kata::step()) ? 0 : 3;  // in the last section
        const auto n = elements();
        for (const auto& [i, expected] :
             {std::pair(std::size_t{0}, 3), std::pair(n - 2, first + 4), std::pair(n - 1, first + 9)})
            if (out.element(i) != expected)
                return "element " + std::to_string(i) + " of " + std::to_string(n) + ": expected " +
                       std::to_string(expected) + ", got " + std::to_string(out.element(i));
        return kata::damage_of(in, out, workspace);
    }
};

}  // namespace scan::problem
