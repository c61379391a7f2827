#include "timing/paired.hpp"

#include "error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

namespace kata {

namespace {

template <class Value>
[[noreturn]] void refuse(const char* what, Value value) {
    std::ostringstream line;
    line << what << ": " << value;
    throw Error(line.str());
}

void check(const PairedOptions& options) {
    if (!(options.error > 0 && options.error < 0.5))
        refuse("a probability of error must lie between 0 and 1/2", options.error);
    if (options.max_pairs < 1 || options.max_pairs > 1000)
        refuse("a comparison takes 1 to 1000 pairs", options.max_pairs);
    if (options.warm_ups < 0) refuse("the number of warm-ups cannot be negative", options.warm_ups);
}

double timed(const Clocked& run, const char* name) {
    const double seconds = run();
    if (std::isfinite(seconds) && seconds > 0) return seconds;
    std::ostringstream line;
    line << "a run of " << name << " took " << seconds
         << " s by the clock: no time; take a larger size, or see whether the clock was started and stopped";
    throw Error(line.str());
}

/// Noise never slows the same one of two alternating runs by this factor in each of the first pairs, and not
/// the other.
constexpr double far_off = 10;
constexpr int first_pairs = 3;

/// The pairs measured so far, as b's time over a's.
class Pairs {
  public:
    Pairs(const Clocked& a, const Clocked& b, int warm_ups) : a_(a), b_(b) {
        for (int i = 0; i < warm_ups; ++i) {
            timed(a_, "a");
            timed(b_, "b");
        }
    }

    void extend_to(int count) {
        while (static_cast<int>(ratios_.size()) < count) {
            // The second run may find a warmer machine, so the order alternates.
            const bool a_first = ratios_.size() % 2 == 0;
            double a = a_first ? timed(a_, "a") : 0;
            const double b = timed(b_, "b");
            if (!a_first) a = timed(a_, "a");
            ratios_.push_back(b / a);
        }
    }

    /// Returns the answer if all ratios lie on one side of the claim, farther away than any noise.
    Answer answer_beyond_doubt(double least_ratio) const {
        const auto [slowest, fastest] = std::minmax_element(ratios_.begin(), ratios_.end());
        return *slowest > far_off * least_ratio   ? Answer::holds
               : *fastest < least_ratio / far_off ? Answer::refuted
                                                  : Answer::undecided;
    }

    /// Returns the median, with the `rank`th ratio from either end as its bounds.
    Ratio summary(int rank) const {
        std::vector<double> sorted = ratios_;
        std::sort(sorted.begin(), sorted.end());
        const std::size_t n = sorted.size();
        const auto r = static_cast<std::size_t>(rank);
        Ratio result{std::sqrt(sorted[(n - 1) / 2] * sorted[n / 2]), 0,
                     std::numeric_limits<double>::infinity(), static_cast<int>(n)};
        if (rank > 0) {
            result.lower = sorted[r - 1];
            result.upper = sorted[n - r];
        }
        return result;
    }

  private:
    const Clocked& a_;
    const Clocked& b_;
    std::vector<double> ratios_;
};

/// Returns the largest rank whose lower bound lies above the median of `pairs` ratios with a probability of
/// at most `budget`, and subtracts that from `budget`; 0 if there is none. A ratio lies below the median half
/// the time, so the bound lies above it if fewer than `rank` of them do: tosses of a coin.
int rank_within(double& budget, int pairs) {
    int rank = 0;
    double term = std::exp2(-pairs), tail = term;  // fewer than rank + 1 heads
    double spent = 0;
    while (tail <= budget) {
        spent = tail;
        ++rank;
        term *= static_cast<double>(pairs - rank + 1) / rank;
        tail += term;
    }
    budget -= spent;
    return rank;
}

/// Returns the numbers of pairs after which the claim is judged.
std::vector<int> looks(int max_pairs) {
    std::vector<int> counts;
    for (int count = 8; count < max_pairs; count *= 2) counts.push_back(count);
    counts.push_back(max_pairs);
    return counts;
}

}  // namespace

Verdict at_least_as_fast(const Clocked& a, const Clocked& b, double least_ratio,
                         const PairedOptions& options) {
    check(options);
    if (!(std::isfinite(least_ratio) && least_ratio > 0))
        refuse("a claimed ratio must be positive", least_ratio);
    Pairs pairs(a, b, options.warm_ups);
    if (options.max_pairs >= first_pairs) {
        pairs.extend_to(first_pairs);
        if (const Answer answer = pairs.answer_beyond_doubt(least_ratio); answer != Answer::undecided)
            return {pairs.summary(1), answer};
    }
    const std::vector<int> counts = looks(options.max_pairs);
    Verdict verdict{};
    // Every look may err. Each adds its share, and later looks can use what earlier ones could not.
    double budget = 0;
    for (const int count : counts) {
        pairs.extend_to(count);
        budget += options.error / static_cast<double>(counts.size());
        const Ratio now = pairs.summary(rank_within(budget, count));
        const Answer answer = now.lower > least_ratio   ? Answer::holds
                              : now.upper < least_ratio ? Answer::refuted
                                                        : Answer::undecided;
        verdict = {now, answer};
        if (answer != Answer::undecided) break;
    }
    return verdict;
}

Ratio ratio_of(const Clocked& a, const Clocked& b, const PairedOptions& options) {
    check(options);
    Pairs pairs(a, b, options.warm_ups);
    pairs.extend_to(options.max_pairs);
    double budget = options.error / 2;  // either bound may err
    return pairs.summary(rank_within(budget, options.max_pairs));
}

}  // namespace kata
