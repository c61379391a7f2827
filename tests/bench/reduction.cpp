// The cases of the reduction chapter: sums.
#include "reduction.hpp"

#include "data.hpp"

#include <numeric>

namespace {

using namespace kata::bench;

template <class T>
class Reduction final : public Problem {
  public:
    Reduction(std::size_t n, std::size_t copies)
        : in_("in", few(n), n, copies),
          out_("out", 1, copies),
          workspace_("workspace", reduction::workspace_elements(static_cast<int>(n)), copies) {}

    void run(const kata::Module& module, std::size_t copy) override {
        module.function<decltype(reduce)>("reduce")(in_.of(copy), out_.of(copy), static_cast<int>(in_.size()),
                                                    workspace_.of(copy), {sum});
    }
    /// The documents' steps work in place and sum up what the previous run has left.
    void renew() override {
        in_.renew();
        out_.renew();
    }
    std::optional<std::string> fault(std::size_t copy) override {
        const auto total = [](auto begin, auto end) { return std::accumulate(begin, end, 0.0); };
        const auto& few = in_.few();
        const auto periods = in_.size() / few.size(), rest = in_.size() % few.size();
        const double expected = static_cast<double>(periods) * total(few.begin(), few.end()) +
                                total(few.begin(), few.begin() + static_cast<std::ptrdiff_t>(rest));
        return out_.difference_from(copy, [=](std::size_t) { return expected; });
    }

  private:
    static constexpr auto sum =
        std::is_same_v<T, double> ? reduction::sum_of_double : reduction::sum_of_float;
    static std::vector<T> few(std::size_t n) {
        const auto all = addends(n);
        return {all.begin(), all.end()};
    }

    Inputs<T> in_;
    Outputs<T> out_, workspace_;
};

template <class T>
Case one(int exponent) {
    const std::size_t n = std::size_t{1} << exponent;
    return {.name = "sum of " + power(exponent) + (std::is_same_v<T, double> ? " doubles" : " floats"),
            .entry = "reduce",
            .bytes = (n + reduction::workspace_elements(static_cast<int>(n)) + 256) * sizeof(T),
            .useful_bytes = static_cast<double>(n * sizeof(T)),
            .operations = 0,
            .floor = Floor::read,
            .make = [n](std::size_t copies) { return std::make_unique<Reduction<T>>(n, copies); }};
}

}  // namespace

const char* const kata::bench::chapter = "reduction";

std::vector<kata::bench::Case> kata::bench::cases() {
    std::vector<Case> all;
    for (const int exponent : {16, 20, 24, 28, 30}) all.push_back(one<float>(exponent));
    for (const int exponent : {20, 28, 30}) all.push_back(one<double>(exponent));
    return all;
}
