#include "suite/suite.hpp"

#include "check/remembered.hpp"
#include "error.hpp"
#include "stopwatch.hpp"

#include <exception>
#include <map>

namespace kata {

Run& Run::operator+=(const Run& other) {
    outputs += other.outputs;
    operations += other.operations;
    seen.launches += other.seen.launches;
    seen.idle.insert(seen.idle.end(), other.seen.idle.begin(), other.seen.idle.end());
    if (!seen.counts)
        seen.counts = other.seen.counts;
    else if (other.seen.counts)
        *seen.counts += *other.seen.counts;
    return *this;
}

const Counts& counts_of(const Run& run) {
    if (run.fault) throw Error(*run.fault);
    return run.seen.counts.value();
}

const Run& counted_run(const Module& step) {
    static std::map<const Module*, Run> known;
    const auto found = known.find(&step);
    if (found != known.end()) return found->second;
    auto run = chapter.count(step);
    counts_of(run);
    return known.emplace(&step, std::move(run)).first->second;
}

const Counts& counts_of_solution(const std::string& name) {
    static std::map<std::string, Counts> known;
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    const std::filesystem::path suite = "/proc/self/exe", module = rival_path(name);
    auto counts = remembered(module, suite);
    if (!counts) {
        counts = counts_of(counted_run(rival(name)));
        remember(module, suite, *counts);
    }
    return known.emplace(name, *counts).first->second;
}

Run observed_run(const Conditions& conditions, const std::function<void()>& work,
                 const std::function<std::optional<std::string>()>& compare) {
    Run run;
    try {
        run.seen = observe(conditions, work);
    } catch (const OpenKata&) {
        throw;  // no fault of the step: it waits to be written
    } catch (const Error& e) {
        run.fault = e.what();
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
        for (const auto& hint : run.seen.hints)
            if (run.fault) *run.fault += "\n" + hint;
        if (run.fault && run.seen.launches == 0) run.fault = "no kernel was launched\n" + *run.fault;
        return run;
    }
    run.fault = "";
    for (const auto& finding : run.seen.findings) *run.fault += (run.fault->empty() ? "" : "\n") + finding;
    return run;
}

}  // namespace kata
