#include "suite/ladder.hpp"

#include "error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace kata {

namespace {

const std::vector<Column> counted{
    {"bytes_loaded", "loaded", "B/output", 2},
    {"bytes_stored", "stored", "B/output", 2},
    {"sectors", "sectors", "/output", 3},
    {"load_efficiency", "load eff.", "%", 1},
    {"store_efficiency", "store eff.", "%", 1},
    {"atomics", "atomics", "/output", 4},
    {"shared_loads", "sh. loads", "/output", 2},
    {"shared_passes", "sh. passes", "/output", 3},
    {"shared_atomics", "sh. atomics", "/output", 3},
    {"bank_conflicts", "conflicts", "/output", 3},
    {"basic_blocks", "basic blocks", "/output", 3},
    {"active_lanes", "lanes", "of 32", 1},
    {"barriers", "barriers", "/block", 0},
    {"parallelism", "parallelism", "warps", 0},
    {"intensity", "intensity", "OP/B", 2},
};

constexpr int title_width = 34, verdict_width = 9, column_width = 13;

std::string text_of(const Column& c, const Row& row) {
    const auto found = row.values.find(c.key);
    if (found == row.values.end()) return "-";
    std::ostringstream text;
    text << std::fixed << std::setprecision(c.decimals) << found->second;
    return text.str();
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
        {"milliseconds", "time", "ms", 3},
        {"gigabytes", "useful", "GB/s", 0},
        {"teraflops", "arithmetic", "TFLOP/s", 2},
        {"of_ceiling", "of ceiling", "%", 1},
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
    std::cout << std::left << std::setw(title_width) << "  step" << std::setw(verdict_width) << "verdict"
              << std::right;
    for (const auto& c : columns) std::cout << std::setw(column_width) << c.heading;
    std::cout << '\n' << std::setw(title_width + verdict_width) << "";
    for (const auto& c : columns) std::cout << std::setw(column_width) << c.unit;
    std::cout << '\n';
}

void print_row(const std::vector<Column>& columns, const Row& row, const Row* before) {
    std::cout << std::left << std::setw(title_width) << "  " + title_of(row.step) << std::setw(verdict_width)
              << (row.fault.empty() ? "ok" : "FAIL") << std::right << std::fixed;
    if (!row.fault.empty()) {
        std::istringstream lines(row.fault);
        for (std::string line; std::getline(lines, line);) std::cout << "\n      " << line;
        std::cout << '\n' << std::flush;
        return;
    }
    const auto value_of = [](const Row& r, const char* key) {
        const auto found = r.values.find(key);
        return found == r.values.end() ? std::nan("") : found->second;
    };
    for (const auto& c : columns) std::cout << std::setw(column_width) << text_of(c, row);
    std::cout << '\n';
    if (before && before->fault.empty()) {
        std::cout << std::setw(title_width + verdict_width) << std::left
                  << "     against " + before->step.substr(0, before->step.find('_')) << std::right;
        for (const auto& c : columns) {
            const double ratio = value_of(row, c.key) / value_of(*before, c.key);
            std::ostringstream text;
            if (std::isfinite(ratio)) text << "x" << std::setprecision(3) << ratio;
            std::cout << std::setw(column_width) << text.str();
        }
        std::cout << '\n';
    }
    std::cout << std::flush;
}

void print_open(const std::string& step) {
    std::cout << std::left << std::setw(title_width) << "  " + title_of(step) << "open\n" << std::right;
}

}  // namespace kata
