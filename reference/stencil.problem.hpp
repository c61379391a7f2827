// The problem of the stencil chapter as a step gets it: grids, their arrays on the device, and the expected
// results.
#pragma once
#include "check/data.hpp"
#include "judge/trial.hpp"
#include "stencil.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iomanip>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace stencil::problem {

using kata::Buffer;
using kata::Module;

inline std::size_t cells(int n) {
    const auto side = static_cast<std::size_t>(n);
    return side * side * side;
}

/// The index of a cell.
inline std::size_t cell(int x, int y, int z, int n) {
    const auto row = static_cast<std::size_t>(n);
    return (static_cast<std::size_t>(z) * row + static_cast<std::size_t>(y)) * row +
           static_cast<std::size_t>(x);
}

/// Calls `visit(x, y, z)` for each cell on the boundary, in the order of memory.
template <class Visit>
void each_on_boundary(int n, const Visit& visit) {
    const auto at_end = [n](int i) { return i == 0 || i == n - 1; };
    for (int z = 0; z < n; ++z)
        for (int y = 0; y < n; ++y)
            for (int x = 0; x < n; ++x)
                if (at_end(x) || at_end(y) || at_end(z)) visit(x, y, z);
}

template <class T>
std::string bits_of(T value) {
    std::array<unsigned char, sizeof value> bytes;
    std::memcpy(bytes.data(), &value, sizeof value);
    std::ostringstream text;
    text << "0x" << std::hex << std::setfill('0');
    for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) text << std::setw(2) << int{*byte};
    return text.str();
}

/// The number of sweeps that a call of the step makes.
inline int sweeps_of(const Module& step) { return step.has("sweep_twice_float") ? 2 : 1; }

template <class T>
void call(const Module& step, const T* in, T* out, int n, Coefficients<T> c) {
    constexpr bool is_float = std::is_same_v<T, float>;
    const char* const once = is_float ? "sweep_float" : "sweep_double";
    const char* const twice = is_float ? "sweep_twice_float" : "sweep_twice_double";
    using Sweep = std::conditional_t<is_float, decltype(sweep_float), decltype(sweep_double)>;
    step.function<Sweep>(sweeps_of(step) == 2 ? twice : once)(in, out, n, c);
}

/// Compares sums as numbers, because a sum has no NaN of its own and -0 equals 0. Compares the boundary,
/// which is only copied, bit for bit.
template <class T>
struct ExpectedGrid : kata::Expected {
    std::span<const T> in = {};
    int n = 0;

    std::optional<std::string> difference(const std::vector<T>& got, std::byte poison) {
        auto text = Expected::difference(got, poison);
        return text ? text : boundary_changed(got);
    }
    std::optional<std::string> boundary_changed(const std::vector<T>& got) const {
        std::optional<std::string> first;
        each_on_boundary(n, [&](int x, int y, int z) {
            const auto i = cell(x, y, z, n);
            if (first || std::memcmp(&got[i], &in[i], sizeof(T)) == 0) return;
            std::ostringstream text;
            text << "a cell on the boundary is not the input, bit for bit: (x " << x << ", y " << y << ", z "
                 << z << ") has the bits " << bits_of(got[i]) << " instead of " << bits_of(in[i]);
            first = text.str();
        });
        return first;
    }
};

template <class T>
struct Problem {
    int n;
    std::vector<T> in;
    Coefficients<T> c;
    bool exact = true;
    int sweeps = 1;
    bool several_calls = true;  ///< there is room for the cells in between

    std::string text() const {
        return "n = " + std::to_string(n) + (sizeof(T) == sizeof(float) ? " of float" : " of double") +
               (sweeps > 1 ? ", " + std::to_string(sweeps) + " sweeps" : "");
    }
    double outputs() const { return static_cast<double>(cells(n)) * sweeps; }
    double operations() const { return stencil::operations(n) * sweeps; }

    ExpectedGrid<T> expected() const {
        stencil::check(n);
        // No step is under test if one is only measured.
        const int tile = kata::subject().source.empty() ? 0 : kata::this_step().tile;
        ExpectedGrid<T> e{{stencil::reference<T>(in, n, c), {}, {{n, n, n}, std::vector(3, tile)}}, in, n};
        // Each of the seven terms is rounded once as a product and up to six times in sums: 7 · eps ·
        // Σ|terms| and a little of second order. The reference, in double, has that error, too. A further
        // sweep has it again, and adds up the errors of the one before it.
        constexpr double error = 8 * (kata::rounding<T> + kata::rounding<double>);
        const Coefficients<double> wide{c.c0, c.c1, c.c2, c.c3, c.c4, c.c5, c.c6};
        if (!exact) {
            e.bound = stencil::magnitude<T>(in, n, c);
            for (auto& bound : e.bound) bound *= error;
        }
        for (int s = 1; s < sweeps; ++s) {
            if (!exact) {
                const auto terms = stencil::magnitude<double>(e.values, n, wide);
                e.bound = stencil::magnitude<double>(e.bound, n, wide);
                for (std::size_t i = 0; i < terms.size(); ++i) e.bound[i] += error * terms[i];
            }
            e.values = stencil::reference<double>(e.values, n, wide);
        }
        return e;
    }

    /// Returns which coefficients are exchanged in a wrong result, two or those of two axes, if it is right
    /// otherwise; else which inputs count wrongly in its first wrong cell.
    std::optional<std::string> made_of(const Module& step, const kata::Conditions& conditions,
                                       const std::vector<T>& result) const {
        if (!exact || sweeps > 2 || n < 3 || result.size() >= kata::too_large_to_ask) return std::nullopt;
        const bool has_several_sums = n > 3;  // one alone may be right by chance
        using C = Coefficients<T>;
        constexpr T C::*all[]{&C::c0, &C::c1, &C::c2, &C::c3, &C::c4, &C::c5, &C::c6};
        const auto is_right_with = [&](std::size_t first, std::size_t second, std::size_t how_many) {
            auto other = *this;
            bool differs = false;
            for (std::size_t i = 0; i < how_many; ++i) {
                std::swap(other.c.*all[first + i], other.c.*all[second + i]);
                differs = differs || other.c.*all[first + i] != other.c.*all[second + i];
            }
            const auto cells = differs ? other.expected().values : std::vector<double>();
            return std::equal(result.begin(), result.end(), cells.begin(), cells.end(),
                              [](T x, double y) { return static_cast<double>(x) == y; });
        };
        const auto name = [](std::size_t i) { return "c" + std::to_string(i); };
        for (std::size_t first = 0; has_several_sums && first < std::size(all); ++first)
            for (std::size_t second = first + 1; second < std::size(all); ++second)
                if (is_right_with(first, second, 1))
                    return "it would be right if " + name(first) + " and " + name(second) + " were exchanged";
        for (std::size_t first = 1; has_several_sums && first < std::size(all); first += 2)
            for (std::size_t second = first + 2; second < std::size(all); second += 2)
                if (is_right_with(first, second, 2))
                    return "it would be right if " + name(first) + " and " + name(first + 1) +
                           " were exchanged with " + name(second) + " and " + name(second + 1);
        return kata::displaced_in(step, *this, &Problem::in, conditions, result);
    }

    struct Device {
        const int n;
        const Coefficients<T> c;
        const int sweeps;
        kata::Input<T> in;
        Buffer<T> out, other;  // a second call reads the one and writes the other
        bool in_other = false;

        explicit Device(const Problem& p, std::byte poison)
            : n(p.n),
              c(p.c),
              sweeps(p.sweeps),
              in("in", p.in),
              out("out", p.in.size(), poison),
              other("second out", p.sweeps > 1 && p.several_calls ? p.in.size() : 0, poison) {}

        void run(const Module& step) {
            const T* from = in.data();
            T *to = out.data(), *next = other.data();
            for (int s = 0; s < sweeps; s += sweeps_of(step)) {
                call(step, from, to, n, c);
                from = to;
                std::swap(to, next);
            }
            in_other = from == other.data() && sweeps > 1;
        }
        double solved_by(const Module& step) const { return std::max(1, sweeps_of(step) / sweeps); }
        auto damage() const { return kata::damage_of(in, out, other); }
        const void* output() { return in_other ? other.data() : out.data(); }
        auto result() const { return in_other ? other.values() : out.values(); }
    };
};

/// Seven coefficients that differ, also in size: a step that exchanges two of them gets another sum.
template <class T>
constexpr Coefficients<T> distinct{3, -2, 5, 7, -4, 11, -6};

template <class T>
Coefficients<T> real_coefficients(unsigned seed) {
    const auto c = kata::reals<T>(7, seed);
    return {c[0], c[1], c[2], c[3], c[4], c[5], c[6]};
}

/// Small integers: every sum is exact, whatever the order, and a wrong index shows. Three sweeps make a value
/// of 15 at most 15 · 38³ < 2^24. In double they are too large for a float.
template <class T>
Problem<T> coded(int n, unsigned seed = 1, int calls = 1, const Module& step = kata::step()) {
    const int largest = std::is_same_v<T, double> ? 1 << 30 : 15;
    return {n, kata::coded<T>(cells(n), seed, largest), distinct<T>, true, calls * sweeps_of(step)};
}

template <class T>
Problem<T> real(int n, unsigned seed = 1, int calls = 1, const Module& step = kata::step()) {
    return {n, kata::reals<T>(cells(n), seed), real_coefficients<T>(seed + 1000), false,
            calls * sweeps_of(step)};
}

/// One sweep over a grid that repeats a few numbers, because it would take seconds to generate all of them.
inline Problem<float> large_real(int n) {
    return {n, kata::repeated(kata::reals(kata::prime_period, 1), cells(n)), real_coefficients<float>(1001),
            false};
}

/// A grid that is too large to keep several references of. It is compared plane by plane.
template <class T>
struct Huge : Problem<T> {
    explicit Huge(int n)
        : Problem<T>{n,
                     kata::repeated(kata::coded<T>(kata::prime_period, 1), cells(n)),
                     distinct<T>,
                     true,
                     sweeps_of(kata::step()),
                     false} {}

    struct Planes {
        const Huge& p;

        std::optional<std::string> difference(const std::vector<T>& got, std::byte poison) const {
            const auto plane = cells(p.n) / static_cast<std::size_t>(p.n);
            std::vector<T> swept;  // all sweeps but the last
            for (int s = 1; s < p.sweeps; ++s) {
                std::vector<T> next;
                next.reserve(p.in.size());
                for (int z = 0; z < p.n; ++z) {
                    const auto sums = stencil::reference_plane<T>(s == 1 ? p.in : swept, p.n, p.c, z);
                    next.insert(next.end(), sums.begin(), sums.end());
                }
                swept = std::move(next);
            }
            for (int z = 0; z < p.n; ++z) {
                const auto sums = stencil::reference_plane<T>(p.sweeps == 1 ? p.in : swept, p.n, p.c, z);
                const std::vector<T> expected(sums.begin(), sums.end());
                const std::span<const T> mine(got.data() + cell(0, 0, z, p.n), plane);
                if (auto text = kata::difference<T>(mine, expected, {{p.n, p.n}, {}, poison}))
                    return "in plane z = " + std::to_string(z) + ": " + *text;
            }
            return std::nullopt;
        }
    };
    Planes expected() const { return {*this}; }
};

/// A grid that is zero except in two opposite corners.
template <class T>
struct Corners {
    static constexpr int small_n = 12;  // has room for both corners
    int n, side;                        ///< side of the grid, and of a corner
    Buffer<T> in{"in", cells(n), kata::zeros}, out{"out", cells(n), kata::zeros};
    Problem<T> small = coded<T>(small_n);  // with the same corners, for what is expected

    /// A corner of four cells is in one block if tiles have 6, 8, 16, 30 or 120 cells: the few blocks at the
    /// ends of the grid have all of it.
    explicit Corners(int n_of_grid, int side_of_corner = 4) : n(n_of_grid), side(side_of_corner) {
        small.in.assign(small.in.size(), 0);
        int i = 0;
        each([&](std::size_t here, std::size_t in_small) {
            in.set(here, small.in[in_small] = static_cast<T>(1 + i++ % 7));
            return true;
        });
    }
    std::string text() const { return "n = " + std::to_string(n); }
    std::size_t elements() const { return cells(n); }
    void run(const Module& step) { call(step, in.data(), out.data(), n, small.c); }
    std::optional<std::string> fault() const {
        const auto expected = small.expected().values;
        std::optional<std::string> text;
        each([&](std::size_t here, std::size_t in_small) {
            if (const auto got = out.element(here); got != expected[in_small])
                text = "cell " + std::to_string(here) + " of " + std::to_string(n) + " x " +
                       std::to_string(n) + " x " + std::to_string(n) + ": expected " +
                       std::to_string(expected[in_small]) + ", got " + std::to_string(got);
            return !text;
        });
        return text ? text : kata::damage_of(in, out);
    }

  private:
    /// Calls `visit` with the indices of each cell of the corners in both grids, until it returns false.
    template <class Visit>
    void each(const Visit& visit) const {
        for (const bool last : {false, true})
            for (int i = 0; i < side * side * side; ++i) {
                const auto in_grid = [&](int of) {
                    const int first = last ? of - side : 0;
                    return cell(first + i % side, first + i / side % side, first + i / side / side, of);
                };
                if (!visit(in_grid(n), in_grid(small_n))) return;
            }
    }
};

}  // namespace stencil::problem
