// How long the tests of a step may take: no kernel of theirs is endless (the back end sees to that), but one
// may do a thousand times what it should, and host code may not return.
#pragma once
#include <atomic>
#include <string>

namespace kata {

/// In processor time, which a busy machine does not use up: no solution takes a tenth of it.
inline constexpr double most_processor_seconds = 60;
/// By the clock, if all the while nothing is computed.
inline constexpr int most_idle_seconds = 30;

/// From here on ends the process by SIGTERM, which Catch2 reports, when it has taken so much processor time,
/// or has waited for so long. In `together`, several processes add up what they take, and each ends when it
/// is too much for all of them; the last second of each is left out.
void limit_time(double processor_seconds, int idle_seconds = most_idle_seconds,
                std::atomic<double>* together = nullptr);

/// Why SIGTERM has come, as a sentence for the student: it was sent for a limit, or by somebody else, such as
/// Meson, whose patience ends by the clock.
std::string why_stopped();

/// The same, of a process that has lived for so long and computed for so long.
std::string why_stopped_from_outside(double seconds, double processor_seconds);

/// Why a signal has ended the tests, of which Catch2 says "SIGSEGV - Segmentation violation signal": in
/// words, the first line a sentence of its own.
std::string why_ended(const std::string& signal);

}  // namespace kata
