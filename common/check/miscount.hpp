// Finds the inputs that count wrongly in a sum: missing, counted more than once, or with the weight of
// another.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kata {

/// The largest input, small enough that any type can hold the sums.
inline constexpr int most_indicated = 7;
/// The same where inputs may be displaced: if two inputs have changed places, large ones seldom give the same
/// sum by chance.
inline constexpr int most_displaced = 99;

/// Returns the sum that a step computes of these inputs, each 0 to most_indicated; nothing if it computes no
/// sum.
using SumOf = std::function<std::optional<double>(const std::vector<int>&)>;

/// Elements from `first` up to `last` of `inputs` must count once, and the others not at all. Returns which
/// do not: "elements 1024 to 1535 are missing; the other 9495 count once". Calls `sum_of` repeatedly with
/// inputs that are mostly 0. An answer is returned only if it predicts the sum of other inputs. If there are
/// too many to be listed, lists the first. If the step computes no sum of its inputs, returns its result for
/// inputs of which only the first or the last is not 0, if that is wrong. Returns nothing if all count as
/// they should, or if the sum changes from run to run. `noun` names an element. Deterministic, with at most
/// about 8 · log₂(inputs) + 20 calls, or three times as many if the answer does not hold for other inputs.
std::optional<std::string> miscount(std::size_t inputs, std::size_t first, std::size_t last,
                                    const SumOf& sum_of, std::string_view noun = "element");

/// The sum that a step computes of some inputs, and the right one.
struct Sums {
    double got, expected;
};

/// Returns the sums of these inputs, each 0 to `largest`; nothing if the step computes none.
using SumsOf = std::function<std::optional<Sums>(const std::vector<int>&)>;

/// Both results must be sums of the inputs, each times a constant. Returns whose constants differ: "(x 1)
/// counts in place of (x 0)". `name` names an input. An answer is returned only if it predicts the sums of
/// other inputs. Returns nothing if the results are not such sums, or if more than a few inputs differ, and
/// not all of them in the same way. Deterministic, with some log₂(inputs) calls for each input that differs.
std::optional<std::string> displaced(std::size_t inputs, const SumsOf&,
                                     const std::function<std::string(std::size_t)>& name,
                                     int largest = most_displaced);

}  // namespace kata
