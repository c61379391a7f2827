// The cases of the gemm chapter: square matrices, and some that are not.
#include "gemm.hpp"

#include "data.hpp"

#include <algorithm>
#include <type_traits>

namespace {

using namespace kata::bench;
using matrices::Shape;

/// Floats use gemm(), and bfloat16 uses gemm_bf16().
template <class T>
class Gemm final : public Problem {
  public:
    Gemm(const Shape& s, std::size_t copies)
        : s_(s),
          a_("A", some(s.elements_of_a(), 1), s.elements_of_a(), copies),
          b_("B", some(s.elements_of_b(), 2), s.elements_of_b(), copies),
          c_("C", s.elements_of_c(), copies),
          sample_(sample(static_cast<std::size_t>(s.n), static_cast<std::size_t>(s.m), 64)) {}

    void run(const kata::Module& module, std::size_t copy) override {
        module.function<void(const T*, const T*, float*, int, int, int)>(entry)(
            a_.of(copy), b_.of(copy), c_.of(copy), s_.m, s_.n, s_.k);
    }
    void renew() override { c_.renew(); }
    std::optional<std::string> fault(std::size_t copy) override {
        return each_of(c_, copy, sample_, [&](std::size_t i, float value) {
            const auto n = static_cast<std::size_t>(s_.n), k = static_cast<std::size_t>(s_.k);
            double sum = 0, magnitude = 0;
            for (std::size_t j = 0; j < k; ++j) {
                const double term = wide(a_[i / n * k + j]) * wide(b_[j * n + i % n]);
                sum += term;
                magnitude += std::abs(term);
            }
            // A sum of k products in any order is off by at most k · eps · Σ|terms|, to first order in eps.
            const double off =
                is_float ? static_cast<double>(k + 1) * 0x1p-24 : matrices::bf16_rounding(s_.k);
            return difference(i, value, sum, off * magnitude);
        });
    }

    static constexpr bool is_float = std::is_same_v<T, float>;
    static constexpr const char* entry = is_float ? "gemm" : "gemm_bf16";

  private:
    static std::vector<T> some(std::size_t count, unsigned seed) {
        const auto reals = kata::reals(std::min(count, kata::prime_period), seed);
        if constexpr (is_float) {
            return reals;
        } else {
            std::vector<T> narrow(reals.size());
            std::transform(reals.begin(), reals.end(), narrow.begin(), matrices::to_bf16);
            return narrow;
        }
    }
    static double wide(T value) {
        if constexpr (is_float)
            return value;
        else
            return matrices::to_float(value);
    }

    Shape s_;
    Inputs<T> a_, b_;
    Outputs<float> c_;
    std::vector<std::size_t> sample_;
};

template <class T = float>
Case one(const Shape& s, const std::string& kind = "") {
    const double useful = static_cast<double>(sizeof(T) * (s.elements_of_a() + s.elements_of_b()) +
                                              sizeof(float) * s.elements_of_c());
    return {.name = kind + "m = " + std::to_string(s.m) + ", n = " + std::to_string(s.n) +
                    ", k = " + std::to_string(s.k),
            .entry = Gemm<T>::entry,
            .bytes = static_cast<std::size_t>(useful) + 4096,
            .useful_bytes = useful,
            .operations = matrices::operations(s),
            .make = [s](std::size_t copies) { return std::make_unique<Gemm<T>>(s, copies); }};
}

Case bf16(const Shape& s) { return one<matrices::Bf16>(s, "bfloat16, "); }

}  // namespace

const char* const kata::bench::chapter = "gemm";

std::vector<kata::bench::Case> kata::bench::cases() {
    return {one({256, 256, 256}),       one({1024, 1024, 1024}),    one({2048, 2048, 2048}),
            one({4096, 4096, 4096}),    one({4095, 4097, 4099}),    one({512, 512, 8192}),
            one({8192, 8192, 8192}),    one({16384, 16384, 16384}), bf16({256, 256, 256}),
            bf16({1024, 1024, 1024}),   bf16({2048, 2048, 2048}),   bf16({4096, 4096, 4096}),
            bf16({5000, 5000, 5000}),   bf16({512, 512, 8192}),     bf16({8192, 8192, 8192}),
            bf16({16384, 16384, 16384})};
}
