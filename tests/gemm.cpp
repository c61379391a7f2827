// The suite of the gemm chapter: what every step must compute.
#include "gemm.problem.hpp"
#include "judge/trial.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

using namespace matrices::problem;
using kata::only_on_a_gpu;
using kata::require_right;
using matrices::Shape;

TEST_CASE("a step multiplies matrices of several blocks and a bit", "[equivalence]") {
    require_right(coded({70, 75, 37}));  // large enough for a mistake to show its pattern
}

TEST_CASE("a step multiplies matrices of every size around its block and tiles", "[equivalence]") {
    // around the warp, the tiles of C (32, 64 and 128), the tiles along K (8 and 32), primes
    const auto [m, n, k] = GENERATE(table<int, int, int>({{1, 1, 1},
                                                          {2, 1, 3},
                                                          {1, 2, 2},
                                                          {5, 3, 101},
                                                          {31, 33, 7},
                                                          {32, 32, 32},
                                                          {33, 31, 9},
                                                          {64, 64, 8},
                                                          {63, 65, 33},
                                                          {65, 63, 31},
                                                          {97, 5, 16},
                                                          {3, 101, 15},
                                                          {128, 128, 8},
                                                          {127, 129, 11},
                                                          {129, 1, 5},
                                                          {33, 65, 96},
                                                          {1, 70, 64}}));
    require_right(coded({m, n, k}));
}

TEST_CASE("rows of A, B and C begin at multiples of 16 bytes, or do not", "[equivalence]") {
    // k and n, the lengths of rows: a multiple of four, a multiple of two only, and odd
    const auto shape = GENERATE(Shape{9, 36, 12}, Shape{33, 36, 13}, Shape{33, 37, 12}, Shape{5, 38, 10},
                                Shape{130, 132, 20}, Shape{1, 4, 4}, Shape{3, 4, 1}, Shape{3, 1, 4});
    require_right(coded(shape));
}

// A step that tests once for all copies of a tile must test rows, columns and K, each by itself.
TEST_CASE("C has a whole tile, or a bit more in rows, columns or K", "[equivalence]") {
    // Tiles of 128 x 256 and those that divide them; 72 has more of them along K than there are stages. The
    // rows of the last B begin at multiples of 8 bytes.
    const auto shape = GENERATE(Shape{128, 256, 72}, Shape{128, 256, 33}, Shape{129, 257, 33},
                                Shape{129, 256, 32}, Shape{128, 260, 32}, Shape{128, 258, 32});
    require_right(coded(shape));
}

TEST_CASE("a product without rows or columns is no work and no error", "[equivalence]") {
    require_right(coded(GENERATE(Shape{0, 0, 0}, Shape{0, 5, 3}, Shape{5, 0, 3})));
}

TEST_CASE("a sum of no products is zero", "[equivalence]") {
    require_right(coded({40, 35, 0}), {.poison = kata::nan_poison});
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    kata::require_right_in_any_order(coded({35, 67, 37}));
}

TEST_CASE("numbers that are not whole", "[equivalence]") {
    const int k = GENERATE(2, 45);
    require_right(real({41, 53, k}, 7));
}

TEST_CASE("a second product gets an answer of its own", "[equivalence]") {
    kata::require_answers_of_their_own(coded({40, 40, 10}, 1), coded({40, 40, 10}, 2));
}

TEST_CASE("infinities and NaN reach exactly the results that depend on them", "[equivalence]") {
    // In the first and last elements of rows of A and columns of B: a tile that reaches over the end of a row
    // has the beginning of the next one beside it.
    constexpr float inf = std::numeric_limits<float>::infinity(),
                    nan = std::numeric_limits<float>::quiet_NaN();
    // In the third case rows begin at multiples of 16 bytes, and tiles reach over their ends. In the fourth,
    // K ends in a tile that is stored where an earlier one was, even in steps with stages.
    const auto [k, n] = GENERATE(table<int, int>({{21, 66}, {37, 66}, {28, 68}, {72, 68}}));
    auto p = coded({70, n, k});
    const auto a = [&](int row, int i) -> float& {
        return p.a[static_cast<std::size_t>(row * p.shape.k + i)];
    };
    const auto b = [&](int i, int col) -> float& {
        return p.b[static_cast<std::size_t>(i * p.shape.n + col)];
    };
    SECTION("in A") {
        a(0, 20) = inf;
        a(9, 0) = -inf;
        a(33, 3) = nan;
        a(69, 20) = inf;
    }
    SECTION("in B") {
        b(0, 0) = inf;
        b(7, 31) = nan;
        b(20, 40) = -inf;
        b(20, 65) = inf;
    }
    // If a tile is padded with zeros in only one of the two matrices, the other one holds what the previous
    // tile has left, and 0 times an infinity is NaN.
    SECTION("in a whole column of B") {
        for (int i = 0; i < k; ++i) a(12, i) = 1, b(i, 40) = inf;
    }
    SECTION("in a whole row of A") {
        for (int i = 0; i < k; ++i) a(50, i) = inf, b(i, 3) = 1;
    }
    // A step that skips products with a zero gets a number instead.
    SECTION("where the other matrix is zero") {
        for (int row : {0, 31, 69}) a(row, 20) = 0;
        b(20, 40) = inf;
        a(9, 7) = -inf;
        for (int col : {0, 32, 65}) b(7, col) = 0;
    }
    // A step that skips tiles of zeros gets a number, too.
    SECTION("in B, where all of A is zero") {
        std::fill(p.a.begin(), p.a.end(), 0.0f);
        b(7, 31) = nan;
        b(20, 40) = -inf;
    }
    SECTION("in A, where all of B is zero") {
        std::fill(p.b.begin(), p.b.end(), 0.0f);
        a(33, 3) = nan;
        a(69, 20) = inf;
    }
    SECTION("in both") {
        a(12, 4) = inf;
        a(69, 0) = -inf;
        b(4, 17) = -inf;
        b(20, 65) = inf;
    }
    require_right(p, kata::unmetered);  // other sizes show what is read where
}

TEST_CASE("large matrices", "[equivalence]") { require_right(coded({193, 161, 24})); }

// Tiles of any size up to 256 are whole. A step that counts its blocks differently in that case leaves some
// out.
TEST_CASE("whole tiles only, in more rows than columns and in fewer", "[equivalence]") {
    const auto shape = GENERATE(Shape{512, 256, 32}, Shape{256, 512, 32});
    require_right(coded(shape), kata::unmetered);
}

// For tiles of 128 x 256 and 132 multiprocessors on a GPU: five tiles of 27 phases, in shares of two, one of
// which continues in the next tile; a whole wave of tiles, and one more; and fewer phases than
// multiprocessors. For six multiprocessors on the CPU back end: four tiles of seven phases, in shares of
// five, the last of which is shorter.
TEST_CASE("a block's share of the work may begin and end in the middle of a tile", "[equivalence][shares]") {
    const auto [of_six, of_132] = GENERATE(table<Shape, Shape>({
        {{100, 770, 110}, {100, 1280, 430}},
        {{100, 1700, 20}, {896, 4864, 20}},
        {{130, 200, 30}, {130, 257, 161}},
    }));
    const bool few = std::string_view(kata::backend_name()) == "cpu";
    require_right(coded(few ? of_six : of_132),
                  {.conditions = {.multiprocessors = 6}, .poison = kata::nan_poison});
}

// A step that adds up shares in the order in which they finish has different bits in each run.
TEST_CASE("the sums have the same bits, whichever block finishes first", "[equivalence][shares]") {
    const auto p = real({20, 260, 100}, 7);  // two tiles, of seven shares each
    const auto sums = [&](const kata::Conditions& conditions) {
        Problem::Device device(p, kata::poison);
        const auto run = try_on(kata::step(), p, device, {conditions});
        if (run.fault) FAIL(*run.fault);
        return device.result();
    };
    const auto first = sums({.metered = false});
    for (const unsigned seed : {1u, 2u, 3u})
        if (sums({.order = kata::Order::shuffled, .seed = seed, .metered = false}) != first)
            FAIL(
                "the result depends on which block finishes first: add up the sums of shares in a fixed "
                "order, because each order is rounded differently");
    SUCCEED();
}

TEST_CASE("more phases than a byte can count", "[equivalence][phases]") {
    const int depth = kata::this_step().tile;
    // Only the meter detects a copy into a tile that is still in use, and it takes too long for deeper tiles.
    require_right(coded({1, 1, 257 * depth + 1}), {{.most_steps = 400'000'000, .metered = depth <= 8}});
}

// 2310 rows are 73, 37 or 19 tiles of 32, 64 or 128: no multiple of 4, 8 or 16. If blocks are numbered in
// groups of that many rows or columns, to share more of what is cached, the last group is a short one.
TEST_CASE("more rows or columns of tiles than some groups have, and a short group at the end",
          "[equivalence]") {
    const auto shape = GENERATE(Shape{2310, 200, 3}, Shape{200, 2310, 3});
    require_right(coded(shape), kata::unmetered);
}

// C has 182 tiles of 128 x 256.
TEST_CASE("a block that takes several tiles of C starts each with a new sum", "[equivalence][stays]") {
    require_right(coded({13 * 128, 14 * 256, 24}));
}

// The blocks of a cluster share K, and tiles reach over the ends of C. The last shape has 144 tiles of 128 x
// 256: on 132 multiprocessors 12 are left over.
TEST_CASE("few tiles of C, and a long K", "[equivalence][clusters]") {
    require_right(coded(GENERATE(Shape{200, 264, 2504}, Shape{1, 8, 4104}, Shape{1536, 3072, 64})));
}

// There are also more rows or columns than 15 bits can count.
TEST_CASE("more blocks than a block may have threads: grid and block cannot be exchanged",
          "[equivalence][no tiles]") {
    const auto shape = GENERATE(Shape{1, 1025 * 32, 1}, Shape{1025 * 32, 1, 1}, Shape{65537, 1, 1});
    require_right(coded(shape), kata::unmetered);
}

namespace {

void require_right_in_its_corners(const Shape& shape) {
    const auto require = [](auto matrices) {
        kata::require_right_at_ends([&](const Module& step) { matrices.run(step); },
                                    [&] { return matrices.fault(); });
    };
    const auto factors = factors_of(kata::step());
    if (factors == Factors::bf16)
        require(Corners<matrices::Bf16>(taken(shape, factors)));
    else
        require(Corners<float>(shape));
}

template <class T>
void require_right_beyond_32_bits(const Shape& few, const Shape& many) {
    kata::require_right_beyond_32_bits<Corners<T>>([&] { return Corners<T>(few); },
                                                   [&] { return Corners<T>(many); });
}

}  // namespace

// With larger tiles there would be too few blocks to run only those at the ends.
TEST_CASE("as many rows as the limits allow", "[equivalence][thread each]") {
    require_right_in_its_corners({matrices::max_rows, 1, 1});
}

TEST_CASE("a row of more blocks than a grid may have along y", "[equivalence]") {
    const Shape shape{1, 65536 * 128 + 5, 1};
    // A step may share all tiles. It then has one block for each multiprocessor, and none of them is at an
    // end.
    if (kata::has_traits(kata::this_step(), "[shares]") && kata::counts_available()) {
        Corners<float> p(shape);
        const auto shares = kata::shares_of(p);
        if (!shares || shares->each > 16) {
            SUCCEED("a thread would take too long to go through the row");
            return;
        }
    }
    require_right_in_its_corners(shape);
}

TEST_CASE("matrices of more bytes than 32 bits can count", "[equivalence]") {
    if (factors_of(kata::step()) == Factors::bf16) {
        const auto [few, many] = GENERATE(table<Shape, Shape>({
            // A and B, whose elements have two bytes, have more elements than an int can count.
            {{2051, 2056, 8}, {32771, 32808, 8}},             // C
            {{1, 1 << 20, 8}, {1, (1 << 27) + 8, 8}},         // B
            {{16400, 8, 72}, {matrices::max_rows, 8, 1032}},  // A
        }));
        require_right_beyond_32_bits<matrices::Bf16>(few, many);
    } else {
        const auto [few, many] = GENERATE(table<Shape, Shape>({
            {{2051, 2049, 3}, {32771, 32803, 3}},             // C
            {{1, 1 << 20, 9}, {1, (1 << 27) + 5, 9}},         // B
            {{16400, 1, 65}, {matrices::max_rows, 1, 1025}},  // A
        }));
        require_right_beyond_32_bits<float>(few, many);
    }
}

TEST_CASE("very large matrices", "[equivalence]") {
    only_on_a_gpu();
    const auto for_floats = GENERATE(Shape{1031, 2053, 517}, Shape{matrices::max_rows, 3, 2},
                                     Shape{3, 16'777'259, 2}, Shape{3, 2, 4'194'319});
    // Sums of four million products are exact in float if all of them are 1 or -1.
    const auto s = taken(for_floats, factors_of(kata::step()));
    require_right(s.k > 70'000
                      ? Problem{s, kata::coded(s.elements_of_a(), 1, 1), kata::coded(s.elements_of_b(), 2, 1)}
                      : coded(s));
}

TEST_CASE("C of 2^30 bytes", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right(coded({16384, 16384, 3}));
}

TEST_CASE("C of more than 2^32 bytes", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right(coded({65536, 16411, 2}));
}

TEST_CASE("a wrong product is explained by exchanged tiles only if these explain all of it", "[limits]") {
    const Shape s{70, 75, 37};
    const auto a = kata::coded(s.elements_of_a(), 1), b = kata::coded(s.elements_of_b(), 2);
    const auto multiplied = [&](int side, bool of_a, bool of_b) {
        const Squares first(a, s.m, s.k, side, of_a), second(b, s.k, s.n, side, of_b);
        const auto all =
            matrices::reference(first.elements, second.elements, {first.rows, second.columns, first.columns});
        std::vector<float> c;
        for (int row = 0; row < s.m; ++row)
            for (int column = 0; column < s.n; ++column)
                c.push_back(static_cast<float>(all[static_cast<std::size_t>(row * second.columns + column)]));
        return c;
    };
    const auto said = [&](const std::vector<float>& c) {
        return exchanged_in_tiles(a, b, s, c).value_or("");
    };
    CHECK(said(multiplied(32, true, false)).find("32 x 32 of A:") != std::string::npos);
    CHECK(said(multiplied(16, false, true)).find("16 x 16 of B:") != std::string::npos);
    CHECK(said(multiplied(8, true, true)).find("8 x 8 of A and B:") != std::string::npos);
    CHECK(said(multiplied(24, true, false)).empty());  // no step has such tiles
    CHECK(said(multiplied(32, false, false)).empty());
    auto another = multiplied(32, true, false);
    another[1234] += 1;
    CHECK(said(another).empty());
}

TEST_CASE("sizes outside the limits are refused in one line", "[limits]") {
    const auto shape =
        GENERATE(Shape{-1, 4, 4}, Shape{4, -1, 4}, Shape{4, 4, -1}, Shape{65536, 32768, 1},
                 Shape{65536, 1, 32768}, Shape{1, 65536, 32768}, Shape{matrices::max_rows + 1, 1, 1});
    CAPTURE(shape.m, shape.n, shape.k);
    CHECK_THROWS_AS(matrices::check(shape), std::invalid_argument);
}

TEST_CASE("sizes at the limits are accepted", "[limits]") {
    CHECK_NOTHROW(matrices::check({0, 0, 0}));
    CHECK_NOTHROW(matrices::check({matrices::max_rows, 1, 1}));
    CHECK_NOTHROW(matrices::check({1, std::numeric_limits<int>::max(), 1}));
}

TEST_CASE("in bfloat16, rows of A and B that do not begin at multiples of 16 bytes are refused, too",
          "[limits]") {
    const auto shape = GENERATE(Shape{8, 8, 4}, Shape{8, 12, 8}, Shape{8, -8, 8});
    CAPTURE(shape.m, shape.n, shape.k);
    CHECK_THROWS_AS(matrices::check_bf16(shape), std::invalid_argument);
    CHECK_NOTHROW(matrices::check_bf16({3, 8, 16}));
}

TEST_CASE("a float becomes the nearest bfloat16, and in a tie the even one", "[limits]") {
    const auto rounded = [](float value) { return matrices::to_float(matrices::to_bf16(value)); };
    constexpr float inf = std::numeric_limits<float>::infinity();
    for (const float value : {0.0f, 1.0f, -1.5f, 255.0f, 0x1p-126f, inf, -inf})
        CHECK(rounded(value) == value);
    CHECK(rounded(257) == 256);
    CHECK(rounded(259) == 260);
    CHECK(rounded(257.1f) == 258);
    CHECK(rounded(-0x1.fffffep127f) == -inf);
    CHECK(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN())));
}
