#include "suite/ladder.hpp"

#include "error.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

namespace kata {

namespace {

const std::vector<Column> counted{
    {"bytes_loaded", "loaded", "B/output", 2, false, "bytes that threads load from global memory"},
    {"bytes_stored", "stored", "B/output", 2, false, "bytes that threads store to global memory"},
    {"sectors", "sectors", "/output", 3, false, "pieces of 32 bytes that global memory moves for them"},
    {"load_efficiency", "load eff.", "%", 1, true, "of the sectors loaded, what some lane asked for"},
    {"store_efficiency", "store eff.", "%", 1, true, "of the sectors stored, what some lane wrote"},
    {"atomics", "atomics", "/output", 4, false, "atomics on global memory"},
    {"shared_loads", "sh. loads", "/output", 2, false, "elements loaded from shared memory"},
    {"shared_passes", "sh. passes", "/output", 3, false, "passes over the banks of shared memory"},
    {"shared_atomics", "sh. atomics", "/output", 3, false, "atomics on shared memory"},
    {"bank_conflicts", "conflicts", "/output", 3, false, "passes more than one a request: bank conflicts"},
    {"basic_blocks", "basic blocks", "/output", 3, false, "straight pieces of code that warps execute"},
    {"active_lanes", "lanes", "of 32", 1, true, "threads of a warp that are at work"},
    {"barriers", "barriers", "/block", 0, false, "barriers that a block comes to"},
    {"parallelism", "parallelism", "warps", 0, true,
     "parallelism, work by longest chain: warps that could run"},
    {"intensity", "intensity", "OP/B", 2, true, "intensity: operations for each byte that is loaded"},
};

// On a terminal a heading is cut at its space: 24 + 7 * 8 = 80.
constexpr std::size_t title_width = 24, column_width = 8, columns_beside = 7;

/// The columns that stand beside each other: as many as fit, or fewer, so that all lines are about as long.
std::vector<std::span<const Column>> lines_of(const std::vector<Column>& columns) {
    std::vector<std::span<const Column>> lines;
    const std::size_t count = (columns.size() + columns_beside - 1) / columns_beside,
                      length = count == 0 ? 0 : (columns.size() + count - 1) / count;
    for (std::size_t i = 0; i < columns.size(); i += length)
        lines.emplace_back(columns.begin() + static_cast<std::ptrdiff_t>(i),
                           std::min(length, columns.size() - i));
    return lines;
}

/// How many places the text takes, of which a character of UTF-8 may be several bytes.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// The title, in its place; cut where it has none.
std::string in_title(const std::string& text) {
    const auto cut = text.size() < title_width ? text : text.substr(0, title_width - 2) + "…";
    return cut + std::string(title_width - width_of(cut), ' ');
}

std::string in_column(const std::string& text) {
    const auto width = width_of(text);
    return std::string(width < column_width ? column_width - width : 1, ' ') + text;
}

/// A line of texts for each part of the columns, the first behind a title.
void print_lines(const std::vector<Column>& columns, std::string title, const auto& text_of_column) {
    for (const auto part : lines_of(columns)) {
        std::cout << in_title(title);
        for (const auto& c : part) std::cout << in_column(text_of_column(c));
        std::cout << '\n';
        title.clear();
    }
}

/// The heading in words that fit into a column of a terminal, with a space between them at most. A lesson has
/// the room for a long word, which is then in the legend.
std::string short_heading(const Column& c) {
    constexpr std::pair<std::string_view, const char*> long_words[] = {
        {"conflicts", "extra passes"}, {"barriers", "syncs"},  {"intensity", "ops a byte"},
        {"parallelism", "at once"},    {"arithmetic", "work"},
    };
    for (const auto& [word, text] : long_words)
        if (c.heading == word) return text;
    return c.heading;
}

/// "x0.052+"
std::string ratio_text(double ratio, bool more_is_better) {
    if (std::isinf(ratio)) return more_is_better ? "more+" : "more-";
    if (std::isnan(ratio)) return "";
    char text[32];
    std::snprintf(text, sizeof text,
                  ratio >= 99'999.5              ? "x%.0e"
                  : ratio >= 99.95 || ratio == 0 ? "x%.0f"
                  : ratio >= 0.1                 ? "x%.3g"
                  : ratio >= 0.01                ? "x%.2g"
                  : ratio >= 1e-3                ? "x%.1g"
                                                 : "x%.0e",
                  ratio);
    const bool same = std::abs(ratio - 1) < 0.005;
    return text + std::string(same ? " " : (ratio > 1) == more_is_better ? "+" : "-");
}

std::string text_of(double value, int decimals) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(decimals) << value;
    return text.str();
}

std::string text_of(const Column& c, const Row& row) {
    const auto found = row.values.find(c.key);
    return found == row.values.end() ? "-" : text_of(found->second, c.decimals);
}

/// With fewer decimals where all of them would not fit into a column.
std::string text_in_column(const Column& c, const Row& row) {
    auto text = text_of(c, row);
    for (int decimals = c.decimals; text.size() >= column_width && decimals-- > 0;)
        text = text_of(row.values.at(c.key), decimals);
    return text;
}

}  // namespace

std::vector<Column> counted_columns(const Chapter& c) {
    std::vector<Column> columns;
    for (const auto& key : c.columns) {
        const auto found = std::find_if(counted.begin(), counted.end(),
                                        [&](const Column& column) { return key == column.key; });
        if (found == counted.end()) throw Error("the ladder has no column \"" + key + "\"");
        columns.push_back(*found);
    }
    return columns;
}

const std::vector<Column>& timed_columns() {
    static const std::vector<Column> timed{
        {"milliseconds", "time", "ms", 3, false, "of the kernels, on this GPU"},
        {"gigabytes", "useful", "GB/s", 0, true, "bytes that the problem has to move, by that time"},
        {"teraflops", "arithmetic", "TFLOP/s", 2, true,
         "arithmetic: operations of the problem, by that time"},
        {"of_ceiling", "of ceiling", "%", 1, true, "of what this GPU can do at best for the problem"},
    };
    return timed;
}

Row parse(const std::string& step, const std::string& text) {
    Row row{step, "", {}};
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto space = line.find(' ');
        const auto key = line.substr(0, space),
                   value = space == std::string::npos ? "" : line.substr(space + 1);
        if (key == "fault")
            row.fault += (row.fault.empty() ? "" : "\n") + value;
        else
            row.values[key] = std::strtod(value.c_str(), nullptr);
    }
    if (row.fault.empty() && row.values.empty()) row.fault = "the step ended without a result";
    return row;
}

std::string title_of(std::string step) {
    std::replace(step.begin(), step.end(), '_', ' ');
    return step;
}

void print_markdown(const std::vector<Column>& columns, const std::vector<Row>& rows) {
    std::cout << "| step |";
    for (const auto& c : columns)
        std::cout << ' ' << c.heading << (c.unit[0] == '/' ? "" : ", ") << c.unit << " |";
    std::cout << "\n| --- |";
    for (std::size_t i = 0; i < columns.size(); ++i) std::cout << " ---: |";
    std::cout << '\n';
    for (const auto& row : rows) {
        if (!row.fault.empty()) std::cerr << title_of(row.step) << ": " << row.fault << '\n';
        std::cout << "| " << title_of(row.step) << " |";
        for (const auto& c : columns) std::cout << ' ' << text_of(c, row) << " |";
        std::cout << '\n';
    }
}

void print_headings(const std::vector<Column>& columns) {
    for (const auto part : lines_of(columns)) {
        const auto words = [](const Column& c) {
            const auto heading = short_heading(c);
            const auto space = heading.find(' ');
            return std::array{heading.substr(0, space),
                              space == std::string::npos ? "" : heading.substr(space + 1),
                              c.unit == std::string("B/output") ? std::string("B/out.") : c.unit};
        };
        for (std::size_t line = 0; line < 3; ++line) {
            std::cout << in_title(line == 0 && part.data() == columns.data() ? "step" : "");
            for (const auto& c : part) std::cout << in_column(words(c)[line]);
            std::cout << '\n';
        }
    }
}

void print_legend(const std::vector<Column>& columns) {
    std::cout << '\n';
    for (const auto& c : columns)
        std::cout << "  " << std::left << std::setw(14) << short_heading(c) << std::right << c.meaning
                  << '\n';
    std::cout << "  x0.5+         half as much, which is better; x2- twice as much, which is worse\n"
              << "  /output       for each element of the result\n";
}

void print_row(const std::vector<Column>& columns, const Row& row) {
    if (!row.fault.empty()) {
        std::cout << title_of(row.step) << ": FAIL\n";
        std::istringstream lines(row.fault);
        for (std::string line; std::getline(lines, line);) print_text(line, 6);
        std::cout << std::flush;
        return;
    }
    print_lines(columns, title_of(row.step), [&](const Column& c) { return text_in_column(c, row); });
    std::cout << std::flush;
}

void print_ratio(const std::vector<Column>& columns, const std::string& title, const Row& row,
                 const Row& other) {
    const auto value = [](const Row& r, const char* key) {
        const auto found = r.values.find(key);
        return found == r.values.end() ? std::nan("") : found->second;
    };
    print_lines(columns, "   " + title, [&](const Column& c) {
        return ratio_text(value(row, c.key) / value(other, c.key), c.more_is_better);
    });
    std::cout << std::flush;
}

void print_text(const std::string& text, std::size_t indent) {
    constexpr std::size_t width = title_width + columns_beside * column_width;
    if (indent + width_of(text) <= width) {
        std::cout << std::string(indent, ' ') << text << '\n';
        return;
    }
    auto begin = indent + std::min(text.find_first_not_of(' '), text.size());
    const auto below = begin + 4;
    std::string line(begin, ' ');
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (line.size() > begin && width_of(line) + 1 + width_of(word) > width) {
            std::cout << line << '\n';
            begin = below;
            line.assign(begin, ' ');
        }
        line += (line.size() > begin ? " " : "") + word;
    }
    std::cout << line << '\n';
}

void print_open(const std::string& step) {
    std::cout << in_title(title_of(step)) << in_column("open") << '\n';
}

}  // namespace kata

TEST_CASE("a ladder fits a terminal of 80 columns, and says what is better and what is worse", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    std::ostringstream said;
    auto* const before = std::cout.rdbuf(said.rdbuf());
    kata::Row row{"02_kogge_stone_double_buffered", "", {}}, other{"01_a", "", {}};
    std::vector<kata::Column> columns = kata::counted_columns(kata::chapter);
    const auto& timed = kata::timed_columns();
    columns.insert(columns.end(), timed.begin(), timed.end());
    for (const auto& c : columns) row.values[c.key] = 1234.5, other.values[c.key] = 98.7;
    row.values["bytes_loaded"] = 49.35;
    row.values["barriers"] = 0, other.values["barriers"] = 0;
    other.values["sectors"] = 0;
    kata::print_headings(columns);
    kata::print_row(columns, row);
    kata::print_ratio(columns, "against 01", row, other);
    kata::print_open("01_a");
    kata::print_legend(columns);
    kata::print_text("Expected, and not so: a step that has a long name is faster than the one before it, é",
                     2);
    kata::print_row(
        columns,
        {"01_a", "  a fault that goes on and on, and on and on, until it is longer than a line", {}});
    std::cout.rdbuf(before);
    std::istringstream lines(said.str());
    for (std::string line; std::getline(lines, line);) {
        CAPTURE(line);
        CHECK(kata::width_of(line) <= 80);
    }
    CHECK(said.str().find(" x0.5+") != std::string::npos);   // half of the bytes
    CHECK(said.str().find(" more-") != std::string::npos);   // sectors, where there were none
    CHECK(said.str().find(" x12.5-") != std::string::npos);  // of the time
    CHECK(said.str().find(" x12.5+") != std::string::npos);  // of what is useful
    for (const auto& c : columns) {
        std::istringstream words(kata::short_heading(c));
        for (std::string word; words >> word;) {
            CAPTURE(word);
            CHECK(word.size() < kata::column_width);  // or it would touch its neighbour
            CHECK(word.back() != '-');
        }
    }
    CHECK(said.str().find("\n  Expected, and not so") != std::string::npos);
    CHECK(said.str().find("\n      before it, é\n") != std::string::npos);
    CHECK(kata::ratio_text(1, true) == "x1 ");
    CHECK(kata::ratio_text(0.05213, false) == "x0.052+");
    CHECK(kata::ratio_text(0.05213, true) == "x0.052-");
    CHECK(kata::ratio_text(0.00681, false) == "x0.007+");
    for (double ratio = 1e-9; ratio < 1e9; ratio *= 1.37) {
        CAPTURE(ratio);
        CHECK(kata::ratio_text(ratio, true).size() < kata::column_width);
    }
    CHECK(kata::ratio_text(1234.5, false) == "x1234-");
}
