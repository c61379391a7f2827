// One step of the ladder.
#pragma once
#include <span>

namespace kata {

/// PROGRAM --measure MODULE [--against MODULE] [--variant NUMBER] [--file IN OUT [--full]] [--once]: one step
/// of the ladder, as lines "name value". With --once nothing is timed, so that a profiler sees one run and no
/// more.
int measure(std::span<char* const> arguments);

/// PROGRAM --times [--variant NUMBER] MODULE...: how long each takes over one timed problem, which is made
/// once, as lines "NAME MILLISECONDS".
int times(std::span<char* const> arguments);

}  // namespace kata
