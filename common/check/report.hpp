// Lines of the report on a step beside its tests. The step runs in the process that tests it and can write
// wherever that can: if its author is not trusted, each line carries a seal that a step cannot forge.
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

/// What the running test reports beside its verdict.
struct Remarks {
    /// Of each failure of a right step that needs more of one thing than it may: the part of what it needs
    /// that it may need, from 0 to 1.
    std::vector<double> shares = {};
    std::vector<std::string> gains = {};  ///< over an earlier step
    std::vector<std::string> notes = {};  ///< no fault, and yet good to know
    /// A counter of the step, beside that of its solution.
    struct Figure {
        std::string key, heading;
        double mine, theirs;
    };
    std::vector<Figure> figures = {};
    std::vector<std::string> nearest =
        {};  ///< the limit that the step comes nearest to on each shape, for maintainers
};
/// Those of the test that runs.
Remarks& remarks();

/// Returns the kind of a test that has failed so often, with this text.
std::string kind_of_failure(const std::string& text, std::size_t failures, const Remarks&);

/// One test of a step, as a line of JSON for whoever prints verdicts.
struct Record {
    std::string test;
    std::string kind;  ///< "right", "wrong", "slow", which is right and needs too much, "skip" or "open"
    std::string text;  ///< why it is not right
    Remarks remarks;

    std::string json() const;
};

}  // namespace kata
