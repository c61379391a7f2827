#include "stencil.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace stencil {

namespace {

bool on_boundary(int coordinate, int n) { return coordinate == 0 || coordinate == n - 1; }

/// A plane of sums of term(coefficient, element), and of boundary(element) where there is no sum.
template <class T, class Term, class Boundary>
std::vector<double> plane_of(std::span<const T> in, int n, const Coefficients<T>& c, int z, Term term,
                             Boundary boundary) {
    const auto row = static_cast<std::size_t>(n), plane = row * row;
    std::vector<double> out(plane);
    for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x) {
            const std::size_t in_plane = static_cast<std::size_t>(y) * row + static_cast<std::size_t>(x);
            const std::size_t i = static_cast<std::size_t>(z) * plane + in_plane;
            if (on_boundary(x, n) || on_boundary(y, n) || on_boundary(z, n))
                out[in_plane] = boundary(in[i]);
            else
                out[in_plane] = term(c.c0, in[i]) + term(c.c1, in[i - 1]) + term(c.c2, in[i + 1]) +
                                term(c.c3, in[i - row]) + term(c.c4, in[i + row]) +
                                term(c.c5, in[i - plane]) + term(c.c6, in[i + plane]);
        }
    return out;
}

/// The planes that plane(z) returns, one after the other.
template <class Plane>
std::vector<double> grid_of(int n, Plane plane) {
    std::vector<double> out;
    for (int z = 0; z < n; ++z) {
        const auto next = plane(z);
        out.insert(out.end(), next.begin(), next.end());
    }
    return out;
}

}  // namespace

void check(int n) {
    if (n < 0 || n > max_n)
        throw std::invalid_argument("a grid of side " + std::to_string(n) +
                                    " refused: the chapter takes 0 to " + std::to_string(max_n));
}

template <class T>
std::vector<double> reference_plane(std::span<const T> in, int n, const Coefficients<T>& c, int z) {
    return plane_of(
        in, n, c, z, [](T weight, T element) { return static_cast<double>(weight) * element; },
        [](T element) { return static_cast<double>(element); });
}

template <class T>
std::vector<double> reference(std::span<const T> in, int n, const Coefficients<T>& c) {
    return grid_of(n, [&](int z) { return reference_plane(in, n, c, z); });
}

template <class T>
std::vector<double> magnitude(std::span<const T> in, int n, const Coefficients<T>& c) {
    return grid_of(n, [&](int z) {
        return plane_of(
            in, n, c, z, [](T weight, T element) { return std::abs(static_cast<double>(weight) * element); },
            [](T) { return 0.0; });
    });
}

double operations(int n) { return 13 * std::pow(std::max(0, n - 2), 3); }

template std::vector<double> reference(std::span<const float>, int, const Coefficients<float>&);
template std::vector<double> reference(std::span<const double>, int, const Coefficients<double>&);
template std::vector<double> reference_plane(std::span<const float>, int, const Coefficients<float>&, int);
template std::vector<double> reference_plane(std::span<const double>, int, const Coefficients<double>&, int);
template std::vector<double> magnitude(std::span<const float>, int, const Coefficients<float>&);
template std::vector<double> magnitude(std::span<const double>, int, const Coefficients<double>&);

}  // namespace stencil
