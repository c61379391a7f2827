// Finds out which blocks of a long launch reach the ends of its buffers, where a problem has its data.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <set>

namespace simt {

struct Found {
    std::set<std::uint64_t> blocks;  ///< by linear index, in order
    bool complete = false;           ///< the search came to its end, and left none out
};

/// The next block that is to be looked at, by its linear index, as long as there is one.
using SearchedBlocks = std::function<std::optional<std::uint64_t>()>;

/// Calls `run` in a process for each core, eight at most, so that nothing is left of what the blocks do. It
/// is to run the blocks that it is given, a part of the launch's. Those are found that access the page that
/// the first bytes of a buffer of a megabyte or more lie in, or those of its last 64 bytes. The search ends
/// after 20 s, or with 4096 blocks. Throws kata::Error where there is no process to be had.
Found search_blocks(std::uint64_t blocks, const std::function<void(const SearchedBlocks&)>& run);

}  // namespace simt
