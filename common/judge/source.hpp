// The declarations in the source of a step.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace kata {

/// True if the step still has a body to write: a line that begins with a call of kata::open().
bool is_open(const std::filesystem::path& source);

/// Returns why a kernel must be rejected: the rest of the line after "// Rejected: ". On a GPU, which cannot
/// detect everything that the CPU back end can, the text after "// On a GPU: " takes precedence. Throws Error
/// if there is none.
std::string stated_reason(const std::filesystem::path& source);

/// Returns the test that rejects the kernel first: the rest of the line after "// Rejected by: ". Empty
/// without such a line, and on a GPU, where another test may be first.
std::optional<std::string> stated_test(const std::filesystem::path& source);

/// Returns the GPU that the step requires, after "// Needs: ": "sm_80", a compute capability, or "sm_90a", a
/// single GPU whose instructions no other has. It may be followed by the shared memory of a block: ", 193
/// KiB". Empty if any GPU will do.
std::string stated_need(const std::filesystem::path& source);

/// Returns "needs a GPU of compute capability 9.0" if this back end or this device does not meet the need.
/// The CPU back end has the features of all compute capabilities, but not those of a single GPU.
std::optional<std::string> lacking(const std::string& need);
/// Same for a GPU of this architecture, such as "sm_75", whose blocks may have `shared` bytes of shared
/// memory. An empty name stands for the CPU back end.
std::optional<std::string> lacking(const std::string& need, const std::string& architecture,
                                   std::size_t shared);
/// True if the CPU back end can run and count a step with this need, whichever back end runs it now.
bool can_be_counted(const std::string& need);

}  // namespace kata
