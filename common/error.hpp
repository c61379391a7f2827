// What goes wrong while a step runs, as one line (or a few) that says what happened and what to do about it.
#pragma once
#include <stdexcept>

namespace kata {

/// A step broke a rule: the message names the cause, and where it is known the file, line, block and thread.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Thrown by open(): the body of the kata has not been written yet.
struct OpenKata : Error {
    OpenKata() : Error("open: the body of this kata has not been written yet") {}
};

}  // namespace kata
