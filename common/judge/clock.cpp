#include "judge/clock.hpp"

#include "error.hpp"
#include "stopwatch.hpp"

#include <algorithm>

namespace kata {

namespace {

std::unique_ptr<Stopwatch> a_stopwatch() {
    auto watch = stopwatch();
    if (!watch) throw Error("this back end keeps no time");
    return watch;
}

constexpr std::size_t runs_of_a_row = 15;

/// Returns the seconds that the step takes to solve the problem once.
double time_once(Stopwatch& watch, TimedProblem& problem, const Module& step) {
    return watch.time([&] { problem.run(step); }) / problem.solved_by(step);
}

/// Returns the median of several runs.
double time_of(Stopwatch& watch, TimedProblem& problem, const Module& step, std::size_t runs) {
    constexpr int warm_ups = 2;
    const auto time = [&] { return time_once(watch, problem, step); };
    for (int i = 0; i < warm_ups; ++i) time();
    std::vector<double> times(runs);
    std::generate(times.begin(), times.end(), time);
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(runs / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

}  // namespace

std::vector<Verdict> time_claim(const Claim& claim, const Module& better, const Module& worse, int verdicts) {
    const auto watch = a_stopwatch();
    const auto problem = chapter.timed(claim.variant);
    std::vector<Verdict> all;
    while (verdicts-- > 0)
        all.push_back(at_least_as_fast([&] { return time_once(*watch, *problem, better); },
                                       [&] { return time_once(*watch, *problem, worse); }, claim.least));
    return all;
}

Verdict time_against(const Module& step, const Module& other, double least_ratio) {
    const auto watch = a_stopwatch();
    const auto problem = chapter.timed(std::nullopt);
    return at_least_as_fast([&] { return time_once(*watch, *problem, step); },
                            [&] { return time_once(*watch, *problem, other); }, least_ratio);
}

double milliseconds(const Module& step) {
    const auto problem = chapter.timed(std::nullopt);
    return 1e3 * time_of(*a_stopwatch(), *problem, step, 5);
}

void time_each(std::span<const Module> steps, std::optional<int> variant,
               const std::function<void(const Module&, double milliseconds)>& tell) {
    const auto watch = a_stopwatch();
    const auto problem = chapter.timed(variant);
    for (const auto& step : steps) tell(step, 1e3 * time_of(*watch, *problem, step, runs_of_a_row));
}

std::vector<std::pair<std::string, double>> time_step(const Module& step,
                                                      const std::optional<Module>& against,
                                                      std::optional<int> variant) {
    const auto watch = a_stopwatch();
    const auto ceilings = watch->ceilings();
    const auto problem = chapter.timed(variant);
    const auto time = [&](const Module& m) { return time_once(*watch, *problem, m); };
    const double seconds = time_of(*watch, *problem, step, runs_of_a_row);
    // A lower bound: the bytes that must be moved and the arithmetic that must be done. A run that solves the
    // problem more than once moves the bytes once.
    const double bytes = problem->useful_bytes / problem->solved_by(step);
    const double least =
        std::max(bytes / ceilings.bytes_per_second, problem->operations / ceilings.flops_per_second);
    std::vector<std::pair<std::string, double>> values{
        {"milliseconds", seconds * 1e3},
        {"gigabytes", bytes / seconds * 1e-9},
        {"teraflops", problem->operations / seconds * 1e-12},
        {"of_ceiling", 100 * least / seconds},
        {"ceiling_gigabytes", ceilings.bytes_per_second * 1e-9},
        {"ceiling_teraflops", ceilings.flops_per_second * 1e-12},
    };
    if (against) {
        const auto ratio =
            ratio_of([&] { return time(step); }, [&] { return time(*against); }, {.max_pairs = 32});
        values.insert(
            values.end(),
            {{"faster", ratio.ratio}, {"faster_lower", ratio.lower}, {"faster_upper", ratio.upper}});
    }
    return values;
}

}  // namespace kata
