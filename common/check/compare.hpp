// Compares what a step wrote with what it should have written, and says what the difference looks like.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kata {

/// How an output lies in memory and how it was made. Axes are x, y, z, the fastest first: {width},
/// {width, height} or {width, height, depth}.
struct Layout {
    std::vector<int> extents;    ///< elements along each axis
    std::vector<int> tile = {};  ///< elements that one block writes along each axis; 0 or absent: unknown
    std::optional<std::byte> poison = {};  ///< with which every byte was filled before the step ran
};

/// Nothing where every element of `got` equals its expected one: -0 equals 0, NaN equals only NaN. Otherwise
/// a few lines for the student: how many differ, the first of them with coordinates, which were never written
/// (still hold the poison), which are NaN, and the pattern that explains all of them, if there is one.
/// Throws std::invalid_argument where the layout does not describe as many elements as were expected. For
/// float, double, int, unsigned, unsigned char and unsigned long long.
template <class T>
std::optional<std::string> difference(std::span<const T> got, std::span<const T> expected, const Layout&);

/// The same for rounded results: `got` may be off by as much as `bound` says for that element, in units of
/// the element. An infinity equals only itself, whatever the bound, and an element that still holds the
/// poison never passes, unless it is a single byte: there the poison is a value like any other.
template <class T>
std::optional<std::string> difference(std::span<const T> got, std::span<const double> expected,
                                      std::span<const double> bound, const Layout&);

}  // namespace kata
