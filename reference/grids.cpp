#include "grids.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace grids {

void check(const Size& s, int blur_size) {
    if (s.width < 0 || s.height < 0 || 3 * static_cast<std::int64_t>(s.width) * s.height > INT32_MAX)
        throw std::invalid_argument(
            "picture of " + std::to_string(s.width) + " x " + std::to_string(s.height) +
            " refused: sizes must not be negative and must make less than 2^31 bytes of colour");
    if (s.height > max_height)
        throw std::invalid_argument("picture of " + std::to_string(s.width) + " x " +
                                    std::to_string(s.height) + " refused: the chapter takes up to " +
                                    std::to_string(max_height) + " rows");
    if (std::ranges::find(blur_sizes, blur_size) == blur_sizes.end())
        throw std::invalid_argument("blur size " + std::to_string(blur_size) +
                                    " refused: the chapter takes 0, 1, 2, 3, 5, 7 and 15");
}

std::vector<double> add(std::span<const float> a, std::span<const float> b) {
    std::vector<double> c(a.size());
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<double>(a[i]) + b[i];
    return c;
}

std::vector<double> luminance(std::span<const unsigned char> rgb) {
    std::vector<double> gray(rgb.size() / 3);
    for (std::size_t i = 0; i < gray.size(); ++i)
        gray[i] = 0.21 * rgb[3 * i] + 0.72 * rgb[3 * i + 1] + 0.07 * rgb[3 * i + 2];
    return gray;
}

std::vector<unsigned char> blur(std::span<const unsigned char> in, const Size& s, int blur_size) {
    std::vector<unsigned char> out(in.size());
    for (int row = 0; row < s.height; ++row)
        for (int col = 0; col < s.width; ++col) {
            int sum = 0, pixels = 0;
            for (int y = row - blur_size; y <= row + blur_size; ++y)
                for (int x = col - blur_size; x <= col + blur_size; ++x)
                    if (y >= 0 && y < s.height && x >= 0 && x < s.width) {
                        sum += in[static_cast<std::size_t>(y) * static_cast<std::size_t>(s.width) +
                                  static_cast<std::size_t>(x)];
                        ++pixels;
                    }
            out[static_cast<std::size_t>(row) * static_cast<std::size_t>(s.width) +
                static_cast<std::size_t>(col)] = static_cast<unsigned char>(sum / pixels);
        }
    return out;
}

}  // namespace grids
