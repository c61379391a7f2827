// Times of steps, where the back end keeps time.
#pragma once
#include "judge/suite.hpp"
#include "timing/paired.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kata {

/// So many verdicts on a claim about time, each from runs of its own, over the chapter's timed problem.
std::vector<Verdict> time_claim(const Claim&, const Module& better, const Module& worse, int verdicts);

/// Whether one step is at least so many times as fast as another one, over the chapter's timed problem.
Verdict time_against(const Module&, const Module& other, double least_ratio);

/// How long a step takes over the chapter's timed problem: the median of a few runs.
double milliseconds(const Module&);

/// The same of several, one after the other over one problem, or over a variant of it; as a row of the ladder
/// has it.
void time_each(std::span<const Module>, std::optional<int> variant,
               const std::function<void(const Module&, double milliseconds)>& tell);

/// A row of the ladder, as named values: milliseconds, gigabytes and teraflops per second, and the share in
/// percent of what the device could do; with `against` also how many times as fast as that step. Over the
/// chapter's timed problem or a variant of it.
std::vector<std::pair<std::string, double>> time_step(const Module&, const std::optional<Module>& against,
                                                      std::optional<int> variant = {});

}  // namespace kata
