// The suite of the transposition chapter: what every step must compute.
#include "judge/trial.hpp"
#include "transposition.problem.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <limits>
#include <stdexcept>

using namespace transposition::problem;
using kata::only_on_a_gpu;
using kata::require_right;
using transposition::Shape;

// First in the process, because a step that keeps something from its first call fails in the second one.
TEST_CASE("a matrix may be of another size in each call", "[equivalence]") {
    require_right(coded({64, 96}));  // whole tiles, which show the pattern of a mistake
    require_right(coded({64, 301}));
}

TEST_CASE("a step transposes a matrix of several blocks and a bit", "[equivalence]") {
    require_right(coded({75, 70}));
}

TEST_CASE("a step transposes matrices of every size around its block and tile", "[equivalence]") {
    // Around the warp, the tile and a round of loads, and primes.
    const auto [rows, columns] = GENERATE(table<int, int>({{1, 1},
                                                           {2, 1},
                                                           {1, 2},
                                                           {5, 3},
                                                           {8, 8},
                                                           {9, 7},
                                                           {16, 16},
                                                           {31, 33},
                                                           {32, 32},
                                                           {33, 31},
                                                           {64, 17},
                                                           {65, 63},
                                                           {97, 5},
                                                           {3, 101}}));
    require_right(coded({rows, columns}));
}

TEST_CASE("rows that begin at multiples of 16 bytes, in one matrix or in both", "[equivalence]") {
    require_right(coded(
        GENERATE(Shape{68, 20}, Shape{4, 4}, Shape{36, 60}, Shape{68, 21}, Shape{21, 68}, Shape{6, 10})));
}

TEST_CASE("an empty matrix is no work and no error", "[equivalence]") {
    const auto [rows, columns] = GENERATE(table<int, int>({{0, 0}, {0, 5}, {5, 0}}));
    require_right(coded({rows, columns}));
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    kata::require_right_in_any_order(coded({75, 70}));
    kata::require_right_in_any_order(coded({76, 72}));
}

TEST_CASE("a second matrix gets an answer of its own", "[equivalence]") {
    require_right(coded({40, 40}, 1));
    require_right(coded({40, 40}, 2), {.poison = std::byte{0x3C}});
}

TEST_CASE("a large matrix", "[equivalence]") { require_right(coded({193, 257})); }

// A step that adds to what is there, or multiplies by zeros, changes these.
TEST_CASE("numbers that are not whole, infinities, NaN and the negative zero arrive", "[equivalence]") {
    auto p = coded({40, 36});
    for (auto& value : p.in) value /= 7;
    p.in[5 * 36 + 7] = std::numeric_limits<float>::infinity();
    p.in[33 * 36 + 31] = std::numeric_limits<float>::quiet_NaN();
    p.in[39 * 36 + 35] = -0.0f;
    require_right(p, {.poison = kata::nan_poison});
}

// More than 16 bits can count, and more tiles than some grids are limited to.
TEST_CASE("more tiles along x or y than a block may have threads", "[equivalence]") {
    const auto shape = GENERATE(Shape{1, 70001}, Shape{transposition::max_rows, 1});
    require_right(coded(shape), kata::unmetered);
}

namespace {

void require_right_in_its_corners(int rows, int columns) {
    Corners matrix(rows, columns);
    kata::require_right_at_ends([&](const kata::Module& step) { matrix.run(step); },
                                [&] { return matrix.fault(); });
}

}  // namespace

TEST_CASE("a matrix of more elements than a float can count", "[equivalence]") {
    require_right_in_its_corners(4111, 4099);
}

// A grid may have 2^31 blocks along x, and 65535 along y and z.
TEST_CASE("a row of more blocks than a grid may have along y", "[equivalence]") {
    require_right_in_its_corners(2, 65536 * 32 + 5);
}

TEST_CASE("a matrix of more bytes than 32 bits can count", "[equivalence]") {
    kata::require_right_beyond_32_bits<Corners>([] { return Corners(4111, 4099); },
                                                [] { return Corners(32803, 32771); });
}

TEST_CASE("a very large matrix", "[equivalence]") {
    only_on_a_gpu();
    const auto shape =
        GENERATE(Shape{4111, 4099}, Shape{2, 65536 * 32 + 5}, Shape{transposition::max_rows, 33});
    require_right(large(shape));
}

TEST_CASE("a huge matrix", "[.huge][equivalence]") {
    only_on_a_gpu();
    // 2^30 bytes, above 2^32, and the longest row
    require_right(
        large(GENERATE(Shape{16384, 16384}, Shape{32801, 32768}, Shape{1, transposition::max_columns})));
}

TEST_CASE("sizes outside the limits are refused in one line", "[limits]") {
    const auto shape =
        GENERATE(Shape{-1, 8}, Shape{8, -8}, Shape{32768, 65536}, Shape{transposition::max_rows + 1, 1},
                 Shape{1, transposition::max_columns + 1});
    CAPTURE(shape.rows, shape.columns);
    CHECK_THROWS_AS(transposition::check(shape), std::invalid_argument);
}
