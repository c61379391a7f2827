// The cases of the transposition chapter: matrices.
#include "transposition.hpp"

#include "data.hpp"

namespace {

using namespace kata::bench;
using transposition::Shape;

class Transposition final : public Problem {
  public:
    Transposition(const Shape& s, std::size_t copies)
        : s_(s),
          in_("in", kata::coded(std::min(s.elements(), kata::prime_period), 1), s.elements(), copies),
          out_("out", s.elements(), copies),
          sample_(sample(static_cast<std::size_t>(s.rows), static_cast<std::size_t>(s.columns), 32)) {}

    void run(const kata::Module& module, std::size_t copy) override {
        module.function<decltype(transpose)>("transpose")(in_.of(copy), out_.of(copy), s_.rows, s_.columns);
    }
    void renew() override { out_.renew(); }
    std::optional<std::string> fault(std::size_t copy) override {
        return each_of(out_, copy, sample_, [&](std::size_t i, float value) {
            const auto rows = static_cast<std::size_t>(s_.rows),
                       columns = static_cast<std::size_t>(s_.columns);
            return difference(i, value, static_cast<double>(in_[i % rows * columns + i / rows]));
        });
    }

  private:
    Shape s_;
    Inputs<float> in_;
    Outputs<float> out_;
    std::vector<std::size_t> sample_;
};

Case one(const Shape& s) {
    const double useful = 8.0 * static_cast<double>(s.elements());
    return {.name = std::to_string(s.rows) + " x " + std::to_string(s.columns),
            .entry = "transpose",
            .bytes = static_cast<std::size_t>(useful),
            .useful_bytes = useful,
            .operations = 0,
            .make = [s](std::size_t copies) { return std::make_unique<Transposition>(s, copies); }};
}

}  // namespace

const char* const kata::bench::chapter = "transposition";

std::vector<kata::bench::Case> kata::bench::cases() {
    return {one({512, 512}),     one({4096, 4096}),   one({8192, 8192}), one({16384, 16384}),
            one({32768, 32768}), one({16383, 16383}), one({8191, 8191}), one({8191, 32768})};
}
