// 2-D convolution: the problem of the chapter, its limits and its plain solution.
#pragma once
#include <span>
#include <vector>

namespace convolution {

inline constexpr int max_radius = 7;
inline constexpr int max_weights = (2 * max_radius + 1) * (2 * max_radius + 1);

/// A grid has at most 65535 blocks along y. Blocks of any shape cover this number of rows.
inline constexpr int max_height = 65535;
/// The columns of a tile that reaches over the end of a row still fit into an int.
inline constexpr int max_width = 1 << 30;

struct Shape {
    int width, height;  ///< of the image, in elements; 0 is an empty image
    int radius;         ///< of the filter: it has (2 * radius + 1)² weights
    int side() const { return 2 * radius + 1; }
    int outputs() const { return width * height; }
};

/// Throws std::invalid_argument, in one line, for a shape that the steps need not accept: a negative size,
/// one above max_width or max_height, 2³¹ elements or more, a radius outside 0 … max_radius.
void check(const Shape&);

/// out(x, y) = Σ filter(i, j) · in(x − radius + i, y − radius + j), with 0 for elements outside the image.
/// Images and filter are row-major, out holds width * height elements. Sums in double. PMPP-notes 7.1.
std::vector<double> reference(std::span<const float> in, std::span<const float> filter, const Shape&);

/// The same sum over |filter| · |in|, to which a rounding error is relative.
std::vector<double> magnitude(std::span<const float> in, std::span<const float> filter, const Shape&);

/// Returns the number of multiplications and additions of elements inside the image: two for each weight on
/// such an element.
double operations(const Shape&);

}  // namespace convolution

/// The function that every step of the chapter defines: reference() on device memory. `in`, `filter` and
/// `out` point to arrays of the device, with the same layout.
extern "C" [[gnu::visibility("default")]] void convolve(const float* in, const float* filter, float* out,
                                                        int width, int height, int radius);
