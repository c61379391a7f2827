// Finds the blocks of a large launch that access the ends of its buffers, where a problem has its data.
#pragma once
#include "simt/grid.hpp"

#include <cstdint>
#include <functional>
#include <set>

namespace simt {

struct Found {
    std::set<std::uint64_t> blocks;  ///< by linear index, in order
    bool complete = false;           ///< the search ended and left none out
};

/// Calls `run` in a process per core, at most eight, to run the blocks it is given, a part of the launch's.
/// Their effects are lost with the process. Finds the blocks that access the first page of a buffer of at
/// least a megabyte, or the pages of its last 64 bytes. Ends after 20 s, or with 4096 blocks. Throws
/// kata::Error if no process can be started.
Found search_blocks(std::uint64_t blocks, const std::function<void(const NextBlock&)>& run);

}  // namespace simt
