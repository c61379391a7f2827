// The resources that a launch requires of a GPU, as far as known without one.
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace estimate {

/// Sectors of 32 bytes of one array beyond the L1 cache: of loads that miss it, and of all stores and
/// updates.
struct Flow {
    double bytes = 0;  ///< size of the array
    double loaded = 0, stored = 0, updated = 0;
};

/// The longest chain of dependent work in a block.
struct Chain {
    double basic_blocks = 0;
    double divisions = 0;
    double requests = 0;  ///< requests to any memory that wait for one another
    double passes = 0;    ///< passes beyond the first of each request to shared memory and the L1 cache
    double shared_loads = 0, l1_loads = 0, misses = 0;  ///< that a warp waits for; misses of the L1 cache
    double atomics = 0;  ///< on global memory, if waited for; known only if blocks wait for one another
    double barriers = 0;
    double updates = 0;  ///< serialized updates of global memory that a barrier or the end waits for

    bool operator==(const Chain&) const = default;
};

/// The amounts that one source line adds to the members of Demand that have the same names.
struct Asked {
    double requests = 0, addresses = 0, basic_blocks = 0, comparisons = 0, operands = 0, divisions = 0;
    double lines = 0, passes = 0;
    double updates = 0;
    double updates_of_most = 0;  ///< updates of the line of global memory that has the most in all
    std::map<std::string, double> loaded, written;  ///< sectors of each array beyond the L1 cache

    bool operator==(const Asked&) const = default;
};

/// The amounts that one block adds to the members of Demand that have the same names.
struct OfBlock {
    Asked asked;
    double sectors = 0;  ///< beyond the L1 cache
    Chain chain;

    bool operator==(const OfBlock&) const = default;
};

/// Sums over the blocks looked at, in a launch of `blocks`.
struct Demand {
    double blocks = 0, looked_at = 0;
    unsigned threads = 0;     ///< of a block
    double shared_bytes = 0;  ///< of a block

    double requests = 0;      ///< of warps, to any memory
    double addresses = 0;     ///< of requests that do not lie at a constant distance from a known one
    double basic_blocks = 0;  ///< entered by warps
    double comparisons = 0;   ///< of conditions compiled to predicates
    double unrolled = 0;      ///< basic blocks of unrolled loops, which a GPU does not enter
    double merged = 0;        ///< passes in such loops that a GPU leaves out, because they repeat a load
    double operands = 0;      ///< constants at an address known at compile time
    double divisions = 0;     ///< executed by warps; only those whose divisor is not a constant
    double lines = 0;         ///< of 128 bytes, summed over requests to global memory: a pass for each
    double passes = 0;        ///< over the banks of shared memory
    std::map<std::string, Flow> arrays;
    /// The most serialized updates of any line of global memory: once among the lines that several blocks
    /// update, once among the lines that one block updates. Within a request, each lane of one address takes
    /// a turn, and so does each sector.
    double updates_of_all = 0, updates_of_one = 0;
    double updates = 0;  ///< of all lines of global memory
    /// For lines updated by one block alone: turns, words updated, and bytes of their arrays.
    double own_updates = 0, own_words = 0, own_bytes = 0;

    Chain chain;  ///< sum over the blocks
    /// The longest block of those observed and, if requested, of the first and the last, which may not be in
    /// the sums.
    OfBlock longest;
    bool longest_is_beside = false;  ///< the longest block is not in the sums
    /// Blocks that waited for another one to write a word, and the sum of what each did from then until it
    /// wrote such a word itself.
    double links = 0;
    Chain link;

    std::map<std::string, Asked> lines_of_source;  ///< the key is a line, as "03_tiled.cu:27"
};

}  // namespace estimate
