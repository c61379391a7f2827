// The problem of the convolution chapter as a step gets it: images and filters, their arrays on the device,
// and the expected results.
#pragma once
#include "check/data.hpp"
#include "convolution.hpp"
#include "judge/trial.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace convolution::problem {

using kata::Buffer;
using kata::Module;

inline std::size_t elements(const Shape& s) { return static_cast<std::size_t>(s.outputs()); }
inline std::size_t weights(const Shape& s) { return static_cast<std::size_t>(s.side() * s.side()); }

inline void call(const Module& step, const float* in, const float* filter, float* out, const Shape& s) {
    step.function<decltype(convolve)>("convolve")(in, filter, out, s.width, s.height, s.radius);
}

struct Problem {
    Shape shape;
    std::vector<float> in, filter;
    bool exact = true;

    std::string text() const {
        return "width = " + std::to_string(shape.width) + ", height = " + std::to_string(shape.height) +
               ", radius = " + std::to_string(shape.radius);
    }
    double outputs() const { return shape.outputs(); }
    double operations() const { return convolution::operations(shape); }

    kata::Expected expected() const {
        convolution::check(shape);
        kata::Expected e{
            convolution::reference(in, filter, shape), {}, {{shape.width, shape.height}, {32, 32}}};
        if (exact) return e;
        // A sum of n products in any order is off by at most n · eps · Σ|terms|, to first order in eps.
        e.bound = convolution::magnitude(in, filter, shape);
        for (auto& bound : e.bound) bound *= (shape.side() * shape.side() + 1) * kata::rounding<float>;
        return e;
    }

    /// Returns which other filter gives the wrong result, if one does; else which inputs count wrongly in its
    /// first wrong element.
    std::optional<std::string> made_of(const Module& step, const kata::Conditions& conditions,
                                       const std::vector<float>& result) const {
        const auto side = static_cast<std::size_t>(shape.side()), count = side * side;
        if (!exact || shape.radius == 0 || in.size() * count >= 100 * kata::too_large_to_ask)
            return std::nullopt;
        constexpr std::size_t few = 16;  // fewer elements may be right by chance
        if (result.size() < few) return std::nullopt;
        auto exchanged = filter, begun = filter;
        for (std::size_t i = 0; i < count; ++i) exchanged[i] = filter[i % side * side + i / side];
        std::fill(begun.begin() + static_cast<std::ptrdiff_t>(count / sizeof(float)), begun.end(), 0.0f);
        const std::vector<float> turned(filter.rbegin(), filter.rend());
        auto upside_down = filter, mirrored = filter;
        for (std::size_t i = 0; i < count; ++i) {
            upside_down[i] = filter[(side - 1 - i / side) * side + i % side];
            mirrored[i] = filter[i / side * side + side - 1 - i % side];
        }
        const auto is_of = [&](const std::vector<float>& other) {
            const auto all = convolution::reference(in, other, shape);
            return std::equal(result.begin(), result.end(), all.begin(),
                              [](float a, double b) { return static_cast<double>(a) == b; });
        };
        const std::string right = "it would be right for ";
        if (is_of(exchanged)) return right + "a filter whose rows and columns are exchanged";
        if (is_of(turned)) return right + "a filter that is turned round, whose last weight comes first";
        if (is_of(upside_down)) return right + "a filter whose last row comes first";
        if (is_of(mirrored)) return right + "a filter whose last column comes first";
        if (is_of(begun))
            return right + "a filter in which only the first " + std::to_string(count / sizeof(float)) +
                   " of " + std::to_string(count) +
                   " weights are not 0: a copy takes a number of bytes, not of elements";
        for (std::size_t row = 1; row <= 2 * convolution::max_radius + 2; ++row) {
            if (row == side || in.size() * count >= 16 * kata::too_large_to_ask) continue;
            auto other = filter;
            for (std::size_t i = 0; i < count; ++i) {
                const auto at = i / side * row + i % side;
                other[i] = at < count ? filter[at] : 0.0f;
            }
            if (is_of(other))
                return right + "a filter whose rows have " + std::to_string(row) +
                       " weights each, and they have " + std::to_string(side);
        }
        if (in.size() >= kata::too_large_to_ask) return std::nullopt;
        return kata::displaced_in(step, *this, &Problem::in, conditions, result);
    }

    struct Device {
        Shape shape;
        kata::Input<float> in, filter;
        Buffer<float> out;

        explicit Device(const Problem& p, std::byte poison)
            : shape(p.shape), in("in", p.in), filter("filter", p.filter), out("out", p.in.size(), poison) {}
        void run(const Module& step) { call(step, in.data(), filter.data(), out.data(), shape); }
        auto damage() const { return kata::damage_of(in, filter, out); }
        const void* output() { return out.data(); }
        auto result() const { return out.values(); }
    };
};

/// Small integers: every sum is exact in float, whatever the order, and a wrong index shows.
inline Problem coded(const Shape& s, unsigned seed = 1) {
    return {s, kata::coded(elements(s), seed), kata::coded(weights(s), seed + 1000)};
}

inline Problem real(const Shape& s, unsigned seed = 1) {
    return {s, kata::reals(elements(s), seed), kata::reals(weights(s), seed + 1000), false};
}

/// An image that repeats a few elements, because it would take seconds to generate all of them.
inline Problem large(const Shape& s, const std::vector<float>& few, Problem small) {
    small.shape = s;
    small.in = kata::repeated(few, elements(s));
    return small;
}

/// An image of zeros with a 3 in its first and its last element.
struct Corners {
    Shape shape;
    Buffer<float> in{"in", elements(), kata::zeros}, filter{"filter", std::vector<float>(9, 2)},
        out{"out", elements(), kata::zeros};

    Corners(int width, int height) : shape{width, height, 1} {
        for (const auto i : {std::size_t{0}, elements() - 1}) in.set(i, 3);
    }
    std::string text() const {
        return "width = " + std::to_string(shape.width) + ", height = " + std::to_string(shape.height);
    }
    std::size_t elements() const {
        return static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.height);
    }
    void run(const Module& step) { call(step, in.data(), filter.data(), out.data(), shape); }
    std::optional<std::string> fault() const {
        const auto n = elements();
        for (const auto i : {std::size_t{0}, n - 2, n - 1})
            if (out.element(i) != 6)
                return "element " + std::to_string(i) + " of " + std::to_string(shape.height) + " rows of " +
                       std::to_string(shape.width) + ": expected 6, got " + std::to_string(out.element(i));
        return kata::damage_of(in, filter, out);
    }
};

}  // namespace convolution::problem
