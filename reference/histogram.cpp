#include "histogram.hpp"

#include <limits>
#include <stdexcept>
#include <string>

namespace histogram {

void check(std::size_t length) {
    if (length > max_length)
        throw std::invalid_argument("text of " + std::to_string(length) +
                                    " characters refused: the chapter takes up to " +
                                    std::to_string(max_length));
}

namespace {

unsigned as_count(std::uint64_t count) {
    if (count > std::numeric_limits<unsigned>::max())
        throw std::invalid_argument("text with " + std::to_string(count) +
                                    " characters in one bin refused: a count has 32 bits");
    return static_cast<unsigned>(count);
}

std::array<std::uint64_t, values> of_bytes(std::span<const char> text) {
    std::array<std::uint64_t, values> counts{};
    for (const char c : text) ++counts[static_cast<unsigned char>(c)];
    return counts;
}

}  // namespace

std::array<unsigned, bins> reference(std::span<const char> text) {
    const auto of_byte = of_bytes(text);
    std::array<unsigned, bins> histo{};
    for (int bin = 0; bin < bins; ++bin) {
        std::uint64_t count = 0;
        for (int letter = bin * letters_per_bin; letter < (bin + 1) * letters_per_bin && letter < letters;
             ++letter)
            count += of_byte[static_cast<std::size_t>('a' + letter)];
        histo[static_cast<std::size_t>(bin)] = as_count(count);
    }
    return histo;
}

std::array<unsigned, values> reference_of_bytes(std::span<const char> text) {
    std::array<unsigned, values> histo{};
    const auto of_byte = of_bytes(text);
    for (std::size_t value = 0; value < values; ++value) histo[value] = as_count(of_byte[value]);
    return histo;
}

}  // namespace histogram
