// What came of one run of a step.
#pragma once
#include "observe.hpp"

#include <optional>
#include <string>

namespace kata {

/// One run of a step over a problem.
struct Run {
    std::optional<std::string> fault;  ///< why the step is wrong
    std::string problem = {};          ///< its size, for people
    Observation seen;
    double outputs = 0;     ///< elements of the result
    double operations = 0;  ///< that the problem needs

    /// Adds what another right run did.
    Run& operator+=(const Run&);
};

/// The counts of a right run. Throws Error where it was wrong.
const Counts& counts_of(const Run&);

}  // namespace kata
