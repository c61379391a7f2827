// Prefix sums: the problem of the chapter, its limits and its plain solution.
#pragma once
#include "arithmetic.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace scan {

/// An inclusive output i includes input i. An exclusive one ends before it, and the first one is the
/// operator's identity.
enum class Kind { inclusive, exclusive };

inline constexpr int max_section = 1024;
/// A block's work may reach over the end by 2^16 elements, and an int still counts them.
inline constexpr int max_elements = 0x7fff0000;

/// Each section of `section` elements is scanned by itself; the last one may be shorter.
struct Shape {
    int elements;
    int section;
};

/// Throws std::invalid_argument, in one line, for a shape that the steps need not accept: a negative number
/// of elements or more than max_elements, a section that is not a power of two from 32 to max_section.
void check(const Shape&);

/// out[i] = in[first] ⊕ … ⊕ in[i] (inclusive) or … ⊕ in[i − 1] (exclusive), where `first` begins the section
/// of i; a section may have any length here. The sum of int throws std::invalid_argument if one does not fit
/// into an int; that of float is in double; maps are composed first to last. PMPP-scan 11.1.
std::vector<int> reference(std::span<const int> in, int section, Kind);
std::vector<double> reference(std::span<const float> in, int section, Kind);
std::vector<kata::Affine> reference(std::span<const kata::Affine> in, int section, Kind);

/// Returns n · Σ|terms| over the n terms of each output, to which a rounding error is relative.
std::vector<double> magnitude(std::span<const float> in, int section, Kind);

/// Returns the bytes of scratch memory for scan_whole(): 16 for every 256 elements, and some more.
constexpr std::size_t workspace_bytes(int elements) {
    return 16 * (static_cast<std::size_t>(elements) / 256 + 64);
}

/// The types and operators with which every step is called.
using Offered = kata::Arithmetics<kata::Arithmetic::sum_of_int, kata::Arithmetic::sum_of_float,
                                  kata::Arithmetic::composition, kata::Arithmetic::counted_sum>;

}  // namespace scan

/// The function that steps 01 to 04 define: each section of `section` elements of `in` is scanned by itself.
/// `in` and `out` point to arrays of the device with n elements of the operation's type.
extern "C" [[gnu::visibility("default")]] void scan_sections(const void* in, void* out, int n, int section,
                                                             scan::Kind kind, kata::Operation operation);

/// The function that the steps from 05 on define: all n elements are scanned as one. `workspace` points to
/// scan::workspace_bytes(n) bytes of device memory, aligned for every type, with any contents.
extern "C" [[gnu::visibility("default")]] void scan_whole(const void* in, void* out, int n, scan::Kind kind,
                                                          void* workspace, kata::Operation operation);
