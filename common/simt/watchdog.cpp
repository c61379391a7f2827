#include "simt/watchdog.hpp"

#include <cmath>
#include <sys/time.h>

namespace simt {

namespace {

void (*look_now)() = nullptr;

void handle(int, siginfo_t* info, void*) {
    if (info->si_code > 0) look_now();  // not if another process has sent it
}

timeval time_of(double seconds) {
    const double whole = std::floor(seconds);
    return {static_cast<time_t>(whole), static_cast<suseconds_t>((seconds - whole) * 1e6)};
}

}  // namespace

Watchdog::Watchdog(double seconds, void (*look)()) {
    look_now = look;
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;  // the handler may never return
    sigaction(SIGPROF, &action, &before_);
    const itimerval timer{time_of(0.05), time_of(seconds)};
    setitimer(ITIMER_PROF, &timer, nullptr);
}

Watchdog::~Watchdog() {
    const itimerval never{};
    setitimer(ITIMER_PROF, &never, nullptr);
    sigaction(SIGPROF, &before_, nullptr);
}

}  // namespace simt
