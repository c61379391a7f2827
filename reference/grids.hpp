// Grids and blocks over vectors and pictures: three problems, their limits and their plain solutions.
#pragma once
#include <array>
#include <span>
#include <vector>

namespace grids {

/// The sizes of patches. They are few, because two steps compile a kernel for each.
inline constexpr std::array blur_sizes{0, 1, 2, 3, 5, 7, 15};
inline constexpr int max_blur_size = blur_sizes.back();
/// A grid has at most 65535 blocks along y. Blocks of any shape cover this number of rows.
inline constexpr int max_height = 65535;

/// A picture in row-major order from the top; a pixel of colour is three bytes: red, green, blue.
struct Size {
    int width, height;  ///< in pixels; 0 is an empty picture
    int pixels() const { return width * height; }
};

/// Throws std::invalid_argument, in one line, for a negative size, more than max_height rows, 2³¹ bytes of
/// colour or more, or a blur size that is not one of blur_sizes.
void check(const Size&, int blur_size = 0);

/// c[i] = a[i] + b[i], in double. PMPP-grids 3.1.
std::vector<double> add(std::span<const float> a, std::span<const float> b);

/// Returns the luminance 0.21 red + 0.72 green + 0.07 blue of each pixel, before it is truncated to a byte.
/// PMPP-grids 3.2.
std::vector<double> luminance(std::span<const unsigned char> rgb);

/// Each pixel is the mean of those of the (2 · blur_size + 1)² pixels around it that are in the picture,
/// truncated to a byte. One channel. PMPP-grids 3.3.
std::vector<unsigned char> blur(std::span<const unsigned char> in, const Size&, int blur_size);

}  // namespace grids

// The functions that the steps of the chapter define, one each, on arrays of the device with the layouts
// above.

/// Step 01: vectors of n elements.
extern "C" [[gnu::visibility("default")]] void vector_add(const float* a, const float* b, float* c, int n);
/// Step 02: 3 · width · height bytes in, width · height bytes out.
extern "C" [[gnu::visibility("default")]] void color_to_grayscale(const unsigned char* rgb,
                                                                  unsigned char* gray, int width, int height);
/// Step 03: width · height bytes in and out.
extern "C" [[gnu::visibility("default")]] void blur(const unsigned char* in, unsigned char* out, int width,
                                                    int height, int blur_size);
