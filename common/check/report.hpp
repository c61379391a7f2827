// What the report on a step says beside its tests. The step runs in the process that tests it and can write
// wherever that can: where its author must not be trusted, each line carries a seal that a step cannot make.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

namespace kata {

/// Reads a key of 32 bytes from the descriptor, to its end, and closes it. To be called before a step is
/// loaded. Throws Error where there are not as many.
void seal_reports(int descriptor);
bool reports_are_sealed();

/// The line as it is reported: with a key, behind the HMAC-SHA256 of "NUMBER LINE", in hexadecimal digits,
/// where NUMBER counts the lines from 0.
std::string sealed(const std::string& line);

/// HMAC-SHA256 (RFC 2104, FIPS 180-4) in hexadecimal digits. The key has at most 64 bytes.
std::string hmac_sha256(const std::string& key, const std::string& text);

/// Of a right step that needs more of one thing than it may: notes, for the report on the test that now
/// fails, how much of what it needs it may need, from 0 to 1.
void note_share(double share);
/// The least that was noted since it was last asked for; nothing unless each of the `failures` of the test
/// was noted, for of a wrong step no share says anything.
std::optional<double> take_share(std::size_t failures);

}  // namespace kata
