// Compares the output of a step with the expected one, and describes the difference.
#pragma once
#include "check/grid.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kata {

/// The findings of a comparison, apart from its text.
struct Mismatch {
    std::optional<std::size_t> first_wrong = {};  ///< the index of an element
    bool is_elsewhere = false;  ///< the wrong values belong to other rows, columns or planes
};

/// Returns nothing if every element of `got` equals the expected one: -0 equals 0, NaN equals only NaN.
/// Otherwise returns a few lines for the student: how many differ, the first of them with coordinates, which
/// were never written (still hold the poison), which are NaN, and the pattern that explains all of them, if
/// there is one. Throws std::invalid_argument if the layout does not describe as many elements as expected.
/// For float, double, int, unsigned, unsigned char and unsigned long long.
template <class T>
std::optional<std::string> difference(std::span<const T> got, std::span<const T> expected, const Layout&,
                                      Mismatch* found = nullptr);

/// The same for rounded results: `got` may differ by the element's `bound`, in units of the element. An
/// infinity equals only itself, whatever the bound, and an element that still holds the poison never passes,
/// unless it is a single byte, where the poison is a value like any other.
template <class T>
std::optional<std::string> difference(std::span<const T> got, std::span<const double> expected,
                                      std::span<const double> bound, const Layout&,
                                      Mismatch* found = nullptr);

}  // namespace kata
