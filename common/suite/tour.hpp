// The ladder of a chapter: what each step moves and takes, beside the step before it.
#pragma once
#include <span>

namespace kata {

/// PROGRAM --tour --modules FOLDER [--sources FOLDER] [--mine] [--markdown] [--device FILE]
/// [--image FILE | --text FILE] [--full]: prints the ladder, with --markdown as a lesson quotes it. Modules
/// are solutions.CHAPTER.STEP.BACKEND.so in their folder, with --mine the student's, chapters.…; one that is
/// older than its source in the repository at --sources did not compile again, and is not run. Each step runs
/// in a process of its own. Returns 0 when every step that ran was right. Over a file of the reader's, --full
/// counts all blocks. With --device, which a file describes (estimate/describe.cu), the ladder of the CPU
/// back end has times estimated for it.
int tour(std::span<char* const> arguments);

}  // namespace kata
