// The cases of the stencil chapter: grids.
#include "stencil.hpp"

#include "data.hpp"

namespace {

using namespace kata::bench;

/// Small integers, of which every sum is exact in float.
class Stencil final : public Problem {
  public:
    Stencil(int n, int sweeps, std::size_t copies)
        : n_(n),
          sweeps_(sweeps),
          in_("in", kata::coded(std::min(cells(n), kata::prime_period), 1), cells(n), copies),
          out_("out", cells(n), copies),
          sample_(sample(row(), row() * row(), 8)) {}

    static std::size_t cells(int n) {
        const auto side = static_cast<std::size_t>(n);
        return side * side * side;
    }

    void run(const kata::Module& module, std::size_t copy) override {
        module.function<decltype(sweep_float)>(entry(sweeps_))(in_.of(copy), out_.of(copy), n_, c_);
    }
    void renew() override { out_.renew(); }
    std::optional<std::string> fault(std::size_t copy) override {
        return each_of(out_, copy, sample_, [&](std::size_t i, float value) {
            return difference(i, value, expected(i, sweeps_));
        });
    }

    static const char* entry(int sweeps) { return sweeps == 1 ? "sweep_float" : "sweep_twice_float"; }

  private:
    std::size_t row() const { return static_cast<std::size_t>(n_); }

    /// Returns cell i after this number of sweeps.
    float expected(std::size_t i, int sweeps) const {
        const auto row = this->row(), plane = row * row;
        const auto on_boundary = [&](std::size_t coordinate) {
            return coordinate == 0 || coordinate == row - 1;
        };
        if (sweeps == 0 || on_boundary(i % row) || on_boundary(i / row % row) || on_boundary(i / plane))
            return in_[i];
        const auto before = [&](std::size_t neighbour) { return expected(neighbour, sweeps - 1); };
        return c_.c0 * before(i) + c_.c1 * before(i - 1) + c_.c2 * before(i + 1) + c_.c3 * before(i - row) +
               c_.c4 * before(i + row) + c_.c5 * before(i - plane) + c_.c6 * before(i + plane);
    }

    int n_, sweeps_;
    stencil::Coefficients<float> c_{3, -2, 5, 7, -4, 11, -6};
    Inputs<float> in_;
    Outputs<float> out_;
    std::vector<std::size_t> sample_;
};

Case one(int n, int sweeps = 1) {
    const double useful = 8.0 * static_cast<double>(Stencil::cells(n));
    return {.name = std::to_string(n) + "^3 cells" + (sweeps == 1 ? "" : ", two sweeps"),
            .entry = Stencil::entry(sweeps),
            .bytes = static_cast<std::size_t>(useful) + 4096,
            .useful_bytes = useful,
            .operations = stencil::operations(n) * sweeps,
            .make = [=](std::size_t copies) { return std::make_unique<Stencil>(n, sweeps, copies); }};
}

}  // namespace

const char* const kata::bench::chapter = "stencil";

std::vector<kata::bench::Case> kata::bench::cases() {
    return {one(64),   one(128),   one(256),    one(512),     one(1023),
            one(1024), one(64, 2), one(512, 2), one(1023, 2), one(1024, 2)};
}
