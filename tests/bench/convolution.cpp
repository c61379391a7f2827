// The cases of the convolution chapter: images and radii.
#include "convolution.hpp"

#include "data.hpp"

namespace {

using namespace kata::bench;
using convolution::Shape;

/// Small integers, of which every sum is exact in float.
class Convolution final : public Problem {
  public:
    Convolution(const Shape& s, std::size_t copies)
        : s_(s),
          in_("in", kata::coded(std::min(elements(s), kata::prime_period), 1), elements(s), copies),
          filter_("filter", kata::coded(weights(s), 2), weights(s), copies),
          out_("out", elements(s), copies),
          sample_(sample(static_cast<std::size_t>(s.width), static_cast<std::size_t>(s.height), 8)) {}

    static std::size_t elements(const Shape& s) { return static_cast<std::size_t>(s.outputs()); }
    static std::size_t weights(const Shape& s) { return static_cast<std::size_t>(s.side() * s.side()); }

    void run(const kata::Module& module, std::size_t copy) override {
        module.function<decltype(convolve)>("convolve")(in_.of(copy), filter_.of(copy), out_.of(copy),
                                                        s_.width, s_.height, s_.radius);
    }
    void renew() override { out_.renew(); }
    std::optional<std::string> fault(std::size_t copy) override {
        return each_of(out_, copy, sample_, [&](std::size_t i, float value) {
            const auto width = static_cast<std::size_t>(s_.width);
            const int row = static_cast<int>(i / width), column = static_cast<int>(i % width);
            double sum = 0;
            std::size_t weight = 0;
            for (int y = row - s_.radius; y <= row + s_.radius; ++y)
                for (int x = column - s_.radius; x <= column + s_.radius; ++x, ++weight)
                    if (y >= 0 && y < s_.height && x >= 0 && x < s_.width)
                        sum += static_cast<double>(filter_[weight]) *
                               in_[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)];
            return difference(i, value, sum);
        });
    }

  private:
    Shape s_;
    Inputs<float> in_, filter_;
    Outputs<float> out_;
    std::vector<std::size_t> sample_;
};

Case one(const Shape& s) {
    const double useful = 8.0 * s.outputs();
    return {.name = std::to_string(s.width) + " x " + std::to_string(s.height) + ", radius " +
                    std::to_string(s.radius),
            .entry = "convolve",
            .bytes = static_cast<std::size_t>(useful) + 4096,
            .useful_bytes = useful,
            .operations = convolution::operations(s),
            .make = [s](std::size_t copies) { return std::make_unique<Convolution>(s, copies); }};
}

}  // namespace

const char* const kata::bench::chapter = "convolution";

std::vector<kata::bench::Case> kata::bench::cases() {
    return {one({512, 512, 2}),     one({4096, 4096, 2}),   one({16384, 16384, 1}), one({16384, 16384, 2}),
            one({16384, 16384, 4}), one({16384, 16384, 7}), one({16383, 16383, 2})};
}
