#include "check/displaced.hpp"

#include "check/data.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kata {
namespace {

/// More than can be understood at a glance.
constexpr std::size_t most_odd = 4;

constexpr unsigned foretold_results = 3;

/// An input, how often it counts and how often it should.
struct Odd {
    std::size_t input;
    double got, expected;

    double excess() const { return got - expected; }
};

class OddInputs {
  public:
    /// The seed of the inputs; the next ones are those of inputs whose results must be predicted.
    OddInputs(std::size_t inputs, const AnswerFor& answer, unsigned seed)
        : inputs_(inputs), answer_(answer), seed_(seed) {}

    /// Returns the inputs that count wrongly, from the first to the last; none if there are too many, or if
    /// these do not explain the results of other inputs.
    std::vector<Odd> found() {
        const auto nothing = answer_(std::vector<int>(inputs_));
        if (!nothing || nothing->got != 0 || nothing->expected != 0) return {};
        const auto all = excess(0, inputs_);
        if (!all || !look(0, inputs_, *all)) return {};
        for (unsigned i = 1; i <= foretold_results; ++i)
            if (!foretold(values(seed_ + i))) return {};
        return odd_;
    }

  private:
    std::vector<int> values(unsigned seed) const {
        const auto all = coded<unsigned>(inputs_, seed, 7);
        return {all.begin(), all.end()};
    }

    /// Returns how much too large the result is if only inputs from `begin` up to `end` are not 0.
    std::optional<double> excess(std::size_t begin, std::size_t end) const {
        auto some = values(seed_);
        std::fill(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(begin), 0);
        std::fill(some.begin() + static_cast<std::ptrdiff_t>(end), some.end(), 0);
        const auto a = answer_(some);
        return a && std::isfinite(a->got) ? std::optional(a->got - a->expected) : std::nullopt;
    }

    bool look(std::size_t begin, std::size_t end, double too_large) {
        if (too_large == 0) return true;
        if (end - begin == 1) {
            std::vector<int> one(inputs_);
            one[begin] = 1;
            const auto a = answer_(one);
            if (!a || odd_.size() == most_odd) return false;
            odd_.push_back({begin, a->got, a->expected});
            return true;
        }
        const auto middle = begin + (end - begin) / 2;
        const auto left = excess(begin, middle);
        return left && look(begin, middle, *left) && look(middle, end, too_large - *left);
    }

    bool foretold(const std::vector<int>& values) const {
        double sum = 0;
        for (const auto& o : odd_) sum += o.excess() * values[o.input];
        const auto a = answer_(values);
        return a && a->got - a->expected == sum;
    }

    std::size_t inputs_;
    const AnswerFor& answer_;
    unsigned seed_;
    std::vector<Odd> odd_;
};

std::string weight_text(double value) {
    auto text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

}  // namespace

std::optional<std::string> displaced(std::size_t inputs, const AnswerFor& answer,
                                     const std::function<std::string(std::size_t)>& name) {
    std::vector<Odd> odd;
    // Two inputs of the same value, one of which counts in place of the other, do not show.
    for (unsigned seed = 1; odd.empty() && seed <= 3 * (1 + foretold_results); seed += 1 + foretold_results)
        odd = OddInputs(inputs, answer, seed).found();
    std::string text;
    const auto say = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
    while (!odd.empty()) {
        const auto one = odd.front();
        odd.erase(odd.begin());
        const auto other = std::find_if(odd.begin(), odd.end(), [&](const Odd& o) {
            return o.excess() == -one.excess() && (one.got == 0) != (o.got == 0);
        });
        if (other != odd.end()) {
            const auto& [missing, present] = one.got == 0 ? std::pair(one, *other) : std::pair(*other, one);
            say(name(present.input) + " counts in place of " + name(missing.input));
            odd.erase(other);
        } else if (one.got == 0) {
            say(name(one.input) + " is missing");
        } else if (one.expected == 0) {
            say(name(one.input) + " counts and should not");
        } else {
            say(name(one.input) + " counts times " + weight_text(one.got) + " instead of " +
                weight_text(one.expected));
        }
    }
    return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace kata
