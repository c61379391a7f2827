// Calls a function from time to time once a launch has run for long.
#pragma once
#include <csignal>

namespace simt {

/// While it lives, calls `look` every 50 ms after `seconds` of processor time: from a signal handler, on the
/// stack of the running code, which `look` may abandon.
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
