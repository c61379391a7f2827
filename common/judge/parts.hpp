// Runs the tests of one step on all cores, for a fast answer after each edit: a few tests per process, and
// one report in the original order. State that the step keeps from one test to the next, such as a static
// variable or a __device__ array, starts anew in each process, so a mistake that shows only after many calls
// may pass. The verdicts of `meson test` and of grading come from a single process.
#pragma once
#include <catch2/interfaces/catch_interfaces_config.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kata {

/// Returns Catch2's filter for exactly the test with this name.
std::string filter_for(const std::string& test);

struct Part {
    std::string filter;
    std::size_t tests = 0;
};

/// Returns the tests that Catch2 would run, divided into parts.
std::vector<Part> parts_of(const Catch::IConfig&);

struct InParts {
    bool passed;
    int status;  ///< for exit()
};

/// Starts a process for each part, as many at a time as there are cores, and reports when all have ended.
/// With `abort`, the parts after the first that failed are stopped. If a signal ends a part or reaches this
/// process meanwhile, this process ends with the same signal after the report.
///
/// Returns std::nullopt in these processes. `mine` is then the filter of the tests to run with the reporter
/// "step". If there is only one part or one core, or no process can be started, it also returns std::nullopt
/// and leaves `mine` empty: this process must run all tests.
std::optional<InParts> run_in_parts(const std::vector<Part>&, bool abort, std::string& mine);

}  // namespace kata
