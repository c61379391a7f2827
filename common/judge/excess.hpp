// The judge: how much more than its own solution a step may need, in one table for all chapters.
#pragma once
#include "judge/suite.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kata {

/// Returns the excesses of the step over its own solution, each with its limit, in a few lines each, the
/// worst first. `allowances` are those of the step on the shape of the run. With `compiled`, the counts of
/// the machine code (compiled.hpp), an excess must show in them, too.
std::vector<Shortfall> worse_than_solution(const Run& step, const Counts& theirs,
                                           std::span<const Allowance> allowances = {},
                                           const Counts* compiled = nullptr);
/// The limit that the step comes closest to, and its value as a fraction of that limit.
struct Nearest {
    const Counter* counter = nullptr;
    double part = 0;
};
Nearest nearest_limit(const Counts& step, const Counts& theirs, std::span<const Allowance> allowances = {});
/// Returns a remark on the line with the most bank conflicts if the solution has far fewer and they matter.
/// The step itself passes. Has no full stop at the end.
std::optional<std::string> remark_on_banks(const Run& step, const Counts& theirs);
/// Returns "most in 03_tiled.cu:27: 8192, each time that a warp executes it 32.0": the line with the highest
/// value of the counter. Empty if no line has any.
std::string where_most(const Run&, const Counter&);
/// A step may take this many times as long as its own solution on a GPU.
inline constexpr double slowest = 2.0;
/// Rounds a timed share to tenths, because it must not vary from one grading to the next.
double share_of_time(double share);

}  // namespace kata
