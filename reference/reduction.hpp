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

/// Throws std::invalid_argument, in one line, for a number of elements that the steps need not take: a
/// negative one. There is no other that an int can hold.
void check(int n);

/// x₀ + x₁ + … + xₙ₋₁, added up from left to right; 0 of no elements. Ints in 64 bits, all else in double.
/// The sum of ints must fit into one.
int sum(std::span<const int>);
double sum(std::span<const float>);
double sum(std::span<const double>);

/// |x₀| + |x₁| + … + |xₙ₋₁|: what a rounding error is relative to.
double magnitude(std::span<const float>);
double magnitude(std::span<const double>);

/// The largest element; of no elements what every other one is larger than: INT_MIN or −∞. Without NaN.
int max(std::span<const int>);
double max(std::span<const float>);
double max(std::span<const double>);

/// The sum as REDUCE-vi 1 has it, on the CPU: the second half is added to the first one, and so on with the
/// first half. The listing halves an odd length and drops its last element; here that one is carried along.
double recursive_sum(std::span<double>);

/// How many elements the workspace has room for that a step gets beside n elements: a step that leaves one
/// partial result for 512 elements or more can lay those of all its launches side by side.
constexpr std::size_t workspace_elements(int n) { return static_cast<std::size_t>(n) / 256 + 8; }

}  // namespace reduction

/// What every step of the chapter defines: *out = in[0] ∘ in[1] ∘ … ∘ in[n − 1], and the identity of the
/// operator for no elements. The operation is one of those that are offered, and says what `in` and `out`
/// point to, in the memory of the device. `workspace` has room for workspace_elements(n) more of them. A step
/// may overwrite the input, as the documents' kernels do, unless it keeps its partial results elsewhere:
/// 03_shared_memory, 04_hierarchical, 05_coarsened and those from 15_warp_shuffles on leave it as it was.
extern "C" [[gnu::visibility("default")]] void reduce(void* in, void* out, int n, void* workspace,
                                                      kata::Operation operation);
