// The verdict on a timed claim "a is at least R times as fast as b", for clocks and machines that are not
// quiet.
//
// Runs of a and of b alternate in pairs, so that what slows the machine for a while slows both, and each pair
// gives one ratio. Of these the median is asked for, and its bounds are two of the ratios themselves, counted
// from either end: that they enclose it follows from the binomial distribution alone, however the noise is
// distributed. No time is taken for normal, no outlier thrown away.
#pragma once
#include <functional>

namespace kata {

/// One run, in seconds. A time that is not a positive finite number is refused with kata::Error.
using Clocked = std::function<double()>;

struct PairedOptions {
    double error = 1e-4;  ///< how probable a wrong answer may be, above 0 and below 1/2
    int max_pairs = 128;  ///< 1 to 1000; at error 1e-4 no binomial bound is to be had below 16
    int warm_ups = 2;     ///< runs of each before the first pair
};

/// How many times as fast as b a is: the median over pairs of b's time over a's. The true one lies between
/// the bounds, which are 0 and infinity where there were too few pairs to say.
struct Ratio {
    double ratio;
    double lower, upper;
    int pairs;
};

enum class Answer { holds, refuted, undecided };

struct Verdict : Ratio {
    Answer answer;
};

/// Whether a is more than `least_ratio` times as fast as b. Looks after 8 pairs, 16, 32 and so on, and stops
/// as soon as both bounds lie on one side. Where the true ratio is on the other side, that happens with a
/// probability of at most `error`, all looks together. Undecided after max_pairs: the ratio is too near to
/// the claim for this noise. Before that, three pairs are enough where each of them is more than 10 times
/// beyond the claim: a step that takes seconds instead of a millisecond would keep a GPU for minutes.
Verdict at_least_as_fast(const Clocked& a, const Clocked& b, double least_ratio, const PairedOptions& = {});

/// The ratio without a claim, from exactly max_pairs pairs; both bounds hold with a probability of 1 -
/// `error`.
Ratio ratio_of(const Clocked& a, const Clocked& b, const PairedOptions& = {});

}  // namespace kata
