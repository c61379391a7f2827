// Asks a step which of its inputs a wrong sum lacks, or counts more than once.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kata {

/// What an input may be, so that any type can hold the sums.
inline constexpr int most_indicated = 7;

/// The sum that a step makes of these inputs, each 0 to most_indicated; nothing where it makes none.
using SumOf = std::function<std::optional<double>(const std::vector<int>&)>;

/// Of `inputs` elements those from `first` up to `last` count once and the others not at all: says which do
/// not, "elements 1024 to 1535 are missing; the other 9495 count once". `sum_of` is asked again and again,
/// with inputs that are 0 but for some, until they are found; what is said then foretells the sum of other
/// inputs. Where there are too many to be listed, the first are. Nothing where each is counted as it should
/// be, where the sum is none of its inputs, or changes from run to run. `noun` is what an element is called.
/// Deterministic, and at most about 8 · log₂(inputs) + 20 questions, or
/// three times as many where what they say does not hold for other inputs.
std::optional<std::string> miscount(std::size_t inputs, std::size_t first, std::size_t last,
                                    const SumOf& sum_of, std::string_view noun = "element");

}  // namespace kata
