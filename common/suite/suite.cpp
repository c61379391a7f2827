#include "suite/suite.hpp"

#include "check/remembered.hpp"
#include "error.hpp"
#include "stopwatch.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <new>
#include <set>

namespace kata {

Run& Run::operator+=(const Run& other) {
    outputs += other.outputs;
    operations += other.operations;
    seen.launches += other.seen.launches;
    seen.unchecked += other.seen.unchecked;
    seen.one_in = other.seen.one_in;
    seen.idle.insert(seen.idle.end(), other.seen.idle.begin(), other.seen.idle.end());
    if (!seen.counts)
        seen.counts = other.seen.counts;
    else if (other.seen.counts)
        *seen.counts += *other.seen.counts;
    return *this;
}

Conditions Brought::conditions(double outputs, int run, int runs) const {
    // What the CPU back end counts in about ten seconds.
    constexpr double most_counted = 500'000;
    Conditions c{.time_limit = 600};
    if (!full) c.one_in = static_cast<std::uint64_t>(std::max(1.0, std::ceil(outputs / most_counted)));
    if (progress) c.progress = [tell = progress, run, runs](double part) { tell((run + part) / runs); };
    return c;
}

const Counts& counts_of(const Run& run) {
    if (run.fault) throw Error(*run.fault + (run.problem.empty() ? "" : "\nwith " + run.problem));
    return run.seen.counts.value();
}

namespace {

const std::filesystem::path this_suite = "/proc/self/exe";

std::string counted_problem() { return chapter.counted_problem ? chapter.counted_problem() : ""; }

}  // namespace

const Run& counted_run(const Module& step) {
    static std::map<const Module*, Run> known;
    const auto found = known.find(&step);
    if (found != known.end()) return found->second;
    auto run = chapter.count(step);
    const auto& counts = counts_of(run);
    // Whoever is held against this solution need not count it once more.
    if (subject().is_solution && &step == &kata::step())
        remember(subject().module, this_suite, counts, counted_problem());
    return known.emplace(&step, std::move(run)).first->second;
}

const Counts& counts_of_solution(const std::string& name) {
    static std::map<std::string, Counts> known;
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    const auto module = rival_path(name);
    auto counts = remembered(module, this_suite, counted_problem());
    if (!counts) {
        counts = counts_of(counted_run(rival(name)));
        remember(module, this_suite, *counts, counted_problem());
    }
    return known.emplace(name, *counts).first->second;
}

namespace {

/// One of each kind in each array: a mistake shows in many lines of a kernel, and one of them says it all.
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

/// "\nlaunched: add<<<256, 4>>>", and nothing where nobody has heard it, or the text says it already. `Seen`:
/// an observation, or what has ended it.
template <class Seen>
std::string launched(const Seen& seen, const std::string& said) {
    if (said.find("<<<") != said.npos || said.starts_with("launch refused: ")) return "";
    std::string text;
    for (const auto& launch : seen.launched) text += (text.empty() ? "\nlaunched: " : ", ") + launch;
    return text + (seen.launched.empty() || seen.launches == seen.launched.size() ? "" : ", …");
}

/// What is said of a wrong output where no kernel was launched, of which compare() knows nothing.
std::string without_launch(const std::string& difference) {
    const auto question = difference.find(": was the kernel launched");
    if (question == difference.npos) return "no kernel was launched\n" + difference;
    return difference.substr(0, question) +
           ", and no kernel was launched\nan input without elements needs none, but the output is to be "
           "filled nevertheless, as with cudaMemset; every other needs one, also where the call is the same "
           "as an earlier one: memory holds something else";
}

}  // namespace

Run observed_run(const Conditions& conditions, const std::function<void()>& work,
                 const std::function<std::optional<std::string>()>& compare) {
    Run run;
    try {
        run.seen = observe(conditions, work);
    } catch (const OpenKata&) {
        throw;  // no fault of the step: it waits to be written
    } catch (const Error& e) {
        run.fault = e.what() + launched(e, e.what());
        return run;
    } catch (const std::bad_alloc&) {
        run.fault = out_of_memory;
        return run;
    } catch (const std::exception& e) {
        run.fault = std::string("the host code of the step threw an exception: ") + e.what();
        return run;
    } catch (...) {  // also what would end a test of Catch2's without a verdict
        run.fault = "the host code of the step threw something that is no std::exception";
        return run;
    }
    if (run.seen.findings.empty()) {
        run.fault = compare();
        if (run.fault) *run.fault += launched(run.seen, *run.fault);
        for (const auto& hint : run.seen.hints)
            if (run.fault) *run.fault += "\n" + hint;
        for (const auto& cause : run.seen.causes)
            if (run.fault) run.fault = cause + "\n" + *run.fault;
        if (run.fault && run.seen.launches == 0) *run.fault = without_launch(*run.fault);
        return run;
    }
    run.fault = listed(run.seen.findings);
    *run.fault += launched(run.seen, *run.fault);
    return run;
}

}  // namespace kata
