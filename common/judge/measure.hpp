// The reports of a program on a chapter, a step or a ladder, besides its tests.
#pragma once
#include <span>

namespace kata {

/// PROGRAM --describe [--file FILE]: the chapter as JSON: its problems, the columns of its ladder, its steps
/// and the device. Fails with a message of one line if the chapter cannot read FILE.
int describe(std::span<char* const> arguments);

/// PROGRAM --measure MODULE [--source FILE] [--needs GPU] [--against MODULE] [--variant NUMBER] [--file IN
/// OUT [--full]] [--once] [--refuted PREFIX]: one step of the ladder, as lines "KEY VALUE"; otherwise one of
/// "open 1", "lacks WHY" and "fault WHY". With --once nothing is timed, so that a profiler sees a single run.
/// With --refuted also "refuted STEP TEXT" for each claim of a document about the step that the counts
/// refute; PREFIX is the common prefix of the solutions' modules.
int measure(std::span<char* const> arguments);

/// PROGRAM --times [--variant NUMBER] MODULE...: the time of each module on one timed problem, which is
/// created once, as lines "NAME MILLISECONDS".
int times(std::span<char* const> arguments);

}  // namespace kata
