// Looks in from time to time when a launch has run for too long.
#pragma once
#include <csignal>

namespace simt {

/// While it lives, and once `seconds` of processor time have passed, calls `look` every 50 ms: from a signal
/// handler, on the stack of whoever is running, which `look` may leave for good.
class Watchdog {
  public:
    Watchdog(double seconds, void (*look)());
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    struct sigaction before_ {};
};

}  // namespace simt
