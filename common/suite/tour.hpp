// The ladder of a chapter: what each step moves and takes, beside the step before it.
#pragma once
#include <span>

namespace kata {

/// PROGRAM --tour --modules FOLDER [--sources FOLDER] [--mine] [--markdown] [--wrong FILE]
/// [--image FILE | --text FILE] [--full]: prints the ladder, with --markdown as a lesson quotes it. Modules
/// are solutions.CHAPTER.STEP.BACKEND.so in their folder, with --mine the student's, chapters.…; one that is
/// older than its source in the repository at --sources did not compile again, and is not run. Each step runs
/// in a process of its own. Returns 0 when every step that ran was right. Over a file of the reader's, --full
/// counts all blocks. With --wrong, writes the names of the steps that are not right to the file, a line
/// each.
int tour(std::span<char* const> arguments);

}  // namespace kata
