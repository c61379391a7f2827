#include "judge/time_limit.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <ctime>
#include <sys/time.h>

namespace kata {

namespace {

enum class Cause { none, processor, idle };
std::atomic<Cause> reached = Cause::none;
double most_seconds = 0, began = 0;
std::atomic<double> own_seconds = 0;
std::atomic<double>* used_seconds = &own_seconds;
static_assert(std::atomic<double>::is_always_lock_free);
int most_idle = 0;

double seconds_of(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::array<std::atomic<pid_t>, 16> others{};  // 0: none

double seconds_of_all() {
    double seconds = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (const pid_t other : others) {
        clockid_t clock{};
        if (other != 0 && clock_getcpuclockid(other, &clock) == 0) seconds += seconds_of(clock);
    }
    return seconds;
}

/// Called once a second. Counts the calls, because the wall clock also advances while the process is stopped.
void look(int) {
    static double before = 0;
    static int idle = 0;
    constexpr double nothing = 1e-3;
    // Less than before once a process has ended.
    const double now = seconds_of_all();
    before = std::min(before, now);
    idle = now - before < nothing ? idle + 1 : 0;
    const double used = *used_seconds += now - before;
    before = now;
    const auto limit = used > most_seconds ? Cause::processor : idle >= most_idle ? Cause::idle : Cause::none;
    if (limit == Cause::none || reached != Cause::none) return;
    reached = limit;
    std::raise(SIGTERM);
}

std::string whole(double seconds) { return std::to_string(std::lround(seconds)); }

}  // namespace

void limit_time(double processor_seconds, int idle_seconds, std::atomic<double>* together) {
    if (together) used_seconds = together;
    most_seconds = processor_seconds;
    most_idle = idle_seconds;
    began = seconds_of(CLOCK_MONOTONIC);
    struct sigaction action {};
    action.sa_handler = look;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    const itimerval each_second{{1, 0}, {1, 0}};
    setitimer(ITIMER_REAL, &each_second, nullptr);
}

void also_count(pid_t process) {
    for (auto& other : others)
        if (pid_t none = 0; other.compare_exchange_strong(none, process)) return;
}
void no_longer_count(pid_t process) {
    for (auto& other : others)
        if (other == process) other = 0;
}

std::string why_stopped() {
    switch (reached) {
        case Cause::processor:
            return "the time for the tests of this step is over: they have computed for " +
                   whole(most_seconds) +
                   " s, many times as long as they should. A kernel does far too much, or a loop of the host "
                   "code does not end";
        case Cause::idle:
            return "the host code does not return: for " + std::to_string(most_idle) +
                   " s it has waited without computing anything, as for a lock or for input";
        case Cause::none:
            break;
    }
    return why_stopped_from_outside(seconds_of(CLOCK_MONOTONIC) - began, seconds_of_all());
}

std::string why_stopped_from_outside(double seconds, double processor_seconds) {
    constexpr double busy = 0.5;  // the least share of wall-clock time that a process computes on a machine
                                  // that is not overloaded
    if (processor_seconds < busy * seconds)
        return "the tests of this step were stopped after " + whole(seconds) +
               " s, in which they could compute for " + whole(processor_seconds) +
               " s only: the machine has too much else to do. That is no verdict on the step: run it again";
    return "the tests of this step were stopped after " + whole(seconds) +
           " s: a kernel does far too much, or a loop of the host code does not end";
}

std::string why_ended(const std::string& signal) {
    if (signal.starts_with("SIGTERM")) return why_stopped();
    if (signal.starts_with("SIGINT")) return "the tests were interrupted";
    if (signal.starts_with("SIGABRT"))
        return "the step has ended the program: abort(), an assertion of host code, or an exception where "
               "none may be thrown";
    const std::string what = signal.starts_with("SIGFPE")    ? "it divides an integer by zero"
                             : signal.starts_with("SIGSEGV") ? "it accesses memory that does not exist"
                                                             : "its code cannot be executed";
    return "the step crashes: " + what +
           "\nlook at the host code of the step: an index, a pointer to device memory, a recursion that does "
           "not end; at functions that lack a return statement, also those that a kernel calls; and at "
           "pointers into a kernel's local arrays, because all other accesses of a kernel are checked";
}

}  // namespace kata
