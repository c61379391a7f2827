// The tests of one step on all cores, for who has just saved it and waits. Each part of them runs in a
// process of its own, and the report is that of one process: test by test, in their order.
#pragma once
#include <catch2/interfaces/catch_interfaces_config.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kata {

/// The test of this name and no other, as Catch2 is asked for it.
std::string named(const std::string& test);

/// The tests that Catch2 would run, in parts, each as Catch2 is asked for it.
std::vector<std::string> parts_of(const Catch::IConfig&);

/// Starts a process for each part, as many at a time as there are cores. In these it gives nothing, and
/// `mine` is the part that is to be run, with the reporter "step". Who called it gets the exit status when
/// all are done and reported; with `abort`, without those behind the first that failed.
std::optional<int> run_in_parts(const std::vector<std::string>& parts, bool abort, std::string& mine);

}  // namespace kata
