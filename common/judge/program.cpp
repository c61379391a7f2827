// Runs a program with a main() of its own, loaded as a module, and writes what its launches did wrong:
//
//   program-cpu [--explain] MODULE FILE ARGUMENT…   the arguments begin with the program's name
//
// --explain adds what all launches need, in total and line by line.
// Exit status: that of the program; 1 also if an error or an exception ends it.
#include "check/json.hpp"
#include "error.hpp"
#include "judge/line_counts.hpp"
#include "judge/module.hpp"
#include "observe.hpp"

#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    const bool explains = argc > 1 && argv[1] == std::string("--explain");
    if (explains) ++argv, --argc;
    if (argc < 4) return 2;
    try {
        const kata::Module program(argv[1]);
        const auto run = program.function<void(int, char**, int*)>("kata_program");
        int status = 1;
        kata::Observation seen;
        std::vector<std::string> findings;
        kata::LineCounts lines;
        std::optional<kata::WatchedBy> watching;
        if (explains) watching.emplace(lines);
        try {
            std::string thrown;
            seen = kata::observe({.has_caller = false}, [&] {
                try {
                    run(argc - 3, argv + 3, &status);
                } catch (const kata::Error&) {
                    throw;
                } catch (const std::exception& e) {
                    thrown =
                        std::string("the program throws an exception that it does not catch: ") + e.what();
                }
            });
            findings = seen.findings;
            if (!thrown.empty()) findings.push_back(thrown);
        } catch (const kata::Error& e) {
            findings = e.findings;
            findings.push_back(e.what());
            seen.launches = e.launches;
        }
        std::fflush(nullptr);
        std::cout.flush();
        std::ofstream file(argv[2]);
        file << "{\"status\": " << status << ", \"launches\": " << seen.launches
             << ", \"unchecked\": " << seen.unchecked
             << ", \"findings\": " << kata::list_of(findings, kata::as_json)
             << ", \"kept\": " << kata::list_of(seen.kept, kata::as_json);
        if (explains && seen.counts)
            file << ", \"all\": " << kata::totals_as_json(*seen.counts)
                 << ", \"places\": " << lines.as_json();
        file << "}\n";
        file.close();
        if (file) return status;
        std::cerr << "cannot write to " << argv[2] << '\n';
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
    }
    return 1;
}
