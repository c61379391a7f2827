// Claims of steps to need less than other steps.
#pragma once
#include "judge/suite.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kata {

/// A claim and the step that makes it.
struct Claimed {
    std::string_view better;
    const Claim& claim;
};

/// Returns the most that a step may need to satisfy a claim. For a solution, the claim states it. A student's
/// step may need half as much again as the solution, if that is less than what the other step needs.
double most_of(const Claim&, double worse, std::optional<double> solution);

/// Returns what is wrong, in a few lines, if a step that needs `better` breaks the claim. `worse` is what the
/// other step needs. `solution` is what the step's own solution needs, unless the step is that solution.
std::optional<std::string> broken(const Claim&, double better, double worse,
                                  std::optional<double> solution = {});

/// Returns "barriers 640, 1/4 of the 2560 in 04_hierarchical", for a claim that holds.
std::string gained(const Claim&, double better, double worse);
/// A claim that holds, and what the two steps need.
struct Gain {
    const Claim* claim;
    double better, worse;
};
/// Returns up to three gains over the step `before` in words, the most telling ones.
std::vector<std::string> most_telling(std::string_view before, std::vector<Gain>);

/// Returns a claim that the counts refute, in words for a reader of the step.
std::string as_counted(const Claimed&, double better, double worse);

/// Returns which claim the two steps lack about each other: a counted one if both can be counted, or a timed
/// one if the later step has been timed. Either step may be the better one. Empty if they lack none.
std::string unclaimed(std::span<const Step>, std::string_view earlier, std::string_view later,
                      bool has_been_timed, bool can_be_counted = true);

/// The result of timing a solution against the previous step's solution, on a GPU of this name.
struct Timed {
    std::string device;
    double times_as_fast;
};
/// Returns a remark if a step already has everything that a later step gains over it by counted claims, but
/// the later one was clearly slower on a GPU. Has no full stop at the end. `timed` is called with the name of
/// the later step.
std::optional<std::string> remark_on_idea(std::span<const Step>, std::string_view step, const Counts& mine,
                                          const std::function<const Counts&(std::string_view)>& of_solution,
                                          const std::function<std::optional<Timed>(std::string_view)>& timed);

}  // namespace kata
