// The tests of one step on all cores, for whoever has just saved it and waits: a few of them in each process,
// and one report of all, in their order. What the step itself keeps from one test to the next, as in a static
// variable or a __device__ array, starts anew in each process, so a mistake that shows only after many calls
// may pass. The verdict of `meson test` and of grading is that of one process.
#pragma once
#include <catch2/interfaces/catch_interfaces_config.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kata {

/// Catch2's filter for the test of this name and no other.
std::string filter_for(const std::string& test);

struct Part {
    std::string filter;
    std::size_t tests = 0;
};

/// The tests that Catch2 would run, in parts.
std::vector<Part> parts_of(const Catch::IConfig&);

struct InParts {
    bool passed;
    int status;  ///< to exit with
};

/// Starts a process for each part, as many at a time as there are cores, and reports when all are done; with
/// `abort`, those behind the first that failed are stopped. Where a part was ended by a signal, or this
/// process is sent one meanwhile, it ends by that when all is reported.
///
/// In these processes it returns nothing, and `mine` is the filter of the tests that are to be run, with the
/// reporter "step". Where there is one part or one core only, or no process is to be had, it returns nothing
/// and leaves `mine` empty: all tests are to be run in this process.
std::optional<InParts> run_in_parts(const std::vector<Part>&, bool abort, std::string& mine);

}  // namespace kata
