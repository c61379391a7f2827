// What a program is asked about a chapter, a step or a ladder, beside its tests.
#pragma once
#include <span>

namespace kata {

/// PROGRAM --describe [--file FILE]: the chapter as JSON: its problems, the columns of its ladder, its steps
/// and the device. Fails, in one line, where the chapter cannot read FILE.
int describe(std::span<char* const> arguments);

/// PROGRAM --measure MODULE [--source FILE] [--needs GPU] [--against MODULE] [--variant NUMBER]
/// [--file IN OUT [--full]] [--once] [--refuted PREFIX]: one step of the ladder, as lines "KEY VALUE"; else
/// one of "open 1", "lacks WHY" and "fault WHY". With --once nothing is timed, so that a profiler sees one
/// run and no more. With --refuted, whose modules of solutions begin with PREFIX, also "refuted STEP TEXT"
/// for each counted claim that a document makes in vain about the step.
int measure(std::span<char* const> arguments);

/// PROGRAM --times [--variant NUMBER] MODULE...: how long each takes over one timed problem, which is made
/// once, as lines "NAME MILLISECONDS".
int times(std::span<char* const> arguments);

}  // namespace kata
