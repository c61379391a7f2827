// The problem of the transposition chapter as a step gets it: matrices, their arrays on the device, and the
// expected results.
#pragma once
#include "check/data.hpp"
#include "judge/trial.hpp"
#include "transposition.hpp"

#include <optional>
#include <string>
#include <vector>

namespace transposition::problem {

using kata::Buffer;
using kata::Module;

inline void call(const Module& step, const float* in, float* out, const Shape& s) {
    step.function<decltype(transpose)>("transpose")(in, out, s.rows, s.columns);
}

struct Problem {
    Shape shape;
    std::vector<float> in;

    std::string text() const {
        return "rows = " + std::to_string(shape.rows) + ", columns = " + std::to_string(shape.columns);
    }
    double outputs() const { return static_cast<double>(shape.elements()); }
    double operations() const { return 0; }  // only moves
    kata::Expected expected() const {
        check(shape);
        return {reference(in, shape), {}, {{shape.rows, shape.columns}, {32, 32}}};
    }

    /// Returns that the step has only copied, if it has; else which element of the matrix
    /// stands in the place of the first wrong one.
    std::optional<std::string> made_of(const Module& step, const kata::Conditions& conditions,
                                       const std::vector<float>& result) const {
        constexpr std::size_t few = 16;  // fewer elements may be right by chance
        if (result.size() >= few && result == in)
            return "the result is the matrix as it was: it is copied and not transposed";
        if (result.size() >= kata::too_large_to_ask) return std::nullopt;
        return kata::displaced_in(step, *this, &Problem::in, conditions, result,
                                  {{shape.columns, shape.rows}});
    }

    struct Device {
        Shape shape;
        kata::Input<float> in;
        Buffer<float> out;

        Device(const Problem& p, std::byte poison)
            : shape(p.shape), in("in", p.in), out("out", p.in.size(), poison) {}
        void run(const Module& step) { call(step, in.data(), out.data(), shape); }
        auto damage() const { return kata::damage_of(in, out); }
        const void* output() { return out.data(); }
        auto result() const { return out.values(); }
    };
};

/// Small integers, so that a wrong index shows.
inline Problem coded(const Shape& s, unsigned seed = 1) { return {s, kata::coded(s.elements(), seed)}; }

/// A matrix that repeats a few elements, because it would take seconds to generate all of them.
inline Problem large(const Shape& s) {
    return {s, kata::repeated(kata::coded(kata::prime_period, 1), s.elements())};
}

/// A matrix of zeros, except for its four corners.
struct Corners {
    Shape shape;
    Buffer<float> in{"in", shape.elements(), kata::zeros}, out{"out", shape.elements(), kata::zeros};

    Corners(int rows, int columns) : shape{rows, columns} {
        for (int corner = 0; corner < 4; ++corner)
            in.set(place(corner, shape), static_cast<float>(3 + corner));
    }
    std::string text() const {
        return "rows = " + std::to_string(shape.rows) + ", columns = " + std::to_string(shape.columns);
    }
    std::size_t elements() const { return shape.elements(); }
    void run(const Module& step) { call(step, in.data(), out.data(), shape); }
    std::optional<std::string> fault() const {
        constexpr int seen[] = {0, 2, 1, 3};  // the other two corners change places
        for (int corner = 0; corner < 4; ++corner) {
            const auto i = place(corner, {shape.columns, shape.rows});
            const auto expected = static_cast<float>(3 + seen[corner]);
            if (out.element(i) != expected)
                return "element " + std::to_string(i) + " of the result for a matrix of " +
                       std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + ": expected " +
                       std::to_string(expected) + ", got " + std::to_string(out.element(i));
        }
        return kata::damage_of(in, out);
    }

  private:
    /// Returns the element in a corner: top left, top right, bottom left, bottom right.
    static std::size_t place(int corner, const Shape& s) {
        const auto columns = static_cast<std::size_t>(s.columns);
        return (corner >= 2 ? s.elements() - columns : 0) + (corner % 2 == 1 ? columns - 1 : 0);
    }
};

}  // namespace transposition::problem
