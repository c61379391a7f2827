// Estimates the time of a launch on a GPU that is not present. README.md explains the model.
#pragma once
#include "counts.hpp"
#include "estimate/demand.hpp"
#include "estimate/device.hpp"

#include <optional>
#include <string>
#include <vector>

namespace estimate {

/// A resource that a launch needs, and the seconds if the launch needed nothing else.
struct Need {
    std::string what;  ///< "DRAM", "latency"
    double seconds = 0;
};

/// A source line's share in the time of its launch, by its demand for the resource that bounds the launch.
struct OfLine {
    std::string line;  ///< "03_tiled.cu:27"
    std::string what;  ///< as in Need
    double seconds = 0;
};

struct Estimate {
    double seconds = 0;  ///< including the cost of the launch itself
    /// The longest first. The launch takes this long, or longer if blocks delay each other.
    std::vector<Need> needs;
    /// The longest first. A line without a name stands for work that belongs to no line, such as the
    /// problem's arithmetic. Empty if lines have no share: latency belongs to a chain, and the start of
    /// blocks to no line.
    std::vector<OfLine> lines = {};
    /// The time of the longest block relative to the average block, if the longest is the first or the last
    /// one and not in the sums; otherwise 0.
    double times_an_end = 0;
    std::vector<Estimate> launches = {};  ///< each of several launches
};

/// `operations`: float additions and multiplications of the launch, half of them fused; 0 if not counted.
Estimate estimate(const Demand&, const Device&, double operations = 0);

/// Returns why a sample of a step's blocks does not represent all: in a small problem, where all are counted,
/// their work is much more unequal than in the solution.
std::optional<std::string> unequal_blocks(const kata::Counts& step, const kata::Counts& solution);

/// Returns why an estimate is void: its sums are of blocks that do much less than the first or the last of
/// the grid.
std::optional<std::string> unequal_ends(const Estimate&);

/// Estimates consecutive launches. Divides the operations among them by their basic blocks and requests.
Estimate estimate(const std::vector<Demand>&, const Device&, double operations = 0);

}  // namespace estimate
