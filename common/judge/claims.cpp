#include "judge/claims.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace kata {

namespace {

int decimals_of(Quantity q) { return q->per == Per::nothing ? q->decimals : 0; }

std::string text_of(double value, Quantity q) {
    char text[96];
    std::snprintf(text, sizeof text, "%.*f", decimals_of(q), value);
    return text;
}

/// Rounded down, so that a number above the limit is also above the printed limit.
std::string text_of_limit(double most, Quantity q) {
    const double unit = std::pow(10, decimals_of(q));
    return text_of(std::floor(most * unit) / unit, q);
}

/// "1/4" or "1/2.5"
std::string part(double times) {
    char text[32];
    std::snprintf(text, sizeof text, times < 100 ? "1/%.3g" : "1/%.0f", times);
    return text;
}

bool is_asserted(const Claim& claim) { return claim.standing == Claim::Standing::asserted; }

}  // namespace

std::string as_counted(const Claimed& claimed, double better, double worse) {
    const auto& claim = claimed.claim;
    char least[32];
    std::snprintf(least, sizeof least, "at most 1/%.3g of the ", claim.least);
    const std::string source(claim.source), name(claim.quantity->name);
    return (source.starts_with("not in") ? "At first sight, " : "According to " + source + ", ") +
           std::string(claimed.better) + " should have " + (claim.least > 1 ? least : "fewer ") + name +
           (claim.least > 1 ? " of " : " than ") + std::string(claim.worse) +
           ". Counted, with the solutions: " + text_of(better, claim.quantity) + ", and " +
           text_of(worse, claim.quantity) + " in " + std::string(claim.worse) +
           ". So this claim does not hold, and no step is judged by it.";
}

std::string unclaimed(std::span<const Step> steps, std::string_view earlier, std::string_view later,
                      bool has_been_timed, bool can_be_counted) {
    bool counted = !can_be_counted, timed = !has_been_timed;
    for (const auto& step : steps)
        for (const auto& claim : step.beats)
            if ((step.name == later && claim.worse == earlier) ||
                (step.name == earlier && claim.worse == later))
                (claim.quantity.is_timed() ? timed : counted) = true;
    if (counted && timed) return "";
    return std::string(earlier) + " and " + std::string(later) + " have no " +
           (counted ? "timed claim"
            : timed ? "counted claim"
                    : "claim, counted or timed,") +
           " about each other";
}

// Two styles of the same step may differ by half in their counts, and consecutive steps sometimes by less. A
// kernel that needs as much as the other step does not implement this one.
double most_of(const Claim& claim, double worse, std::optional<double> solution) {
    constexpr double room = 1.5, no_gain = 0.995;
    const double claimed = worse / claim.least;
    return solution ? std::max(claimed, std::min(room * *solution, no_gain * worse)) : claimed;
}

std::optional<std::string> broken(const Claim& claim, double better, double worse,
                                  std::optional<double> solution) {
    const double most = most_of(claim, worse, solution);
    if (better <= most * (1 + 1e-9)) return std::nullopt;
    const auto number = [&](double value) { return text_of(value, claim.quantity); };
    return "the step misses its goal: " + std::string(claim.quantity->name) + ": now " + number(better) +
           (solution ? ", in the solution " + number(*solution) : "") + ", at most " +
           text_of_limit(most, claim.quantity) + "; " + std::string(claim.worse) + " needs " + number(worse) +
           "\n  the goal: " + std::string(claim.why);
}

std::optional<std::string> remark_on_idea(
    std::span<const Step> steps, std::string_view step, const Counts& mine,
    const std::function<const Counts&(std::string_view)>& of_solution,
    const std::function<std::optional<Timed>(std::string_view)>& timed) {
    constexpr double clearly = 0.8;
    for (const auto& later : steps) {
        if (later.name <= step) continue;
        const Claim* first = nullptr;
        const auto is_about = [&](const Claim& claim) {
            return claim.worse == step && !claim.quantity.is_timed() && is_asserted(claim);
        };
        // A step that solves another problem cannot be counted, so a step without such a claim is left out.
        const auto fared =
            std::any_of(later.beats.begin(), later.beats.end(), is_about) ? timed(later.name) : std::nullopt;
        if (!fared || fared->times_as_fast >= clearly) continue;
        const bool has_all = std::all_of(later.beats.begin(), later.beats.end(), [&](const Claim& claim) {
            if (!is_about(claim)) return true;
            if (!first) first = &claim;
            return !broken(claim, claim.quantity(mine), claim.quantity(of_solution(claim.worse)),
                           claim.quantity(of_solution(later.name)));
        });
        if (!has_all) continue;
        char slower[32];
        std::snprintf(slower, sizeof slower, "%.1f", 1 / fared->times_as_fast);
        return "Right, and it already does what step " + std::string(later.name) +
               " teaches: " + std::string(first->why) + ". An " + fared->device + " takes " + slower +
               " times as long for that step's solution as for this step's, so on a GPU this may fail as too "
               "slow";
    }
    return std::nullopt;
}

std::string gained(const Claim& claim, double better, double worse) {
    char less[32];
    std::snprintf(less, sizeof less, "%.0f %% less than the ", 100 * (1 - better / worse));
    return std::string(claim.quantity->name) + " " + text_of(better, claim.quantity) + ", " +
           (worse < 2 * better ? std::string(less) : part(worse / better) + " of the ") +
           text_of(worse, claim.quantity) + " in " + std::string(claim.worse);
}

// Leaves out differences below a twentieth, and counters that have fallen to 0: something else took their
// place.
std::vector<std::string> most_telling(std::string_view before, std::vector<Gain> gains) {
    constexpr double too_little = 1.05;
    constexpr std::size_t shown = 3;
    std::erase_if(gains, [&](const Gain& g) {
        return g.claim->worse != before || g.better <= 0 || g.worse < too_little * g.better;
    });
    std::stable_sort(gains.begin(), gains.end(),
                     [](const Gain& a, const Gain& b) { return a.worse * b.better > b.worse * a.better; });
    gains.resize(std::min(gains.size(), shown));
    std::vector<std::string> told;
    for (const auto& g : gains) told.push_back(gained(*g.claim, g.better, g.worse));
    return told;
}

}  // namespace kata
