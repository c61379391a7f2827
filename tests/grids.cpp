// The suite of the grids chapter: what every step must compute.
#include "grids.problem.hpp"
#include "judge/trial.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <limits>
#include <stdexcept>

using namespace grids::problem;
using grids::Size;
using kata::only_on_a_gpu;
using kata::Order;
using kata::require_right;

namespace {

/// The right byte may happen to equal the poison: only a second run with another poison shows that it was
/// never written.
constexpr std::byte another_poison{0x3C};

/// Returns the number of elements of a problem that only a GPU computes fast enough. Skips the test
/// elsewhere.
template <class T>
std::vector<T> many(std::size_t count, unsigned seed, int largest = 15) {
    only_on_a_gpu();
    return kata::repeated(kata::coded<T>(kata::prime_period, seed, largest), count);
}

/// Returns a picture for the step that only a GPU computes fast enough. Skips the test elsewhere.
Picture large_picture(const Size& s) {
    const bool colours = takes_colours(kata::step());
    const auto bytes = static_cast<std::size_t>(s.pixels()) * (colours ? 3 : 1);
    return {s, many<unsigned char>(bytes, 1, 255), colours ? std::nullopt : std::optional(1)};
}

}  // namespace

// First in the process, because a step that keeps something from its first call fails in the second one.
TEST_CASE("a picture may be of another size in each call", "[equivalence][blur]") {
    require_right(random_gray({76, 62}));
    require_right(random_gray({76, 301}));
}

// Vectors

TEST_CASE("vectors of every length around a load, a block and a block of loads", "[equivalence][vectors]") {
    const int n = GENERATE(1000, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 32, 33, 255, 256, 257, 511, 513, 1023,
                           1024, 1025, 1026, 1027, 1028, 2047, 4000, 10007);
    require_right(random_vectors(n));
}

TEST_CASE("numbers that are not whole, and the smallest there are", "[equivalence][vectors]") {
    Vectors p{kata::reals(1000, 1), kata::reals(1000, 2)};
    p.a[3] = p.a[700] = 0x1p-149f;
    p.b[3] = 0, p.b[700] = 0x1p-130f;
    require_right(p);
}

TEST_CASE("the order of the blocks does not matter to a sum", "[equivalence][vectors]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    require_right(random_vectors(1000), {{.order = order}});
}

// There are also more than 32 blocks for each of 132 multiprocessors, the limit of some grids, and more
// elements than 16 bits can count.
TEST_CASE("a vector of more blocks than a block may have threads", "[equivalence][vectors]") {
    require_right(random_vectors(4300 * 256), kata::unmetered);
}

namespace {

/// More elements than a float can count, and more blocks than a grid may have along y.
constexpr int long_vector = (5 << 24) + 1;

}  // namespace

TEST_CASE("a long vector: more elements than a float can count, more blocks than a grid may have along y",
          "[equivalence][vectors]") {
    constexpr int few = 1 << 16;
    if (kata::counts_available() && !kata::shares_out(kata::counted(random_vectors(few)), few)) return;
    const auto run_on = [](LongVector& p) { return [&p](const Module& step) { p.run(step); }; };
    LongVector p(long_vector);
    kata::require_right_at_ends(
        run_on(p), [&] { return p.fault(); }, {.metered = false, .only_ends = true},
        [&] {
            // Somewhat more blocks, of which the last again has few elements. A float can represent this
            // number of elements.
            LongVector longer(long_vector - 1 + (1 << 17) + 8);
            return kata::is_right_at_ends(run_on(longer), [&] { return longer.fault(); });
        });
}

// A grid may reach over the end by 2^16 elements, and an int still counts them.
TEST_CASE("a vector of more bytes than 32 bits can count, and of nearly as many elements as an int can count",
          "[equivalence][vectors]") {
    kata::require_right_beyond_32_bits<LongVector>([] { return LongVector(long_vector); },
                                                   [] { return LongVector(0x7fff0000); });
}

// The last thread of a grid of whole blocks has the largest int as its number, so a comparison must not
// compute a larger one. Rounding up by (n + 1023) / 1024 overflows for these lengths: the launch is then
// refused, and the step reports it.
TEST_CASE("vectors of as many elements as an int can count: nothing beyond their end is reached",
          "[equivalence][vectors][wide]") {
    const std::size_t n = std::numeric_limits<int>::max() - GENERATE(std::size_t{0}, 1u, 2u);
    const auto make = [n] { return LongVector(n); };
    if (std::string_view(kata::backend_name()) == "cpu") kata::only_where_counted();
    if (auto p = kata::if_there_is_room(make)) {
        const auto glance = kata::observed_run(
            {.sample = 1}, [&] { p->run(kata::step()); },
            []() -> std::optional<std::string> { return std::nullopt; });
        if (glance.fault && glance.fault->find("launch refused") != std::string::npos) {
            SUCCEED("the step says that it failed");
            return;
        }
    }
    kata::require_right_beyond_32_bits<LongVector>([] { return LongVector(long_vector); }, make);
}

TEST_CASE("huge vectors", "[.huge][equivalence][vectors]") {
    const auto n = GENERATE(std::size_t{1} << 28, (std::size_t{1} << 30) + 7);  // 2^30 bytes, above 2^32
    require_right(Vectors{many<float>(n, 1), many<float>(n, 2)});
}

// Pictures that turn gray

TEST_CASE("pictures of every size around the block turn gray", "[equivalence][colours]") {
    const auto [width, height] = GENERATE(table<int, int>({{76, 62},
                                                           {0, 0},
                                                           {0, 3},
                                                           {3, 0},
                                                           {1, 1},
                                                           {2, 1},
                                                           {1, 2},
                                                           {15, 17},
                                                           {16, 16},
                                                           {17, 15},
                                                           {33, 31},
                                                           {97, 5},
                                                           {3, 101}}));
    require_right(random_colours({width, height}, 1));
    require_right(random_colours({width, height}, 2), {.poison = another_poison});
}

TEST_CASE("pictures of any number of pixels around a load, a thread and a block turn gray",
          "[equivalence][colours]") {
    const int pixels =
        GENERATE(1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 511, 513, 515, 2047, 2048, 2049, 2063);
    require_right(random_colours({pixels, 1}, 5));
    require_right(random_colours({1, pixels}, 6), {.poison = another_poison});
}

TEST_CASE("black, white and the pure colours turn into their luminance", "[equivalence][colours]") {
    require_right(Picture{{5, 1}, {0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255}});
}

// The luminance of 4919 of these colours is a whole number. Depending on the order of the terms, up to 155
// come out just below it in float and up to 982 in double. With weights rounded down to 65536ths, 2455 do.
TEST_CASE("most pixels whose luminance is a whole number get exactly that number", "[equivalence][colours]") {
    Bytes colours, whole;
    for (int r = 0; r < 256; r += 7)
        for (int g = 0; g < 256; g += 5)
            for (int b = 0; b < 256; ++b)
                if (const int hundredths = 21 * r + 72 * g + 7 * b; hundredths % 100 == 0) {
                    for (const int channel : {r, g, b})
                        colours.push_back(static_cast<unsigned char>(channel));
                    whole.push_back(static_cast<unsigned char>(hundredths / 100));
                }
    const auto pixels = whole.size();
    Bytes seen(pixels);
    require_right(Picture{{static_cast<int>(pixels), 1}, colours, {}, &seen});
    std::size_t too_dark = 0;
    for (std::size_t i = 0; i < pixels; ++i) too_dark += seen[i] < whole[i];
    if (3 * too_dark > pixels)
        FAIL(too_dark << " of " << pixels
                      << " pixels whose luminance is a whole number are one too dark, which is more than "
                         "rounding explains: are the weights exactly 0.21, 0.72 and 0.07?");
}

// Blur

TEST_CASE("pictures of every size around the block are blurred", "[equivalence][blur]") {
    const int blur_size = GENERATE(1, 0, 3);
    const auto [width, height] = GENERATE(table<int, int>({{76, 62},
                                                           {0, 0},
                                                           {0, 3},
                                                           {3, 0},
                                                           {1, 1},
                                                           {2, 1},
                                                           {1, 2},
                                                           {3, 3},
                                                           {15, 17},
                                                           {16, 16},
                                                           {17, 15},
                                                           {33, 31},
                                                           {97, 5},
                                                           {3, 101}}));
    require_right(random_gray({width, height}, blur_size, 1));
    require_right(random_gray({width, height}, blur_size, 2), {.poison = another_poison});
}

TEST_CASE("a patch larger than the picture is the mean of the picture", "[equivalence][blur]") {
    require_right(random_gray({5, 4}, grids::max_blur_size));
}

TEST_CASE("a white picture stays white: 961 pixels of 255 fit in an int, not in a byte, nor in two",
          "[equivalence][blur]") {
    // At the edges, patches have every number of rows and columns from 16 to 31.
    require_right(Picture{{33, 33}, Bytes(33 * 33, 255), grids::max_blur_size});
}

TEST_CASE("a mean that is exactly a whole number, or just below one", "[equivalence][blur]") {
    // All pixels are bright except one in each square of the size of a patch. The sum of a whole patch is
    // therefore one less than a multiple of its pixels, and many sums at the edges are a multiple.
    const int blur_size = GENERATE(2, 7, 15);
    const int bright = GENERATE(255, 128, 1), side = 2 * blur_size + 1;
    const Size s{48, 3 * side};
    Bytes pixels(static_cast<std::size_t>(s.pixels()), static_cast<unsigned char>(bright));
    for (int y = blur_size; y < s.height; y += side)
        for (int x = blur_size; x < s.width; x += side) --pixels[static_cast<std::size_t>(y * s.width + x)];
    require_right(Picture{s, pixels, blur_size});
}

TEST_CASE("every size of a patch", "[equivalence][blur][wide]") {
    const int blur_size = GENERATE(from_range(grids::blur_sizes));
    require_right(random_gray({35, 34}, blur_size, 8));
    require_right(random_gray({32, 35}, blur_size, 9));
}

TEST_CASE("rows that begin at multiples of 16 bytes, with several strips or blocks along a row",
          "[equivalence][blur][wide]") {
    const int blur_size = GENERATE(0, 1, 7, 15);
    require_right(random_gray({16, 133}, blur_size, 5));
    require_right(random_gray({48, 31}, blur_size, 6), {.poison = another_poison});
    require_right(random_gray({528, 3}, blur_size, 7));
    require_right(Picture{{64, 40}, Bytes(64 * 40, 255), blur_size});  // white stays white
}

TEST_CASE("pictures whose size is a multiple of 16, and whose width is not", "[equivalence][blur][wide]") {
    // The last is a little wider than a block of the solution.
    const auto [width, height] =
        GENERATE(table<int, int>({{24, 2}, {8, 6}, {40, 34}, {1, 16}, {20, 4}, {5, 32}, {904, 2}}));
    require_right(random_gray({width, height}, 1, 11));
}

// Blocks for a few strips fit on one multiprocessor, and rows are left for low strips.
TEST_CASE("strips of two heights have each row once", "[equivalence][blur][ring]") {
    const auto [blur_size, height] = GENERATE(table<int, int>({{5, 331}, {7, 500}, {15, 260}}));
    require_right(random_gray({32, height}, blur_size, 10), {{.metered = false, .multiprocessors = 1}});
}

TEST_CASE("a picture wider than all blocks that run at a time", "[equivalence][blur][ring]") {
    require_right(random_gray({14336, 1}, 15), {{.metered = false, .multiprocessors = 1}});
}

// Pictures of either kind

TEST_CASE("the order of the blocks does not matter to a picture", "[equivalence][pictures]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    require_right(random_picture(kata::step(), {76, 62}, 3), {{.order = order}});
}

// There are also more columns than 16 bits can count, more rows than 15 bits do, and more blocks than some
// grids are limited to. Only steps that could have a block for each row get the largest number of rows.
TEST_CASE("more blocks than a block may have threads: grid and block cannot be exchanged in a picture",
          "[equivalence][pictures]") {
    const int rows = kata::has_traits(kata::this_step(), "[ring]") ? (1 << 15) + 3 : grids::max_height;
    const Size s = GENERATE_COPY(Size{70001, 1}, Size{1, rows});
    require_right(random_picture(kata::step(), s, 4), kata::unmetered);
}

// A grid may have 2^31 blocks along x, and 65535 along y and z. The row is also longer than arrays that some
// kernels keep in the step.
TEST_CASE("a row of more blocks than a grid may have along y", "[equivalence][pictures]") {
    LongRow p(65536 * 32 + 5);
    kata::require_right_at_ends([&](const Module& step) { p.run(step); }, [&] { return p.fault(); });
}

TEST_CASE("a picture of more pixels than a float can count", "[equivalence][pictures]") {
    require_right(large_picture({4099, 4111}));
}

TEST_CASE("a huge picture", "[.huge][equivalence][pictures]") {
    // More than 2^30 bytes. Pictures in colour are limited to 2^31.
    require_right(large_picture(takes_colours(kata::step()) ? Size{21851, 16381} : Size{21851, 32749}));
}

TEST_CASE("sizes outside the limits are refused in one line", "[limits]") {
    const auto size = GENERATE(Size{-1, 4}, Size{4, -1}, Size{32768, 32768}, Size{1, grids::max_height + 1});
    CHECK_THROWS_AS(grids::check(size), std::invalid_argument);
    CHECK_THROWS_AS(grids::check({4, 4}, -1), std::invalid_argument);
    CHECK_THROWS_AS(grids::check({4, 4}, 4), std::invalid_argument);
    CHECK_THROWS_AS(grids::check({4, 4}, grids::max_blur_size + 1), std::invalid_argument);
}
