// How a kernel is launched.
#pragma once
#include <array>
#include <cstddef>
#include <string>

namespace kata {

struct Launching {
    std::array<unsigned, 3> grid, block;
    std::size_t shared_bytes;  ///< of dynamic shared memory
    std::string text;          ///< "add<<<256, 4>>>"
    std::string line;          ///< "03_tiled.cu:40"

    bool is_like(const Launching& other) const {
        return grid == other.grid && block == other.block && shared_bytes == other.shared_bytes;
    }
    /// Returns "<<<256, 4>>>".
    std::string configuration() const { return text.substr(text.find("<<<")); }
};

}  // namespace kata
