// The counts of a solution, kept in a file beside its module. They never vary; without the file, every suite
// would count the solution that it compares a step with.
#pragma once
#include "counts.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace kata {

/// Returns the counts of a module by the program `suite`; nothing if there are none, or either file has
/// changed since. `problem` distinguishes the problems of a suite.
std::optional<Counts> remembered(const std::filesystem::path& module, const std::filesystem::path& suite,
                                 const std::string& problem = {});

/// Stores the counts. If the file cannot be written, they are counted again next time.
void remember(const std::filesystem::path& module, const std::filesystem::path& suite, const Counts&,
              const std::string& problem = {});

}  // namespace kata
