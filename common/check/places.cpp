#include "check/places.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kata {
namespace {

/// Keeps the narrowest place that contains all wrong elements. Places offered first explain more, so a later
/// one must be clearly narrower.
class Where {
  public:
    Where(const Grid& grid, Index wrong) : total_(grid.total()), wrong_(wrong) {}

    /// Offers a place that has `admitted` elements. `evidence` is the number of wrong elements that might
    /// have fallen outside of it: one less than all if the place was drawn around them.
    void offer(Index admitted, Index evidence, const std::string& description) {
        if (admitted >= total_) return;
        const double rarity = std::log(static_cast<double>(total_) / static_cast<double>(admitted));
        const bool beyond_chance = static_cast<double>(evidence) * rarity > std::log(100.0);
        const bool telling = 4 * admitted <= 3 * total_ && beyond_chance;
        if (admitted != wrong_ && !telling) return;
        if (admitted_ != 0 && 4 * admitted >= 3 * admitted_) return;
        admitted_ = admitted;
        description_ = description;
    }

    std::optional<std::string> narrowest() const {
        return admitted_ == 0 ? std::nullopt : std::optional(description_);
    }

  private:
    Index total_;
    Index wrong_;
    Index admitted_ = 0;
    std::string description_;
};

void offer_last_blocks(const Grid& grid, std::span<const Index> wrong, Where& where) {
    Coordinates last = {0, 0, 0};  // the start of the last of several blocks; 0 if there is only one
    for (std::size_t axis = 0; axis < grid.axes; ++axis)
        if (grid.tile[axis] != 0) last[axis] = (grid.extent[axis] - 1) / grid.tile[axis] * grid.tile[axis];
    std::array<bool, 3> in_all = {last[0] > 0, last[1] > 0, last[2] > 0};
    for (const Index i : wrong) {
        const Coordinates place = grid.place(i);
        bool in_one = false;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const bool inside = last[axis] > 0 && place[axis] >= last[axis];
            in_all[axis] = in_all[axis] && inside;
            in_one = in_one || inside;
        }
        if (!in_one) return;
    }

    const bool common = in_all[0] || in_all[1] || in_all[2];
    Index inside = grid.total(), outside = grid.total();
    std::string axes, begins;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (common ? !in_all[axis] : last[axis] == 0) continue;
        inside = grid.narrowed(inside, axis, [&](Index c) { return c >= last[axis]; });
        outside = grid.narrowed(outside, axis, [&](Index c) { return c < last[axis]; });
        const std::string joint = axes.empty() ? "" : common ? " and " : " or ", name = axis_name[axis];
        axes += joint + name;
        begins += joint + name + " >= " + std::to_string(last[axis]);
    }
    where.offer(common ? inside : grid.total() - outside, wrong.size(),
                "all wrong elements lie in the last block along " + axes + ", where " + begins);
}

/// Offers the elements near the ends of every `period` elements along some axis; a period of 0 leaves out the
/// axis. Elements further than `deepest` from an end are not at an edge.
void offer_edges(const Grid& grid, std::span<const Index> wrong, const Coordinates& period,
                 const std::string& description, Where& where,
                 Index deepest = std::numeric_limits<Index>::max()) {
    if (period == Coordinates{0, 0, 0}) return;
    const auto depth = [&](std::size_t axis, Index c) {  // 1 at an end
        const Index local = c % period[axis];
        return 1 + std::min(local, period[axis] - 1 - local);
    };
    Index within = 0;
    for (const Index i : wrong) {
        const Coordinates place = grid.place(i);
        Index nearest = std::numeric_limits<Index>::max();
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (period[axis] != 0) nearest = std::min(nearest, depth(axis, place[axis]));
        within = std::max(within, nearest);
    }
    if (within > deepest) return;
    Index inside = grid.total();
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (period[axis] != 0)
            inside = grid.narrowed(inside, axis, [&](Index c) { return depth(axis, c) > within; });
    where.offer(grid.total() - inside, wrong.size() - 1,
                description + ", within " + std::to_string(within) + " of the edge");
}

void offer_borders(const Grid& grid, std::span<const Index> wrong, Where& where) {
    Coordinates whole = {0, 0, 0}, block = {0, 0, 0};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        // Two elements have no interior, and a few in a row, such as bins, no border worth naming.
        if (grid.extent[axis] > (grid.extent[axis] == grid.total() ? 8 : 2)) whole[axis] = grid.extent[axis];
        if (grid.tile[axis] > 2 && grid.tile[axis] < grid.extent[axis]) block[axis] = grid.tile[axis];
    }
    offer_edges(grid, wrong, whole, "only on the border of the array", where);
    for (std::size_t axis = 0; grid.axes > 1 && axis < grid.axes; ++axis) {
        Coordinates alone = {0, 0, 0};
        alone[axis] = whole[axis];
        offer_edges(grid, wrong, alone,
                    std::string("only on the border of the array along ") + axis_name[axis], where,
                    std::max(whole[axis] / 8, Index{1}));
    }
    offer_edges(grid, wrong, block, "all along the edges between blocks", where);
}

/// `of` maps an element's index to the number whose residue is checked, one of `extent`.
template <class Number>
void offer_residues(const Grid& grid, std::span<const Index> wrong, Number of, Index extent, Index tile,
                    const std::string& name, Where& where) {
    const Index first = of(wrong.front());
    Index step = 0;  // the greatest common divisor of all distances
    for (const Index i : wrong) {
        const Index number = of(i);
        step = std::gcd(step, number > first ? number - first : first - number);
        if (step == 1) return;
    }
    const Index rest = grid.total() / extent;
    if (step == 0) {
        where.offer(rest, wrong.size() - 1, "every wrong " + name + " is " + std::to_string(first));
        return;
    }
    const auto offer = [&](Index modulus) {
        const Index residue = first % modulus;
        where.offer(
            rest * ((extent - residue + modulus - 1) / modulus), wrong.size() - 1,
            "every wrong " + name + " is " + std::to_string(residue) + " modulo " + std::to_string(modulus));
    };
    if (tile > 1 && step % tile == 0) offer(tile);
    const Index power_of_two = step & (~step + 1);
    if (power_of_two > 1) offer(power_of_two);
}

void offer_all_residues(const Grid& grid, std::span<const Index> wrong, Where& where) {
    // Any two numbers share a residue.
    if (wrong.size() < 3) return;
    for (std::size_t axis = 0; axis < grid.axes; ++axis)
        offer_residues(
            grid, wrong, [&](Index i) { return grid.place(i)[axis]; }, grid.extent[axis], grid.tile[axis],
            grid.axes == 1 ? "index" : axis_name[axis], where);
    if (grid.axes > 1)
        offer_residues(
            grid, wrong, [](Index i) { return i; }, grid.total(), 0, "index in memory", where);
}

void offer_ends(const Grid& grid, std::span<const Index> wrong, Where& where) {
    const Index count = wrong.size();
    const auto elements = [&] { return count == 1 ? "element" : std::to_string(count) + " elements"; };
    if (wrong.back() == count - 1) where.offer(count, count, "only the first " + elements());
    const Index first = wrong.front(), tail = grid.total() - first;
    const std::string from =
        "at or after index " + std::to_string(first) + (grid.axes > 1 ? " " + coordinates(grid, first) : "");
    if (count == 1 && tail == 1)
        where.offer(1, 1, "only the last element");
    else if (count == tail)
        where.offer(tail, count, "only the last " + elements() + ", " + from);
    else
        where.offer(tail, count - 1, "only " + from);
}

}  // namespace

std::optional<std::string> describe_places(const Grid& grid, std::span<const Index> wrong, bool at_random) {
    if (wrong.size() == grid.total()) return std::nullopt;
    Where where(grid, wrong.size());
    offer_last_blocks(grid, wrong, where);
    offer_borders(grid, wrong, where);
    if (!at_random) offer_all_residues(grid, wrong, where);
    offer_ends(grid, wrong, where);
    return where.narrowest();
}

}  // namespace kata
