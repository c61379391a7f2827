// The cases of the gemm chapter: square matrices, and some that are not.
#include "gemm.hpp"

#include "data.hpp"

namespace {

using namespace kata::bench;
using matrices::Shape;

class Gemm final : public Problem {
  public:
    Gemm(const Shape& s, std::size_t copies)
        : s_(s),
          a_("A", some(s.elements_of_a(), 1), s.elements_of_a(), copies),
          b_("B", some(s.elements_of_b(), 2), s.elements_of_b(), copies),
          c_("C", s.elements_of_c(), copies),
          sample_(sample(static_cast<std::size_t>(s.n), static_cast<std::size_t>(s.m), 64)) {}

    void run(const kata::Module& module, std::size_t copy) override {
        module.function<decltype(gemm)>("gemm")(a_.of(copy), b_.of(copy), c_.of(copy), s_.m, s_.n, s_.k);
    }
    void renew() override { c_.renew(); }
    std::optional<std::string> fault(std::size_t copy) override {
        return each_of(c_, copy, sample_, [&](std::size_t i, float value) {
            const auto n = static_cast<std::size_t>(s_.n), k = static_cast<std::size_t>(s_.k);
            double sum = 0, magnitude = 0;
            for (std::size_t j = 0; j < k; ++j) {
                const double term = static_cast<double>(a_[i / n * k + j]) * b_[j * n + i % n];
                sum += term;
                magnitude += std::abs(term);
            }
            // A sum of k products in any order is off by at most k · eps · Σ|terms|, to first order in eps.
            return difference(i, value, sum, static_cast<double>(k + 1) * 0x1p-24 * magnitude);
        });
    }

  private:
    static std::vector<float> some(std::size_t count, unsigned seed) {
        return kata::reals(std::min(count, kata::prime_period), seed);
    }

    Shape s_;
    Inputs<float> a_, b_;
    Outputs<float> c_;
    std::vector<std::size_t> sample_;
};

Case one(const Shape& s) {
    const double useful =
        4.0 * static_cast<double>(s.elements_of_a() + s.elements_of_b() + s.elements_of_c());
    return {.name = "m = " + std::to_string(s.m) + ", n = " + std::to_string(s.n) +
                    ", k = " + std::to_string(s.k),
            .entry = "gemm",
            .bytes = static_cast<std::size_t>(useful) + 4096,
            .useful_bytes = useful,
            .operations = matrices::operations(s),
            .make = [s](std::size_t copies) { return std::make_unique<Gemm>(s, copies); }};
}

}  // namespace

const char* const kata::bench::chapter = "gemm";

std::vector<kata::bench::Case> kata::bench::cases() {
    return {one({256, 256, 256}),    one({1024, 1024, 1024}),   one({2048, 2048, 2048}),
            one({4096, 4096, 4096}), one({4095, 4097, 4099}),   one({512, 512, 8192}),
            one({8192, 8192, 8192}), one({16384, 16384, 16384})};
}
