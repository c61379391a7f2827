// Ends the process when a launch runs for too long and nobody else can tell.
#pragma once

namespace simt {

/// While it lives, on builds whose kernels are not instrumented, an endless loop ends the process after 30
/// seconds of processor time with one line on the standard error stream and status 1. Instrumented kernels
/// come back to the scheduler by themselves, which then ends the launch alone.
class Watchdog {
  public:
    Watchdog();
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
};

}  // namespace simt
