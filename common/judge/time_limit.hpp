// Time limits for the tests of a step. The back end already ends endless kernels, but a kernel may do a
// thousand times too much, and host code may never return.
#pragma once
#include <atomic>
#include <string>
#include <sys/types.h>

namespace kata {

/// Processor time, which does not pass faster on a busy machine. No solution takes a tenth of it.
inline constexpr double most_processor_seconds = 60;
/// Wall-clock time during which nothing is computed.
inline constexpr int most_idle_seconds = 30;

/// From now on, ends the process by SIGTERM, which Catch2 reports, once it has used this much processor time
/// or has been idle for this long. Processes that share `together` add up their processor time, and each ends
/// when the sum is too large. The last second of each is not included.
void limit_time(double processor_seconds, int idle_seconds = most_idle_seconds,
                std::atomic<double>* together = nullptr);

/// From now on, counts the processor time of this process, too, until it has ended.
void also_count(pid_t);
void no_longer_count(pid_t);

/// Returns why SIGTERM was received, as a sentence for the student. It was sent for a limit, or by another
/// program, such as Meson with its limit on wall-clock time.
std::string why_stopped();

/// Same, for a process that has run for `seconds` and used this much processor time.
std::string why_stopped_from_outside(double seconds, double processor_seconds);

/// Returns in words why a signal ended the tests. `signal` is Catch2's text, such as "SIGSEGV - Segmentation
/// violation signal". The first line is a sentence of its own.
std::string why_ended(const std::string& signal);

}  // namespace kata
