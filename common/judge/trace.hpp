// What a step does line by line, and request by request: what ./kata explain and ./kata see make their texts
// and pictures of. Both write JSON to a file, for a kernel may print; common/front/trace.py reads it.
#pragma once
#include <span>

namespace kata {

/// PROGRAM --explain MODULE --to FILE: counts of what Chapter::count runs, of all and of each place in the
/// kernels.
int explain(std::span<char* const> arguments);

/// PROGRAM --trace MODULE --to FILE: all requests of what Chapter::sketch runs.
int trace(std::span<char* const> arguments);

}  // namespace kata
