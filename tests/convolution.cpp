// The suite of the convolution chapter: what every step must compute.
#include "convolution.problem.hpp"
#include "judge/trial.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <limits>
#include <stdexcept>

using namespace convolution::problem;
using convolution::Shape;
using kata::only_on_a_gpu;
using kata::require_right;

// First in the process, because a step that keeps something from its first call fails in the second one.
TEST_CASE("an image may be of another size in each call", "[equivalence]") {
    require_right(coded({76, 70, 2}));
    require_right(coded({76, 301, 2}));
}

TEST_CASE("a step filters an image of several blocks and a bit", "[equivalence]") {
    require_right(coded({75, 70, 2}));  // large enough to show the pattern of a mistake
}

TEST_CASE("a step filters images of every size around its block and tile", "[equivalence]") {
    const int radius = GENERATE(2, 0, 7);
    // Around the warp and the tiles (18, 28 and 32 outputs, depending on the radius), and primes.
    const auto [width, height] = GENERATE(table<int, int>({{1, 1},
                                                           {2, 1},
                                                           {1, 2},
                                                           {5, 3},
                                                           {16, 16},
                                                           {28, 28},
                                                           {29, 27},
                                                           {31, 33},
                                                           {32, 32},
                                                           {33, 31},
                                                           {18, 19},
                                                           {64, 17},
                                                           {6, 6},
                                                           {97, 5},
                                                           {3, 101}}));
    require_right(coded({width, height, radius}));
}

TEST_CASE("a step takes every radius from 0 to 7", "[equivalence]") {
    const int radius = GENERATE(range(0, convolution::max_radius + 1));
    require_right(coded({67, 41, radius}));
}

TEST_CASE("strips of any height, and the rows above and below them", "[equivalence]") {
    // Multiples of 20 rows and one more at radius 2; of 60 at radius 7.
    require_right(coded(GENERATE(Shape{5, 101, 2}, Shape{12, 51, 2}, Shape{6, 301, 7}, Shape{8, 151, 7})));
}

TEST_CASE("rows that begin at multiples of 16 bytes, at every radius", "[equivalence]") {
    const int radius = GENERATE(range(0, convolution::max_radius + 1));
    require_right(coded({68, 21, radius}));
    require_right(coded({4, 9, radius}));
}

TEST_CASE("images whose size is a multiple of four, and whose width is not", "[equivalence]") {
    require_right(coded(GENERATE(Shape{5, 8, 3}, Shape{6, 2, 1}, Shape{10, 6, 2}, Shape{1, 4, 2})));
}

TEST_CASE("rows that begin at multiples of 16 bytes and are longer than a block", "[equivalence]") {
    require_right(coded({GENERATE(124, 128, 132, 516, 1028), 7, 3}), kata::unmetered);
}

TEST_CASE("an empty image is no work and no error", "[equivalence]") {
    const auto [width, height] = GENERATE(table<int, int>({{0, 0}, {0, 5}, {5, 0}}));
    require_right(coded({width, height, 2}));
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    kata::require_right_in_any_order(coded({75, 70, 2}));
}

TEST_CASE("numbers that are not whole", "[equivalence]") {
    const int radius = GENERATE(1, 2, 7);
    require_right(real({101, 53, radius}, 7));
}

TEST_CASE("a second image gets an answer of its own", "[equivalence]") {
    require_right(coded({40, 40, 2}, 1));
    require_right(coded({40, 40, 2}, 2), {.poison = std::byte{0x3C}});
}

TEST_CASE("a large image", "[equivalence]") { require_right(coded({257, 193, 2})); }

// More than 16 bits can count, and more tiles than some grids are limited to.
TEST_CASE("more tiles along x or y than a block may have threads", "[equivalence]") {
    const auto shape = GENERATE(Shape{70001, 1, 1}, Shape{1, convolution::max_height, 1});
    require_right(coded(shape), kata::unmetered);
}

namespace {

void require_right_in_its_corners(int width, int height) {
    Corners image(width, height);
    kata::require_right_at_ends([&](const kata::Module& step) { image.run(step); },
                                [&] { return image.fault(); });
}

}  // namespace

TEST_CASE("an image of more elements than a float can count", "[equivalence]") {
    require_right_in_its_corners(4099, 4111);
}

// A grid may have 2^31 blocks along x, and 65535 along y and z.
TEST_CASE("a row of more blocks than a grid may have along y", "[equivalence]") {
    require_right_in_its_corners(65536 * 32 + 5, 2);
}

TEST_CASE("an image of more bytes than 32 bits can count", "[equivalence]") {
    kata::require_right_beyond_32_bits<Corners>([] { return Corners(4099, 4111); },
                                                [] { return Corners(32771, 32803); });
}

TEST_CASE("a very large image", "[equivalence]") {
    only_on_a_gpu();
    // More elements than a float can count, more than 65535 tiles in a row, and as many rows as are allowed.
    const auto shape =
        GENERATE(Shape{4099, 4111, 2}, Shape{65536 * 32 + 5, 2, 1}, Shape{3, convolution::max_height, 7});
    require_right(coded(shape));
}

TEST_CASE("a huge image", "[.huge][equivalence]") {
    only_on_a_gpu();
    // 2^30 bytes, above 2^32, and the longest row
    const auto shape =
        GENERATE(Shape{16384, 16384, 1}, Shape{32768, 32801, 1}, Shape{convolution::max_width, 1, 1});
    require_right(large(shape, kata::coded(kata::prime_period, 1), coded({1, 1, shape.radius})));
}

TEST_CASE("infinities and NaN reach exactly the results that depend on them", "[equivalence]") {
    auto p = coded({40, 36, 1});
    p.in[5 * 40 + 7] = std::numeric_limits<float>::infinity();
    p.in[33 * 40 + 31] = std::numeric_limits<float>::quiet_NaN();
    require_right(p);
}

TEST_CASE("infinities and NaN on the border reach exactly the results that depend on them", "[equivalence]") {
    // A step that reads an element outside the image and multiplies it by 0 turns these into NaN.
    constexpr float inf = std::numeric_limits<float>::infinity(),
                    nan = std::numeric_limits<float>::quiet_NaN();
    const auto [width, height, radius] =
        GENERATE(table<int, int, int>({{40, 36, 1}, {64, 32, 2}, {30, 29, 7}}));
    auto p = coded({width, height, radius});
    const auto at = [&, width = width](int x, int y) -> float& {
        return p.in[static_cast<std::size_t>(y * width + x)];
    };
    SECTION("corners") {
        at(0, 0) = inf;
        at(width - 1, 0) = -inf;
        at(0, height - 1) = nan;
        at(width - 1, height - 1) = inf;
    }
    SECTION("edges") {
        at(width / 2, 0) = inf;
        at(width - 1, height / 2) = inf;
        at(width / 3, height - 1) = -inf;
        at(0, height / 3) = nan;
    }
    require_right(p);
}

// A step that skips weights of 0 gets a number instead. No weight is infinite: a step may multiply the
// weights by zeros for elements outside the image.
TEST_CASE("an infinity times a weight of zero is NaN", "[equivalence]") {
    auto p = coded({45, 37, 2});
    p.in[20 * 45 + 20] = std::numeric_limits<float>::infinity();
    p.filter[0] = p.filter[7] = 0;
    require_right(p);
}

TEST_CASE("weights of 0 are weights like any other", "[equivalence]") {
    const int radius = GENERATE(1, 2);
    auto p = coded({45, 37, radius});
    SECTION("some") {
        for (std::size_t i = 0; i < p.filter.size(); i += 3) p.filter[i] = 0;
    }
    SECTION("all but the last") { std::fill(p.filter.begin(), p.filter.end() - 1, 0.0f); }
    SECTION("all") { std::fill(p.filter.begin(), p.filter.end(), 0.0f); }
    require_right(p, {.poison = kata::nan_poison});
}

TEST_CASE("sizes and radii outside the limits are refused in one line", "[limits]") {
    const auto shape =
        GENERATE(Shape{8, 8, 8}, Shape{8, 8, -1}, Shape{-1, 8, 2}, Shape{8, -8, 2}, Shape{65536, 32768, 2},
                 Shape{1, convolution::max_height + 1, 2}, Shape{convolution::max_width + 1, 1, 2});
    CAPTURE(shape.width, shape.height, shape.radius);
    CHECK_THROWS_AS(convolution::check(shape), std::invalid_argument);
}
