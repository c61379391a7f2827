// What the source says: the lines that a code address was compiled from, and how a kernel's parameters are
// called.
#pragma once
#include "simt/image.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace meter {

/// "03_tiled.cu:27", asked of addr2line; "an unknown line" without it. `code` is a return address, as an
/// offset.
std::string line_of(const simt::Image&, std::uint32_t code);
/// The same for many, which takes hardly longer than for one.
std::vector<std::string> lines_of(const simt::Image&, std::span<const std::uint32_t> codes);
/// The text of a source file, called as a line that was told; nothing where it cannot be read.
std::string source_of(const simt::Image&, const std::string& file);
/// Of code that was inlined, ", called in 03_tiled.cu:40", and again for each caller further out; else
/// nothing.
std::string callers_of(const simt::Image&, std::uint32_t code);

/// The names of the parameters of a kernel that a source file of the module defines, in their order; none
/// where it does not. Template arguments and namespaces of `kernel` are ignored.
std::vector<std::string> parameters_of(const simt::Image&, const std::string& file,
                                       const std::string& kernel);
/// The name of the one array that a line of a source indexes, of those that are declared above it; nothing
/// where there is none, or several.
std::optional<std::string> indexed_array(const simt::Image&, const std::string& file, unsigned line);
/// The name of the first local array that the kernel declares, if it declares one.
std::optional<std::string> local_array_of(const simt::Image&, const std::string& file,
                                          const std::string& kernel);
/// The name of the first local array of the kernel whose index has threadIdx in it, or a variable that is
/// made of it: only of what threads share a thread has a part of its own.
std::optional<std::string> local_array_of_threads(const simt::Image&, const std::string& file,
                                                  const std::string& kernel);

}  // namespace meter
