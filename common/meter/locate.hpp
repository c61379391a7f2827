// Looks things up in the source: the line that a code address was compiled from, the names of a kernel's
// parameters and of arrays.
#pragma once
#include "simt/image.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace meter {

/// Returns "03_tiled.cu:27", from addr2line; "an unknown line" without it. `code` is a return address, as an
/// offset.
std::string line_of(const simt::Image&, std::uint32_t code);
/// The same for many addresses, which takes little longer than for one.
std::vector<std::string> lines_of(const simt::Image&, std::span<const std::uint32_t> codes);
/// Returns the text of a source file, named as in a line returned earlier; nothing if it cannot be read.
std::string source_of(const simt::Image&, const std::string& file);
/// Returns ", called in 03_tiled.cu:40" for each function that the code was inlined into, outwards; else
/// nothing.
std::string callers_of(const simt::Image&, std::uint32_t code);

/// Returns the names of the parameters of a kernel defined in this source file of the module, in order; else
/// nothing. Ignores template arguments and namespaces of `kernel`.
std::vector<std::string> parameters_of(const simt::Image&, const std::string& file,
                                       const std::string& kernel);
/// Returns the name of the array declared above a line that the line indexes, if there is exactly one.
std::optional<std::string> indexed_array(const simt::Image&, const std::string& file, unsigned line);
/// Returns the name of the first local array of the kernel whose index contains threadIdx, or a variable
/// computed from it. Only shared arrays are indexed like that.
std::optional<std::string> local_array_of_threads(const simt::Image&, const std::string& file,
                                                  const std::string& kernel);

}  // namespace meter
