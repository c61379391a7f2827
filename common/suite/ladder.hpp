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
    bool more_is_better;
    const char* meaning;  ///< for who sees the column for the first time
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

/// For a terminal of 80 columns, as are the rows: what does not fit beside each other stands below each
/// other.
void print_headings(const std::vector<Column>&);
/// What the columns hold, and the signs.
void print_legend(const std::vector<Column>&);
void print_row(const std::vector<Column>&, const Row&);
/// Row by row, what a step has times as much of as another one, each with a sign for better or worse. `title`
/// says which.
void print_ratio(const std::vector<Column>&, const std::string& title, const Row&, const Row& other);
/// Text behind so many spaces; what does not fit into a line goes on below, four places further in.
void print_text(const std::string& text, std::size_t indent);
/// A step that is still to be written.
void print_open(const std::string& step);
/// The ladder as a lesson quotes it.
void print_markdown(const std::vector<Column>&, const std::vector<Row>&);

}  // namespace kata
