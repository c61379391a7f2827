// The command line of a suite: Catch2's options, and options that select the step under test.
//
//   convolution-cpu --step 03_tiled.so …        the tests, with all options of Catch2
//   convolution-cpu --step … --rejected         passes if the tests fail for the reason in the source. If
//                                               that names a test, runs only this one, unless --every-test
//   convolution-cpu --step … --without TAGS     all tests but those with one of the tags
//   convolution-cpu --step … --in-parts         the same tests on all cores, a few per process
//   convolution-cpu --step … --report 3         reports to a grader on descriptor 3
//   convolution-cpu --against SOURCE            the solutions that a step is compared with
//   convolution-cpu --describe …                the chapter and its steps, as JSON (measure.hpp)
//   convolution-cpu --measure MODULE …          one step of the ladder
//   convolution-gpu --times MODULE...           the times of some steps
//   convolution-cpu --estimate MODULE …         its time on a GPU that is not present (estimate.hpp)
//   convolution-cpu --explain MODULE …          a step line by line (trace.hpp)
//   convolution-cpu --trace MODULE …            request by request
//
// Exit status: 0 passed or skipped, 1 failed.
#include "check/report.hpp"
#include "error.hpp"
#include "judge/estimate.hpp"
#include "judge/first_steps.hpp"
#include "judge/measure.hpp"
#include "judge/parts.hpp"
#include "judge/source.hpp"
#include "judge/suite.hpp"
#include "judge/time_limit.hpp"
#include "judge/trace.hpp"
#include "stopwatch.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <map>
#include <new>
#include <set>
#include <sys/mman.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace kata {

namespace {

Subject the_subject;
/// True if the running test is about claims only, which any step passes, whatever it computes.
bool about_claims = false;

/// Shared by all processes that run the tests.
struct InCommon {
    std::atomic<bool> a_test_asked_for_the_step{false};
    std::atomic<double> processor_seconds{0};
};
InCommon* in_common = nullptr;

InCommon* shared_memory() {
    void* const memory =
        mmap(nullptr, sizeof(InCommon), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error(out_of_memory);
    return new (memory) InCommon;
}

/// All failures of the tests, and the name of the first test that failed.
std::vector<std::string> complaints;
std::string first_to_fail;

class Listener final : public Catch::EventListenerBase {
  public:
    using EventListenerBase::EventListenerBase;
    // Called after the reporter has redirected the standard output, and before it reports anything.
    void testRunStarting(const Catch::TestRunInfo&) override {
#if defined(MADV_DONTFORK)
        madvise(in_common, sizeof *in_common, MADV_DONTFORK);
#endif
        expect_steps();
    }
    void testCaseStarting(const Catch::TestCaseInfo& test) override {
        running_ = test.name;
        about_claims = std::any_of(test.tags.begin(), test.tags.end(), [](const Catch::Tag& tag) {
            return tag.original == "claims" || tag.original == "timed" || tag.original == "refuted";
        });
    }
    void assertionEnded(const Catch::AssertionStats& stats) override {
        if (stats.assertionResult.isOk()) return;
        std::string text(stats.assertionResult.getMessage());
        for (const auto& info : stats.infoMessages)
            if (info.type == Catch::ResultWas::Info && info.message != text) text += "\n" + info.message;
        if (complaints.empty()) first_to_fail = running_;
        complaints.push_back(std::move(text));
    }

  private:
    std::string running_;
};

/// Returns a filter that leaves out the tests with traits that the step lacks: "~[stays]~[bytes]". Throws
/// Error for a test with a tag that is neither a trait of some step nor known to all suites: it would apply
/// to no step.
std::string without_traits_of_others() {
    const auto& mine = this_step();
    std::set<std::string> traits;
    for (const auto& step : chapter.steps)
        for (auto& tag : tags_of(step.traits)) traits.insert(std::move(tag));
    std::string filter;
    for (const auto& tag : traits)
        if (!has_traits(mine, tag)) filter += "~" + tag;
    return filter;
}

int judge_rejection(const std::string& reason, const std::optional<std::string>& test) {
    if (complaints.empty()) {
        std::cerr << "accepted, but must be rejected" << (test ? " by the test \"" + *test + "\"" : "")
                  << ": " << reason << '\n';
        return 1;
    }
    const auto& first = complaints.front();
    if (test && *test != first_to_fail) {
        std::cerr << "rejected by the test \"" << first_to_fail << "\", and not first by \"" << *test
                  << "\":\n"
                  << first << '\n';
        return 1;
    }
    if (std::any_of(complaints.begin(), complaints.end(),
                    [&](const auto& text) { return text.find(reason) != std::string::npos; })) {
        std::cout << "rejected as it must be:\n" << first << '\n';
        return 0;
    }
    std::cerr << "rejected, but not because of \"" << reason << "\":\n" << first << '\n';
    return 1;
}

/// PROGRAM --against SOURCE: the names of the solutions that the step is compared with, one per line.
int against(std::span<char* const> arguments) {
    the_subject.source = arguments.back();
    for (const auto& name : compared_with()) std::cout << name << '\n';
    return 0;
}

/// Returns the status, or 1 if the output could not be written.
int printed(int status) {
    if (std::cout.flush() && std::fflush(stdout) == 0) return status;
    std::cerr << "the output cannot be written\n";
    return 1;
}

}  // namespace

const Subject& subject() { return the_subject; }

std::string step_name() {
    const auto stem = subject().source.stem().string();
    return stem.substr(0, stem.find('.'));
}

const Module& step() {
    if (!about_claims && in_common) in_common->a_test_asked_for_the_step = true;
    static const Module module = [] {
        Module loaded(subject().module);
        require_current(subject().module, subject().source);
        return loaded;
    }();
    return module;
}

const Module& rival(const std::string& name) {
    static std::map<std::string, Module> loaded;
    const auto found = loaded.find(name);
    if (found != loaded.end()) return found->second;
    return loaded.try_emplace(name, rival_path(name)).first->second;
}

std::filesystem::path rival_path(const std::string& name) {
    if (!compared_with().contains(name)) throw Error("no step is built for a comparison with " + name);
    return subject().rivals + name + "." + backend_name() + ".so";
}

bool has_own_solution() { return !subject().is_solution && exists(rival_path(step_name())); }

const Module* own_solution() {
    try {
        return has_own_solution() ? &rival(step_name()) : nullptr;
    } catch (const Error&) {
        return nullptr;
    }
}

}  // namespace kata

CATCH_REGISTER_LISTENER(kata::Listener)

namespace {

/// Keeps the report and this process from the processes of steps, which are started later by the same user.
void keep_steps_out() {
    if (kata::is_graded()) fcntl(kata::graders_report, F_SETFD, FD_CLOEXEC);
#if defined(__linux__)
    prctl(PR_SET_DUMPABLE, 0);
#endif
}

/// For a debugger that follows the process of the step and not this one.
void ignore_interrupts() {
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
        if (const auto status = kata::judge_from_outside(arguments)) return *status;
        constexpr std::pair<std::string_view, int (*)(std::span<char* const>)> others[] = {
            {"--against", kata::against},  {"--describe", kata::describe}, {"--measure", kata::measure},
            {"--times", kata::times},      {"--explain", kata::explain},   {"--trace", kata::trace},
            {"--estimate", kata::estimate}};
        for (const auto& [name, run] : others)
            if (argc > 1 && argv[1] == name) return kata::printed(run(arguments));
        Catch::Session session;
        auto& s = kata::the_subject;
        std::string module, source, need, without;
        bool rejected = false, every_test = false, in_parts = false;
        double processor_seconds = kata::most_processor_seconds;
        using namespace Catch::Clara;
        session.cli(
            session.cli() | Opt(module, "module")["--step"]("the step under test") |
            Opt(source, "file")["--source"]("its source") |
            Opt(s.rivals, "prefix")["--rivals"]("the beginning of the file names of the solutions' modules") |
            Opt(need, "architecture")["--needs"](
                "the GPU that the step requires, if any: sm_80, or sm_90a, or \"sm_90, 193 KiB\"") |
            Opt(s.is_solution)["--solution"]("also test what is true of the solutions only") |
            Opt(s.verdicts, "number")["--verdicts"]("on each timed claim; 1 by default") |
            Opt(processor_seconds, "seconds")["--processor-seconds"](
                "that the tests may take in all; 0: any, and an interrupt is for the step's process only") |
            Opt(kata::graders_report, "descriptor")["--report"]("for a grader: where the report goes") |
            Opt(without, "tags")["--without"]("leave out the tests with one of these: \"[claims][timed]\"") |
            Opt(in_parts)["--in-parts"]("with the reporter \"step\", on all cores; not where time is kept") |
            Opt(rejected)["--rejected"]("pass if the step is rejected for the reason its source states") |
            Opt(every_test)["--every-test"]("whether or not the source says which one rejects the step"));
        if (const int error = session.applyCommandLine(argc, argv)) return error;
        // A debugger follows the process of the step from this one. On a GPU they are one process, which
        // profilers and sanitizers look into.
        if (processor_seconds != 0 && (!kata::keeps_time() || kata::is_graded())) keep_steps_out();
        s.module = module;
        s.source = source;
        // A test with the tag of a trait applies to the steps that have it, one tagged [solution] to
        // solutions. A test that is named runs in any case.
        auto& filters = session.configData().testsOrTags;
        bool all_tests = filters.empty();
        if (!s.source.empty()) {
            std::string filter = kata::without_traits_of_others() + (s.is_solution ? "" : "~[solution]");
            for (const auto& tag : kata::tags_of(without)) filter += "~" + tag;
            if (all_tests && !filter.empty()) filters = {filter};
            for (auto& tags : filters)
                if (!all_tests && tags.starts_with('[')) tags += filter;
        }
        const auto rejecting = rejected ? kata::stated_test(s.source) : std::nullopt;
        if (rejecting && all_tests && !every_test) filters = {kata::filter_for(*rejecting)};
        if (const auto why = kata::lacking(need)) {
            std::cout << (rejected ? "not run: " : "1..0 # SKIP ") << *why << '\n';
            return rejected ? 77 : 0;
        }
        // A grader has already checked this. An open body that remains fails when it is
        // run.
        if (!kata::is_graded() && kata::is_open(s.source)) {
            std::cout << "1..0 # SKIP open: " << s.source.filename().string() << " waits for you\n";
            return 0;
        }
        if (rejected) {
            const auto& reason = s.rejected_for = kata::stated_reason(s.source);
            if (reason == "nothing" || reason == "untried") {
                std::cout << "not run: "
                          << (reason == "nothing" ? "this back end cannot show what is wrong with it"
                                                  : "nobody has tried it on this back end")
                          << '\n';
                return 77;  // skipped, for Meson
            }
        }
        const auto& reporters = session.config().getReporterSpecs();
        const bool for_meson = reporters.size() == 1 && reporters.front().name() == "step";
        kata::in_common = kata::shared_memory();
        const auto require_asked = [&] {
            if (for_meson && all_tests && !kata::in_common->a_test_asked_for_the_step)
                throw kata::Error("no test of the suite calls " + kata::step_name());
        };
        if (in_parts && !rejected && !kata::keeps_time() && !kata::is_graded()) {
            if (!for_meson) throw kata::Error("--in-parts needs the reporter \"step\"");
            const bool abort = session.configData().abortAfter > 0;
            std::string mine;
            if (const auto ended = kata::run_in_parts(kata::parts_of(session.config()), abort, mine)) {
                if (ended->passed) require_asked();
                return kata::printed(ended->status);
            }
            if (!mine.empty()) {
                auto data = session.configData();
                data.testsOrTags = {mine};
                session.useConfigData(data);
                all_tests = false;
            }
        }
        // The tests on a GPU run one at a time, and Meson's own limit suffices.
        if (processor_seconds == 0)
            ignore_interrupts();
        else if (!kata::keeps_time())
            kata::limit_time(processor_seconds, kata::most_idle_seconds, &kata::in_common->processor_seconds);
        const int status = session.run();
        if (status == 0 && !rejected) require_asked();
        if (rejected) return kata::judge_rejection(s.rejected_for, rejecting);
        // Meson reads the verdict from the lines of TAP. A status other than 0 would mean that the suite
        // broke down.
        if (for_meson && !kata::complaints.empty()) return 0;
        constexpr int every_test_was_skipped = 4;  // Catch2's exit status for this
        return status == 0 || status == every_test_was_skipped ? 0 : 1;
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
