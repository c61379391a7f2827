// The time that a launch takes on a GPU that is not there. README.md says how and why.
#pragma once
#include "estimate/demand.hpp"
#include "estimate/device.hpp"

#include <string>
#include <vector>

namespace estimate {

/// Something that a launch keeps busy, and for how many seconds if for nothing else.
struct Need {
    std::string what;  ///< "DRAM", "latency": for people
    double seconds = 0;
};

struct Estimate {
    double seconds = 0;  ///< with what the launch itself costs
    /// The longest first: the launch takes as long as this, or longer where blocks are in one another's way.
    std::vector<Need> needs;
    std::vector<Estimate> launches = {};  ///< of several launches, each
};

/// `operations`: additions and multiplications of floats that the launch makes, half of them fused; of a
/// kernel whose arithmetic nobody has counted 0.
Estimate estimate(const Demand&, const Device&, double operations = 0);

/// Launches that follow each other. Operations are shared out by warps' basic blocks and requests.
Estimate estimate(const std::vector<Demand>&, const Device&, double operations = 0);

}  // namespace estimate
