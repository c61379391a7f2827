// What the source of a step says of it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace kata {

/// Whether it still has a body to be written: a line that begins with a call of kata::open().
bool is_open(const std::filesystem::path& source);

/// Of a kernel that must be rejected, why: the rest of the line behind "// Rejected: ". A GPU cannot tell
/// everything that the CPU back end can, so behind "// On a GPU: " may stand what is seen there. Throws Error
/// where it does not say.
std::string stated_reason(const std::filesystem::path& source);

/// And which test rejects it, the first that does: the rest of the line behind "// Rejected by: ". Nothing
/// where it does not say, and on a GPU, where another test may be the first.
std::optional<std::string> stated_test(const std::filesystem::path& source);

}  // namespace kata
