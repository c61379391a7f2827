// Finds the inputs that a wrong sum lacks or counts more than once.
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

/// Returns the sum that a step computes of these inputs, each 0 to most_indicated; nothing if it computes
/// none.
using SumOf = std::function<std::optional<double>(const std::vector<int>&)>;

/// Elements from `first` up to `last` of `inputs` must count once, and the others not at all. Returns which
/// do not: "elements 1024 to 1535 are missing; the other 9495 count once". Calls `sum_of` repeatedly with
/// inputs that are mostly 0. The result has predicted the sum of other inputs. If there are too many to be
/// listed, lists the first. Returns nothing if all count as they should, or if the sum is not one of its
/// inputs or changes from run to run. `noun` names an element. Deterministic, with at most about 8 ·
/// log₂(inputs) + 20 calls, or three times as many if the result does not hold for other inputs.
std::optional<std::string> miscount(std::size_t inputs, std::size_t first, std::size_t last,
                                    const SumOf& sum_of, std::string_view noun = "element");

}  // namespace kata
