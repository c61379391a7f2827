// What goes wrong while a step runs, as one line (or a few) that says what happened and what to do about it.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kata {

/// A step broke a rule: the message names the cause, and where it is known the file, line, block and thread.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
    /// Of an observation that it has ended: the first launches, as "add<<<256, 4>>>", and how many there
    /// were.
    std::vector<std::string> launched = {};
    std::uint64_t launches = 0;
};

/// Thrown by open(): the body of the kata has not been written yet.
struct OpenKata : Error {
    OpenKata() : Error("open: the body of this kata has not been written yet") {}
};

/// Where std::bad_alloc was thrown, which says nothing about the step.
inline constexpr const char* out_of_memory =
    "the memory is used up, which says nothing about the step unless it asks for too much itself: close "
    "other programs, or let this one have more (ulimit -v, a container's limit)";

}  // namespace kata
