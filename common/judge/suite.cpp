#include "judge/suite.hpp"

#include "check/remembered.hpp"
#include "check/report.hpp"
#include "error.hpp"
#include "stopwatch.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <new>
#include <set>

namespace kata {

Conditions Brought::conditions(double outputs, int run, int runs) const {
    // Outputs that the CPU back end counts in about ten seconds.
    constexpr double most_counted = 500'000;
    Conditions c{.time_limit = 600};
    if (!full) c.one_in = static_cast<std::uint64_t>(std::max(1.0, std::ceil(outputs / most_counted)));
    if (progress) c.progress = [tell = progress, run, runs](double part) { tell((run + part) / runs); };
    return c;
}

std::vector<const Shape*> judged_shapes_of(const Step& step, bool fixed_grids) {
    std::vector<const Shape*> all;
    for (const auto& shape : chapter.shapes)
        if (shape.judged && shape.for_fixed_grids == fixed_grids && has_traits(step, shape.traits))
            all.push_back(&shape);
    return all;
}

namespace {

const std::filesystem::path this_suite = "/proc/self/exe";

const Shape& base_shape_of(const Step& step) {
    if (const auto shapes = judged_shapes_of(step, false); !shapes.empty()) return *shapes.front();
    throw Error("the chapter has no shape for " + std::string(step.name));
}

class CountedRuns final : public Counted {
  public:
    const Counts& operator()(std::string_view shape) const override {
        return counts_of(counted_run(shape_called(shape)));
    }
    const Counts& of_solution(std::string_view shape) const override {
        return counts_of_solution(step_name(), shape_called(shape));
    }
};

}  // namespace

const Step& step_called(std::string_view name) {
    const auto found = std::find_if(chapter.steps.begin(), chapter.steps.end(),
                                    [&](const Step& s) { return s.name == name; });
    if (found == chapter.steps.end())
        throw Error("the steps of " + std::string(chapter.name) + " in tests/ have no row for " +
                    std::string(name));
    return *found;
}

const Step& this_step() { return step_called(step_name()); }

const Shape& base_shape_of(const Module& module) {
    return base_shape_of(step_called(module.name().substr(0, module.name().find('.'))));
}

const Shape& shape_called(std::string_view name) {
    const auto found = std::find_if(chapter.shapes.begin(), chapter.shapes.end(),
                                    [&](const Shape& s) { return s.name == name; });
    if (found == chapter.shapes.end()) throw Error("there is no shape \"" + std::string(name) + "\"");
    return *found;
}

const Run& counted_run(const Shape& shape) {
    static std::map<std::string_view, Run> known;
    const auto found = known.find(shape.name);
    if (found != known.end()) return found->second;
    auto run = shape.run(step());
    const auto& counts = counts_of(run);
    // A later comparison with this solution need not count it again.
    if (subject().is_solution) remember(subject().module, this_suite, counts, std::string(shape.name));
    return known.emplace(shape.name, std::move(run)).first->second;
}

const Counts& counts_of_solution(std::string_view step, const Shape& shape) {
    static std::map<std::pair<std::string, std::string>, Counts> known;
    const std::pair key(std::string(step), std::string(shape.name));
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    const auto& [name, problem] = key;
    const auto module = rival_path(name);
    auto counts = remembered(module, this_suite, problem);
    if (!counts) {
        counts = counts_of(shape.run(rival(name)));
        remember(module, this_suite, *counts, problem);
    }
    return known.emplace(key, *counts).first->second;
}

const Counted& counted() {
    static const CountedRuns runs;
    return runs;
}

void fall_short(const Shortfall& shortfall) {
    remarks().shares.push_back(shortfall.share);
    FAIL_CHECK(shortfall.text);
}

void note(const std::string& text) { remarks().notes.push_back(text); }
void note_gain(const std::string& text) { remarks().gains.push_back(text); }

namespace {

/// Lists one finding of each kind. A mistake shows in many lines of a kernel, and one of them is enough.
std::string listed(const std::vector<std::string>& findings) {
    std::set<std::string> kinds;
    std::string text;
    std::size_t others = 0;
    for (const auto& finding : findings)
        if (kinds.insert(finding.substr(0, finding.find_first_of(",:\n"))).second)
            text += (text.empty() ? "" : "\n") + finding;
        else
            ++others;
    return text + (others > 0 ? "\nand " + std::to_string(others) + " more of the kind" : "");
}

}  // namespace

namespace {

/// Returns "\nlaunched: add<<<256, 4>>>"; empty if the launches are unknown or `said` already names one.
/// `Seen` is an observation, or the error that ended it.
template <class Seen>
std::string launched(const Seen& seen, const std::string& said) {
    if (said.find("<<<") != said.npos || said.starts_with("launch refused: ")) return "";
    std::string text;
    for (const auto& launch : seen.launched) text += (text.empty() ? "\nlaunched: " : ", ") + launch.text;
    return text + (seen.launched.empty() || seen.launches == seen.launched.size() ? "" : ", …");
}

/// Rewords a difference found by compare(), which does not know that no kernel was launched.
std::string without_launch(const std::string& difference) {
    const bool wrote_nothing = difference.starts_with("no element of the output was ever written");
    return "no kernel was launched\n" + difference +
           (wrote_nothing
                ? "\nan input without elements needs no kernel, but its output must still be filled, for "
                  "example by cudaMemset; every other input needs one, even if the call is the same as an "
                  "earlier one: memory holds something else"
                : "");
}

}  // namespace

Run observed_run(const Conditions& conditions, const std::function<void()>& work,
                 const std::function<std::optional<std::string>(const Observation&)>& compare) {
    Run run;
    try {
        run.seen = observe(conditions, work);
    } catch (const OpenKata&) {
        throw;  // not a fault of the step: it has not been written yet
    } catch (const Error& e) {
        run.fault = "";  // an earlier finding is often the cause
        for (const auto& finding : e.findings) *run.fault += finding + '\n';
        *run.fault += e.what() + launched(e, e.what());
        run.out_of_time = e.out_of_time;
        return run;
    } catch (const std::bad_alloc&) {
        run.fault = out_of_memory;
        return run;
    } catch (const std::exception& e) {
        run.fault = std::string("the host code of the step threw an exception: ") + e.what();
        return run;
    } catch (...) {  // includes exceptions that would end a Catch2 test without a verdict
        run.fault = "the host code of the step threw something that is not a std::exception";
        return run;
    }
    auto findings = run.seen.findings;
    findings.insert(findings.end(), run.seen.kept.begin(), run.seen.kept.end());
    if (findings.empty()) {
        run.fault = compare(run.seen);
        if (run.fault) *run.fault += launched(run.seen, *run.fault);
        for (const auto& cause : run.seen.causes)
            if (run.fault) run.fault = cause + "\n" + *run.fault;
        if (run.fault && run.seen.launches == 0) *run.fault = without_launch(*run.fault);
        return run;
    }
    run.fault = listed(findings);
    *run.fault += launched(run.seen, *run.fault);
    return run;
}

std::string launched_otherwise(const Observation& step, const Observation& solution) {
    const auto& mine = step.launched;
    const auto& theirs = solution.launched;
    if (mine.size() != theirs.size() || step.launches != mine.size() || solution.launches != theirs.size())
        return "";
    std::string text;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        if (mine[i].is_like(theirs[i])) continue;
        const bool same_line = !text.empty() && mine[i].line == mine[i - 1].line;
        text += (text.empty() ? "" : " and ") + (same_line ? "then " : mine[i].line + " launched ") +
                theirs[i].configuration();
        if (mine[i].shared_bytes != theirs[i].shared_bytes)
            text += " with " + std::to_string(theirs[i].shared_bytes) + " bytes of dynamic shared memory";
    }
    return text;
}

}  // namespace kata
