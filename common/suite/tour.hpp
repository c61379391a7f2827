// The ladder of a chapter: what each step moves and takes, beside the step before it.
#pragma once
#include <span>

namespace kata {

/// tour CHAPTERS SOLUTIONS [--mine] [--image|--text FILE] STEP…: prints the ladder. CHAPTERS and SOLUTIONS are folders
/// of modules; a step is taken from the first where it is written, else from the second. Each runs in a process of its
/// own. Returns 0 when every step that ran was right.
int tour(std::span<char*> arguments);

}  // namespace kata
