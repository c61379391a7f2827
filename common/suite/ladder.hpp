// The ladder of a chapter as a table: a row for each step, for a terminal or for a lesson.
#pragma once
#include "suite/suite.hpp"

#include <map>
#include <string>
#include <vector>

namespace kata {

/// A quantity of the ladder, under the key that measure() prints it with.
struct Column {
    const char* key;
    const char* heading;
    const char* unit;
    int decimals;
};

/// Those of the counted columns that tell this chapter's steps apart. Throws Error for one that there is not.
std::vector<Column> counted_columns(const Chapter&);
/// What a GPU's ladder shows.
const std::vector<Column>& timed_columns();

struct Row {
    std::string step;
    std::string fault;
    std::map<std::string, double> values;
};

/// What --measure has printed of the step.
Row parse(const std::string& step, const std::string& text);

/// "03 tiled by output" of "03_tiled_by_output".
std::string title_of(std::string step);

void print_headings(const std::vector<Column>&);
/// With the ratio to the step before, if one is given.
void print_row(const std::vector<Column>&, const Row&, const Row* before);
/// A step that is still to be written.
void print_open(const std::string& step);
/// The ladder as a lesson quotes it.
void print_markdown(const std::vector<Column>&, const std::vector<Row>&);

}  // namespace kata
