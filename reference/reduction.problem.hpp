// The problem of the reduction chapter as a step gets it: sums and maxima of each type, their arrays on the
// device, and the expected results.
#pragma once
#include "check/data.hpp"
#include "judge/trial.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace reduction::problem {

using kata::Arithmetic;
using kata::Buffer;
using kata::Module;

/// Returns the row of a step, also for a mistake, whose name begins with that of its step.
inline const kata::Step& row_of(const Module& step) {
    return kata::step_called(step.name().substr(0, step.name().find('.')));
}

template <class T>
struct Problem {
    std::vector<T> values;
    Arithmetic arithmetic;
    bool exact = true;

    std::string text() const {
        return "n = " + std::to_string(values.size()) + ", " + kata::text_of(arithmetic);
    }
    /// A reduction has one output, so its counts are reported for each input instead.
    double outputs() const { return static_cast<double>(values.size()); }
    double operations() const { return std::max(outputs() - 1, 0.0); }

    bool is_max() const {
        return arithmetic == max_of_int || arithmetic == max_of_float || arithmetic == max_of_double;
    }
    kata::Expected expected() const {
        const std::span<const T> all(values);
        reduction::check(static_cast<int>(all.size()));
        kata::Expected e{
            {static_cast<double>(is_max() ? reduction::max(all) : reduction::sum(all))}, {}, {{1}}};
        if constexpr (std::is_floating_point_v<T>)
            // A sum of n terms in any order is off by at most n · eps · Σ|terms|; so is the expected one.
            if (!exact) e.bound = {outputs() * (kata::rounding<T> + 0x1p-53) * reduction::magnitude(all)};
        return e;
    }
    std::optional<std::string> made_of(const Module& step, const kata::Conditions& conditions,
                                       const std::vector<T>& result) const {
        if (is_max() && result[0] == 0 &&
            std::all_of(values.begin(), values.end(), [](T x) { return x < 0; }))
            return "0 is not the identity of this operation, which is the maximum: it is greater than each "
                   "of these numbers. The identity is op.identity()";
        if (is_max() || values.size() >= kata::too_large_to_ask) return std::nullopt;
        const auto sum_of = [&](const std::vector<int>& few) {
            const Problem other{{few.begin(), few.end()}, arithmetic};
            return kata::asked(step, other, conditions,
                               [](const auto& out) { return kata::if_written(out[0]); });
        };
        if (const auto text = kata::miscount(values.size(), 0, values.size(), sum_of))
            return "what the sum is made of: " + *text;
        return std::nullopt;
    }

    struct Device {
        Arithmetic arithmetic;
        kata::Input<T> in;
        Buffer<T> out, workspace;
        Buffer<unsigned long long> applications{"the counter of the operator",
                                                std::vector<unsigned long long>{0}};
        bool keeps_its_input = false;

        Device(const Problem& p, std::byte poison)
            : arithmetic(p.arithmetic),
              in("in", p.values),
              out("out", 1, poison),
              workspace("workspace", reduction::workspace_elements(static_cast<int>(p.values.size())),
                        poison) {}
        /// A step that works in place reduces what the previous run has left. If many runs are timed, their
        /// results are not compared.
        void run(const Module& step) {
            keeps_its_input = kata::has_traits(row_of(step), "[keeps input]");
            step.function<decltype(reduce)>("reduce")(
                in.data(), out.data(), static_cast<int>(in.size()), workspace.data(),
                {arithmetic, arithmetic == counted_sum ? applications.data() : nullptr});
        }
        std::optional<std::string> damage() const {
            if (auto text = keeps_its_input ? in.damage() : in.Buffer<T>::damage()) return text;
            return kata::damage_of(workspace, out);
        }
        const void* output() { return out.data(); }
        auto result() const { return out.values(); }
    };
};

template <class T>
Problem<T> problem(std::vector<T> values, Arithmetic arithmetic, bool exact = true) {
    return {std::move(values), arithmetic, exact};
}

/// Small integers: every sum is exact in float, whatever the order.
template <class T = float>
Problem<T> coded_sum(int n, unsigned seed = 1, Arithmetic arithmetic = sum_of_float) {
    return {kata::coded<T>(static_cast<std::size_t>(n), seed), arithmetic};
}

/// Negative numbers, the largest at `place`: a step that loses it, or starts from a value other than the
/// operator's identity, gets another maximum.
template <class T>
std::vector<T> below_zero(std::size_t n, std::size_t place) {
    auto values = kata::coded<T>(n, 5);
    for (T& value : values) value -= 100;
    if (place < n) values[place] = -50;
    return values;
}

/// Ints that are zero except at their ends.
struct Long {
    Buffer<int> in, out, workspace;

    /// Blocks that an observation leaves out store no result, so the workspace must hold zeros there.
    explicit Long(int n, std::byte in_workspace = kata::zeros)
        : in("in", static_cast<std::size_t>(n), kata::zeros),
          out("out", 1),
          workspace("workspace", reduction::workspace_elements(n), in_workspace) {
        in.set(0, 3);
        in.set(elements() - 2, 4);
        in.set(elements() - 1, 5);
    }
    std::string text() const { return "n = " + std::to_string(elements()); }
    std::size_t elements() const { return in.size(); }
    void run(const Module& step) {
        step.function<decltype(reduce)>("reduce")(in.data(), out.data(), static_cast<int>(elements()),
                                                  workspace.data(), {sum_of_int, nullptr});
    }
    std::optional<std::string> fault() const {
        if (const int sum = out.element(0); sum != 12)
            return "of " + std::to_string(elements()) +
                   " ints the first is 3, the last are 4 and 5 and all others 0: expected 12, got " +
                   std::to_string(sum);
        return kata::damage_of(in, out, workspace);
    }
};

}  // namespace reduction::problem
