// Transposition of a matrix: the problem of the chapter, its limits and its plain solution.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace transposition {

/// A grid has at most 65535 blocks along y. Blocks of any shape cover this number of rows.
inline constexpr int max_rows = 65535;
/// The columns of a tile that reaches over the end of a row still fit into an int.
inline constexpr int max_columns = 1 << 30;

struct Shape {
    int rows, columns;  ///< of the matrix to transpose; 0 is an empty one
    std::size_t elements() const {
        return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    }
};

/// Throws std::invalid_argument, in one line, for a shape that the steps need not accept: a negative size,
/// one above max_rows or max_columns, 2³¹ elements or more.
void check(const Shape&);

/// out(column, row) = in(row, column). Both matrices are row-major.
std::vector<double> reference(std::span<const float> in, const Shape&);

}  // namespace transposition

/// The function that every step of the chapter defines: reference() on device memory. `in` and `out` point to
/// different arrays of the device, with the same layout.
extern "C" [[gnu::visibility("default")]] void transpose(const float* in, float* out, int rows, int columns);
