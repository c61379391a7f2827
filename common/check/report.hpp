// Lines of the report on a step, in addition to its tests. The step runs in the process that tests it and can
// write wherever the process can. If its author is not trusted, each line carries a seal that a step cannot
// forge.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace kata {

/// Reads a key of 32 bytes from the descriptor, to its end, and closes it. Must be called before a step is
/// loaded. Throws Error if the key is not 32 bytes long.
void seal_reports(int descriptor);
bool reports_are_sealed();

/// Returns the line as reported: with a key, after the HMAC-SHA256 of "NUMBER LINE" in hexadecimal digits.
/// NUMBER counts the lines from 0.
std::string sealed(const std::string& line);

/// Returns the HMAC-SHA256 (RFC 2104, FIPS 180-4) in hexadecimal digits. The key has at most 64 bytes.
std::string hmac_sha256(const std::string& key, const std::string& text);

/// The remarks of the running test, in addition to its verdict.
struct Remarks {
    /// For each failure of a correct step that needs too much: the fraction of its amount that is allowed,
    /// from 0 to 1.
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
