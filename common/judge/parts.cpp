#include "judge/parts.hpp"

#include "child.hpp"
#include "cores.hpp"
#include "file_in_memory.hpp"

#include <algorithm>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_test_spec.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>
#include <csignal>
#include <iostream>
#include <span>
#include <sstream>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace kata {

namespace {

/// A process that runs a part of the tests. Its output stays in memory, because a disk may be full.
struct Process {
    pid_t id = -1;
    int output = -1, errors = -1;
    std::optional<int> status = {};  // from waitpid(), once it has ended
    bool complete = false;           // every test has a verdict
    bool failed = false;             // one of these is a failure
};

std::string contents(int file) {
    std::string text;
    char piece[4096];
    for (ssize_t n; (n = pread(file, piece, sizeof piece, static_cast<off_t>(text.size()))) > 0;)
        text.append(piece, static_cast<std::size_t>(n));
    return text;
}

/// Returns what fork() returns; -1 if no process can be started.
pid_t start(Process& process) {
    process.output = file_in_memory();
    process.errors = file_in_memory();
    if (process.output != -1 && process.errors != -1) process.id = fork_child();
    if (process.id != 0) return process.id;
    dup2(process.output, STDOUT_FILENO);
    dup2(process.errors, STDERR_FILENO);
    return 0;
}

bool is_verdict(const std::string& line) { return line.starts_with("ok ") || line.starts_with("not ok "); }

void end(Process& process, int status, std::size_t tests) {
    process.status = status;
    std::size_t told = 0;
    std::istringstream lines(contents(process.output));
    for (std::string line; std::getline(lines, line); told += is_verdict(line))
        process.failed = process.failed || line.starts_with("not ok ");
    process.complete = told == tests;
}

void signal_those_that_run(std::span<const Process> processes, int signal) {
    for (const auto& process : processes)
        if (process.id > 0 && !process.status) kill(process.id, signal);
}

/// Prints the verdicts of a process, with numbers that continue those before it.
void print(const Process& process, std::size_t& told) {
    std::istringstream lines(contents(process.output));
    for (std::string line; std::getline(lines, line);)
        if (is_verdict(line)) {
            const auto number = line.find_first_of("0123456789");
            std::cout << line.substr(0, number) << ++told
                      << line.substr(line.find_first_not_of("0123456789", number)) << '\n';
        } else if (!line.starts_with("1.."))
            std::cout << line << '\n';
    std::cerr << contents(process.errors);
}

/// Reports these processes, which are the first ones up to the last that is wanted.
InParts report(const std::vector<Process>& processes, const std::vector<Part>& parts) {
    std::size_t tests = 0, told = 0;
    for (const auto& part : parts) tests += part.tests;
    std::cout << "1.." << tests << '\n';
    for (const auto& process : processes) print(process, told);
    const bool complete = std::all_of(processes.begin(), processes.end(), [](auto& p) { return p.complete; });
    const bool failed = std::any_of(processes.begin(), processes.end(), [](auto& p) { return p.failed; });
    while (complete && told < tests)  // the tests after the first that failed
        std::cout << "ok " << ++told << " # SKIP not run\n";
    std::cout.flush();
    const auto& last = processes.back();
    if (!complete && WIFEXITED(last.status.value_or(0)) && contents(last.errors).empty())
        std::cerr << "the tests of this step ended before all of them had a verdict\n";
    return {.passed = complete && !failed, .status = complete && last.status == 0 ? 0 : 1};
}

}  // namespace

std::string filter_for(const std::string& test) {
    std::string filter;
    for (const char c : test) {
        if (c == '\\' || c == ',' || c == '[' || c == '"') filter += '\\';
        filter += c;
    }
    return filter;
}

std::vector<Part> parts_of(const Catch::IConfig& config) {
    // Tests: few, because one may take half of the total time; several, because each part loads the step
    // anew.
    constexpr std::size_t most = 5;
    std::vector<Part> parts;
    bool are_common = false;
    for (const auto& test : Catch::getAllTestCasesSorted(config)) {
        const auto& info = test.getTestCaseInfo();
        if (!config.testSpec().matches(info)) continue;
        // The tests that all chapters share use one run of the step, which each of several processes would
        // repeat.
        const bool is_common = std::any_of(info.tags.begin(), info.tags.end(),
                                           [](const Catch::Tag& tag) { return tag.original == "shared"; });
        if (parts.empty() || is_common != are_common || (parts.back().tests == most && !is_common))
            parts.emplace_back();
        auto& part = parts.back();
        part.filter += (part.tests++ > 0 ? "," : "") + filter_for(info.name);
        are_common = is_common;
    }
    return parts;
}

std::optional<InParts> run_in_parts(const std::vector<Part>& parts, bool abort, std::string& mine) {
    const std::size_t most = cores();
    if (parts.size() < 2 || most < 2) return std::nullopt;
    std::vector<Process> all(parts.size());
    // The tests that all chapters share are last and take longest, so they start first.
    std::vector<std::size_t> waiting{parts.size() - 1};
    for (std::size_t i = 0; i < parts.size() - 1; ++i) waiting.push_back(i);
    std::reverse(waiting.begin(), waiting.end());

    // Signals are blocked and received by sigwait().
    sigset_t signals, before;
    sigemptyset(&signals);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&signals, signal);
    std::signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &signals, &before);
    std::cout.flush();
    std::size_t running = 0, wanted = parts.size();  // parts after the first that ends early are not wanted
    int ended_by = 0;                                // a signal
    while (running > 0 || !waiting.empty()) {
        while (running < most && !waiting.empty()) {
            const pid_t process = start(all[waiting.back()]);
            if (process == 0) mine = parts[waiting.back()].filter;
            if (process == 0 || (process == -1 && running == 0)) {
                sigprocmask(SIG_SETMASK, &before, nullptr);
                return std::nullopt;
            }
            if (process == -1) break;
            waiting.pop_back();
            ++running;
        }
        int signal = 0, status = 0;
        sigwait(&signals, &signal);
        if (signal != SIGCHLD) {
            ended_by = signal;
            waiting.clear();
            signal_those_that_run(all, signal);
        }
        for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
            const auto at = std::find_if(all.begin(), all.end(), [&](auto& p) { return p.id == ended; });
            if (at == all.end()) continue;
            --running;
            const auto index = static_cast<std::size_t>(at - all.begin());
            end(*at, status, parts[index].tests);
            if (index >= wanted || (status == 0 && at->complete && !(abort && at->failed))) continue;
            wanted = index + 1;
            signal_those_that_run(std::span(all).subspan(wanted), SIGKILL);
            std::erase_if(waiting, [&](auto other) { return other >= wanted; });
        }
    }

    all.resize(wanted);
    const auto result = report(all, parts);
    const int status = all.back().status.value_or(0);
    if (ended_by == 0 && WIFSIGNALED(status)) ended_by = WTERMSIG(status);
    if (ended_by != 0) {
        std::signal(ended_by, SIG_DFL);
        std::raise(ended_by);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);  // a pending raised signal ends the process here
    return result;
}

}  // namespace kata
