// A step line by line and request by request: the data for the texts and pictures of ./kata explain and
// ./kata see. Both write JSON to a file, because a kernel may print. common/front/trace.py reads it.
#pragma once
#include <span>

namespace kata {

/// PROGRAM --explain MODULE --to FILE: the counts of the step on its base shape, in total and for each place
/// in the kernels.
int explain(std::span<char* const> arguments);

/// PROGRAM --trace MODULE --to FILE: all requests of Chapter::sketch.
int trace(std::span<char* const> arguments);

}  // namespace kata
