// What a step claims to gain over another one.
#pragma once
#include "judge/suite.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kata {

/// A claim, and the step that makes it.
struct Claimed {
    std::string_view better;
    const Claim& claim;
};

/// The most that a step may need that is held to a claim. The solution is held to what the claim says; a
/// student's step may need half more than the solution, if that is less than the other step needs.
double most_of(const Claim&, double worse, std::optional<double> solution);

/// Empty where a step that needs `better` holds the claim, else what is wrong, in a few lines. `worse` is
/// what the other step needs, `solution` what the step's own solution needs, if it is not that itself.
std::optional<std::string> broken(const Claim&, double better, double worse,
                                  std::optional<double> solution = {});

/// "barriers 640, 1/4 of the 2560 in 04_hierarchical", for a claim that holds.
std::string gained(const Claim&, double better, double worse);
/// A claim that a step holds, and what the two steps need.
struct Gain {
    const Claim* claim;
    double better, worse;
};
/// Up to three gains over the nearest step before, those that tell most, in words.
std::vector<std::string> most_telling(std::string_view step, std::vector<Gain>);

/// A claim that counts refute, in words for a reader of the step.
std::string as_counted(const Claimed&, double better, double worse);

/// Empty where the two steps have a counted claim about each other, if both can be counted, and a timed one
/// where the later step has been timed, whichever of the two is the better one; else what is missing.
std::string unclaimed(std::span<const Step>, std::string_view earlier, std::string_view later,
                      bool has_been_timed, bool can_be_counted = true);

/// How a solution fared against that of the step before it, on a GPU of this name.
struct Timed {
    std::string device;
    double times_as_fast;
};
/// A remark where a step has all that a later one gains over it, by the claims that are counted, and a GPU
/// was clearly slower with that; in words, without the full stop. `timed` is asked about the later step.
std::optional<std::string> remark_on_idea(std::span<const Step>, std::string_view step, const Counts& mine,
                                          const std::function<const Counts&(std::string_view)>& of_solution,
                                          const std::function<std::optional<Timed>(std::string_view)>& timed);

}  // namespace kata
