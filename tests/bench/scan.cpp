// The cases of the scan chapter: sections of 1024 elements, and the whole.
#include "scan.hpp"

#include "data.hpp"

namespace {

using namespace kata::bench;
using scan::Kind;

template <class T>
class Scan final : public Problem {
  public:
    Scan(std::size_t n, bool whole, std::size_t copies)
        : whole_(whole),
          in_("in", few(n), n, copies),
          out_("out", n, copies),
          workspace_("workspace", whole ? scan::workspace_bytes(static_cast<int>(n)) : 0, copies) {}

    void run(const kata::Module& module, std::size_t copy) override {
        const int n = static_cast<int>(in_.size());
        if (whole_)
            module.function<decltype(scan_whole)>("scan_whole")(in_.of(copy), out_.of(copy), n,
                                                                Kind::inclusive, workspace_.of(copy), {sum});
        else
            module.function<decltype(scan_sections)>("scan_sections")(
                in_.of(copy), out_.of(copy), n, scan::max_section, Kind::inclusive, {sum});
    }
    void renew() override { out_.renew(); }  // a step leaves its input alone
    std::optional<std::string> fault(std::size_t copy) override {
        double total = 0;
        return out_.difference_from(copy, [&, next = in_.in_order()](std::size_t i) mutable {
            if (!whole_ && i % scan::max_section == 0) total = 0;
            return total += next();
        });
    }

  private:
    static constexpr auto sum =
        std::is_same_v<T, int> ? kata::Arithmetic::sum_of_int : kata::Arithmetic::sum_of_float;
    static std::vector<T> few(std::size_t n) {
        const auto all = addends(n);
        return {all.begin(), all.end()};
    }

    bool whole_;
    Inputs<T> in_;
    Outputs<T> out_;
    Outputs<unsigned char> workspace_;
};

template <class T>
Case one(int exponent, bool whole) {
    const std::size_t n = std::size_t{1} << exponent;
    return {.name = (whole ? "whole, " : "sections of 1024, ") + power(exponent) +
                    (std::is_same_v<T, int> ? " ints" : " floats"),
            .entry = whole ? "scan_whole" : "scan_sections",
            .bytes = 2 * n * sizeof(T) + scan::workspace_bytes(static_cast<int>(n)),
            .useful_bytes = 2.0 * static_cast<double>(n * sizeof(T)),
            .operations = 0,
            .make = [n, whole](std::size_t copies) { return std::make_unique<Scan<T>>(n, whole, copies); }};
}

}  // namespace

const char* const kata::bench::chapter = "scan";

std::vector<kata::bench::Case> kata::bench::cases() {
    std::vector<Case> all;
    for (const int exponent : {20, 24, 28}) all.push_back(one<float>(exponent, false));
    for (const int exponent : {16, 20, 24, 28, 30}) all.push_back(one<float>(exponent, true));
    for (const int exponent : {20, 28, 30}) all.push_back(one<int>(exponent, true));
    return all;
}
