// Catch2's TAP reporter prints a message of several lines as it is, and a reader of TAP takes all but the
// first for noise. This one gives a line per test case, and what went wrong as comments below it.
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
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
            comment(result.getExpressionInMacro() + " is " + result.getExpandedExpression());
        if (result.hasMessage()) comment(std::string(result.getMessage()));
        std::string with;
        for (const auto& info : stats.infoMessages)
            if (info.type == Catch::ResultWas::Info && info.message != std::string(result.getMessage()))
                with += (with.empty() ? "with " : ", ") + info.message;
        comment(with);
    }

    void testCaseEnded(const Catch::TestCaseStats& stats) override {
        const bool failed = stats.totals.testCases.failed > 0;
        m_stream << (failed ? "not ok " : "ok ") << ++cases_ << " - " << stats.testInfo->name;
        if (!failed && stats.totals.assertions.passed == 0 && !skipped_.empty())
            m_stream << " # SKIP " << skipped_;
        m_stream << '\n' << comments_.str() << std::flush;
        comments_.str("");
        skipped_.clear();
        StreamingReporterBase::testCaseEnded(stats);
    }

    void testRunEnded(const Catch::TestRunStats& stats) override {
        m_stream << "1.." << cases_ << '\n' << std::flush;
        StreamingReporterBase::testRunEnded(stats);
    }

  private:
    void comment(const std::string& text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) comments_ << "#   " << line << '\n';
    }

    int cases_ = 0;
    std::string skipped_;
    std::ostringstream comments_;
};

}  // namespace

CATCH_REGISTER_REPORTER("step", StepReporter)

}  // namespace kata
