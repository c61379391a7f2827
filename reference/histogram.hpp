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
inline constexpr int values = 256;  ///< of a byte: the bins of step 09

/// The workspace has one private histogram for as many characters, the last of them perhaps for fewer.
inline constexpr int copy_characters = 1024;
/// Longer than 32 bits count, and no longer than has been tried.
inline constexpr std::size_t max_length = std::size_t{1} << 33;

/// Unsigned numbers that a step may use beside its result for a text of that length.
constexpr std::size_t workspace_size(std::size_t length) {
    return (length / copy_characters + (length % copy_characters != 0)) * bins;
}

/// Throws std::invalid_argument, in one line, for a text that is longer than the steps need take.
void check(std::size_t length);

/// How often each bin's letters come up in the text. A character is any byte; what is no letter from a to z
/// counts nowhere. Throws std::invalid_argument where a count does not fit. PMPP-notes 9.1.
std::array<unsigned, bins> reference(std::span<const char> text);

/// How often each value of a byte comes up in the text. Throws as reference() does.
std::array<unsigned, values> reference_of_bytes(std::span<const char> text);

}  // namespace histogram

/// What steps 01 to 08 define: reference() on device memory. Writes the `bins` elements of
/// `histo`, whatever they held before. `workspace` holds workspace_size(length) elements that nobody has
/// written; a step may do with them what it likes.
extern "C" [[gnu::visibility("default")]] void count_letters(const char* text, std::size_t length,
                                                             unsigned* histo, unsigned* workspace);

/// What step 09 defines: reference_of_bytes() on device memory. Writes the `values` elements of `histo`,
/// whatever they held before.
extern "C" [[gnu::visibility("default")]] void count_bytes(const char* text, std::size_t length,
                                                           unsigned* histo);
