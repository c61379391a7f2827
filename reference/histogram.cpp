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

std::array<unsigned, bins> reference(std::span<const char> text) {
    std::array<std::uint64_t, 256> of_byte{};
    for (const char c : text) ++of_byte[static_cast<unsigned char>(c)];
    std::array<unsigned, bins> histo{};
    for (int bin = 0; bin < bins; ++bin) {
        std::uint64_t count = 0;
        for (int letter = bin * letters_per_bin; letter < (bin + 1) * letters_per_bin && letter < letters;
             ++letter)
            count += of_byte[static_cast<std::size_t>('a' + letter)];
        if (count > std::numeric_limits<unsigned>::max())
            throw std::invalid_argument("text with " + std::to_string(count) +
                                        " letters in one bin refused: a count has 32 bits");
        histo[static_cast<std::size_t>(bin)] = static_cast<unsigned>(count);
    }
    return histo;
}

}  // namespace histogram
