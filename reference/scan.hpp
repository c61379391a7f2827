// Prefix sums: the problem of the chapter, its limits and its plain solution.
#pragma once
#include "arithmetic.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace scan {

/// Whether output i includes input i or ends before it; the first output is then the operator's identity.
enum class Kind { inclusive, exclusive };

inline constexpr int max_section = 1024;
/// A block's work may hang over the end by 2^16 elements and is still counted in an int.
inline constexpr int max_elements = 0x7fff0000;

/// Every `section` elements are scanned for themselves, the last of them as many as there are.
struct Shape {
    int elements;
    int section;
};

/// Throws std::invalid_argument, in one line, for a shape that the steps need not take: a negative number of
/// elements or more than max_elements, a section that is no power of two from 32 to max_section.
void check(const Shape&);

/// out[i] = in[first] ⊕ … ⊕ in[i] (inclusive) or … ⊕ in[i − 1] (exclusive), where `first` begins the section
/// of i; a section may have any length here. The sum of int throws std::invalid_argument where one does not
/// fit into an int; that of float is in double; maps are composed first to last. PMPP-scan 11.1.
std::vector<int> reference(std::span<const int> in, int section, Kind);
std::vector<double> reference(std::span<const float> in, int section, Kind);
std::vector<kata::Affine> reference(std::span<const kata::Affine> in, int section, Kind);

/// For each output, n · Σ|terms| over its n terms: what a rounding error is relative to.
std::vector<double> magnitude(std::span<const float> in, int section, Kind);

/// Bytes of scratch memory that scan_whole() is given: 16 for every 256 elements, and some.
constexpr std::size_t workspace_bytes(int elements) {
    return 16 * (static_cast<std::size_t>(elements) / 256 + 64);
}

/// What the steps are called with.
using Offered = kata::Arithmetics<kata::Arithmetic::sum_of_int, kata::Arithmetic::sum_of_float,
                                  kata::Arithmetic::composition, kata::Arithmetic::counted_sum>;

}  // namespace scan

/// What steps 01 to 04 define: every `section` elements of `in` are scanned for themselves. `in` and `out`
/// point to arrays of the device with n elements of the type that the operation is on.
extern "C" [[gnu::visibility("default")]] void scan_sections(const void* in, void* out, int n, int section,
                                                             scan::Kind kind, kata::Operation operation);

/// What the steps from 05 on define: all n elements are scanned as one. `workspace` points to
/// scan::workspace_bytes(n) bytes of the device, aligned for every type, in which anything may stand.
extern "C" [[gnu::visibility("default")]] void scan_whole(const void* in, void* out, int n, scan::Kind kind,
                                                          void* workspace, kata::Operation operation);
