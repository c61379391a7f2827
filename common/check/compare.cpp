#include "check/compare.hpp"

#include "check/grid.hpp"
#include "check/places.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace kata {
namespace {

template <class T>
bool is_nan(T value) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
    return false;
}

/// The value of local variables after -ftrivial-auto-var-init=pattern.
constexpr std::byte unset{0xFE};
template <class T>
T as_unset() {
    T value;
    std::memset(&value, std::to_integer<int>(unset), sizeof value);
    return value;
}
/// True if the value has that pattern. A single byte never counts, because it may hold this value by chance.
template <class T>
bool looks_unset(T value) {
    const auto sample = as_unset<T>();
    return sizeof value > 1 && std::memcmp(&value, &sample, sizeof value) == 0;
}

/// Returns the shortest digits that distinguish the value from its neighbors.
template <class T>
std::string text(T value) {
    if (is_nan(value)) return "NaN";
    std::array<char, 32> digits;
    return {digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr};
}

std::string rounded(double value, int digits) {
    if (is_nan(value)) return "NaN";
    std::array<char, 32> text;
    return {text.data(),
            std::to_chars(text.begin(), text.end(), value, std::chars_format::general, digits).ptr};
}

template <class T>
struct Output {
    std::span<const T> got;
    std::optional<std::byte> poison;
    T poisoned;  // as an element: comparing it whole keeps the comparison of large arrays fast

    Output(std::span<const T> got, std::optional<std::byte> poison) : got(got), poison(poison) {
        std::memset(&poisoned, std::to_integer<int>(poison.value_or(std::byte{0})), sizeof(T));
    }

    bool unwritten(Index i) const { return poison && std::memcmp(&got[i], &poisoned, sizeof(T)) == 0; }
};

// Exact and Bounded define when element i matches the expected value at some place.

template <class T>
struct Exact : Output<T> {
    std::span<const T> expected;

    bool matches(Index i, Index place) const {
        const T a = this->got[i], b = expected[place];
        return a == b || (is_nan(a) && is_nan(b));
    }
    double bound(Index) const { return 0; }
    std::string wanted(Index i) const { return text(expected[i]); }
    std::string distance(Index i) const {
        if constexpr (!std::is_floating_point_v<T>) return "";
        const double error = std::abs(static_cast<double>(this->got[i]) - static_cast<double>(expected[i]));
        return error < 1e30 ? ", error " + rounded(error, 6) : "";
    }
};

template <class T>
struct Bounded : Output<T> {
    std::span<const double> expected;
    std::span<const double> bounds;

    bool matches(Index i, Index place) const {
        if (sizeof(T) > 1 && this->unwritten(i)) return false;
        const double a = static_cast<double>(this->got[i]), b = expected[place];
        if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
        if (std::isinf(a) || std::isinf(b)) return a == b;
        return std::abs(a - b) <= bounds[place];
    }
    double bound(Index i) const { return bounds[i]; }
    /// For integers, those within the bound.
    std::string wanted(Index i) const {
        if constexpr (std::is_integral_v<T>) {
            const double least = std::ceil(expected[i] - bounds[i]),
                         most = std::floor(expected[i] + bounds[i]);
            if (least <= most && std::abs(least) < 1e15 && std::abs(most) < 1e15)
                return rounded(least, 15) + (least == most       ? ""
                                             : least + 1 == most ? " or " + rounded(most, 15)
                                                                 : " to " + rounded(most, 15));
        }
        return rounded(expected[i], 9);
    }
    std::string distance(Index i) const {
        if constexpr (std::is_integral_v<T>) return "";
        const double error = std::abs(static_cast<double>(this->got[i]) - expected[i]);
        return ", error " + rounded(error, 3) + ", bound " + rounded(bounds[i], 3);
    }
};

/// True if every wrong element that has such a neighbor holds the value expected there.
template <class Comparison>
bool shifted(const Comparison& c, const Grid& grid, std::span<const Index> wrong, std::size_t axis,
             bool before) {
    const Index stride = grid.stride(axis);
    Index explained = 0;
    bool varied = false;  // in an array of mostly one value every neighbor fits
    for (const Index i : wrong) {
        const Index at = grid.place(i)[axis];
        if (before ? at == 0 : at + 1 == grid.extent[axis]) continue;
        if (!c.matches(i, before ? i - stride : i + stride)) return false;
        ++explained;
        varied = varied || c.got[i] != c.got[wrong.back()];
    }
    return varied && explained >= 4 && 2 * explained >= wrong.size();
}

template <class Comparison>
std::optional<std::string> describe_shift(const Comparison& c, const Grid& grid,
                                          std::span<const Index> wrong) {
    constexpr const char* side[3][2] = {{"right", "left"}, {"lower", "upper"}, {"next", "previous"}};
    for (std::size_t axis = 0; axis < grid.axes; ++axis)
        for (const bool before : {true, false})
            if (shifted(c, grid, wrong, axis, before))
                return "each wrong value is the expected value of its " + std::string(side[axis][before]) +
                       " neighbour (" + axis_name[axis] + (before ? " - 1)" : " + 1)");
    return std::nullopt;
}

/// True if every wrong element that has one at this distance holds the value expected there.
template <class Comparison>
bool offset_by(const Comparison& c, const Grid& grid, std::span<const Index> wrong, std::ptrdiff_t dx,
               std::ptrdiff_t dy) {
    const auto inside = [&](Index at, std::ptrdiff_t by, Index extent) {
        return by < 0 ? at >= static_cast<Index>(-by) : at + static_cast<Index>(by) < extent;
    };
    const auto by = dy * static_cast<std::ptrdiff_t>(grid.extent[0]) + dx;
    Index explained = 0;
    bool varied = false;
    for (const Index i : wrong) {
        const auto place = grid.place(i);
        if (!inside(place[0], dx, grid.extent[0]) || !inside(place[1], dy, grid.extent[1])) continue;
        if (!c.matches(i, static_cast<Index>(static_cast<std::ptrdiff_t>(i) + by))) return false;
        ++explained;
        varied = varied || c.got[i] != c.got[wrong.back()];
    }
    // Many places are tried, so a few coincidences prove nothing.
    return varied && explained >= 16 && 2 * explained >= wrong.size();
}

/// The effect of a tile that begins elsewhere.
template <class Comparison>
std::optional<std::string> describe_offset(const Comparison& c, const Grid& grid,
                                           std::span<const Index> wrong) {
    constexpr std::ptrdiff_t furthest = 16;
    const auto text = [](const char* axis, std::ptrdiff_t by) {
        return by == 0 ? axis : axis + std::string(by < 0 ? " - " : " + ") + std::to_string(std::abs(by));
    };
    const auto rows = grid.axes > 1 ? furthest : 0;
    for (auto dy = -rows; dy <= rows; ++dy)
        for (auto dx = -furthest; dx <= furthest; ++dx)
            if (offset_by(c, grid, wrong, dx, dy))
                return "each wrong value is the expected value at " +
                       (grid.axes == 1 ? text("x", dx) : "(" + text("x", dx) + ", " + text("y", dy) + ")");
    return std::nullopt;
}

/// True if all wrong elements that have a partner in the array hold the value expected there.
template <class Comparison, class PartnerOf>
bool exchanged(const Comparison& c, const Grid& grid, std::span<const Index> wrong,
               const PartnerOf& partner_of) {
    Index explained = 0;
    bool varied = false;
    for (const Index i : wrong) {
        const auto [x, y, z] = grid.place(i);
        const auto [other_x, other_y] = partner_of(x, y);
        if (other_x >= grid.extent[0] || other_y >= grid.extent[1]) continue;
        if (!c.matches(i, (z * grid.extent[1] + other_y) * grid.extent[0] + other_x)) return false;
        ++explained;
        varied = varied || c.got[i] != c.got[wrong.back()];
    }
    return varied && explained >= 16 && 2 * explained >= wrong.size();
}

/// The effect of a tile whose rows are read as columns, or of whole squares that change places in the way its
/// elements do.
template <class Comparison>
std::optional<std::string> describe_transposed(const Comparison& c, const Grid& grid,
                                               std::span<const Index> wrong, Mismatch& known) {
    if (grid.axes < 2) return std::nullopt;
    const auto text = [](Index side) { return std::to_string(side) + " x " + std::to_string(side); };
    const Index whole = std::max(grid.extent[0], grid.extent[1]);
    for (const Index side : {Index{8}, Index{16}, Index{32}, whole})
        if (exchanged(c, grid, wrong, [&](Index x, Index y) {
                return std::pair(x / side * side + y % side, y / side * side + x % side);
            }))
            return "each wrong value is the expected value where x and y are exchanged" +
                   (side > 32 ? "" : " within each square of " + text(side));
    for (const Index side : {Index{4}, Index{8}, Index{16}, Index{32}})
        for (const Index tile : {Index{64}, Index{128}, whole})
            if (exchanged(c, grid, wrong, [&](Index x, Index y) {
                    return std::pair(x / tile * tile + y % tile / side * side + x % side,
                                     y / tile * tile + x % tile / side * side + y % side);
                })) {
                known.is_elsewhere = true;
                return "each wrong value is the expected value where x and y of whole squares of " +
                       text(side) + " are exchanged" + (tile == whole ? "" : " within each " + text(tile));
            }
    return std::nullopt;
}

/// True if `holds` is true of the indices of all elements with coordinate 0 along an axis.
template <class Holds>
bool all_of_slice(const Grid& grid, std::size_t axis, Holds holds) {
    const Index stride = grid.stride(axis), whole = stride * grid.extent[axis];
    for (Index begin = 0; begin < grid.total(); begin += whole)
        for (Index i = begin; i < begin + stride; ++i)
            if (!holds(i)) return false;
    return true;
}

/// The effect of rows, columns or planes that are stored in the places of others. Elements from beyond the
/// array are 0.
template <class Comparison>
std::optional<std::string> describe_moved(const Comparison& c, const Grid& grid,
                                          std::span<const Index> wrong) {
    constexpr Index fewest = 8, shown = 3;  // fewer elements may agree by chance
    if (grid.axes < 2) return std::nullopt;
    for (std::size_t axis = 0; axis < grid.axes; ++axis) {
        if (grid.total() / grid.extent[axis] < fewest) continue;
        const Index stride = grid.stride(axis);
        std::set<Index> moved;
        for (const Index i : wrong) moved.insert(grid.place(i)[axis]);
        std::string text;
        Index told = 0;
        const auto is_explained = [&](Index here) {
            const auto got = [&](Index i) { return c.got[i + here * stride]; };
            if (all_of_slice(grid, axis, [&](Index i) { return is_nan(got(i)); })) return false;
            if (all_of_slice(grid, axis, [&](Index i) { return got(i) == got(0); })) return got(0) == 0;
            for (Index there = 0; there < grid.extent[axis]; ++there) {
                if (there == here || !all_of_slice(grid, axis, [&](Index i) {
                        return c.matches(i + here * stride, i + there * stride);
                    }))
                    continue;
                if (told++ < shown)
                    text += (told > 1 ? ", " : "") + std::string(axis_name[axis]) + ' ' +
                            std::to_string(here) + " holds what belongs to " + axis_name[axis] + ' ' +
                            std::to_string(there);
                return true;
            }
            return false;
        };
        if (std::all_of(moved.begin(), moved.end(), is_explained) && told > 1 && 2 * told >= moved.size())
            return text + (told > shown ? ", and so on" : "");
    }
    return std::nullopt;
}

/// "2", "1/9" or a rounded number: `tolerance` is relative.
std::string factor_text(double factor, double tolerance) {
    const auto whole = [&](double value) {
        return std::abs(value) < 1e6 && std::abs(value - std::round(value)) <= tolerance * std::abs(value);
    };
    if (whole(factor)) return rounded(std::round(factor), 7);
    if (whole(1 / factor)) return (factor < 0 ? "-1/" : "1/") + rounded(std::abs(std::round(1 / factor)), 7);
    return rounded(factor, 4);
}

template <class Comparison>
std::optional<std::string> describe_factor(const Comparison& c, std::span<const Index> wrong) {
    const auto expected = [&](Index i) { return static_cast<double>(c.expected[i]); };
    const auto got = [&](Index i) { return static_cast<double>(c.got[i]); };
    constexpr double rounding = 1e-6;
    const Index largest = *std::max_element(wrong.begin(), wrong.end(), [&](Index a, Index b) {
        return std::abs(expected(a)) < std::abs(expected(b));
    });
    const double factor = got(largest) / expected(largest);
    const double tolerance = rounding + c.bound(largest) / std::abs(expected(largest));
    // With a wide bound, or differences in the last bits only, any factor fits. This also excludes NaN.
    if (!(tolerance < 0.01 && std::abs(factor) < 1e30 && std::abs(factor - 1) > 10 * tolerance)) return {};
    if (factor == 0) return {};
    bool varied = false;
    for (const Index i : wrong) {
        const double error = std::abs(got(i) - factor * expected(i));
        if (!(error <= std::abs(factor) * c.bound(i) + rounding * std::abs(got(i)))) return {};
        varied = varied || std::abs(expected(i) - expected(largest)) > 0.01 * std::abs(expected(largest));
    }
    if (wrong.size() < 3 || !varied) return {};
    return "all wrong values are the expected ones times a constant factor (" +
           factor_text(factor, tolerance) + ")";
}

template <class Comparison>
inline constexpr bool is_whole = std::is_integral_v<typename decltype(Comparison::got)::value_type>;

template <class Comparison>
double error_of(const Comparison& c, Index i) {
    return static_cast<double>(c.got[i]) - static_cast<double>(c.expected[i]);
}

template <class Comparison>
std::optional<std::string> describe_difference(const Comparison& c, std::span<const Index> wrong) {
    const Index first = wrong.front();
    const double bound = c.bound(first), error = error_of(c, first);
    const double by = !is_whole<Comparison> ? error
                      : error > 0           ? std::ceil(error - bound)
                                            : std::floor(error + bound);
    bool varied = false;
    for (const Index i : wrong) {
        const double rounding = 1e-6 * std::abs(static_cast<double>(c.expected[i]));
        const double room = c.bound(i) + (is_whole<Comparison> ? 0 : bound + rounding);
        if (!(std::abs(error_of(c, i) - by) <= room && (is_whole<Comparison> || std::abs(by) > 10 * room)))
            return {};
        varied = varied || c.got[i] != c.got[first];
    }
    if (wrong.size() < 3 || !varied) return {};
    return "each wrong value is " + rounded(std::abs(by), 6) + (by < 0 ? " less" : " more") +
           " than the expected one";
}

/// The effect of a counter that is too narrow.
template <class Comparison>
std::optional<std::string> describe_lost_bits(const Comparison& c, std::span<const Index> wrong) {
    for (const unsigned bits : {8u, 16u})
        if (std::all_of(wrong.begin(), wrong.end(), [&](Index i) {
                const auto expected = static_cast<double>(c.expected[i]);
                return c.bound(i) == 0 && static_cast<double>(c.got[i]) == std::fmod(expected, 1u << bits);
            }))
            return "each wrong value is the expected one modulo " + std::to_string(1u << bits) +
                   ", as if it had been kept in " + std::to_string(bits) + " bits";
    return {};
}

/// Finds pairs of elements that hold each other's values, if there are few elements, such as bins.
template <class Comparison>
std::optional<std::string> describe_exchanged(const Comparison& c, const Grid& grid,
                                              std::span<const Index> wrong) {
    constexpr Index few = 16;
    const auto fit = [&](Index i, Index j) { return c.matches(i, j) && c.matches(j, i); };
    const Index last = c.got.size() - 1;
    if (wrong.size() >= 4 &&
        std::all_of(wrong.begin(), wrong.end(), [&](Index i) { return fit(i, last - i); }))
        return "the elements are in reverse order";
    if (wrong.size() > few) return {};
    const auto name = [&](Index i) { return grid.axes > 1 ? coordinates(grid, i) : std::to_string(i); };
    std::string pairs;
    for (const Index i : wrong) {
        const auto is_partner = [&](Index j) { return fit(i, j); };
        const auto partner = std::find_if(wrong.begin(), wrong.end(), is_partner);
        if (std::count_if(wrong.begin(), wrong.end(), is_partner) != 1) return {};
        if (i < *partner) pairs += (pairs.empty() ? "" : ", ") + name(i) + " and " + name(*partner);
    }
    return "elements " + pairs + " have each other's values";
}

/// The effect of an index that starts again too soon.
template <class Comparison>
std::optional<std::string> describe_repeated(const Comparison& c, std::span<const Index> wrong) {
    const auto is_varied =
        std::any_of(wrong.begin(), wrong.end(), [&](Index i) { return c.got[i] != c.got[wrong.front()]; });
    if (wrong.size() < 8 || !is_varied) return {};
    constexpr Index longest = 1024;
    for (Index whole = 2; whole <= 2 * longest; whole *= 2) {
        const bool of_all = whole > std::min(longest, c.got.size() - 1);
        for (Index part = 1; part < whole; part *= 2) {
            const auto repeats = [&](Index i) {
                return c.matches(i, (of_all ? 0 : i / whole * whole) + i % part);
            };
            if (std::all_of(wrong.begin(), wrong.end(), repeats))
                return "each wrong value is the expected value of an earlier element: the first " +
                       (part == 1 ? "" : std::to_string(part) + " ") +
                       (of_all ? "of all" : "of each " + std::to_string(whole)) + " are repeated";
        }
        if (of_all) break;
    }
    return {};
}

/// If all wrong values are nearly right, as after rounding, returns how many of their digits are right.
template <class Comparison>
std::optional<std::string> right_digits(const Comparison& c, std::span<const Index> wrong) {
    constexpr double little = 1e-3;
    double furthest = 0, times = 0;
    for (const Index i : wrong) {
        const double error = std::abs(error_of(c, i)),
                     share = error / std::abs(static_cast<double>(c.expected[i]));
        if (is_whole<Comparison> || !(c.bound(i) > 0 && share < little)) return {};
        furthest = std::max(furthest, share);
        times = std::max(times, error / c.bound(i));
    }
    return rounded(std::floor(-std::log10(furthest)), 2) + " digits: the error is at most " +
           rounded(times, 3) + " times what rounding may add up to";
}

/// True if fractions were truncated.
template <class Comparison>
bool cut_off(const Comparison& c, std::span<const Index> wrong) {
    if constexpr (!std::is_integral_v<typename decltype(c.got)::value_type>) return false;
    return wrong.size() >= 3 && std::all_of(wrong.begin(), wrong.end(), [&](Index i) {
               const auto expected = static_cast<double>(c.expected[i]);
               return static_cast<double>(c.got[i]) == std::trunc(expected) &&
                      expected != std::trunc(expected);
           });
}

/// Returns the pattern, if there is one. `at_random`: the data determine the indices of wrong elements.
template <class Comparison>
std::optional<std::string> describe_pattern(const Comparison& c, const Grid& grid,
                                            std::span<const Index> wrong, bool at_random, Mismatch& known) {
    const auto is_zero = [](auto value) { return value == 0; };
    if (std::all_of(c.got.begin(), c.got.end(), is_zero)) return "everything is zero";
    if (auto found = describe_shift(c, grid, wrong)) return *found;
    if (auto found = describe_offset(c, grid, wrong)) return *found;
    if (auto found = describe_transposed(c, grid, wrong, known)) return *found;
    if (auto found = describe_moved(c, grid, wrong)) {
        known.is_elsewhere = true;
        return *found;
    }
    if (auto found = describe_factor(c, wrong)) return *found;
    if (cut_off(c, wrong)) return "each wrong value is the expected one without its fraction";
    if (auto found = describe_difference(c, wrong)) {
        // If what one block adds is wrong, the place shows which block it is.
        const auto places = describe_places(grid, wrong, at_random);
        return *found + (places ? "; " + *places : "");
    }
    if (auto found = describe_lost_bits(c, wrong)) return *found;
    if (auto found = describe_exchanged(c, grid, wrong)) return *found;
    if (auto found = describe_repeated(c, wrong)) return *found;
    if (auto found = describe_places(grid, wrong, at_random)) return *found;
    if (std::all_of(wrong.begin(), wrong.end(), [&](Index i) { return is_zero(c.got[i]); }))
        return "every wrong value is zero";
    return std::nullopt;
}

template <class Comparison>
std::optional<std::string> report(const Comparison& c, const Layout& layout, Mismatch* found) {
    Mismatch unasked;
    auto& known = found ? *found : unasked;
    const Index count = c.expected.size();
    const Grid grid(layout, count);
    if (c.got.size() != count)
        return "the output has " + std::to_string(c.got.size()) + " elements, " + std::to_string(count) +
               " were expected";
    std::vector<Index> wrong;
    for (Index i = 0; i < count; ++i)
        if (!c.matches(i, i)) wrong.push_back(i);
    if (wrong.empty()) return std::nullopt;
    known.first_wrong = wrong.front();

    Index untouched = 0;
    for (Index i = 0; i < count; ++i) untouched += c.unwritten(i) ? 1 : 0;
    if (untouched == count)
        return "no element of the output was ever written (" + std::to_string(count) + " expected)";

    // A byte may hold the poison as a computed value: about one wrong element in 256.
    const bool is_byte = sizeof(c.poisoned) == 1;
    const std::string never = is_byte ? "perhaps never written" : "never written";
    const auto poisoned = static_cast<Index>(
        std::count_if(wrong.begin(), wrong.end(), [&](Index i) { return c.unwritten(i); }));
    const bool by_chance = is_byte && 32 * poisoned <= wrong.size();
    Index unwritten = 0, nans = 0;
    for (const Index i : wrong) {
        if (c.unwritten(i) && !by_chance)
            ++unwritten;
        else if (is_nan(c.got[i]))
            ++nans;
    }
    std::string message = count == 1 ? "the only element differs"
                                     : std::to_string(wrong.size()) + " of " + std::to_string(count) +
                                           (wrong.size() == 1 ? " elements differs" : " elements differ");
    if (unwritten != 0)
        message += (unwritten < wrong.size() ? ", " + std::to_string(unwritten) + " of them " : ": ") + never;
    if (nans != 0) message += count == 1 ? " and is NaN" : ", " + std::to_string(nans) + " of them NaN";
    constexpr Index shown = 5;
    for (const Index i : std::span(wrong).first(std::min(wrong.size(), shown))) {
        message += "\n  " + coordinates(grid, i) + ": expected " + c.wanted(i);
        message += c.unwritten(i) && !by_chance ? ", " + never : ", got " + text(c.got[i]) + c.distance(i);
    }
    if (wrong.size() > shown) message += "\n  ...";
    if (std::any_of(wrong.begin(), wrong.end(), [&](Index i) { return looks_unset(c.got[i]); }))
        message += "\n" + text(as_unset<typename decltype(c.got)::value_type>()) +
                   " is the content of a local variable that was never set";
    const auto made_nan = static_cast<Index>(std::count_if(wrong.begin(), wrong.end(), [&](Index i) {
        return is_nan(c.got[i]) && !c.unwritten(i) && std::isfinite(static_cast<double>(c.expected[i]));
    }));
    if (const auto digits = right_digits(c, wrong)) message += "\nall wrong values are right to " + *digits;
    // The places of infinities, such as every eighth index, are accidental.
    const bool at_random = made_nan == wrong.size();
    const auto pattern = describe_pattern(c, grid, wrong, at_random, known);
    return message + (pattern ? "\npattern: " + *pattern : "");
}

}  // namespace

template <class T>
std::optional<std::string> difference(std::span<const T> got, std::span<const T> expected,
                                      const Layout& layout, Mismatch* found) {
    return report(Exact<T>{{got, layout.poison}, expected}, layout, found);
}

template <class T>
std::optional<std::string> difference(std::span<const T> got, std::span<const double> expected,
                                      std::span<const double> bound, const Layout& layout, Mismatch* found) {
    if (bound.size() != expected.size()) throw std::invalid_argument("each expected element has one bound");
    return report(Bounded<T>{{got, layout.poison}, expected, bound}, layout, found);
}

template std::optional<std::string> difference(std::span<const float>, std::span<const float>, const Layout&,
                                               Mismatch*);
template std::optional<std::string> difference(std::span<const double>, std::span<const double>,
                                               const Layout&, Mismatch*);
template std::optional<std::string> difference(std::span<const int>, std::span<const int>, const Layout&,
                                               Mismatch*);
template std::optional<std::string> difference(std::span<const unsigned>, std::span<const unsigned>,
                                               const Layout&, Mismatch*);
template std::optional<std::string> difference(std::span<const unsigned char>, std::span<const unsigned char>,
                                               const Layout&, Mismatch*);
template std::optional<std::string> difference(std::span<const unsigned long long>,
                                               std::span<const unsigned long long>, const Layout&, Mismatch*);

using Doubles = std::span<const double>;
template std::optional<std::string> difference(std::span<const float>, Doubles, Doubles, const Layout&,
                                               Mismatch*);
template std::optional<std::string> difference(std::span<const double>, Doubles, Doubles, const Layout&,
                                               Mismatch*);
template std::optional<std::string> difference(std::span<const int>, Doubles, Doubles, const Layout&,
                                               Mismatch*);
template std::optional<std::string> difference(std::span<const unsigned>, Doubles, Doubles, const Layout&,
                                               Mismatch*);
template std::optional<std::string> difference(std::span<const unsigned char>, Doubles, Doubles,
                                               const Layout&, Mismatch*);
template std::optional<std::string> difference(std::span<const unsigned long long>, Doubles, Doubles,
                                               const Layout&, Mismatch*);

}  // namespace kata
