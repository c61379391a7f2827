// Counts of a step as nvcc compiles it; the meter counts rounds and loads as the source has them.
#pragma once
#include "judge/suite.hpp"

namespace kata {

/// Returns the counts of the step under test on a shape without what nvcc saves in a loop that it unrolls:
/// the basic blocks of its rounds, and loads from shared memory that repeat an earlier one. So a verdict does
/// not depend on how such a loop is written. Chains and the makespan stay as counted. Runs the step again.
const Counts& as_compiled(const Shape&);

/// Returns the counts without all basic blocks and loads from shared memory: nvcc saves no more than these.
Counts at_best(Counts);

}  // namespace kata
