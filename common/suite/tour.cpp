#include "suite/tour.hpp"

#include "error.hpp"
#include "process.hpp"
#include "stopwatch.hpp"
#include "suite/ladder.hpp"
#include "suite/options.hpp"
#include "suite/source.hpp"
#include "suite/suite.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <unistd.h>

namespace kata {

namespace fs = std::filesystem;

namespace {

/// What a step's own process has to say of it.
std::string output_of(const std::vector<std::string>& command) {
    auto [text, status] = run_program(command);
    if (WIFSIGNALED(status)) text += "fault the step crashed: ./kata test says more\n";
    return text;
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

std::string this_program() { return fs::read_symlink("/proc/self/exe").string(); }

/// What the solution of a step has, for who wants to see their own step beside it.
std::optional<Row> measured_solution(const fs::path& module, const std::string& step) {
    if (!exists(module)) return std::nullopt;
    return parse(step, output_of({this_program(), "--measure", module.string()}));
}

/// A step, and below it how it stands to another one: a student's to its solution, which is shown as well, a
/// solution to the step before, where anything is claimed of one against another.
void print_beside(const std::vector<Column>& columns, const Row& row, std::optional<Row> other, bool mine) {
    print_row(columns, row);
    if (!row.fault.empty() || !other || !other->fault.empty()) return;
    if (!mine)
        return print_ratio(columns, "against " + other->step.substr(0, other->step.find('_')), row, *other);
    auto theirs = *other;
    theirs.step = "   the solution";
    print_row(columns, theirs);
    print_ratio(columns, "yours against it", row, *other);
}

/// Steps that no figure is worth reading of, or of which there is none.
struct Without {
    std::vector<std::string> wrong;
    std::set<std::string> open;
};

Without print_ladder(const std::vector<Column>& columns, std::span<char* const> arguments,
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
    std::map<std::string, Row> seen;
    std::string previous;
    fs::path written;
    Without without;
    double one_in = 1;
    for (const auto& step : steps) {
        if (sources)
            if (const auto why =
                    lacking(stated_need(fs::path(*sources) / "solutions" / chapter.name / (step + ".cu")))) {
                if (!markdown) std::cout << "  " << title_of(step) << ": " << *why << '\n';
                continue;
            }
        if (isatty(STDERR_FILENO)) std::cerr << "  " << title_of(step) << " …\r" << std::flush;
        const auto module = path_of(shown, step);
        std::vector<std::string> command{this_program(), "--measure", module.string()};
        const auto found = seen.find(chapter.betters ? chapter.betters(step) : previous);
        const auto before = found == seen.end() ? std::nullopt : std::optional(found->second);
        if (before && before->fault.empty()) {
            command.push_back("--against");
            command.push_back(path_of("solutions", before->step).string());
        }
        const auto out = file ? fs::path(file->stem().string() + "." + step +
                                         (option(arguments, "--image") ? ".png" : file->extension().string()))
                              : fs::path();
        if (file) command.insert(command.end(), {"--file", file->string(), out.string()});
        if (flag(arguments, "--full")) command.push_back("--full");
        Row row{step, "", {}};
        try {
            if (sources) require_current(module, fs::path(*sources) / shown / chapter.name / (step + ".cu"));
            row = parse(step, output_of(command));
        } catch (const Error& e) {
            row.fault = e.what();
        }
        if (row.values.contains("open")) {
            without.open.insert(step);
            print_open(step);
            continue;
        }
        if (markdown)
            rows.push_back(row);
        else
            print_beside(columns, row,
                         mine && !file ? measured_solution(path_of("solutions", step), step) : before, mine);
        if (!row.fault.empty()) without.wrong.push_back(step);
        if (row.values.contains("one_in")) one_in = row.values.at("one_in");
        if (row.fault.empty() && file) written = out;
        seen.emplace(step, std::move(row));
        previous = step;
    }
    if (markdown) print_markdown(columns, rows);
    if (one_in > 1)
        std::cout
            << "\n  Counted on 1 of " << one_in
            << " blocks of each launch, and told as for all of them. The result is that of all blocks;\n"
               "  --full also counts them all, one after the other, and looks for races between them.\n";
    if (!written.empty())
        std::cout << "\n  Each step's result is in a file of its own, the last in " << written.string()
                  << "\n";
    return without;
}

/// What is claimed of counts and is not so, of the solutions; of times, who measured them has a table. It
/// would tell of a step that is still open what it is about to find.
void print_refuted(const fs::path& modules, const std::set<std::string>& open) {
    const char* before = "\n";
    for (const auto& claim : chapter.claims) {
        if (claim.standing != Claim::Standing::refuted || claim.quantity == Quantity::time) continue;
        if (open.contains(claim.better) || open.contains(claim.worse)) continue;
        const auto value = [&](const char* step) {
            const Module solution(modules / (std::string("solutions.") + chapter.name + "." + step + "." +
                                             backend_name() + ".so"));
            return value_of(claim.quantity, counts_of(chapter.count(solution)));
        };
        std::cout << before;
        print_text(as_counted(claim, value(claim.better), value(claim.worse)), 2);
        before = "";
    }
}

}  // namespace

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
                  << device_name() << "\n\n";
    const auto columns = keeps_time() ? timed_columns() : counted_columns(chapter);
    if (flag(arguments, "--mine") && !flag(arguments, "--markdown"))
        std::cout << "Your steps. Below each stands its solution, and below both yours against it: x2\n"
                     "is twice as much as in the solution; + marks what is better, - what is worse.\n\n";
    const auto [wrong, open] = print_ladder(columns, arguments, *modules, file);
    if (!flag(arguments, "--markdown")) print_legend(columns);
    if (counts_available() && !flag(arguments, "--markdown") && !file) print_refuted(*modules, open);
    if (const auto to = option(arguments, "--wrong")) {
        std::ofstream list(*to);
        for (const auto& step : wrong) list << step << '\n';
        if (!list.flush()) throw Error("cannot write " + std::string(*to));
    }
    return wrong.empty() ? 0 : 1;
}

}  // namespace kata
