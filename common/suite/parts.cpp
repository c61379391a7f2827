#include "suite/parts.hpp"

#include "error.hpp"

#include <algorithm>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_test_spec.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace kata {

namespace {

struct Part {
    pid_t process = 0;
    std::FILE *verdicts = std::tmpfile(), *said = std::tmpfile();  // its standard output, and its errors
    std::optional<int> status = {};                                // as wait() has it
};

std::string contents(std::FILE* file) {
    std::string text;
    std::rewind(file);
    char piece[4096];
    while (const auto n = std::fread(piece, 1, sizeof piece, file)) text.append(piece, n);
    return text;
}

bool has_failed(const Part& part) {
    return part.status != 0 || ("\n" + contents(part.verdicts)).find("\nnot ok") != std::string::npos;
}

/// The report of a part, its tests numbered from those before it on.
class Report {
  public:
    void add(const Part& part) {
        std::istringstream lines(contents(part.verdicts));
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("1.."))
                planned_ += std::stoul(line.substr(3));
            else if (const auto number = line.find_first_of("0123456789");
                     line.starts_with("ok ") || line.starts_with("not ok "))
                std::cout << line.substr(0, number) << ++told_
                          << line.substr(line.find_first_not_of("0123456789", number)) << '\n';
            else
                std::cout << line << '\n';
        std::cerr << contents(part.said);
    }
    /// Who reads it misses what a part has left out.
    void end() const { std::cout << "1.." << planned_ << std::endl; }

  private:
    std::size_t planned_ = 0, told_ = 0;
};

void become(Part& part) {
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    dup2(fileno(part.verdicts), STDOUT_FILENO);
    dup2(fileno(part.said), STDERR_FILENO);
}

}  // namespace

std::string named(const std::string& test) {
    std::string filter;
    for (const char c : test) {
        if (c == '\\' || c == ',' || c == '[' || c == '"') filter += '\\';
        filter += c;
    }
    return filter;
}

std::vector<std::string> parts_of(const Catch::IConfig& config) {
    constexpr int most = 3;  // tests: few, for one of them may take half of the time of all
    std::vector<std::string> parts;
    int tests = 0;
    bool are_common = false;
    for (const auto& test : Catch::getAllTestCasesSorted(config)) {
        const auto& info = test.getTestCaseInfo();
        if (!config.testSpec().matches(info)) continue;
        // Those of all chapters are about one run of the step, which each process would have to make.
        const bool is_common =
            std::string_view(info.lineInfo.file).find("common/suite/") != std::string::npos;
        if (parts.empty() || is_common != are_common || (tests == most && !is_common)) {
            parts.emplace_back();
            tests = 0;
        }
        parts.back() += (tests++ > 0 ? "," : "") + named(info.name);
        are_common = is_common;
    }
    return parts;
}

std::optional<int> run_in_parts(const std::vector<std::string>& parts, bool abort, std::string& mine) {
    std::vector<Part> all(parts.size());
    // What all chapters have in common comes last and takes longest.
    std::vector<std::size_t> waiting(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) waiting[i] = parts.size() - 1 - i;
    std::rotate(waiting.begin(), waiting.begin() + 1, waiting.end());
    std::cout.flush();
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::size_t running = 0, wanted = parts.size();  // of these no more than the first are
    while (running > 0 || !waiting.empty()) {
        for (; running < cores && !waiting.empty(); waiting.pop_back()) {
            const auto next = waiting.back();
            if (next >= wanted) continue;
            auto& part = all[next];
            part.process = part.verdicts && part.said ? fork() : -1;
            if (part.process == 0) {
                become(part);
                mine = parts[next];
                return std::nullopt;
            }
            if (part.process == -1) throw Error("no process to be had to run tests in");
            ++running;
        }
        if (running == 0) break;
        int status = 0;
        const auto ended = waitpid(-1, &status, 0);
        if (ended == -1 && errno == EINTR) continue;
        if (ended == -1) throw Error("a process that runs tests is lost");
        const auto at =
            std::find_if(all.begin(), all.end(), [&](const Part& part) { return part.process == ended; });
        if (at == all.end()) continue;
        at->status = status;
        --running;
        const auto index = static_cast<std::size_t>(at - all.begin());
        if (!abort || index >= wanted || !has_failed(*at)) continue;
        wanted = index + 1;
        for (auto other = at + 1; other != all.end(); ++other)
            if (other->process > 0 && !other->status) kill(other->process, SIGKILL);
    }

    Report report;
    int worst = 0;
    for (std::size_t i = 0; i < wanted; ++i) {
        report.add(all[i]);
        if (worst == 0) worst = all[i].status.value_or(0);
    }
    report.end();
    if (WIFSIGNALED(worst)) {
        std::signal(WTERMSIG(worst), SIG_DFL);
        std::raise(WTERMSIG(worst));
    }
    return WEXITSTATUS(worst);
}

}  // namespace kata
