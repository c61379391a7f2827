// Tests the tools that judge a step: test data, the comparison and its diagnosis, the analysis of wrong sums,
// picture files and files of counts.
#include "check/compare.hpp"
#include "check/data.hpp"
#include "check/miscount.hpp"
#include "check/picture.hpp"
#include "check/remembered.hpp"
#include "check/report.hpp"
#include "error.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using kata::coded;
using kata::difference;
using kata::Layout;
using kata::reals;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::byte poison{0xA7};

/// Returns the message, or "equal".
std::string verdict(const std::optional<std::string>& difference) { return difference.value_or("equal"); }

/// Returns the pattern in the message, or "none" if there is no such line.
std::string pattern(const std::optional<std::string>& difference) {
    const std::string message = verdict(difference), label = "\npattern: ";
    const std::size_t at = message.find(label);
    return at == std::string::npos ? "none" : message.substr(at + label.size());
}

/// Returns the pattern found if exactly the elements for which `wrong` is true are changed, each to a
/// different value.
template <class Wrong>
std::string pattern_where(const Layout& layout, Wrong wrong) {
    const int count = std::accumulate(layout.extents.begin(), layout.extents.end(), 1, std::multiplies{});
    const auto expected = coded(static_cast<std::size_t>(count), 1, 1000);
    const auto noise = coded(static_cast<std::size_t>(count), 2, 1000);
    auto got = expected;
    const int width = layout.extents[0];
    for (int i = 0; i < count; ++i)
        if (wrong(i % width, i / width)) got[i] += 5000 + noise[i];
    return pattern(difference<float>(got, expected, layout));
}

template <class T>
T still_poisoned() {
    T value;
    std::memset(&value, std::to_integer<int>(poison), sizeof(T));
    return value;
}

}  // namespace

// Data.

TEMPLATE_TEST_CASE("Coded values are whole, at most the largest and never 0", "[data]", float, double, int,
                   unsigned, unsigned char, unsigned long long) {
    const int largest = GENERATE(1, 2, 3, 15, 255);
    for (const TestType value : coded<TestType>(2000, 7, largest)) {
        const double magnitude = std::abs(static_cast<double>(value));
        if (magnitude != std::floor(magnitude) || magnitude < 1 || magnitude > largest)
            FAIL(+value << " for largest " << largest);
    }
    const auto values = coded<TestType>(20000, 7, largest);
    const double average = std::accumulate(values.begin(), values.end(), 0.0) / 20000;
    const double middle = std::is_signed_v<TestType> ? 0 : (1 + largest) / 2.0;
    CHECK(std::abs(average - middle) < 0.03 * largest);
}

TEMPLATE_TEST_CASE("Coded neighbours differ, and rows of any length hardly ever repeat a value", "[data]",
                   float, unsigned) {
    const auto values = coded<TestType>(20000, 3);
    const double chance = std::is_signed_v<TestType> ? 1 / 30.0 : 1 / 15.0;
    for (std::size_t row = 1; row <= 512; ++row) {
        std::size_t same = 0;
        for (std::size_t i = 0; i + row < values.size(); ++i) same += values[i] == values[i + row] ? 1 : 0;
        if (row == 1 ? same != 0 : static_cast<double>(same) > 1.2 * chance * 20000)
            FAIL(same << " coincidences for rows of " << row);
    }
}

TEST_CASE("Coded neighbours differ for every largest that leaves them a choice", "[data]") {
    const int largest = GENERATE(2, 3, 15, 100, 70000);
    const auto values = coded<int>(5000, 11, largest);
    CHECK(std::adjacent_find(values.begin(), values.end()) == values.end());
}

TEST_CASE("Coded values of plus and minus 1 do not merely alternate", "[data]") {
    const auto values = coded(1000, 1, 1);
    CHECK(std::adjacent_find(values.begin(), values.end()) != values.end());
}

TEST_CASE("Coded values of different seeds differ", "[data]") {
    const auto one = coded(1000, 1), other = coded(1000, 2);
    int same = 0;
    for (std::size_t i = 0; i < one.size(); ++i) same += one[i] == other[i] ? 1 : 0;
    CHECK(same < 80);
    CHECK(one == coded(1000, 1));
}

TEST_CASE("Sums of coded products are exact in float in any order", "[data]") {
    const auto signal = coded(225 * 40, 1), mask = coded(225, 2);
    CHECK(225 * 15 * 15 < 1 << 24);
    for (int window = 0; window < 40; ++window) {
        float forwards = 0, backwards = 0;
        long long exact = 0;
        for (int i = 0; i < 225; ++i) {
            forwards += signal[window * 225 + i] * mask[i];
            backwards += signal[window * 225 + 224 - i] * mask[224 - i];
            exact += std::lround(signal[window * 225 + i]) * std::lround(mask[i]);
        }
        CHECK(forwards == static_cast<float>(exact));
        CHECK(backwards == static_cast<float>(exact));
    }
    const auto million = coded(1'000'000, 3);
    CHECK(std::accumulate(million.begin(), million.end(), 0.0f) ==
          static_cast<float>(std::accumulate(million.begin(), million.end(), 0.0)));
}

TEST_CASE("Coded refuses a largest that the type does not hold", "[data]") {
    CHECK_THROWS_AS(coded(1, 1, 0), std::invalid_argument);
    CHECK_THROWS_AS(coded(1, 1, -3), std::invalid_argument);
    CHECK_THROWS_AS(coded<unsigned char>(1, 1, 256), std::invalid_argument);
    CHECK_THROWS_AS(coded<float>(1, 1, (1 << 24) + 1), std::invalid_argument);
    CHECK_NOTHROW(coded<float>(1, 1, 1 << 24));
    CHECK(coded(0, 1).empty());
}

TEST_CASE("Reals fill their range evenly, repeat for a seed and differ between seeds", "[data]") {
    const auto values = reals(100'000, 5);
    double sum = 0, squares = 0;
    for (const float value : values) {
        if (!(value >= -1 && value <= 1)) FAIL(value);
        sum += value;
        squares += static_cast<double>(value) * value;
    }
    CHECK(std::abs(sum / 100'000) < 0.01);
    CHECK(std::abs(squares / 100'000 - 1 / 3.0) < 0.01);
    CHECK(values == reals(100'000, 5));
    CHECK(values != reals(100'000, 6));
    for (const double value : reals<double>(1000, 1, 3.0, 3.5))
        if (!(value >= 3 && value <= 3.5)) FAIL(value);
    CHECK(reals(0, 1).empty());
}

TEST_CASE("Data are the same on every platform", "[data]") {
    // mt19937(1) begins with 1791095845, 4282876139, 3093770124.
    CHECK(reals(2, 1) == std::vector{(1791095845u >> 8) * 0x1p-23f - 1, (4282876139u >> 8) * 0x1p-23f - 1});
    CHECK(reals<double>(1, 1, 0, 1) ==
          std::vector{(1791095845u >> 8) * 0x1p-24 + (4282876139u >> 3) * 0x1p-53});
    CHECK(coded<int>(3, 1, 2) == std::vector{-1, 2, -1});
}

// Comparison: equal.

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

TEST_CASE("A result passes within its bound and not a bit beyond", "[compare]") {
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

TEST_CASE("A result of one element is no number out of a number", "[compare]") {
    const auto judge = [](double got) {
        return verdict(difference<double>(std::vector{got}, std::vector{2.0}, std::vector{0.0}, {{1}}));
    };
    CHECK(judge(2) == "equal");
    CHECK_THAT(judge(3), StartsWith("the only element differs\n  (x 0): expected 2, got 3"));
    CHECK_THAT(judge(not_a_number), StartsWith("the only element differs and is NaN\n"));
}

TEST_CASE("Each element is held to its own bound", "[compare]") {
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

// Comparison: different.

TEST_CASE("One wrong bit anywhere is found and shown in full digits", "[compare]") {
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
               ContainsSubstring("expected 1, got NaN\n"));
}

TEST_CASE("Whole numbers that were cut off instead of rounded are named", "[compare]") {
    const std::vector<double> expected{137.97, 12.75, 200.6, 9.9}, bounds(4, 0.51);
    const std::vector<int> cut{137, 12, 200, 9}, other{137, 13, 202, 8};
    CHECK_THAT(verdict(difference<int>(cut, expected, bounds, {{4}})),
               EndsWith("pattern: each wrong value is the expected one without its fraction: rounded down?"));
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

TEST_CASE("A size that is not the expected one is a message", "[compare]") {
    const std::vector<float> three(3), four(4);
    CHECK(verdict(difference<float>(three, four, {{4}})) == "the output has 3 elements, 4 were expected");
    CHECK(verdict(difference<float>({}, four, {{4}})) == "the output has 0 elements, 4 were expected");
    CHECK(verdict(difference<float>(four, {}, {{0}})) == "the output has 4 elements, 0 were expected");
    const std::vector<double> expected(4);
    CHECK(verdict(difference<float>(three, expected, expected, {{4}})) ==
          "the output has 3 elements, 4 were expected");
}

TEST_CASE("A layout that does not describe the array is refused", "[compare]") {
    const std::vector<float> four(4);
    const std::vector<double> expected(4), bound(3);
    CHECK_THROWS_AS(difference<float>(four, four, {{5}}), std::invalid_argument);
    CHECK_THROWS_AS(difference<float>(four, four, {{}}), std::invalid_argument);
    CHECK_THROWS_AS(difference<float>(four, four, {{1, 1, 2, 2}}), std::invalid_argument);
    CHECK_THROWS_AS(difference<float>(four, four, {{-2, -2}}), std::invalid_argument);
    CHECK_THROWS_AS(difference<float>(four, four, {{4}, {2, 2}}), std::invalid_argument);
    CHECK_THROWS_AS(difference<float>(four, expected, bound, {{4}}), std::invalid_argument);
}

TEST_CASE("An infinity that is no part of a sum is told, and its place is no pattern", "[compare]") {
    const std::vector<float> expected(800, 2.0f);
    auto got = expected;
    for (std::size_t i = 0; i < got.size(); i += 8) got[i] = not_a_number;
    const std::string why =
        "\nNaN where a number is expected. It comes from memory that was never set, or from 0 times "
        "infinity";
    CHECK_THAT(verdict(difference<float>(got, expected, {{20, 40}})),
               ContainsSubstring(why) && !ContainsSubstring("modulo") && !ContainsSubstring("pattern"));
    got[3] = 5;  // not the only error
    CHECK_THAT(verdict(difference<float>(got, expected, {{20, 40}})), ContainsSubstring(why));
    // If all of them lie on the border, the message says so, too.
    got = expected;
    std::fill(got.end() - 20, got.end(), not_a_number);
    CHECK_THAT(verdict(difference<float>(got, expected, {{20, 40}})),
               ContainsSubstring(why) && ContainsSubstring("\npattern: only "));
    const std::vector<float> infinite(800, std::numeric_limits<float>::infinity());
    CHECK_THAT(verdict(difference<float>(got, infinite, {{20, 40}})),
               !ContainsSubstring("NaN where a number is expected"));
}

TEST_CASE("Rows that are taken for columns within blocks, or in all of an array, are found", "[compare]") {
    constexpr int width = 75, height = 70;
    std::vector<int> expected(width * height);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int>(i * i % 10007);
    const auto exchanged = [&](int side) {
        auto got = expected;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const int column = x / side * side + y % side, row = y / side * side + x % side;
                const auto at = static_cast<std::size_t>(y * width + x);
                got[at] = column < width && row < height
                              ? expected[static_cast<std::size_t>(row * width + column)]
                              : -1;  // outside the array
            }
        return verdict(difference<int>(got, expected, {{width, height}}));
    };
    const std::string what = "pattern: each wrong value is the expected value where x and y are exchanged";
    CHECK_THAT(exchanged(32), ContainsSubstring(what + " within each square of 32 x 32: does an index"));
    CHECK_THAT(exchanged(16), ContainsSubstring(what + " within each square of 16 x 16: does an index"));
    CHECK_THAT(exchanged(75), ContainsSubstring(what + ": does an index"));
    CHECK_THAT(exchanged(5), !ContainsSubstring("exchanged"));
}

TEST_CASE("NaN never passes and is named", "[compare]") {
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

// Poison.

TEMPLATE_TEST_CASE("An output that nobody wrote is said to be so", "[compare][poison]", float, double, int,
                   unsigned, unsigned char, unsigned long long) {
    const std::vector<TestType> expected(12, TestType{3}), got(12, still_poisoned<TestType>());
    CHECK_THAT(verdict(difference<TestType>(got, expected, {{4, 3}, {}, poison})),
               StartsWith("no element of the output was ever written (12 expected)"));
    CHECK_THAT(verdict(difference<TestType>(got, expected, {{4, 3}})),
               StartsWith("12 of 12 elements differ\n"));
}

TEST_CASE("Elements that were never written are counted apart", "[compare][poison]") {
    const auto expected = coded(1000, 1);
    auto got = expected;
    for (std::size_t i = 992; i < 1000; ++i) got[i] = still_poisoned<float>();
    got[995] = 1000;
    const std::string message = verdict(difference<float>(got, expected, {{1000}, {32}, poison}));
    CHECK_THAT(message, StartsWith("8 of 1000 elements differ, 7 of them never written\n"));
    CHECK_THAT(message, ContainsSubstring("(x 992): expected ") && ContainsSubstring(", never written\n"));
    CHECK_THAT(message, EndsWith("pattern: all wrong elements lie in the last block along x"));
}

TEST_CASE("A value that a local variable holds before it is set is named", "[compare]") {
    const auto unset = [](auto value) {
        std::memset(&value, 0xFE, sizeof value);
        return value;
    };
    const std::vector<float> expected{1, 2, 3};
    const auto message = [&](float second) {
        const std::vector<float> got{1, second, 3};
        return kata::difference<float>(got, expected, {.extents = {3}}).value();
    };
    CHECK_THAT(
        message(unset(0.0f)),
        ContainsSubstring("\n-1.6947395e+38 is the content of a local variable that was never set, or of "
                          "an array that lacks __shared__"));
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
               StartsWith("1 of 3 elements differs, 1 of them never written\n"));
}

TEST_CASE("A byte that equals the poison is only suspected", "[compare][poison]") {
    const std::vector<unsigned char> expected = {1, 2, 3}, got = {1, 0xA7, 3};
    CHECK_THAT(verdict(difference<unsigned char>(got, expected, {{3}, {}, poison})),
               ContainsSubstring("(x 1): expected 2, perhaps never written"));
    CHECK(!difference<unsigned char>(got, got, {{3}, {}, poison}));
    const std::vector<double> exact = {1, 167, 3}, bound = {0, 1, 0};
    CHECK(!difference<unsigned char>(got, exact, bound, {{3}, {}, poison}));
}

TEST_CASE("Of many wrong bytes a few equal the poison by chance", "[compare][poison]") {
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

TEST_CASE("Of whole numbers those are named that would do", "[compare]") {
    const auto said = [](double expected, double bound) {
        return verdict(difference<unsigned char>(std::vector<unsigned char>{7}, std::vector{expected},
                                                 std::vector{bound}, {{1}}));
    };
    CHECK_THAT(said(190.64, 0.5001), ContainsSubstring("expected 191, got 7"));
    CHECK_THAT(said(190.6, 0.7), ContainsSubstring("expected 190 or 191, got 7"));
    CHECK_THAT(said(190.6, 2), ContainsSubstring("expected 189 to 192, got 7"));
}

TEST_CASE("An element never written does not pass because the bound is wide", "[compare][poison]") {
    const std::vector<float> got = {0, still_poisoned<float>()};
    const std::vector<double> expected = {0, 0}, bound = {1e-3, 1e-3};
    CHECK(!difference<float>(got, expected, bound, {{2}}));
    CHECK_THAT(verdict(difference<float>(got, expected, bound, {{2}, {}, poison})),
               ContainsSubstring("(x 1): expected 0, never written"));
}

// Patterns of places.

TEST_CASE("The last block of several is recognized", "[compare][pattern]") {
    const std::string x = "all wrong elements lie in the last block along x";
    const std::string y = "all wrong elements lie in the last block along y";
    CHECK(pattern_where({{70}, {32}}, [](int x, int) { return x >= 64; }) == x);
    CHECK(pattern_where({{1000}, {32}}, [](int x, int) { return x == 993 || x == 996 || x == 999; }) == x);
    CHECK(pattern_where({{33}, {32}}, [](int x, int) { return x == 32; }) == x);
    CHECK(pattern_where({{1000}, {32}}, [](int x, int) { return x >= 993; }) == x);
    CHECK(pattern_where({{64}, {32}}, [](int x, int) { return x >= 32; }) == x);
    CHECK(pattern_where({{37, 20}, {16, 16}}, [](int x, int) { return x >= 32; }) == x);
    CHECK(pattern_where({{37, 20}, {16, 16}}, [](int, int y) { return y >= 16; }) == y);
    CHECK(pattern_where({{37, 20}, {16, 16}}, [](int x, int y) { return x >= 32 && y >= 16; }) ==
          x + " and y");
    CHECK(pattern_where({{37, 20}, {16, 16}}, [](int x, int y) { return x >= 32 || y >= 16; }) ==
          x + " or y");
    CHECK(pattern_where({{8, 4, 9}, {8, 4, 4}}, [](int, int row) { return row >= 32; }) ==
          "all wrong elements lie in the last block along z");
}

TEST_CASE("A single block is not called the last one", "[compare][pattern]") {
    CHECK(pattern_where({{20}, {32}}, [](int x, int) { return x == 7 || x == 12; }) == "none");
    CHECK(pattern_where({{20}, {}}, [](int x, int) { return x == 7 || x == 12; }) == "none");
}

TEST_CASE("The border of the array is recognized, with its width", "[compare][pattern]") {
    const auto ring = [](int width, int height, int within) {
        return [=](int x, int y) {
            return x < within || y < within || x >= width - within || y >= height - within;
        };
    };
    CHECK(pattern_where({{40, 30}, {16, 16}}, ring(40, 30, 1)) ==
          "only on the border of the array, within 1 of the edge");
    CHECK(pattern_where({{40, 30}, {16, 16}}, ring(40, 30, 2)) ==
          "only on the border of the array, within 2 of the edge");
    CHECK(pattern_where({{7, 7}}, ring(7, 7, 1)) == "only on the border of the array, within 1 of the edge");
    CHECK(pattern_where({{100}}, [](int x, int) { return x < 3 || x > 96; }) ==
          "only on the border of the array, within 3 of the edge");
    CHECK(pattern_where({{100}}, [](int x, int) { return x == 0 || x == 99; }) ==
          "only on the border of the array, within 1 of the edge");
    // Two sides of four.
    CHECK(pattern_where({{40, 30}}, [](int x, int y) { return x == 0 || y == 29; }) ==
          "only on the border of the array, within 1 of the edge");
    // One block, which is larger than the array.
    CHECK(pattern_where({{20, 20}, {32, 32}}, [](int x, int) { return x < 2; }) ==
          "only on the border of the array, within 2 of the edge");
    // Seven bins of a histogram have none.
    CHECK(pattern_where({{7}}, [](int x, int) { return x == 0 || x == 6; }) == "none");
    // A third of the array is not a border, although it contains one.
    CHECK(pattern_where({{90, 90}}, [](int x, int y) { return x < 30 && (x + y) % 3; }) == "none");
}

TEST_CASE("Edges between blocks are recognized", "[compare][pattern]") {
    CHECK(pattern_where({{64, 64}, {16, 16}}, [](int x, int y) {
              return x % 16 == 0 || x % 16 == 15 || y % 16 == 0 || y % 16 == 15;
          }) == "all along the edges between blocks, within 1 of the edge");
    CHECK(pattern_where({{1000}, {100}}, [](int x, int) {
              return x > 3 && x < 996 && (x % 100 < 2 || x % 100 > 97);
          }) == "all along the edges between blocks, within 2 of the edge");
}

TEST_CASE("A common residue is recognized", "[compare][pattern]") {
    CHECK(pattern_where({{1024}}, [](int x, int) { return x % 32 == 31; }) ==
          "every wrong index is 31 modulo 32");
    CHECK(pattern_where({{1024}, {128}}, [](int x, int) { return x % 32 == 31; }) ==
          "every wrong index is 31 modulo 32");
    CHECK(pattern_where({{1000}, {30}}, [](int x, int) { return x % 30 == 4; }) ==
          "every wrong index is 4 modulo 30");
    CHECK(pattern_where({{1000}}, [](int x, int) { return x % 2 == 1; }) ==
          "every wrong index is 1 modulo 2");
    CHECK(pattern_where({{100, 40}, {16, 16}}, [](int x, int) { return x % 16 == 5; }) ==
          "every wrong x is 5 modulo 16");
    CHECK(pattern_where({{100, 40}}, [](int, int y) { return y % 8 == 3; }) == "every wrong y is 3 modulo 8");
    CHECK(pattern_where({{100, 40}}, [](int x, int) { return x == 17; }) == "every wrong x is 17");
    CHECK(pattern_where({{100, 40}}, [](int, int y) { return y == 21; }) == "every wrong y is 21");
    CHECK(pattern_where({{5, 4, 6}}, [](int, int row) { return row / 4 == 3; }) == "every wrong z is 3");
    CHECK(pattern_where({{37, 41}}, [](int x, int y) { return (37 * y + x) % 32 == 31; }) ==
          "every wrong index in memory is 31 modulo 32");
}

TEST_CASE("The first and the last elements are recognized", "[compare][pattern]") {
    CHECK(pattern_where({{1000}}, [](int x, int) { return x == 999; }) == "only the last element");
    CHECK(pattern_where({{1000}, {32}}, [](int x, int) { return x == 999; }) == "only the last element");
    CHECK(pattern_where({{2}}, [](int x, int) { return x == 1; }) == "only the last element");
    CHECK(pattern_where({{20, 10}}, [](int x, int y) { return x == 19 && y == 9; }) ==
          "only the last element");
    CHECK(pattern_where({{1000}, {32}}, [](int x, int) { return x >= 997; }) ==
          "only the last 3 elements, at or after index 997");
    CHECK(pattern_where({{1000}}, [](int x, int) { return x == 0; }) == "only the first element");
    CHECK(pattern_where({{1000}, {32}}, [](int x, int) { return x < 5; }) == "only the first 5 elements");
}

TEST_CASE("An index from which on things go wrong is recognized", "[compare][pattern]") {
    CHECK(pattern_where({{3000}, {32}}, [](int x, int) { return x >= 1024; }) ==
          "only the last 1976 elements, at or after index 1024");
    CHECK(pattern_where({{3000}, {32}}, [](int x, int) { return x >= 1024 && x % 7 != 3; }) ==
          "only at or after index 1024");
    const auto scattered = coded(3000, 4);
    CHECK(pattern_where({{3000}}, [&](int x, int) { return x == 2048 || (x > 2048 && scattered[x] == 3); }) ==
          "only at or after index 2048");
    CHECK(pattern_where({{50, 40}, {16, 16}}, [](int x, int y) { return 50 * y + x >= 1024; }) ==
          "only the last 976 elements, at or after index 1024");
}

TEST_CASE("No pattern is claimed where there is none", "[compare][pattern]") {
    CHECK(pattern_where({{1000}}, [](int x, int) { return x == 997; }) == "none");
    CHECK(pattern_where({{1000}, {32}}, [](int x, int) { return x == 1; }) == "none");
    const auto scattered = coded(4000, 9);
    CHECK(pattern_where({{80, 50}, {16, 16}}, [&](int x, int y) { return scattered[80 * y + x] == 3; }) ==
          "none");
    CHECK(pattern_where({{4000}, {32}}, [&](int x, int) { return scattered[x] > 0; }) == "none");
    CHECK(pattern_where({{1000}, {32}}, [](int x, int) { return x == 437; }) == "none");
    CHECK(pattern_where({{1000}, {32}}, [](int x, int) { return x == 437 || x == 469; }) == "none");
    CHECK(pattern_where({{1000}, {32}}, [](int, int) { return true; }) == "none");
    CHECK(pattern_where({{1}, {32}}, [](int, int) { return true; }) == "none");
}

TEST_CASE("Patterns of places hold for bounded comparison too", "[compare][pattern]") {
    const auto expected = reals<double>(1000, 1);
    std::vector<float> got(expected.begin(), expected.end());
    for (std::size_t i = 31; i < got.size(); i += 32) got[i] += 0.5f + 0.1f * static_cast<float>(i % 7);
    CHECK(pattern(difference<float>(got, expected, std::vector(1000, 1e-6), {{1000}})) ==
          "every wrong index is 31 modulo 32");
}

// Patterns of values.

TEST_CASE("An output of zeros is recognized", "[compare][pattern]") {
    const auto expected = coded(100, 1);
    std::vector<float> got(100, 0.0f);
    CHECK(pattern(difference<float>(got, expected, {{100}})) == "everything is zero");
    got[50] = -0.0f;
    CHECK(pattern(difference<float>(got, expected, {{100}})) == "everything is zero");
    got = expected;
    got[3] = got[40] = got[41] = 0;
    CHECK(pattern(difference<float>(got, expected, {{100}})) == "every wrong value is zero");
    for (std::size_t i = 32; i < 100; ++i) got[i] = 0;
    got[3] = expected[3];
    CHECK(pattern(difference<float>(got, expected, {{100}})) ==
          "only the last 68 elements, at or after index 32");
}

TEST_CASE("A shift by one is recognized in every direction", "[compare][pattern]") {
    const int width = 20, height = 8, depth = 5;
    const auto expected = coded(width * height * depth, 6);
    const auto shifted_by = [&](int dx, int dy, int dz) {
        std::vector<float> got(expected.size(), 0.0f);
        for (int z = 0; z < depth; ++z)
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x) {
                    const int u = x + dx, v = y + dy, w = z + dz;
                    if (u < 0 || v < 0 || w < 0 || u >= width || v >= height || w >= depth) continue;
                    got[(z * height + y) * width + x] = expected[(w * height + v) * width + u];
                }
        return pattern(difference<float>(got, expected, {{width, height, depth}, {16, 4, 4}}));
    };
    const std::string text = "each wrong value is the expected value of its ";
    CHECK(shifted_by(-1, 0, 0) == text + "left neighbour (x - 1)");
    CHECK(shifted_by(+1, 0, 0) == text + "right neighbour (x + 1)");
    CHECK(shifted_by(0, -1, 0) == text + "upper neighbour (y - 1)");
    CHECK(shifted_by(0, +1, 0) == text + "lower neighbour (y + 1)");
    CHECK(shifted_by(0, 0, -1) == text + "previous neighbour (z - 1)");
    CHECK(shifted_by(0, 0, +1) == text + "next neighbour (z + 1)");
    CHECK(shifted_by(-17, 0, 0) == "none");
}

TEST_CASE("An exclusive scan in place of an inclusive one is a shift", "[compare][pattern]") {
    std::vector<int> expected(100), got(100, 0);
    std::iota(expected.begin(), expected.end(), 1);
    std::partial_sum(expected.begin(), expected.end(), expected.begin());
    std::copy(expected.begin(), expected.end() - 1, got.begin() + 1);
    CHECK(pattern(difference<int>(got, expected, {{100}, {32}})) ==
          "each wrong value is the expected value of its left neighbour (x - 1)");
    const std::vector<double> exact(expected.begin(), expected.end()), bound(100, 0.25);
    CHECK(pattern(difference<int>(got, exact, bound, {{100}, {32}})) ==
          "each wrong value is the expected value of its left neighbour (x - 1)");
}

TEST_CASE("A picture that begins elsewhere is named by where", "[compare][pattern]") {
    const int width = 40, height = 30;
    const auto expected = coded(width * height, 5);
    const auto said = [&](int dx, int dy) {
        auto got = expected;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const bool inside = x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height;
                got[y * width + x] = inside ? expected[(y + dy) * width + x + dx] : 100.0f;
            }
        const auto text = verdict(difference<float>(got, expected, {{width, height}, {16, 16}}));
        return text.substr(text.find("pattern: ") + 9);
    };
    const std::string begin = "each wrong value is the expected value at ";
    CHECK_THAT(said(2, 2), StartsWith(begin + "(x + 2, y + 2): does something begin elsewhere"));
    CHECK_THAT(said(-7, 0), StartsWith(begin + "(x - 7, y): "));
    CHECK_THAT(said(0, 12), StartsWith(begin + "(x, y + 12): "));
    CHECK_THAT(said(17, 0), !StartsWith(begin));
}

TEST_CASE("Three coincidences with a neighbour are no shift", "[compare][pattern]") {
    const auto expected = coded(100, 2);
    auto got = expected;
    for (const std::size_t i : {13, 40, 71}) got[i] = expected[i - 1];
    CHECK(pattern(difference<float>(got, expected, {{100}})) == "none");
}

TEST_CASE("A shift must explain more than the few that have a neighbour", "[compare][pattern]") {
    const auto expected = coded(100, 2);
    auto got = expected;
    for (std::size_t i = 0; i < 100; i += 2) got[i] = 100 + expected[i];
    for (const std::size_t i : {13, 21, 41, 51, 71, 97}) got[i] = expected[i - 1];
    CHECK(pattern(difference<float>(got, expected, {{2, 50}})) == "none");
}

TEST_CASE("Zeros beside expected zeros are no shift", "[compare][pattern]") {
    std::vector<int> expected(100, 0);
    for (std::size_t i = 1; i < 100; i += 2) expected[i] = static_cast<int>(i);
    std::vector<int> got = expected;
    for (const std::size_t i : {1, 7, 11, 13, 29, 31, 50, 54}) got[i] = 0;
    CHECK(pattern(difference<int>(got, expected, {{100}})) == "every wrong value is zero");
}

TEST_CASE("A constant factor is recognized", "[compare][pattern]") {
    const auto scaled = [](double factor) {
        const auto expected = coded<double>(500, 3);
        auto got = expected;
        for (double& value : got) value *= factor;
        return pattern(difference<double>(got, expected, {{500}, {32}}));
    };
    const auto text = [](const std::string& factor) {
        return "all wrong values are a constant factor (" + factor + ") of the expected";
    };
    CHECK(scaled(2) == text("2"));
    CHECK(scaled(-1) == text("-1"));
    CHECK(scaled(32) == text("32"));
    CHECK(scaled(0.5) == text("1/2"));
    CHECK(scaled(1 / 9.0) == text("1/9"));
    CHECK(scaled(-1 / 3.0) == text("-1/3"));
    CHECK(scaled(0.75) == text("0.75"));
    CHECK(scaled(1.001) == text("1.001"));
}

TEST_CASE("A constant factor is recognized behind rounding, and in some elements only",
          "[compare][pattern]") {
    const auto expected = reals<double>(500, 3);
    std::vector<float> got(expected.begin(), expected.end());
    for (std::size_t i = 3; i < 500; i += 7) got[i] = 2 * got[i] + 1e-5f;
    CHECK(pattern(difference<float>(got, expected, std::vector(500, 1e-5), {{500}})) ==
          "all wrong values are a constant factor (2) of the expected");
}

TEST_CASE("A constant factor is not claimed without evidence", "[compare][pattern]") {
    // A single value, results that differ in the last bit, and a bound wider than the expected value.
    CHECK(pattern(difference<float>(std::vector(9, 2.0f), std::vector(9, 1.0f), {{9}})) == "none");
    const auto expected = reals(500, 3);
    auto got = expected;
    for (float& value : got) value = std::nextafter(value, 9.0f);
    CHECK(pattern(difference<float>(got, expected, {{500}})) == "none");
    const auto small = reals<double>(500, 3, 0.001, 0.002);
    const std::vector<double> wide(500, 0.05);
    CHECK(pattern(difference<float>(reals(500, 4, 5.0f, 6.0f), small, wide, {{500}})) == "none");
    got = expected;
    got[50] *= 2;
    got[77] *= 2;
    CHECK(pattern(difference<float>(got, expected, {{500}})) == "none");
}

TEST_CASE("Ten million equal elements are compared in a moment, ten million wrong ones soon",
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

// The composition of a wrong sum.

namespace {

/// Returns the message for a step that counts element i `times(i)` times, where the elements from `first` up
/// to `last` of `inputs` belong to the sum; or "right". Stores the number of calls in `questions`.
template <class Times>
std::string said_of(std::size_t inputs, std::size_t first, std::size_t last, Times times,
                    std::size_t* questions = nullptr) {
    return kata::miscount(inputs, first, last,
                          [&](const std::vector<int>& values) -> std::optional<double> {
                              if (questions) ++*questions;
                              double sum = 0;
                              for (std::size_t i = 0; i < inputs; ++i)
                                  sum += static_cast<double>(times(i)) * values[i];
                              return sum;
                          })
        .value_or("right");
}

template <class Times>
std::string said_of(std::size_t inputs, Times times) {
    return said_of(inputs, 0, inputs, times);
}

}  // namespace

TEST_CASE("Of a sum that is right nothing is said", "[miscount]") {
    const std::size_t n = GENERATE(0u, 1u, 2u, 3u, 1000u, 10007u);
    CHECK(said_of(n, [](std::size_t) { return 1; }) == "right");
    CHECK(said_of(n, n / 3, n / 2, [n](std::size_t i) { return i >= n / 3 && i < n / 2 ? 1 : 0; }) ==
          "right");
}

TEST_CASE("One element that is missing is found, wherever it lies", "[miscount]") {
    const std::size_t missing = GENERATE(0u, 1u, 37u, 511u, 512u, 10006u);
    CHECK(said_of(10007, [=](std::size_t i) { return i == missing ? 0 : 1; }) ==
          "element " + std::to_string(missing) + " is missing; the other 10006 count once");
    CHECK(said_of(1, [](std::size_t) { return 0; }) == "element 0 is missing");
    CHECK(said_of(2, [](std::size_t i) { return i; }) == "element 0 is missing; the other one counts once");
}

TEST_CASE("Elements in a row that are missing are one range", "[miscount]") {
    CHECK(said_of(10007, [](std::size_t i) { return i >= 1024 && i < 1536 ? 0 : 1; }) ==
          "elements 1024 to 1535 are missing; the other 9495 count once");
    CHECK(said_of(10007, [](std::size_t i) { return i >= 1021 && i < 1539 ? 0 : 1; }) ==
          "elements 1021 to 1538 are missing; the other 9489 count once");
    CHECK(said_of(10007, [](std::size_t i) { return i < 8192 ? 1 : 0; }) ==
          "elements 8192 to 10006 are missing; the other 8192 count once");
    CHECK(said_of(100, [](std::size_t) { return 0; }) == "elements 0 to 99 are missing");
}

TEST_CASE("Every so many elements that are missing are one sentence", "[miscount]") {
    CHECK(said_of(10007, [](std::size_t i) { return i % 2 == 1 ? 0 : 1; }) ==
          "of every 2 elements one is missing, the first of them element 1; the other 5004 count once");
    CHECK(said_of(10007, [](std::size_t i) { return i % 7 == 3 ? 0 : 1; }) ==
          "of every 7 elements one is missing, the first of them element 3; the other 8577 count once");
    CHECK(said_of(4096, [](std::size_t i) { return i % 512 >= 507 ? 0 : 1; }) ==
          "of every 512 elements 5 are missing, the first of them element 507; the other 4056 count once");
    // in one block only
    CHECK(said_of(4096, [](std::size_t i) { return i >= 1024 && i < 1536 && i % 32 == 31 ? 2 : 1; }) ==
          "of every 32 elements one counts twice, the first of them element 1055; the other 4080 count once");
}

TEST_CASE("Elements that count more than once are found", "[miscount]") {
    CHECK(said_of(5000, [](std::size_t i) { return i == 37 ? 2 : 1; }) ==
          "element 37 counts twice; the other 4999 count once");
    CHECK(said_of(5000, [](std::size_t i) { return i >= 4096 ? 3 : 1; }) ==
          "elements 4096 to 4999 count 3 times; the other 4096 count once");
    CHECK(said_of(1000, [](std::size_t) { return 2; }) == "elements 0 to 999 count twice");
}

TEST_CASE("One element in place of all is found, though it may add up to as much", "[miscount]") {
    for (std::size_t one = 0; one < 32; ++one) {
        const auto before = one == 1 ? "element 0 is missing, "
                                     : "elements 0 to " + std::to_string(one - 1) + " are missing, ",
                   behind = one == 30 ? ", element 31 is missing"
                                      : ", elements " + std::to_string(one + 1) + " to 31 are missing";
        CHECK(said_of(32, [=](std::size_t i) { return i == one ? 32 : 0; }) ==
              (one > 0 ? before : "") + "element " + std::to_string(one) + " counts 32 times" +
                  (one < 31 ? behind : ""));
    }
}

TEST_CASE("Several kinds of wrong elements are listed, also those that make up for each other",
          "[miscount]") {
    CHECK(said_of(5000, [](std::size_t i) {
              return i == 41 ? 0 : i == 42 ? 2 : 1;
          }) == "element 41 is missing, element 42 counts twice; the other 4998 count once");
    CHECK(said_of(5000, [](std::size_t i) { return i == 3 || i >= 4990 ? 0
                                                   : i / 256 == 2      ? 2
                                                                       : 1; }) ==
          "element 3 is missing, elements 512 to 767 count twice, elements 4990 to 4999 are missing; "
          "the other 4733 count once");
}

TEST_CASE("Of many wrong elements without a rule the first few are named", "[miscount]") {
    const auto primes = [](std::size_t i) {
        for (std::size_t d = 2; d * d <= i; ++d)
            if (i % d == 0) return 1;
        return i < 2 ? 1 : 0;
    };
    CHECK(
        said_of(5000, primes) ==
        "elements 2 to 3 are missing, element 5 is missing, element 7 is missing, element 11 is missing, and "
        "there are more of them");
}

// tests/grading.py tests that a whole report is sealed, where it is read.
TEST_CASE("A seal is the HMAC-SHA256 of RFC 4231", "[report]") {
    CHECK(kata::hmac_sha256(std::string(20, '\x0b'), "Hi There") ==
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(kata::hmac_sha256("Jefe", "what do ya want for nothing?") ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    CHECK(kata::hmac_sha256(std::string(20, '\xaa'), std::string(50, '\xdd')) ==
          "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
}

TEST_CASE("A key that is too short or too long seals nothing", "[report]") {
    const std::string bytes(GENERATE(0, 31, 33), 'k');
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    close(ends[1]);
    CHECK_THROWS_AS(kata::seal_reports(ends[0]), kata::Error);
    CHECK(close(ends[0]) != 0);  // it cannot be read again
    CHECK_FALSE(kata::reports_are_sealed());
    CHECK(kata::sealed("ok 1 - adds") == "ok 1 - adds");
}

TEST_CASE("A test that fails is slow only where each failure has its share", "[report]") {
    CHECK(kata::kind_of_failure("", 1, {}) == "wrong");
    CHECK(kata::kind_of_failure("", 2, {.shares = {0.5, 0.25}}) == "slow");
    CHECK(kata::kind_of_failure("", 2, {.shares = {0.5}}) == "wrong");  // it needs more and is also wrong
    CHECK(kata::kind_of_failure("open: the body of this kata has not been written yet", 1, {}) == "open");
}

TEST_CASE("A sum of a part of the elements is held to that part", "[miscount]") {
    const auto said = [](auto times) { return said_of(1000, 256, 301, times); };
    CHECK(said([](std::size_t i) { return i >= 256 && i <= 301 ? 1 : 0; }) ==
          "element 301 counts and should not; the other 45 count once");
    CHECK(said([](std::size_t i) { return i >= 256 && i < 300 ? 1 : 0; }) ==
          "element 300 is missing; the other 44 count once");
    CHECK(said([](std::size_t i) { return i < 301 ? 1 : 0; }) ==
          "elements 0 to 255 count and should not; the other 45 count once");
}

TEST_CASE("Nothing is said of what is no sum of the elements", "[miscount]") {
    std::mt19937 engine(1);
    const auto said = [](const kata::SumOf& sum) { return kata::miscount(1000, 0, 1000, sum); };
    CHECK(!said([&](const auto&) { return engine(); }).value_or("").starts_with("element"));
    CHECK(!said([](const auto&) -> std::optional<double> { return std::nullopt; }));
    CHECK(!said([](const auto& values) { return *std::max_element(values.begin(), values.end()); }));
    // a sum that is clamped: each element alone is right, and so are all small ones
    CHECK(!said(
        [](const auto& values) { return std::min(100, std::accumulate(values.begin(), values.end(), 0)); }));
    CHECK(said([](const auto& values) { return 5 + std::accumulate(values.begin(), values.end(), 0); }) ==
          "even where no element adds anything, the result is not 0: something else is added, or what was "
          "there before is not set to 0");
    CHECK(!said([](const auto&) { return std::nan(""); }));
}

TEST_CASE("What is summed up has the name that the chapter gives it", "[miscount]") {
    const auto all_but = [](std::size_t first, std::size_t step) {
        const auto sum = [=](const std::vector<int>& values) {
            int sum = 0;
            for (std::size_t i = 0; i < values.size(); ++i)
                if (i < first || (i - first) % step != 0) sum += values[i];
            return sum;
        };
        return kata::miscount(100, 0, 100, sum, "character");
    };
    CHECK(all_but(7, 100) == "character 7 is missing; the other 99 count once");
    CHECK(all_but(1, 9) ==
          "of every 9 characters one is missing, the first of them character 1; the other 89 count once");
}

TEST_CASE("Few questions are asked, and the same ones every time", "[miscount]") {
    const std::size_t n = GENERATE(100u, 10007u, 100000u);
    const std::size_t k = GENERATE(2u, 3u, 32u, 997u);
    const auto every = [=](std::size_t i) { return i % k == 1 ? 0 : 1; };
    std::size_t questions = 0, again = 0;
    const auto first = said_of(n, 0, n, every, &questions), second = said_of(n, 0, n, every, &again);
    CHECK(first == second);
    CHECK(questions == again);
    CHECK(static_cast<double>(questions) <= 8 * std::log2(static_cast<double>(n)) + 20);
}

// Pictures.

namespace {

using kata::Picture;
using kata::read_picture;
using kata::write_picture;

/// A folder that exists as long as the test.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "kata-check-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

    /// Creates a file of these bytes.
    std::filesystem::path holding(const std::string& bytes, const std::string& name = "picture.pnm") const {
        std::ofstream(path_ / name, std::ios::binary) << bytes;
        return path_ / name;
    }

  private:
    std::filesystem::path path_;
};

/// Returns the message of the Error from reading the file or writing the picture; "" if none is thrown.
template <class Work>
std::string complaint(Work work) {
    try {
        work();
    } catch (const kata::Error& error) {
        return error.what();
    }
    return "";
}

std::string damage(const std::string& bytes) {
    const Folder folder;
    const auto path = folder.holding(bytes);
    const std::string message = complaint([&] { read_picture(path); });
    CHECK_THAT(message, StartsWith(path.string() + ": "));
    CHECK_THAT(message, ContainsSubstring("; "));
    CHECK_THAT(message, !ContainsSubstring("\n"));
    return message;
}

Picture read(const std::string& bytes) {
    const Folder folder;
    return read_picture(folder.holding(bytes));
}

Picture random_picture(int width, int height, int channels) {
    return {width, height, channels,
            coded<unsigned char>(static_cast<std::size_t>(width * height * channels), 1, 255)};
}

using Pixels = std::vector<unsigned char>;

std::string from_hex(std::string_view digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
    return bytes;
}

/// 2 x 1 pixels; the first is transparent.
const std::string translucent_png = from_hex(
    "89504e470d0a1a0a0000000d4948445200000002000000010806000000f4227f8a0000001149444154789c63e0129163"
    "d030b269000003c70153cee3b4450000000049454e44ae426082");
const std::string png_of_16_bits = from_hex(
    "89504e470d0a1a0a0000000d49484452000000010000000110000000006aee47160000000b49444154789c6310320100"
    "005b004796fb1b650000000049454e44ae426082");
/// 8 x 8 pixels of the same red.
const std::string jpeg = from_hex(
    "ffd8ffe000104a46494600010100000100010000ffdb0043000302020302020303030304030304050805050404050a07"
    "0706080c0a0c0c0b0a0b0b0d0e12100d0e110e0b0b1016101113141515150c0f171816141812141514ffdb0043010304"
    "0405040509050509140d0b0d141414141414141414141414141414141414141414141414141414141414141414141414"
    "1414141414141414141414141414ffc00011080008000803012200021101031101ffc400150001010000000000000000"
    "0000000000000007ffc40014100100000000000000000000000000000000ffc400150101010000000000000000000000"
    "0000000708ffc40014110100000000000000000000000000000000ffda000c03010002110311003f008100325c6fffd9");

}  // namespace

TEST_CASE("A picture comes back as it was written", "[picture]") {
    const Folder folder;
    const int channels = GENERATE(1, 3);
    for (const auto& [width, height] : {std::pair{1, 1}, {1, 9}, {9, 1}, {31, 17}, {640, 480}}) {
        const Picture picture = random_picture(width, height, channels);
        write_picture(folder / "picture", picture);
        CHECK(read_picture(folder / "picture") == picture);
    }
    Picture ramp{16, 16, 1, Pixels(256)};
    std::iota(ramp.pixels.begin(), ramp.pixels.end(), static_cast<unsigned char>(0));
    write_picture(folder / "ramp.png", ramp);
    CHECK(read_picture(folder / "ramp.png") == ramp);
}

TEST_CASE("A longer file is replaced as a whole", "[picture]") {
    const Folder folder;
    write_picture(folder / "small.png", random_picture(2, 2, 3));
    write_picture(folder / "a.png", random_picture(50, 50, 3));
    write_picture(folder / "a.png", random_picture(2, 2, 3));
    CHECK(std::filesystem::file_size(folder / "a.png") == std::filesystem::file_size(folder / "small.png"));
}

TEST_CASE("PNG, JPEG, PGM and PPM are read, and transparency is left out", "[picture]") {
    CHECK(read("P5\n# made by hand\n3 1\n255\nabc") == Picture{3, 1, 1, {'a', 'b', 'c'}});
    CHECK(read("P6 1 1 255 abc") == Picture{1, 1, 3, {'a', 'b', 'c'}});
    CHECK(read(translucent_png) == Picture{2, 1, 3, {10, 20, 30, 40, 50, 60}});
    const Picture photo = read(jpeg);
    CHECK(photo.width == 8);
    CHECK(photo.height == 8);
    CHECK(photo.channels == 3);
    for (std::size_t i = 0; i < photo.pixels.size(); i += 3) {
        CHECK(photo.pixels[i] > 195);  // a red of 200, 30, 30
        CHECK(photo.pixels[i + 1] < 40);
    }
}

TEST_CASE("A file that is not there, or no file, is said to be so", "[picture][damage]") {
    const Folder folder;
    const auto reading = [](const std::filesystem::path& path) {
        return complaint([&] { read_picture(path); });
    };
    CHECK_THAT(reading(folder / "none.pgm"),
               Equals((folder / "none.pgm").string() + ": there is no such file; check the path"));
    CHECK_THAT(reading(folder / "none/none.pgm"), ContainsSubstring("there is no such file"));
    CHECK_THAT(reading(folder / ""), ContainsSubstring("is a folder"));
    CHECK_THAT(reading("/dev/null"), ContainsSubstring("is no regular file"));
    CHECK_THAT(reading(""), ContainsSubstring("there is no such file"));
}

TEST_CASE("A file that is no picture, or not a whole one, is refused in one line", "[picture][damage]") {
    CHECK_THAT(damage(""), ContainsSubstring("is empty"));
    for (const std::string other :
         {"P", "P1 1 1", "P2 1 1 255 7", "P7", "hello, world", "\x89PNG\r\n", "\xff\xd8"})
        CHECK_THAT(damage(other), ContainsSubstring("is no PNG, JPEG, binary PGM or PPM that can be read"));
    for (const std::string& whole : {translucent_png, jpeg, std::string("P6 2 2 255\nabcdefghijkl")})
        for (const std::size_t missing : {5, 12})
            CHECK_THAT(damage(whole.substr(0, whole.size() - missing)),
                       ContainsSubstring("is cut off or damaged"));
    CHECK_THAT(damage("P5 0 1 255 abc"), ContainsSubstring("; "));
}

TEST_CASE("A picture that is too large, or of 16 bits, is refused before it is decoded",
          "[picture][damage]") {
    CHECK_THAT(damage("P5 20000 20000 255\nabc"),
               ContainsSubstring("is too large: 20000 x 20000 pixels, of which 100 million can be read"));
    CHECK_THAT(damage("P5 1 1 65535\nab"), ContainsSubstring("has 16 bits a sample"));
    CHECK_THAT(damage(png_of_16_bits), ContainsSubstring("has 16 bits a sample"));
}

TEST_CASE("A destination that cannot be written is named with the reason", "[picture][damage]") {
    const Folder folder;
    const int side = GENERATE(1, 200);
    const auto writing = [&](const std::filesystem::path& path) {
        return complaint([&] { write_picture(path, random_picture(side, side, 3)); });
    };
    CHECK_THAT(
        writing(folder / "none/a.ppm"),
        StartsWith((folder / "none/a.ppm").string() + ": cannot be written (No such file or directory); "));
    CHECK_THAT(writing(folder / ""), ContainsSubstring("cannot be written (Is a directory)"));
    if (std::filesystem::exists("/dev/full"))
        CHECK_THAT(writing("/dev/full"), ContainsSubstring("cannot be written (No space left on device)"));
}

TEST_CASE("A picture that contradicts itself is not written", "[picture][damage]") {
    const Folder folder;
    const auto writing = [&](const Picture& picture) {
        const std::string message = complaint([&] { write_picture(folder / "a.ppm", picture); });
        CHECK_FALSE(std::filesystem::exists(folder / "a.ppm"));
        return message;
    };
    CHECK_THAT(writing({2, 2, 2, Pixels(8)}), ContainsSubstring("2 channels"));
    CHECK_THAT(writing({2, 2, 1, Pixels(5)}), ContainsSubstring("has 5 samples, its size needs 4"));
    CHECK_THAT(writing({0, 2, 1, {}}), ContainsSubstring("0 x 2 pixels"));
    CHECK_THAT(writing({-1, -4, 1, Pixels(4)}), ContainsSubstring("-1 x -4 pixels"));
    CHECK_THAT(writing({2147483647, 2147483647, 3, {}}), ContainsSubstring("has 0 samples"));
}

TEST_CASE("What was counted of a module is remembered until it or the suite is built anew", "[remembered]") {
    const Folder folder;
    const auto module = folder.holding("module", "a.so"), suite = folder.holding("suite", "suite");
    const auto counts = [] {
        kata::Counts made;
        made.barriers = 7, made.contention = 9;
        return made;
    }();
    CHECK_FALSE(kata::remembered(module, suite));
    kata::remember(module, suite, counts);
    REQUIRE(kata::remembered(module, suite));
    CHECK(*kata::remembered(module, suite) == counts);
    CHECK_FALSE(kata::remembered(module, folder.holding("another", "other")));
    CHECK_FALSE(kata::remembered(module, suite, "a larger problem"));

    const auto changed = folder / GENERATE("a.so", "suite");
    const auto time = last_write_time(changed);
    SECTION("at another time") { last_write_time(changed, time + std::chrono::nanoseconds(1)); }
    SECTION("of another size") {
        std::ofstream(changed, std::ios::app) << "and more";
        last_write_time(changed, time);
    }
    SECTION("and is gone") { std::filesystem::remove(changed); }
    CHECK_FALSE(kata::remembered(module, suite));
}

TEST_CASE("Counts that are not whole are not remembered", "[remembered]") {
    const Folder folder;
    const auto module = folder.holding("module", "a.so"), suite = folder.holding("suite", "suite");
    kata::remember(module, suite, {});
    const auto file = folder / "a.so.counts";
    const auto whole = std::filesystem::file_size(file);
    resize_file(file, whole + GENERATE(-1, 1));
    CHECK_FALSE(kata::remembered(module, suite));
    resize_file(file, 0);
    CHECK_FALSE(kata::remembered(module, suite));
}

TEST_CASE("Where nothing can be written nothing is remembered, and nobody minds", "[remembered]") {
    const Folder folder;
    const auto suite = folder.holding("suite", "suite");
    kata::remember(folder / "none/a.so", suite, {});
    CHECK_FALSE(kata::remembered(folder / "none/a.so", suite));
    const auto module = folder.holding("module", "a.so");
    std::filesystem::create_directory(folder / "a.so.counts");  // where the file would be
    kata::remember(module, suite, {});
    CHECK_FALSE(kata::remembered(module, suite));
}
