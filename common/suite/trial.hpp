// One problem, tried on a step: what every suite does with a problem of its own.
#pragma once
#include "buffer.hpp"
#include "check/compare.hpp"
#include "suite/suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <string_view>

namespace kata {

/// What rounding to nearest may be off by, relative to the value.
template <class T>
inline constexpr double rounding = std::numeric_limits<T>::epsilon() / 2;

struct Trial {
    Conditions conditions = {};
    std::byte poison = kata::poison;  ///< what outputs hold before
};

/// What is wrong with the first of several buffers, if with any.
template <class... Buffers>
std::optional<std::string> damage_of(const Buffers&... buffers) {
    std::optional<std::string> first;
    ((first = first ? first : buffers.damage()), ...);
    return first;
}

/// What a problem must result in: each element within `bound` of the expected one, or, without bounds,
/// exactly.
struct Expected {
    std::vector<double> values, bound = {};
    Layout layout;

    template <class T>
    std::optional<std::string> difference(const std::vector<T>& got, std::byte poison) {
        layout.poison = poison;
        if (!bound.empty()) return kata::difference<T>(got, values, bound, layout);
        return kata::difference<T>(got, std::vector<T>(values.begin(), values.end()), layout);
    }
};

/// Runs the step over a problem, which says:
///   text()                for people, its size
///   Device(problem, poison)   its arrays there: run(step), damage(), result()
///   expected(), outputs(), operations()
template <class Problem>
Run try_on(const Module& step, const Problem& p, const Trial& trial = {}) {
    typename Problem::Device device(p, trial.poison);
    auto run = observed_run(
        trial.conditions, [&] { device.run(step); },
        [&]() -> std::optional<std::string> {
            if (auto text = device.damage()) return text;
            return p.expected().difference(device.result(), trial.poison);
        });
    run.outputs = p.outputs();
    run.operations = p.operations();
    return run;
}

template <class Problem>
void require_right(const Problem& p, const Trial& trial = {}) {
    INFO(p.text());
    const auto run = try_on(step(), p, trial);
    if (run.fault) FAIL(*run.fault);
}

/// What the step under test does to the problem, where that is counted.
template <class Problem>
Counts counted(const Problem& p, const Conditions& conditions = {}) {
    if (!counts_available()) SKIP("nothing is counted on this back end");
    return counts_of(try_on(step(), p, {conditions}));
}

inline void only_on_a_gpu() {
    if (std::string_view(backend_name()) != "gpu") SKIP("for a GPU");
}

/// The timed problem of a chapter whose problems are P.
template <class Problem>
struct TimedOn final : TimedProblem {
    typename Problem::Device device;
    TimedOn(const Problem& p, double useful) : device(p, poison) {
        useful_bytes = useful;
        operations = p.operations();
    }
    void run(const Module& step) override { device.run(step); }
};

}  // namespace kata
