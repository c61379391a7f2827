#include "suite/tour.hpp"

#include "error.hpp"
#include "process.hpp"
#include "stopwatch.hpp"
#include "suite/clock.hpp"
#include "suite/suite.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <unistd.h>

namespace kata {

namespace fs = std::filesystem;

namespace {

/// A quantity of the ladder, under the key that measure() prints it with.
struct Column {
    const char* key;
    const char* heading;
    const char* unit;
    int decimals;
};

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
    {"intensity", "intensity", "OP/B", 2},
};
const std::vector<Column> timed{
    {"milliseconds", "time", "ms", 3},
    {"gigabytes", "useful", "GB/s", 0},
    {"teraflops", "arithmetic", "TFLOP/s", 2},
    {"of_ceiling", "of ceiling", "%", 1},
};

using Values = std::map<std::string, double>;

struct Row {
    std::string step;
    std::string fault;
    Values values;
};

/// The value of an option, or nothing.
std::optional<std::string> option(std::span<char* const> arguments, const std::string& name,
                                  std::size_t place = 1) {
    for (std::size_t i = 0; i + place < arguments.size(); ++i)
        if (arguments[i] == name) return arguments[i + place];
    return std::nullopt;
}
bool flag(std::span<char* const> arguments, const std::string& name) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const char* a) { return a == name; });
}

/// What a step's own process has to say of it.
std::string output_of(const std::vector<std::string>& command) {
    auto [text, status] = run_program(command);
    if (WIFSIGNALED(status))
        text += "fault the step crashed: " + std::string(strsignal(WTERMSIG(status))) + "\n";
    return text;
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

/// "03 tiled by output" of "03_tiled_by_output".
std::string title_of(std::string step) {
    std::replace(step.begin(), step.end(), '_', ' ');
    return step;
}

constexpr int title_width = 34, verdict_width = 9, column_width = 13;

/// Those of the counted columns that tell this chapter's steps apart.
std::vector<Column> columns_of(const Chapter& c) {
    std::vector<Column> columns;
    for (const auto& key : c.columns) {
        const auto found = std::find_if(counted.begin(), counted.end(),
                                        [&](const Column& column) { return key == column.key; });
        if (found == counted.end()) throw Error("the ladder has no column \"" + key + "\"");
        columns.push_back(*found);
    }
    return columns;
}

std::string text_of(const Column& c, const Row& row) {
    const auto found = row.values.find(c.key);
    if (found == row.values.end()) return "-";
    std::ostringstream text;
    text << std::fixed << std::setprecision(c.decimals) << found->second;
    return text.str();
}

/// The ladder as a lesson quotes it.
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

/// The steps of the chapter that have a module, in order.
std::vector<std::string> steps_in(const fs::path& modules) {
    const std::string begin = std::string("solutions.") + chapter.name + ".",
                      end = std::string(".") + backend_name() + ".so";
    std::vector<std::string> steps;
    for (const auto& entry : fs::directory_iterator(modules)) {
        const auto file = entry.path().filename().string();
        if (file.starts_with(begin) && file.ends_with(end))
            steps.push_back(file.substr(begin.size(), file.size() - begin.size() - end.size()));
    }
    std::sort(steps.begin(), steps.end());
    return steps;
}

int print_ladder(const std::vector<Column>& columns, std::span<char* const> arguments,
                 const fs::path& modules, const std::optional<fs::path>& file) {
    const bool mine = flag(arguments, "--mine"), markdown = flag(arguments, "--markdown");
    const auto sources = option(arguments, "--sources");
    const char* shown = mine ? "chapters" : "solutions";
    const auto path_of = [&](const char* tree, const std::string& step) {
        return modules / (std::string(tree) + "." + chapter.name + "." + step + "." + backend_name() + ".so");
    };
    const auto steps = steps_in(modules);
    if (steps.empty()) throw Error("no steps of " + std::string(chapter.name) + " in " + modules.string());
    if (!markdown) print_headings(columns);
    std::vector<Row> rows;
    std::optional<Row> before;
    fs::path written;
    int failed = 0;
    for (const auto& step : steps) {
        if (isatty(STDERR_FILENO)) std::cerr << "  " << title_of(step) << " …\r" << std::flush;
        const auto module = path_of(shown, step);
        std::vector<std::string> command{fs::read_symlink("/proc/self/exe").string(), "--measure",
                                         module.string()};
        if (before && before->fault.empty()) {
            command.push_back("--against");
            command.push_back(path_of("solutions", before->step).string());
        }
        const auto out =
            file ? fs::path(file->stem().string() + "." + step + file->extension().string()) : fs::path();
        if (file) command.insert(command.end(), {"--file", file->string(), out.string()});
        Row row{step, "", {}};
        try {
            if (sources) require_current(module, fs::path(*sources) / shown / chapter.name / (step + ".cu"));
            row = parse(step, output_of(command));
        } catch (const Error& e) {
            row.fault = e.what();
        }
        if (row.values.contains("open")) {
            std::cout << std::left << std::setw(title_width) << "  " + title_of(step) << "open\n"
                      << std::right;
            continue;
        }
        if (markdown)
            rows.push_back(row);
        else  // against the step before where anything is claimed of one against another
            print_row(columns, row, before && !chapter.claims.empty() ? &*before : nullptr);
        failed += !row.fault.empty();
        if (row.fault.empty() && file) written = out;
        before = std::move(row);
    }
    if (markdown) print_markdown(columns, rows);
    if (!written.empty())
        std::cout << "\n  Each step's result is in a file of its own, the last in " << written.string()
                  << "\n";
    return failed;
}

void print(const char* key, double value) {
    std::cout << key << ' ' << std::setprecision(17) << value << '\n';
}

void print_counts(const Run& run) {
    const auto& c = *run.seen.counts;
    const auto per_output = [&](std::uint64_t v) {
        return run.outputs > 0 ? static_cast<double>(v) / run.outputs : 0;
    };
    print("bytes_loaded", per_output(c.global_load.bytes));
    print("bytes_stored", per_output(c.global_store.bytes));
    print("sectors", per_output(c.global_load.transactions + c.global_store.transactions));
    print("load_efficiency", 100 * c.load_efficiency());
    print("store_efficiency", 100 * c.store_efficiency());
    print("atomics", per_output(c.global_atomic.accesses));
    print("shared_loads", per_output(c.shared_load.accesses));
    print("shared_passes", per_output(c.shared_load.transactions + c.shared_store.transactions +
                                      c.shared_atomic.transactions));
    print("shared_atomics", per_output(c.shared_atomic.accesses));
    print("basic_blocks", per_output(c.basic_blocks));
    print("active_lanes", c.active_lanes());
    print("bank_conflicts", per_output(c.bank_conflicts));
    print("barriers", c.blocks > 0 ? static_cast<double>(c.barriers) / static_cast<double>(c.blocks) : 0);
    print("intensity",
          c.global_load.bytes > 0 ? run.operations / static_cast<double>(c.global_load.bytes) : 0);
    // Whole numbers, to be held against a profiler's.
    print("global_load_sectors", static_cast<double>(c.global_load.transactions));
    print("global_store_sectors", static_cast<double>(c.global_store.transactions));
    print("shared_load_passes", static_cast<double>(c.shared_load.transactions));
    print("shared_store_passes", static_cast<double>(c.shared_store.transactions));
}

}  // namespace

int measure(std::span<char* const> arguments) {
    try {
        const Module step(option(arguments, "--measure").value_or(""));
        const auto in = option(arguments, "--file"), out = option(arguments, "--file", 2);
        const auto run = in && out ? chapter.on_file(step, *in, *out) : chapter.ladder(step);
        if (run.fault) throw Error(*run.fault);
        print("outputs", run.outputs);
        if (run.seen.counts) print_counts(run);
        // A picture is there to be looked at; what a step takes is timed on a problem that fills the GPU.
        if (keeps_time() && !in && !flag(arguments, "--once")) {
            const auto against = option(arguments, "--against"), variant = option(arguments, "--variant");
            const auto times =
                time_step(step, against ? std::optional<Module>(std::in_place, *against) : std::nullopt,
                          variant ? std::optional<int>(std::stoi(*variant)) : std::nullopt);
            for (const auto& [key, value] : times) print(key.c_str(), value);
        }
        return 0;
    } catch (const OpenKata&) {
        print("open", 1);
        return 0;
    } catch (const std::exception& e) {
        std::istringstream lines(e.what());
        for (std::string line; std::getline(lines, line);) std::cout << "fault " << line << '\n';
        return 1;
    }
}

/// In bytes. The CPU back end does a colour picture of 1 MB and a filter of 7 x 7 weights in about 12 s a
/// step.
constexpr std::uintmax_t large_picture = 4'000'000;

int tour(std::span<char* const> arguments) {
    const auto modules = option(arguments, "--modules");
    if (!modules) throw Error("--tour needs --modules and the folder that they are in");
    std::optional<fs::path> file;
    for (const char* name : {"--image", "--text"})
        if (const auto given = option(arguments, name)) file = *given;
    if (file && !chapter.on_file) throw Error(std::string(chapter.name) + " has nothing to do with a file");
    if (file) chapter.check_file(*file);
    if (!flag(arguments, "--markdown"))
        std::cout << "\n"
                  << chapter.name << ": "
                  << (file           ? file->filename().string()
                      : keeps_time() ? chapter.timed_problem
                                     : chapter.problem)
                  << "\n"
                  << device_name() << "\n"
                  << (option(arguments, "--image") && !keeps_time() && fs::file_size(*file) >= large_picture
                          ? "Each access is counted: a picture of this size can take minutes a step.\n\n"
                          : "\n");
    return (keeps_time() ? print_ladder(timed, arguments, *modules, file)
                         : print_ladder(columns_of(chapter), arguments, *modules, file)) == 0
               ? 0
               : 1;
}

}  // namespace kata
