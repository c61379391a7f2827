// The judge: how much a step may need beside its own solution, by one table for all chapters.
#pragma once
#include "judge/suite.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kata {

/// What the step needs much more of than its own solution, with the most that it may, in a few lines each;
/// the worst first. `allowances` are those of the step on the shape of the run.
std::vector<Shortfall> worse_than_solution(const Run& step, const Counts& theirs,
                                           std::span<const Allowance> allowances = {});
/// The limit that the step comes nearest to, and the part of it that the step needs.
struct Nearest {
    const Counter* counter = nullptr;
    double part = 0;
};
Nearest nearest_limit(const Counts& step, const Counts& theirs, std::span<const Allowance> allowances = {});
/// The line of a step that passes that has bank conflicts which its solution has not, enough to be worth a
/// look; in words, without the full stop.
std::optional<std::string> remark_on_banks(const Run& step, const Counts& theirs);
/// "most in 03_tiled.cu:27: 8192, each time that a warp executes it 32.0": the line of the step that has most
/// of the counter; empty where no line has any.
std::string where_most(const Run&, const Counter&);
/// How many times as long as its own solution a step may take on a GPU.
inline constexpr double slowest = 2.0;
/// A share that was timed, in tenths: it must not differ from one grading to the next.
double share_of_time(double share);

}  // namespace kata
