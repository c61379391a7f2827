// The result of one run of a step.
#pragma once
#include "error.hpp"
#include "observe.hpp"

#include <optional>
#include <string>

namespace kata {

/// One run of a step over a problem.
struct Run {
    std::optional<std::string> fault;  ///< the reason why the step is wrong
    OutOfTime out_of_time = OutOfTime::no;
    std::string problem = {};  ///< its size, for messages
    Observation seen;
    double outputs = 0;     ///< elements of the result
    double operations = 0;  ///< operations that the problem requires

    /// Adds the results of another correct run.
    Run& operator+=(const Run&);
};

/// Returns the counts of a correct run. Throws Error if it was wrong.
const Counts& counts_of(const Run&);

}  // namespace kata
