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

/// Which GPU the step asks for: "sm_80" behind "// Needs: ", a compute capability, or "sm_90a", which is one
/// GPU whose instructions no other has; and behind that may stand ", 193 KiB", the shared memory of a block.
/// Empty where any will do.
std::string stated_need(const std::filesystem::path& source);

/// "needs a GPU of compute capability 9.0", where this back end or this device is not what is asked for. The
/// CPU back end has what a compute capability has, and not what one GPU alone has.
std::optional<std::string> lacking(const std::string& need);
/// The same for a GPU of this architecture, "sm_75", whose blocks may have so many bytes of shared memory; an
/// empty name stands for the CPU back end.
std::optional<std::string> lacking(const std::string& need, const std::string& architecture,
                                   std::size_t shared);
/// Whether the CPU back end can run and count it, whatever runs it now.
bool can_be_counted(const std::string& need);

}  // namespace kata
