// Finds the line in which the longest chain of a run spends most of its steps.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace kata {

/// Calls `run`, which runs a step and returns the steps of its longest chain. Returns, on a line of its own,
/// which source line has most steps of this chain of code and memory, and how many. Returns nothing if
/// nothing is counted, if the run is too large to be followed, or if other waits make up the chain, such as
/// those for atomics on one word.
std::string most_of_chain(const std::function<std::uint64_t()>& run);

}  // namespace kata
