// What a solution counts, kept in a file beside its module: it is the same each time, and without that every
// suite would count anew what it holds a step against.
#pragma once
#include "counts.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace kata {

/// What the program `suite` has counted of a module; nothing if either has changed since, or nobody has.
/// `problem` distinguishes what it was counted on, where a suite has several.
std::optional<Counts> remembered(const std::filesystem::path& module, const std::filesystem::path& suite,
                                 const std::string& problem = {});

/// Keeps it for the next one who asks; where nothing can be written, that one counts.
void remember(const std::filesystem::path& module, const std::filesystem::path& suite, const Counts&,
              const std::string& problem = {});

}  // namespace kata
