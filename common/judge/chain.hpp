// Finds the line in which the longest chain of a run spends most of its steps.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace kata {

/// Calls `run`, which runs a step and returns the steps of its longest chain. Returns how many steps of its
/// longest chain, of code and memory that must follow one another, are in the line that has most of them, on
/// a line of its own. Returns nothing if nothing is counted, if the run is too large to be followed, or if
/// other waits make up the chain, as those for atomics on one word.
std::string most_of_chain(const std::function<std::uint64_t()>& run);

}  // namespace kata
