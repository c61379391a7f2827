// Lines of the report on a step, in addition to its tests.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace kata {

/// The descriptor of a grader's report; -1 for any other, which goes to the standard output. No step can
/// write to it that runs in a process of its own.
inline int graders_report = -1;
inline bool is_graded() { return graders_report != -1; }

/// The remarks of the running test, in addition to its verdict.
struct Remarks {
    /// For each failure of a correct step that needs too much: the limit divided by what it needs, from 0
    /// to 1.
    std::vector<double> shares = {};
    std::vector<std::string> gains = {};  ///< over an earlier step
    std::vector<std::string> notes = {};  ///< useful to know, but not a fault
    /// A counter of the step, with that of its solution.
    struct Figure {
        std::string key, heading;
        double mine, theirs;
    };
    std::vector<Figure> figures = {};
    std::vector<std::string> nearest =
        {};  ///< the limit that the step comes closest to on each shape, for maintainers
};
/// Returns those of the running test.
Remarks& remarks();

/// Returns the kind of a test that has failed this many times, with this text.
std::string kind_of_failure(const std::string& text, std::size_t failures, const Remarks&);

/// One test of a step, as a line of JSON for programs that print verdicts.
struct Record {
    std::string test;
    std::string kind;  ///< "right", "wrong", "slow" (right, but needs too much), "skip" or "open"
    std::string text;  ///< the reason if it is not right
    Remarks remarks;

    std::string json() const;
};

}  // namespace kata
