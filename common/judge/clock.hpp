// Times of steps, on back ends that keep time.
#pragma once
#include "judge/suite.hpp"
#include "timing/paired.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kata {

/// Returns this many verdicts on a claim about time. Each has its own runs over the chapter's timed problem.
std::vector<Verdict> time_claim(const Claim&, const Module& better, const Module& worse, int verdicts);

/// Tells whether one step is at least `least_ratio` times as fast as another on the chapter's timed problem.
Verdict time_against(const Module&, const Module& other, double least_ratio);

/// Returns the time of a step on the chapter's timed problem: the median of a few runs.
double milliseconds(const Module&);

/// Times several steps like a row of the ladder, in turn over one problem or a variant of it.
void time_each(std::span<const Module>, std::optional<int> variant,
               const std::function<void(const Module&, double milliseconds)>& tell);

/// Returns a row of the ladder as named values: milliseconds, gigabytes and teraflops per second, and the
/// percentage of what the device could do; with `against`, also how many times as fast as that step. Uses the
/// chapter's timed problem or a variant of it.
std::vector<std::pair<std::string, double>> time_step(const Module&, const std::optional<Module>& against,
                                                      std::optional<int> variant = {});

}  // namespace kata
