// Decides a timed claim "a is at least R times as fast as b" on noisy clocks and machines.
//
// Runs of a and b alternate in pairs, so that a slow phase of the machine slows both, and each pair gives one
// ratio. The bounds of the median are two of the ratios themselves, counted from either end: the binomial
// distribution alone shows that they enclose the median, whatever the distribution of the noise. Times need
// not be normal, and no outlier is removed.
#pragma once
#include <functional>

namespace kata {

/// Returns the seconds of one run. A time that is not positive and finite is rejected with kata::Error.
using Clocked = std::function<double()>;

struct PairedOptions {
    double error = 1e-4;  ///< largest probability of a wrong answer, above 0 and below 1/2
    int max_pairs = 128;  ///< 1 to 1000; at error 1e-4 there is no binomial bound below 16
    int warm_ups = 2;     ///< runs of each before the first pair
};

/// The speed of a relative to b: the median over pairs of b's time divided by a's. The true value lies
/// between the bounds, which are 0 and infinity if there were too few pairs.
struct Ratio {
    double ratio;
    double lower, upper;
    int pairs;
};

enum class Answer { holds, refuted, undecided };

struct Verdict : Ratio {
    Answer answer;
};

/// Decides whether a is more than `least_ratio` times as fast as b. Looks after 8, 16, 32 pairs and so on,
/// and stops as soon as both bounds lie on one side. If the true ratio is on the other side, that happens
/// with a probability of at most `error`, over all looks. Undecided after max_pairs: the ratio is too near
/// the claim for this noise. Three pairs are enough if each is more than 10 times beyond the claim: a step
/// that takes seconds instead of a millisecond would occupy a GPU for minutes.
Verdict at_least_as_fast(const Clocked& a, const Clocked& b, double least_ratio, const PairedOptions& = {});

/// Returns the ratio without a claim, from exactly max_pairs pairs. Both bounds hold with a probability of 1
/// - `error`.
Ratio ratio_of(const Clocked& a, const Clocked& b, const PairedOptions& = {});

}  // namespace kata
