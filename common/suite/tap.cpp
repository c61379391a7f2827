// What Meson reads: a line per test case, as TAP, on the standard output stream. What went wrong goes to the
// standard error stream, which is all that Meson shows of a test that failed. (Catch2's own TAP reporter
// prints messages of several lines as they are, and Meson takes all but the first for noise.)
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
#include <iostream>
#include <sstream>
#include <string>

namespace kata {

namespace {

class StepReporter final : public Catch::StreamingReporterBase {
  public:
    using StreamingReporterBase::StreamingReporterBase;

    static std::string getDescription() { return "TAP, a line per test case, for Meson"; }

    void assertionEnded(const Catch::AssertionStats& stats) override {
        const auto& result = stats.assertionResult;
        if (result.getResultType() == Catch::ResultWas::ExplicitSkip) {
            skipped_ = std::string(result.getMessage());
            return;
        }
        if (result.isOk()) return;
        // FAIL(text) says it all; a CHECK says what it compared.
        if (result.hasExpression())
            explain(result.getExpressionInMacro() + " is " + result.getExpandedExpression());
        if (result.hasMessage()) explain(std::string(result.getMessage()));
        std::string with;
        for (const auto& info : stats.infoMessages)
            if (info.type == Catch::ResultWas::Info && info.message != std::string(result.getMessage()))
                with += (with.empty() ? "with " : ", ") + info.message;
        explain(with);
    }

    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        const bool failed = stats.totals.testCases.failed > 0;
        m_stream << (failed ? "not ok " : "ok ") << ++cases_ << " - " << stats.testInfo->name;
        if (!failed && stats.totals.assertions.passed == 0 && !skipped_.empty())
            m_stream << " # SKIP " << skipped_;
        m_stream << '\n' << std::flush;
        skipped_.clear();
        if (failed) std::cerr << "not ok: " << stats.testInfo->name << '\n' << wrong_ << std::flush;
        wrong_.clear();
        StreamingReporterBase::testCaseEnded(stats);
    }

    void testRunEnded(const Catch::TestRunStats& stats) override {
        m_stream << "1.." << cases_ << '\n' << std::flush;
        StreamingReporterBase::testRunEnded(stats);
    }

  private:
    void explain(const std::string& text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) wrong_ += "  " + line + "\n";
    }

    int cases_ = 0;
    std::string skipped_, wrong_;
};

}  // namespace

CATCH_REGISTER_REPORTER("step", StepReporter)

}  // namespace kata
