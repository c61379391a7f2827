// Finds the inputs that count too little or too much in a wrong weighted sum, as a stencil computes.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kata {

/// The result that a step computes of some inputs, and the right one.
struct Answer {
    double got, expected;
};

/// Returns the answer for these inputs, each 0 to 7; nothing if the step computes none.
using AnswerFor = std::function<std::optional<Answer>(const std::vector<int>&)>;

/// Both results must be sums of the inputs, each times a constant. Returns whose constants differ: "(x 1)
/// counts in place of (x 0)". `name` names an input. The result has predicted the sums of other inputs.
/// Returns nothing if more than a few inputs differ, or if the results are not such sums. Deterministic, with
/// some log₂(inputs) calls for each input that differs.
std::optional<std::string> displaced(std::size_t inputs, const AnswerFor&,
                                     const std::function<std::string(std::size_t)>& name);

}  // namespace kata
