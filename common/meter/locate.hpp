// From a code address to the line of the source that it was compiled from.
#pragma once
#include "simt/image.hpp"

#include <string>

namespace meter {

/// "03_tiled.cu:27", asked of addr2line; "an unknown line" without it. `code` is a return address, as an
/// offset.
std::string line_of(const simt::Image&, std::uint32_t code);

}  // namespace meter
