#include "transposition.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace transposition {

void check(const Shape& s) {
    const auto refuse = [&](const std::string& why) {
        throw std::invalid_argument("matrix of " + std::to_string(s.rows) + " x " +
                                    std::to_string(s.columns) + " refused: " + why);
    };
    if (s.rows < 0 || s.columns < 0 || s.elements() > INT32_MAX)
        refuse("sizes must not be negative and must make less than 2^31 elements");
    if (s.rows > max_rows || s.columns > max_columns)
        refuse("the chapter takes up to " + std::to_string(max_rows) + " rows and " +
               std::to_string(max_columns) + " columns");
}

std::vector<double> reference(std::span<const float> in, const Shape& s) {
    const auto rows = static_cast<std::size_t>(s.rows), columns = static_cast<std::size_t>(s.columns);
    std::vector<double> out(s.elements());
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column)
            out[column * rows + row] = static_cast<double>(in[row * columns + column]);
    return out;
}

}  // namespace transposition
