// The axes of an output, and how messages name its elements.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kata {

using Index = std::size_t;
using Coordinates = std::array<Index, 3>;

inline constexpr std::array<const char*, 3> axis_name = {"x", "y", "z"};

/// The layout of an output and how it was computed. Axes are x, y, z, the fastest first: {width}, {width,
/// height} or {width, height, depth}.
struct Layout {
    std::vector<int> extents;    ///< elements along each axis
    std::vector<int> tile = {};  ///< elements that one block writes along each axis; 0 or absent: unknown
    std::optional<std::byte> poison = {};  ///< the value of every byte before the step ran
};

/// A layout with all three axes. A missing one has extent 1; an unknown tile is 0.
struct Grid {
    std::size_t axes;
    Coordinates extent = {1, 1, 1};
    Coordinates tile = {0, 0, 0};

    Grid(const Layout& layout, Index count) : axes(layout.extents.size()) {
        if (axes < 1 || axes > 3) throw std::invalid_argument("a layout has one to three axes");
        if (layout.tile.size() > axes) throw std::invalid_argument("a tile has no more axes than its layout");
        for (std::size_t axis = 0; axis < axes; ++axis) extent[axis] = to_index(layout.extents[axis]);
        for (std::size_t axis = 0; axis < layout.tile.size(); ++axis)
            tile[axis] = to_index(layout.tile[axis]);
        if (total() != count)
            throw std::invalid_argument("the layout describes " + std::to_string(total()) +
                                        " elements, not " + std::to_string(count));
    }

    Index total() const { return extent[0] * extent[1] * extent[2]; }
    Index stride(std::size_t axis) const {
        return std::accumulate(extent.begin(), extent.begin() + axis, Index{1}, std::multiplies{});
    }
    Coordinates place(Index i) const {
        return {i % extent[0], i / extent[0] % extent[1], i / extent[0] / extent[1]};
    }

    /// Returns how many of `elements`, which form whole rows, have a coordinate along this axis for which
    /// `holds` is true.
    template <class Holds>
    Index narrowed(Index elements, std::size_t axis, Holds holds) const {
        Index holding = 0;
        for (Index c = 0; c < extent[axis]; ++c) holding += holds(c) ? 1 : 0;
        return elements / extent[axis] * holding;
    }

  private:
    static Index to_index(int length) {
        if (length < 0) throw std::invalid_argument("a layout has no negative lengths");
        return static_cast<Index>(length);
    }
};

/// Returns "(x 3, y 1)" for the element with this index.
inline std::string coordinates(const Grid& grid, Index i) {
    const Coordinates place = grid.place(i);
    std::string text;
    for (std::size_t axis = 0; axis < grid.axes; ++axis)
        text += (axis == 0 ? "(" : ", ") + std::string(axis_name[axis]) + " " + std::to_string(place[axis]);
    return text + ")";
}

}  // namespace kata
