// From a code address to the lines of the source that it was compiled from.
#pragma once
#include "simt/image.hpp"

#include <string>

namespace meter {

/// "03_tiled.cu:27", asked of addr2line; "an unknown line" without it. `code` is a return address, as an
/// offset.
std::string line_of(const simt::Image&, std::uint32_t code);
/// Of code that was inlined, ", called in 03_tiled.cu:40", and again for each caller further out; else
/// nothing.
std::string callers_of(const simt::Image&, std::uint32_t code);

}  // namespace meter
