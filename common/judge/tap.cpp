// The reporter of every suite: TAP for Meson, one line per test case, followed by a comment with the test's
// record as JSON, for programs that print verdicts (check/report.hpp). Both go to the original standard
// output. Failures also go to standard error, which is all that Meson shows of a failed test. So does what a
// step prints, which could otherwise break these lines or be mistaken for them. (Catch2's own TAP reporter
// prints multi-line messages as they are, and Meson discards all lines but the first.)
#include "check/report.hpp"
#include "error.hpp"
#include "judge/time_limit.hpp"

#include <algorithm>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_test_spec.hpp>
#include <catch2/interfaces/catch_interfaces_config.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>

namespace kata {

namespace {

class StepReporter final : public Catch::StreamingReporterBase {
  public:
    explicit StepReporter(Catch::ReporterConfig&& config)
        : StreamingReporterBase(std::move(config)),
          verdicts_(fcntl(is_graded() ? graders_report : STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)) {
        m_preferences.shouldReportAllAssertions = true;
        std::cout.flush();
        dup2(STDERR_FILENO, STDOUT_FILENO);
    }

    static std::string getDescription() { return "TAP, a line per test case, for Meson"; }

    void testRunStarting(const Catch::TestRunInfo& info) override {
        StreamingReporterBase::testRunStarting(info);
        // Printed first, so that a step that ends the program does not pass.
        say("1.." + std::to_string(chosen()));
        std::atexit([] {
            if (running) std::cerr << "the step ended the program before its tests did\n";
        });
        running = true;
    }

    void testCasePartialStarting(const Catch::TestCaseInfo&, std::uint64_t) override {
        is_another_input_ = failures_ > 0;
    }

    void assertionEnded(const Catch::AssertionStats& stats) override {
        const auto& result = stats.assertionResult;
        if (result.getResultType() == Catch::ResultWas::ExplicitSkip) {
            skipped_ = std::string(result.getMessage());
            return;
        }
        if (result.isOk()) return;
        ++failures_;
        if (is_another_input_) {
            ++others_;
            return;
        }
        // FAIL(text) needs no more; for a CHECK, the compared expression is added.
        if (result.hasExpression())
            explain(result.getExpressionInMacro() + " is " + result.getExpandedExpression());
        const auto message = std::string(result.getMessage());
        if (result.getResultType() == Catch::ResultWas::FatalErrorCondition)
            explain(why_ended(message));
        else if (result.hasMessage())
            explain(message == "std::bad_alloc" ? out_of_memory : message);
        std::string with;
        for (const auto& info : stats.infoMessages)
            if (info.type == Catch::ResultWas::Info && info.message != message)
                with += (with.empty() ? "with " : ", ") + info.message;
        explain(with);
    }

    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        const bool failed = stats.totals.testCases.failed > 0;
        const bool skipped = !failed && stats.totals.assertions.passed == 0 && !skipped_.empty();
        say((failed ? "not ok " : "ok ") + std::to_string(++cases_) + " - " + stats.testInfo->name +
            (skipped ? " # SKIP " + skipped_ : ""));
        std::fflush(nullptr);  // so that what the step has printed comes first
        if (others_ > 0) explain("and wrong with " + std::to_string(others_) + " more of the test's inputs");
        Record record{stats.testInfo->name, "right", skipped ? skipped_ : wrong_,
                      std::exchange(remarks(), {})};
        if (skipped)
            record.kind = "skip";
        else if (failed)
            record.kind = kind_of_failure(record.text, failures_, record.remarks);
        say("# " + record.json());
        if (failed && !is_graded()) {
            std::cerr << "\nnot ok: " << stats.testInfo->name << '\n';
            if (record.kind == "slow") std::cerr << "  right, not yet fast:\n";
            std::istringstream lines(wrong_);
            for (std::string line; std::getline(lines, line);) std::cerr << "  " << line << '\n';
            std::cerr.flush();
        }
        skipped_.clear();
        wrong_.clear();
        failures_ = others_ = 0;
        StreamingReporterBase::testCaseEnded(stats);
    }

    void testRunEnded(const Catch::TestRunStats& stats) override {
        running = false;
        for (const auto all = chosen(); cases_ < all;)  // with --abort, after the first failure
            say("ok " + std::to_string(++cases_) + " # SKIP not run");
        StreamingReporterBase::testRunEnded(stats);
    }

  private:
    /// Returns the number of test cases that Catch2 will run.
    std::size_t chosen() const {
        const auto& all = Catch::getAllTestCasesSorted(*m_config);
        const auto& spec = m_config->testSpec();
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& test) {
            const auto& info = test.getTestCaseInfo();
            return spec.hasFilters() ? spec.matches(info) : !info.isHidden();
        }));
    }
    void say(const std::string& line) const {
        const auto whole = line + "\n";
        for (std::size_t said = 0; said < whole.size();) {
            const auto n = write(verdicts_, whole.data() + said, whole.size() - said);
            if (n <= 0) return;  // the reader has gone
            said += static_cast<std::size_t>(n);
        }
    }
    void explain(const std::string& text) {
        if (!text.empty()) wrong_ += (wrong_.empty() ? "" : "\n") + text;
    }

    static inline bool running = false;
    int verdicts_;
    std::size_t cases_ = 0, failures_ = 0, others_ = 0;
    bool is_another_input_ = false;  // a generator repeats the test, which has failed already
    std::string skipped_, wrong_;
};

}  // namespace

CATCH_REGISTER_REPORTER("step", StepReporter)

}  // namespace kata
