// What a launch asks of a GPU, as far as no GPU is needed to say so.
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace estimate {

/// Sectors of 32 bytes of one array that go past the L1 cache: those of loads that miss it, and of all else.
struct Flow {
    double bytes = 0;  ///< of the array
    double loaded = 0, stored = 0, updated = 0;
};

/// What the longest chain of a block passes on its way from beginning to end.
struct Chain {
    double basic_blocks = 0;
    double divisions = 0;
    double requests = 0;  ///< of any memory, one after the other through the warp
    double passes = 0;    ///< beyond the first of each request, to shared memory and the L1 cache
    double shared_loads = 0, l1_loads = 0, misses = 0;  ///< that the warp waits for; misses of the L1 cache
    double atomics =
        0;  ///< of global memory that it waits for, which is known where blocks wait for one another
    double barriers = 0;
    double updates = 0;  ///< of global memory that take turns, and a barrier or the end waits for

    bool operator==(const Chain&) const = default;
};

/// What one line of the source asks for, of what Demand sums up under the same names.
struct Asked {
    double requests = 0, addresses = 0, basic_blocks = 0, comparisons = 0, operands = 0, divisions = 0;
    double lines = 0, passes = 0;
    double updates = 0;
    double updates_of_most = 0;  ///< of the one line of global memory that all together update most
    std::map<std::string, double> loaded, written;  ///< sectors that go past the L1 cache, by array

    bool operator==(const Asked&) const = default;
};

/// What one block asks for, under the names of Demand.
struct OfBlock {
    Asked asked;
    double sectors = 0;  ///< that go past the L1 cache
    Chain chain;

    bool operator==(const OfBlock&) const = default;
};

/// Sums over the blocks that were looked at, of a launch of `blocks`.
struct Demand {
    double blocks = 0, looked_at = 0;
    unsigned threads = 0;     ///< of a block
    double shared_bytes = 0;  ///< of a block

    double requests = 0;      ///< by warps, of any memory
    double addresses = 0;     ///< of requests, as far as they are no constant away from one that is known
    double basic_blocks = 0;  ///< entered by warps
    double comparisons = 0;   ///< of conditions that nvcc makes no jump of
    double operands = 0;      ///< constants at a place that is known when the kernel is compiled
    double divisions = 0;     ///< by warps, by what is no constant
    double lines = 0;         ///< of 128 bytes that requests of global memory touch, one pass each
    double passes = 0;        ///< over the banks of shared memory
    std::map<std::string, Flow> arrays;
    /// Updates of the line of global memory that has most, in turns: of the lanes of a request those of one
    /// address, and those of different sectors, take one each. What several blocks update belongs to all.
    double updates_of_all = 0, updates_of_one = 0;
    double updates = 0;  ///< of all lines
    /// Of lines that one block alone updates: turns, words that are updated, and bytes of their arrays.
    double own_updates = 0, own_words = 0, own_bytes = 0;

    Chain chain;  ///< of the blocks, summed
    /// Of those that were looked at, and, where they were asked for, of the first and the last, which need
    /// not be in the sums.
    OfBlock longest;
    bool longest_is_beside = false;  ///< it is not in the sums
    /// Blocks that waited for another one to write a word, and, summed over them, what each did from then on
    /// until it wrote such a word itself.
    double links = 0;
    Chain link;

    std::map<std::string, Asked> lines_of_source;  ///< by "03_tiled.cu:27"
};

}  // namespace estimate
