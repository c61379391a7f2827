// The ladder of a chapter: what each step moves and takes, beside the step before it.
#pragma once
#include <span>

namespace kata {

/// PROGRAM --tour --modules PREFIX [--mine] [--image FILE | --text FILE]: prints the ladder. Modules are
/// looked for at PREFIX/solutions.CHAPTER.STEP.BACKEND.so and …/chapters.…; the student's is shown with
/// --mine. Each step runs in a process of its own. Returns 0 when every step that ran was right.
int tour(std::span<char* const> arguments);

/// PROGRAM --measure MODULE [--against MODULE] [--variant NUMBER] [--file IN OUT] [--once]: one step of the
/// ladder, as lines "name value". With --once nothing is timed, so that a profiler sees one run and no more.
int measure(std::span<char* const> arguments);

}  // namespace kata
