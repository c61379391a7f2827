// The cases of the grids chapter, which has three problems.
#include "grids.hpp"

#include "data.hpp"

namespace {

using namespace kata::bench;
using grids::Size;

class Vectors final : public Problem {
  public:
    Vectors(std::size_t n, std::size_t copies)
        : a_("a", kata::coded(std::min(n, kata::prime_period), 1), n, copies),
          b_("b", kata::coded(std::min(n, kata::prime_period), 2), n, copies),
          c_("c", n, copies) {}

    void run(const kata::Module& module, std::size_t copy) override {
        module.function<decltype(vector_add)>("vector_add")(a_.of(copy), b_.of(copy), c_.of(copy),
                                                            static_cast<int>(a_.size()));
    }
    void renew() override { c_.renew(); }
    std::optional<std::string> fault(std::size_t copy) override {
        return c_.difference_from(copy, [a = a_.in_order(), b = b_.in_order()](std::size_t) mutable {
            return static_cast<double>(a()) + b();
        });
    }

  private:
    Inputs<float> a_, b_;
    Outputs<float> c_;
};

std::size_t pixels(const Size& s) { return static_cast<std::size_t>(s.pixels()); }

class Grayscale final : public Problem {
  public:
    Grayscale(const Size& s, std::size_t copies)
        : s_(s),
          rgb_("rgb", kata::coded<unsigned char>(3 * std::min(pixels(s), kata::prime_period), 1, 255),
               3 * pixels(s), copies),
          gray_("gray", pixels(s), copies),
          luminance_(grids::luminance(rgb_.few())) {}

    void run(const kata::Module& module, std::size_t copy) override {
        module.function<decltype(color_to_grayscale)>("color_to_grayscale")(rgb_.of(copy), gray_.of(copy),
                                                                            s_.width, s_.height);
    }
    void renew() override { gray_.renew(); }
    std::optional<std::string> fault(std::size_t copy) override {
        // Truncated to a byte: up to 1 below the luminance, from which three products in float differ by less
        // than 1e-4.
        const auto middle = [this](std::size_t i) { return luminance_[i % luminance_.size()] - 0.5; };
        return gray_.difference_from(copy, middle, 0.5 + 1e-4);
    }

  private:
    Size s_;
    Inputs<unsigned char> rgb_;
    Outputs<unsigned char> gray_;
    std::vector<double> luminance_;
};

class Blur final : public Problem {
  public:
    Blur(const Size& s, int blur_size, std::size_t copies)
        : s_(s),
          blur_size_(blur_size),
          in_("in", kata::coded<unsigned char>(std::min(pixels(s), kata::prime_period), 1, 255), pixels(s),
              copies),
          out_("out", pixels(s), copies),
          sample_(sample(static_cast<std::size_t>(s.width), static_cast<std::size_t>(s.height), 8)) {}

    void run(const kata::Module& module, std::size_t copy) override {
        module.function<decltype(blur)>("blur")(in_.of(copy), out_.of(copy), s_.width, s_.height, blur_size_);
    }
    void renew() override { out_.renew(); }
    std::optional<std::string> fault(std::size_t copy) override {
        return each_of(out_, copy, sample_, [&](std::size_t i, unsigned char value) {
            const auto width = static_cast<std::size_t>(s_.width);
            const int row = static_cast<int>(i / width), column = static_cast<int>(i % width);
            int sum = 0, count = 0;
            for (int y = std::max(0, row - blur_size_); y <= std::min(s_.height - 1, row + blur_size_); ++y)
                for (int x = std::max(0, column - blur_size_);
                     x <= std::min(s_.width - 1, column + blur_size_); ++x) {
                    sum += in_[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)];
                    ++count;
                }
            return difference(i, value, sum / count);
        });
    }

  private:
    Size s_;
    int blur_size_;
    Inputs<unsigned char> in_;
    Outputs<unsigned char> out_;
    std::vector<std::size_t> sample_;
};

Case vectors(int exponent) {
    const std::size_t n = std::size_t{1} << exponent;
    return {.name = "vectors of " + power(exponent) + " floats",
            .entry = "vector_add",
            .bytes = 12 * n + 4096,
            .useful_bytes = 12.0 * static_cast<double>(n),
            .operations = static_cast<double>(n),
            .make = [n](std::size_t copies) { return std::make_unique<Vectors>(n, copies); }};
}

Case picture(int side, int bytes_in, std::string what, const char* entry,
             std::function<std::unique_ptr<Problem>(const Size&, std::size_t)> make) {
    const Size s{side, side};
    const std::size_t bytes = static_cast<std::size_t>(bytes_in + 1) * pixels(s);
    return {.name = std::to_string(side) + " x " + std::to_string(side) + ", " + std::move(what),
            .entry = entry,
            .bytes = bytes + 4096,
            .useful_bytes = static_cast<double>(bytes),
            .operations = 0,
            .make = [s, make = std::move(make)](std::size_t copies) { return make(s, copies); }};
}

Case grayscale(int side) {
    return picture(side, 3, "grayscale", "color_to_grayscale",
                   [](const Size& s, std::size_t copies) { return std::make_unique<Grayscale>(s, copies); });
}

Case blurred(int side, int blur_size) {
    return picture(side, 1, "blur of size " + std::to_string(blur_size), "blur",
                   [blur_size](const Size& s, std::size_t copies) {
                       return std::make_unique<Blur>(s, blur_size, copies);
                   });
}

}  // namespace

const char* const kata::bench::chapter = "grids";

std::vector<kata::bench::Case> kata::bench::cases() {
    return {vectors(16),      vectors(20),       vectors(24),       vectors(28),
            grayscale(256),   grayscale(4096),   grayscale(16384),  blurred(256, 1),
            blurred(4096, 1), blurred(16384, 1), blurred(16384, 7), blurred(16383, 7)};
}
