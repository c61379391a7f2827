// Reductions: the problem of the chapter, its limits and its plain solution.
#pragma once
#include "arithmetic.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace reduction {

using enum kata::Arithmetic;
using Offered = kata::Arithmetics<sum_of_int, max_of_int, sum_of_float, max_of_float, sum_of_double,
                                  max_of_double, counted_sum>;

/// Throws std::invalid_argument, in one line, for a number of elements that the steps need not accept: a
/// negative one. All others are accepted.
void check(int n);

/// x₀ + x₁ + … + xₙ₋₁, added up from left to right; 0 for no elements. Ints are added in 64 bits, all other
/// types in double. The sum of ints must fit into an int.
int sum(std::span<const int>);
double sum(std::span<const float>);
double sum(std::span<const double>);

/// |x₀| + |x₁| + … + |xₙ₋₁|, to which a rounding error is relative.
double magnitude(std::span<const float>);
double magnitude(std::span<const double>);

/// Returns the largest element; for no elements, the lowest value of the type: INT_MIN or −∞. The elements
/// must not be NaN.
int max(std::span<const int>);
double max(std::span<const float>);
double max(std::span<const double>);

/// The sum as in REDUCE-vi 1, on the CPU: the second half is added to the first one, and so on with the first
/// half. The listing halves an odd length and drops its last element; here that element is kept.
double recursive_sum(std::span<double>);

/// Returns the number of elements in the workspace of a step for n elements: the partial results of all
/// launches fit side by side if a step leaves one for 512 elements or more.
constexpr std::size_t workspace_elements(int n) { return static_cast<std::size_t>(n) / 256 + 8; }

}  // namespace reduction

/// The function that every step of the chapter defines: *out = in[0] ∘ in[1] ∘ … ∘ in[n − 1], and the
/// identity of the operator for no elements. The operation is one of those above, and determines the type of
/// `in` and `out`, which point to device memory. `workspace` has room for workspace_elements(n) more elements
/// of this type. A step may overwrite the input, as the documents' kernels do, unless it keeps its partial
/// results elsewhere: 03_shared_memory, 04_hierarchical, 05_coarsened and the steps from 15_warp_shuffles on
/// leave it as it was.
extern "C" [[gnu::visibility("default")]] void reduce(void* in, void* out, int n, void* workspace,
                                                      kata::Operation operation);
