// Comparison of results, and the message for a difference.
#include "check/compare.hpp"

#include "check/data.hpp"
#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

TEMPLATE_TEST_CASE("Equal arrays of every type pass", "[compare]", float, double, int, unsigned,
                   unsigned char, unsigned long long) {
    const int count = GENERATE(0, 1, 2, 31, 1000);
    const auto values = coded<TestType>(static_cast<std::size_t>(count), 1);
    const std::vector<double> exact(values.begin(), values.end()), bound(values.size(), 0.0);
    CHECK(verdict(difference<TestType>(values, values, {{count}})) == "equal");
    CHECK(verdict(difference<TestType>(values, exact, bound, {{count}})) == "equal");
}

TEST_CASE("Empty rectangles are equal", "[compare]") {
    const std::vector<float> none;
    CHECK(!difference<float>(none, none, {{0, 7}, {16, 16}, poison}));
    CHECK(!difference<float>(none, none, {{7, 0, 3}}));
}

TEST_CASE("0 and -0 are equal, NaN and infinities equal only themselves", "[compare]") {
    const auto exact = [](float got, float expected) {
        return !difference<float>(std::vector{got}, std::vector{expected}, {{1}});
    };
    const auto bounded = [](float got, double expected, double bound) {
        return !difference<float>(std::vector{got}, std::vector{expected}, std::vector{bound}, {{1}});
    };
    CHECK(exact(0.0f, -0.0f));
    CHECK(exact(-0.0f, 0.0f));
    CHECK(exact(not_a_number, not_a_number));
    CHECK(exact(infinity, infinity));
    CHECK_FALSE(exact(not_a_number, 0));
    CHECK_FALSE(exact(0, not_a_number));
    CHECK_FALSE(exact(infinity, -infinity));
    CHECK_FALSE(exact(std::numeric_limits<float>::max(), infinity));

    CHECK(bounded(-0.0f, 0, 0));
    CHECK(bounded(not_a_number, not_a_number, 0));
    CHECK(bounded(-infinity, -infinity, 0));
    CHECK_FALSE(bounded(not_a_number, 1, infinity));
    CHECK_FALSE(bounded(1, not_a_number, infinity));
    CHECK_FALSE(bounded(infinity, 1, infinity));
    CHECK_FALSE(bounded(1, infinity, infinity));
    CHECK_FALSE(bounded(infinity, -infinity, infinity));
}

TEST_CASE("A result passes within its bound and fails just beyond it", "[compare]") {
    const auto judge = [](double got, double bound) {
        return verdict(
            difference<double>(std::vector{1.0, got}, std::vector{1.0, 2.0}, std::vector{0.0, bound}, {{2}}));
    };
    CHECK(judge(2.25, 0.25) == "equal");
    CHECK(judge(1.75, 0.25) == "equal");
    CHECK(judge(2, 0) == "equal");
    CHECK_THAT(judge(std::nextafter(2.25, 3), 0.25), ContainsSubstring("error 0.25, bound 0.25"));
    CHECK_THAT(judge(std::nextafter(1.75, 1), 0.25), ContainsSubstring("1 of 2"));
    CHECK_THAT(judge(std::nextafter(2, 3), 0), ContainsSubstring("1 of 2"));
    CHECK_THAT(judge(2, -1), ContainsSubstring("1 of 2"));
    CHECK_THAT(judge(2, not_a_number), ContainsSubstring("1 of 2"));
}

TEST_CASE("A single element that is NaN is distinguished from a wrong number", "[compare]") {
    const auto judge = [](double got) {
        return verdict(difference<double>(std::vector{got}, std::vector{2.0}, std::vector{0.0}, {{1}}));
    };
    CHECK(judge(2) == "equal");
    CHECK_THAT(judge(3), StartsWith("the only element differs\n  (x 0): expected 2, got 3"));
    CHECK_THAT(judge(not_a_number), StartsWith("the only element differs and is NaN\n"));
}

TEST_CASE("Each element is compared within its own bound", "[compare]") {
    const std::vector<float> got = {1.5f, 2.5f};
    const std::vector<double> expected = {1, 2};
    CHECK(verdict(difference<float>(got, expected, std::vector{1.0, 0.1}, {{2}})) ==
          "1 of 2 elements differs\n"
          "  (x 1): expected 2, got 2.5, error 0.5, bound 0.1\n"
          "pattern: only the last element");
    CHECK_THAT(verdict(difference<float>(got, expected, std::vector{0.1, 1.0}, {{2}})),
               ContainsSubstring("(x 0)"));
    CHECK_THAT(verdict(difference<float>(std::vector{0.5f}, std::vector{1 / 3.0}, std::vector{1e-7}, {{1}})),
               ContainsSubstring("expected 0.333333333, got 0.5, error 0.167, bound 1e-07"));
}

TEST_CASE("A single wrong bit is found anywhere and shown with all digits", "[compare]") {
    const std::size_t at = GENERATE(0u, 1u, 511u, 998u, 999u);
    const auto expected = reals(1000, 4);
    auto got = expected;
    got[at] = std::nextafter(got[at], 9.0f);
    const std::string message = verdict(difference<float>(got, expected, {{1000}, {32}}));
    CHECK_THAT(message,
               StartsWith("1 of 1000 elements differs\n  (x " + std::to_string(at) + "): expected "));
    const std::size_t said = message.find("expected ") + 9, heard = message.find("got ") + 4;
    CHECK(std::stof(message.substr(said)) == expected[at]);
    CHECK(std::stof(message.substr(heard)) == got[at]);
}

TEST_CASE("A wrong number is shown with how far off it is", "[compare]") {
    CHECK_THAT(verdict(difference<float>(std::vector{137.0f}, std::vector{137.5f}, {{1}})),
               ContainsSubstring("expected 137.5, got 137, error 0.5"));
    CHECK_THAT(verdict(difference<double>(std::vector{1.0}, std::vector{1 + 0x1p-52}, {{1}})),
               ContainsSubstring("expected 1.0000000000000002, got 1, error 2.22045e-16"));
    CHECK_THAT(verdict(difference<float>(std::vector{std::nanf("")}, std::vector{1.0f}, {{1}})),
               EndsWith("expected 1, got NaN"));
}

TEST_CASE("Whole numbers that were truncated instead of rounded are recognized", "[compare]") {
    const std::vector<double> expected{137.97, 12.75, 200.6, 9.9}, bounds(4, 0.51);
    const std::vector<int> cut{137, 12, 200, 9}, other{137, 13, 202, 8};
    CHECK_THAT(verdict(difference<int>(cut, expected, bounds, {{4}})),
               EndsWith("pattern: each wrong value is the expected one without its fraction"));
    CHECK_THAT(verdict(difference<int>(other, expected, bounds, {{4}})), !ContainsSubstring("fraction"));
}

TEST_CASE("Integers are compared in all their bits", "[compare]") {
    const unsigned long long large = 1ull << 63;
    CHECK_THAT(verdict(difference<unsigned long long>(std::vector{large + 1}, std::vector{large}, {{1}})),
               ContainsSubstring("expected 9223372036854775808, got 9223372036854775809"));
    CHECK_THAT(verdict(difference<int>(std::vector{-1}, std::vector{1}, {{1}})),
               ContainsSubstring("expected 1, got -1"));
    CHECK_THAT(verdict(difference<unsigned>(std::vector{~0u}, std::vector{0u}, {{1}})),
               ContainsSubstring("got 4294967295"));
    CHECK_THAT(verdict(difference<unsigned char>(std::vector<unsigned char>{65},
                                                 std::vector<unsigned char>{66}, {{1}})),
               ContainsSubstring("expected 66, got 65"));
}

TEST_CASE("The message counts the wrong elements and shows the first five with coordinates", "[compare]") {
    const std::vector<int> expected = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    std::vector<int> got = expected;
    got[1] = 50;
    got[5] = -3;
    CHECK(verdict(difference<int>(got, expected, {{4, 3}})) ==
          "2 of 12 elements differ\n"
          "  (x 1, y 0): expected 2, got 50\n"
          "  (x 1, y 1): expected 6, got -3");
    CHECK_THAT(verdict(difference<int>(got, expected, {{2, 3, 2}})), ContainsSubstring("(x 1, y 2, z 0)"));
    got = {3, 1, 5, 1, 6, 1, 8, 1, 7, 1, 1, 5};
    const std::string message = verdict(difference<int>(got, expected, {{4, 3}}));
    CHECK_THAT(message, ContainsSubstring("12 of 12 elements differ\n"));
    CHECK_THAT(message, ContainsSubstring("  (x 0, y 1): expected 5, got 6\n  ..."));
    CHECK_THAT(message, !ContainsSubstring("(x 1, y 1)"));
}

TEST_CASE("A wrong size is reported", "[compare]") {
    const std::vector<float> three(3), four(4);
    CHECK(verdict(difference<float>(three, four, {{4}})) == "the output has 3 elements, 4 were expected");
    CHECK(verdict(difference<float>({}, four, {{4}})) == "the output has 0 elements, 4 were expected");
    CHECK(verdict(difference<float>(four, {}, {{0}})) == "the output has 4 elements, 0 were expected");
    const std::vector<double> expected(4);
    CHECK(verdict(difference<float>(three, expected, expected, {{4}})) ==
          "the output has 3 elements, 4 were expected");
}

TEST_CASE("A layout that does not match the array is refused", "[compare]") {
    const std::vector<float> four(4);
    const std::vector<double> expected(4), bound(3);
    CHECK_THROWS_AS(difference<float>(four, four, {{5}}), std::invalid_argument);
    CHECK_THROWS_AS(difference<float>(four, four, {{}}), std::invalid_argument);
    CHECK_THROWS_AS(difference<float>(four, four, {{1, 1, 2, 2}}), std::invalid_argument);
    CHECK_THROWS_AS(difference<float>(four, four, {{-2, -2}}), std::invalid_argument);
    CHECK_THROWS_AS(difference<float>(four, four, {{4}, {2, 2}}), std::invalid_argument);
    CHECK_THROWS_AS(difference<float>(four, expected, bound, {{4}}), std::invalid_argument);
}

TEST_CASE("The place of a NaN that an infinity has caused is not a pattern", "[compare]") {
    const std::vector<float> expected(800, 2.0f);
    auto got = expected;
    for (std::size_t i = 0; i < got.size(); i += 8) got[i] = not_a_number;
    CHECK_THAT(verdict(difference<float>(got, expected, {{20, 40}})),
               ContainsSubstring("100 of them NaN") && !ContainsSubstring("pattern"));
    // If all wrong elements are on the border, the border is the better explanation.
    got = expected;
    std::fill(got.end() - 20, got.end(), not_a_number);
    CHECK_THAT(verdict(difference<float>(got, expected, {{20, 40}})), ContainsSubstring("\npattern: only "));
}

TEST_CASE("Rows confused with columns are recognized, within blocks or in the whole array", "[compare]") {
    constexpr int width = 75, height = 70;
    std::vector<int> expected(width * height);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int>(i * i % 10007);
    const auto moved = [&](const auto& from) {
        auto got = expected;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const auto [column, row] = from(x, y);
                const auto at = static_cast<std::size_t>(y * width + x);
                got[at] = column < width && row < height
                              ? expected[static_cast<std::size_t>(row * width + column)]
                              : -1;  // outside of the array
            }
        return verdict(difference<int>(got, expected, {{width, height}}));
    };
    const auto exchanged = [&](int side) {
        return moved(
            [=](int x, int y) { return std::pair(x / side * side + y % side, y / side * side + x % side); });
    };
    const auto squares = [&](int side, int tile) {
        return moved([=](int x, int y) {
            return std::pair(x / tile * tile + y % tile / side * side + x % side,
                             y / tile * tile + x % tile / side * side + y % side);
        });
    };
    const std::string what = "pattern: each wrong value is the expected value where x and y are exchanged";
    CHECK_THAT(exchanged(32), ContainsSubstring(what + " within each square of 32 x 32"));
    CHECK_THAT(exchanged(16), ContainsSubstring(what + " within each square of 16 x 16"));
    CHECK_THAT(exchanged(75), ContainsSubstring(what));
    CHECK_THAT(exchanged(5), !ContainsSubstring("exchanged"));
    const std::string of_squares = "where x and y of whole squares of 16 x 16 are exchanged";
    CHECK_THAT(squares(16, 64), ContainsSubstring(of_squares + " within each 64 x 64"));
    CHECK_THAT(squares(16, 1000), ContainsSubstring(of_squares));
    CHECK_THAT(squares(5, 64), !ContainsSubstring("exchanged"));
}

TEST_CASE("NaN never passes and is reported as NaN", "[compare]") {
    const auto expected = coded(100, 1);
    auto got = expected;
    got[3] = got[40] = got[41] = not_a_number;
    got[42] += 1;
    const std::string message = verdict(difference<float>(got, expected, {{100}}));
    CHECK_THAT(message, StartsWith("4 of 100 elements differ, 3 of them NaN\n"));
    CHECK_THAT(message, ContainsSubstring("got NaN"));

    const std::vector<double> exact(expected.begin(), expected.end()), bound(100, 1e30);
    got[42] -= 1;
    CHECK_THAT(verdict(difference<float>(got, exact, bound, {{100}})),
               StartsWith("3 of 100 elements differ, 3 of them NaN\n") && ContainsSubstring("error NaN"));

    const std::vector<float> all(100, not_a_number);
    CHECK_THAT(verdict(difference<float>(all, expected, {{100}})), ContainsSubstring("100 of them NaN"));
    CHECK_THAT(verdict(difference<float>(expected, all, {{100}})),
               ContainsSubstring("expected NaN, got ") && !ContainsSubstring("of them NaN"));
}

TEMPLATE_TEST_CASE("An output that was never written is reported as such", "[compare][poison]", float, double,
                   int, unsigned, unsigned char, unsigned long long) {
    const std::vector<TestType> expected(12, TestType{3}), got(12, still_poisoned<TestType>());
    CHECK_THAT(verdict(difference<TestType>(got, expected, {{4, 3}, {}, poison})),
               StartsWith("no element of the output was ever written (12 expected)"));
    CHECK_THAT(verdict(difference<TestType>(got, expected, {{4, 3}})),
               StartsWith("12 of 12 elements differ\n"));
}

TEST_CASE("Elements that were never written are counted separately", "[compare][poison]") {
    const auto expected = coded(1000, 1);
    auto got = expected;
    for (std::size_t i = 992; i < 1000; ++i) got[i] = still_poisoned<float>();
    got[995] = 1000;
    const std::string message = verdict(difference<float>(got, expected, {{1000}, {32}, poison}));
    CHECK_THAT(message, StartsWith("8 of 1000 elements differ, 7 of them never written\n"));
    CHECK_THAT(message, ContainsSubstring("(x 992): expected ") && ContainsSubstring(", never written\n"));
    CHECK_THAT(message,
               EndsWith("pattern: all wrong elements lie in the last block along x, where x >= 992"));
}

TEST_CASE("The value of an uninitialized local variable is recognized", "[compare]") {
    const auto unset = [](auto value) {
        std::memset(&value, 0xFE, sizeof value);
        return value;
    };
    const std::vector<float> expected{1, 2, 3};
    const auto message = [&](float second) {
        const std::vector<float> got{1, second, 3};
        return kata::difference<float>(got, expected, {.extents = {3}}).value();
    };
    CHECK_THAT(message(unset(0.0f)),
               ContainsSubstring("\n-1.6947395e+38 is the content of a local variable that was never set"));
    CHECK_THAT(message(unset(0.0f) / 2), !ContainsSubstring("local variable"));
    const std::vector<unsigned char> bytes{1}, other{0xFE};
    CHECK_THAT(kata::difference<unsigned char>(other, bytes, {.extents = {1}}).value(),
               !ContainsSubstring("local variable"));
}

TEST_CASE("A poison of NaN counts as never written, not as NaN", "[compare][poison]") {
    const std::vector<float> expected = {1, 2, 3};
    std::vector<float> got = expected;
    std::memset(&got[1], 0xFF, sizeof(float));
    CHECK_THAT(verdict(difference<float>(got, expected, {{3}, {}, std::byte{0xFF}})),
               StartsWith("1 of 3 elements differs: never written\n"));
}

TEST_CASE("A single byte equal to the poison is only a suspicion", "[compare][poison]") {
    const std::vector<unsigned char> expected = {1, 2, 3}, got = {1, 0xA7, 3};
    CHECK_THAT(verdict(difference<unsigned char>(got, expected, {{3}, {}, poison})),
               ContainsSubstring("(x 1): expected 2, perhaps never written"));
    CHECK(!difference<unsigned char>(got, got, {{3}, {}, poison}));
    const std::vector<double> exact = {1, 167, 3}, bound = {0, 1, 0};
    CHECK(!difference<unsigned char>(got, exact, bound, {{3}, {}, poison}));
}

TEST_CASE("Rows, columns and planes in the places of others are recognized", "[compare][pattern]") {
    const int axis = GENERATE(0, 1, 2);
    const std::vector<int> extents = {12, 9, 11};
    const auto expected = reals(12 * 9 * 11, 6);
    auto got = expected;
    const int stride = axis == 0   ? 1
                       : axis == 1 ? 12
                                   : 12 * 9,
              extent = extents[static_cast<std::size_t>(axis)];
    for (int i = 0; i < 12 * 9 * 11; ++i) {
        const int here = i / stride % extent, there = here < 8 ? here % 2 * 4 + here / 2 : here;
        got[static_cast<std::size_t>(i)] = expected[static_cast<std::size_t>(i + (there - here) * stride)];
    }
    const std::string a(1, "xyz"[axis]);
    kata::Mismatch found;
    CHECK_THAT(verdict(difference<float>(got, expected, {extents}, &found)),
               EndsWith("\npattern: " + a + " 1 holds what belongs to " + a + " 4, " + a +
                        " 2 holds what belongs to " + a + " 1, " + a + " 3 holds what belongs to " + a +
                        " 5, and so on"));
    CHECK(found.is_elsewhere);
    got[static_cast<std::size_t>(stride)] += 1;
    found = {};
    CHECK_THAT(verdict(difference<float>(got, expected, {extents}, &found)),
               !ContainsSubstring("belongs to"));
    CHECK((found.first_wrong && !found.is_elsewhere));
}

TEST_CASE("A few of many wrong bytes equal the poison by chance", "[compare][poison]") {
    const std::vector<unsigned char> expected(256, 1);
    std::vector<unsigned char> got(256);
    std::iota(got.begin(), got.end(), static_cast<unsigned char>(2));
    CHECK_THAT(verdict(difference<unsigned char>(got, expected, {{256}, {}, poison})),
               !ContainsSubstring("never written"));
    std::fill(got.begin() + 200, got.end(), std::to_integer<unsigned char>(poison));
    CHECK_THAT(verdict(difference<unsigned char>(got, expected, {{256}, {}, poison})),
               ContainsSubstring(", 56 of them perhaps never written") ||
                   ContainsSubstring(", 57 of them perhaps never written"));
}

TEST_CASE("An error in whole numbers names those that would pass", "[compare]") {
    const auto said = [](double expected, double bound) {
        return verdict(difference<unsigned char>(std::vector<unsigned char>{7}, std::vector{expected},
                                                 std::vector{bound}, {{1}}));
    };
    CHECK_THAT(said(190.64, 0.5001), ContainsSubstring("expected 191, got 7"));
    CHECK_THAT(said(190.6, 0.7), ContainsSubstring("expected 190 or 191, got 7"));
    CHECK_THAT(said(190.6, 2), ContainsSubstring("expected 189 to 192, got 7"));
}

TEST_CASE("A wide bound does not let an unwritten element pass", "[compare][poison]") {
    const std::vector<float> got = {0, still_poisoned<float>()};
    const std::vector<double> expected = {0, 0}, bound = {1e-3, 1e-3};
    CHECK(!difference<float>(got, expected, bound, {{2}}));
    CHECK_THAT(verdict(difference<float>(got, expected, bound, {{2}, {}, poison})),
               ContainsSubstring("(x 1): expected 0, never written"));
}

TEST_CASE("Comparing ten million elements is fast if they are equal and quick if they are wrong",
          "[compare][speed]") {
    const std::vector<float> expected(10'000'000, 1.5f);
    const std::vector<double> exact(expected.begin(), expected.end()), bound(expected.size(), 1e-6);
    const Layout layout = {{4000, 2500}, {16, 16}, poison};
    const auto seconds = [](auto work) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    CHECK(seconds([&] { CHECK(!difference<float>(expected, expected, layout)); }) < 5);
    CHECK(seconds([&] { CHECK(!difference<float>(expected, exact, bound, layout)); }) < 5);
    auto got = coded(expected.size(), 1);
    CHECK(seconds([&] { CHECK(difference<float>(got, expected, layout)); }) < 30);
}
