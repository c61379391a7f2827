// Errors of a running step. Each message has one line or a few, and says what happened and what to do about
// it.
#pragma once
#include "launching.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kata {

/// Where a launch reached its time limit: in a loop or a wait of a thread, or in all of its many blocks. The
/// latter says nothing about the result.
enum class OutOfTime { no, in_a_thread, in_all_blocks };

/// A step broke a rule. The message names the cause and, if known, the file, line, block and thread.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
    /// The first launches of the observation that the error ended, and the number of all launches.
    std::vector<Launching> launched = {};
    std::uint64_t launches = 0;
    std::vector<std::string> findings = {};  ///< of the observation up to the error
    OutOfTime out_of_time = OutOfTime::no;
};

/// Thrown by open(): the body of the kata has not been written yet.
struct OpenKata : Error {
    OpenKata() : Error("open: the body of this kata has not been written yet") {}
};

/// The message for std::bad_alloc, which says nothing about the step.
inline constexpr const char* out_of_memory =
    "memory is exhausted, which says nothing about the step unless the step itself allocates too much: close "
    "other programs, or let this one have more (ulimit -v, a container's limit)";

}  // namespace kata
