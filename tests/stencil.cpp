// The suite of the stencil chapter: what every step must compute.
#include "judge/trial.hpp"
#include "stencil.problem.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <stdexcept>

using namespace stencil::problem;
using kata::only_on_a_gpu;
using kata::require_right;
using stencil::Coefficients;

// First in the process, because a step that keeps something from its first call fails in the second one. The
// rows of the first grid begin at multiples of 16 bytes.
TEST_CASE("a step sweeps grids of several blocks and a bit, of another size in each call", "[equivalence]") {
    require_right(coded<float>(36));  // large enough to show the pattern of a mistake
    require_right(coded<float>(35));
}

TEST_CASE("a step sweeps grids of every size around its block and tile", "[equivalence]") {
    // Around the tile of 8 and its 6 outputs, the tile of 32 and its 30, the warp; multiples of four; primes.
    const int n = GENERATE(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 17, 28, 30, 31, 33);
    require_right(coded<float>(n));
}

TEST_CASE("a step sweeps grids of double, whose integers are too large for a float", "[equivalence]") {
    const int n = GENERATE(0, 1, 2, 3, 4, 7, 19, 20, 31);
    require_right(coded<double>(n));
}

TEST_CASE("sweeps in a row with swapped buffers", "[equivalence]") {
    const int calls = GENERATE(2, 3);
    // The integers of more than three sweeps are no longer exact in float.
    if (calls * sweeps_of(kata::step()) <= 3)
        require_right(coded<float>(13, 1, calls));
    else
        require_right(real<float>(13, 1, calls));
    require_right(coded<double>(7, 1, calls - 1));
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    kata::require_right_in_any_order(coded<float>(32));
}

TEST_CASE("numbers that are not whole", "[equivalence]") {
    require_right(real<float>(29, 7));
    require_right(real<double>(23, 8));
}

TEST_CASE("a second grid gets an answer of its own", "[equivalence]") {
    require_right(coded<float>(12, 1));
    require_right(coded<float>(12, 2), {.poison = std::byte{0x3C}});
}

TEST_CASE("a large grid", "[equivalence]") { require_right(coded<float>(47)); }

TEST_CASE("more blocks than a block may have threads: grid and block cannot be exchanged", "[equivalence]") {
    require_right(coded<float>(81), kata::unmetered);  // 11³ blocks of 8³ threads
}

// The second block along x has no more columns than the halo of the first one; and a block of step 06 marches
// through 64 planes.
TEST_CASE("more cells along an axis than a block computes", "[equivalence][wide]") {
    require_right(coded<float>(GENERATE(132, 124, 67)), kata::unmetered);
    require_right(coded<double>(66), kata::unmetered);
}

TEST_CASE("more rows than a grid may have blocks along y", "[equivalence][thread each]") {
    Corners<float> grid(257, 1);
    kata::require_right_at_ends([&](const Module& step) { grid.run(step); }, [&] { return grid.fault(); });
}

TEST_CASE("a grid of more bytes than 32 bits can count", "[equivalence]") {
    using Grid = Corners<float>;
    kata::require_right_beyond_32_bits<Grid>([] { return Grid(268); }, [] { return Grid(1036); });
}

TEST_CASE("a very large grid", "[equivalence]") {
    only_on_a_gpu();
    require_right(coded<float>(257));
    require_right(coded<double>(211));
}

TEST_CASE("infinities and NaN reach exactly the cells that depend on them", "[equivalence]") {
    auto p = coded<float>(11);
    p.in[cell(3, 7, 5, 11)] = std::numeric_limits<float>::infinity();
    p.in[cell(8, 4, 2, 11)] = std::numeric_limits<float>::quiet_NaN();
    require_right(p);
}

TEST_CASE("coefficients of 0 are coefficients like any other", "[equivalence]") {
    auto p = coded<float>(9);
    p.c = GENERATE(Coefficients<float>{0, 1, 0, 2, 0, 3, 0}, Coefficients<float>{5, 0, 4, 0, 3, 0, 2},
                   Coefficients<float>{});
    require_right(p, {.poison = kata::nan_poison});
}

TEST_CASE("a coefficient of 0 times an infinity is NaN", "[equivalence]") {
    auto p = coded<float>(9);
    p.in[cell(4, 4, 4, 9)] = std::numeric_limits<float>::infinity();
    p.c = GENERATE(Coefficients<float>{0, 1, 0, 2, 0, 3, 0}, Coefficients<float>{5, 0, 4, 0, 3, 0, 2});
    require_right(p);
}

namespace {

/// The problem with `values` repeated on its boundary.
template <class T>
Problem<T> with_boundary(Problem<T> p, std::initializer_list<T> values) {
    std::size_t next = 0;
    each_on_boundary(
        p.n, [&](int x, int y, int z) { p.in[cell(x, y, z, p.n)] = values.begin()[next++ % values.size()]; });
    return p;
}

}  // namespace

TEST_CASE("a boundary of -0 and the smallest numbers keeps its bits", "[equivalence]") {
    require_right(with_boundary(coded<float>(9), {-0.0f, 0x1p-149f, 1.0f}));
    require_right(with_boundary(coded<double>(7), {-0.0, 0x1p-1074, 1.0}));
}

TEST_CASE("a boundary of several NaN keeps their bits", "[equivalence]") {
    const float quiet = std::nanf("0x12345");
    require_right(with_boundary(coded<float>(9), {quiet, 2.0f, -quiet, -0.0f}));
    require_right(with_boundary(coded<double>(7), {std::nan("0x123456789"), 2.0}));
}

TEST_CASE("a grid of 2^30 bytes", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right(Huge<double>(512), {{.time_limit = 60}});
}

TEST_CASE("the largest grid, of more than 2^32 bytes", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right(Huge<float>(stencil::max_n), {{.time_limit = 60}});
}

// The times of steps are compared for one solution of the problem.
TEST_CASE("a call solves a problem of one sweep once for each of its sweeps", "[solution]") {
    const auto& step = kata::step();
    auto p = real<float>(8);
    p.sweeps = 1;
    CHECK(kata::TimedOn<Problem<float>>(p, 0).solved_by(step) == sweeps_of(step));
    p.sweeps = 2;
    CHECK(kata::TimedOn<Problem<float>>(p, 0).solved_by(step) == 1);
}

TEST_CASE("sides outside the limits are refused in one line", "[limits]") {
    const int n = GENERATE(-1, stencil::max_n + 1);
    CAPTURE(n);
    CHECK_THROWS_AS(stencil::check(n), std::invalid_argument);
    CHECK_NOTHROW(stencil::check(stencil::max_n));
}
