// Histogram of the letters of a text: the problem of the chapter, its limits and its plain solution.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace histogram {

inline constexpr int letters = 26;         ///< a to z
inline constexpr int letters_per_bin = 4;  ///< a–d, e–h, …, u–x, y–z
inline constexpr int bins = (letters + letters_per_bin - 1) / letters_per_bin;
inline constexpr int values = 256;  ///< of a byte: the bins of count_bytes()

/// The workspace has one private histogram for this number of characters. The last one may have fewer.
inline constexpr int copy_characters = 1024;
/// More than 32 bits can count, and no more than was tested.
inline constexpr std::size_t max_length = std::size_t{1} << 33;

/// Returns how many unsigned numbers a step may use in addition to its result, for a text of this length.
constexpr std::size_t workspace_size(std::size_t length) {
    return (length / copy_characters + (length % copy_characters != 0)) * bins;
}

/// Throws std::invalid_argument, in one line, for a text that is longer than the steps must accept.
void check(std::size_t length);

/// Returns how often the letters of each bin occur in the text. A character is any byte. A character that is
/// not a letter from a to z is not counted. Throws std::invalid_argument if a count does not fit. PMPP-notes
/// 9.1.
std::array<unsigned, bins> reference(std::span<const char> text);

/// Returns how often each value of a byte occurs in the text. Throws as reference() does.
std::array<unsigned, values> reference_of_bytes(std::span<const char> text);

}  // namespace histogram

/// The function that steps 01 to 08 define: reference() on device memory. Writes the `bins` elements of
/// `histo`, whatever they held before. `workspace` holds workspace_size(length) unwritten elements, which a
/// step may use freely.
extern "C" [[gnu::visibility("default")]] void count_letters(const char* text, std::size_t length,
                                                             unsigned* histo, unsigned* workspace);

/// Does what reference_of_bytes() does, on device memory. Writes the `values` elements of
/// `histo`, whatever they held before.
extern "C" [[gnu::visibility("default")]] void count_bytes(const char* text, std::size_t length,
                                                           unsigned* histo);
