// The time that a launch takes on a GPU that is not there. README.md says how and why.
#pragma once
#include "counts.hpp"
#include "estimate/demand.hpp"
#include "estimate/device.hpp"

#include <optional>
#include <string>
#include <vector>

namespace estimate {

/// Something that a launch keeps busy, and for how many seconds if for nothing else.
struct Need {
    std::string what;  ///< "DRAM", "latency": for people
    double seconds = 0;
};

/// What a line of the source has of the time of its launch, by what it asks of what the launch is bound by.
struct OfLine {
    std::string line;  ///< "03_tiled.cu:27"
    std::string what;  ///< as of a Need
    double seconds = 0;
};

struct Estimate {
    double seconds = 0;  ///< with what the launch itself costs
    /// The longest first: the launch takes as long as this, or longer where blocks are in one another's way.
    std::vector<Need> needs;
    /// The longest first; under no name what belongs to no line, as the problem's arithmetic. Empty where
    /// lines do not say: latency is of a chain, and how blocks start is of none.
    std::vector<OfLine> lines = {};
    /// How many times as long as the average block the longest takes, if that is the first or the last and in
    /// no sum; 0 if it is not.
    double times_an_end = 0;
    std::vector<Estimate> launches = {};  ///< of several launches, each
};

/// `operations`: additions and multiplications of floats that the launch makes, half of them fused; of a
/// kernel whose arithmetic nobody has counted 0.
Estimate estimate(const Demand&, const Device&, double operations = 0);

/// Why some blocks of a step do not stand for all: where all are counted, as in a small problem, their work
/// is much more unequal than in its solution. Few blocks that have the same work are another matter.
std::optional<std::string> unequal_blocks(const kata::Counts& step, const kata::Counts& solution);

/// Why an estimate is none: its sums are of blocks that do much less than the first or the last of the grid.
std::optional<std::string> unequal_ends(const Estimate&);

/// Launches that follow each other. Operations are shared out by warps' basic blocks and requests.
Estimate estimate(const std::vector<Demand>&, const Device&, double operations = 0);

}  // namespace estimate
