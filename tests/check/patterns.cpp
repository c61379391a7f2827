// Patterns of places and values in wrong results.
#include "check/compare.hpp"
#include "check/data.hpp"
#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

TEST_CASE("The last block of several is recognized", "[compare][pattern]") {
    const std::string last = "all wrong elements lie in the last block along ";
    CHECK(pattern_where({{70}, {32}}, [](int x, int) { return x >= 64; }) == last + "x, where x >= 64");
    CHECK(pattern_where({{1000}, {32}}, [](int x, int) { return x == 993 || x == 996 || x == 999; }) ==
          last + "x, where x >= 992");
    CHECK(pattern_where({{33}, {32}}, [](int x, int) { return x == 32; }) == last + "x, where x >= 32");
    CHECK(pattern_where({{1000}, {32}}, [](int x, int) { return x >= 993; }) == last + "x, where x >= 992");
    CHECK(pattern_where({{64}, {32}}, [](int x, int) { return x >= 32; }) == last + "x, where x >= 32");
    CHECK(pattern_where({{37, 20}, {16, 16}}, [](int x, int) { return x >= 32; }) ==
          last + "x, where x >= 32");
    CHECK(pattern_where({{37, 20}, {16, 16}}, [](int, int y) { return y >= 16; }) ==
          last + "y, where y >= 16");
    CHECK(pattern_where({{37, 20}, {16, 16}}, [](int x, int y) { return x >= 32 && y >= 16; }) ==
          last + "x and y, where x >= 32 and y >= 16");
    CHECK(pattern_where({{37, 20}, {16, 16}}, [](int x, int y) { return x >= 32 || y >= 16; }) ==
          last + "x or y, where x >= 32 or y >= 16");
    CHECK(pattern_where({{8, 4, 9}, {8, 4, 4}}, [](int, int row) { return row >= 32; }) ==
          last + "z, where z >= 8");
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
    // Two of four sides.
    CHECK(pattern_where({{40, 30}}, [](int x, int y) { return x == 0 || y == 29; }) ==
          "only on the border of the array, within 1 of the edge");
    CHECK(pattern_where({{40, 30}}, [](int, int y) { return y == 0 || y == 29; }) ==
          "only on the border of the array along y, within 1 of the edge");
    // A single block that is larger than the array.
    CHECK(pattern_where({{20, 20}, {32, 32}}, [](int x, int) { return x < 2; }) ==
          "only on the border of the array along x, within 2 of the edge");
    // Seven bins of a histogram have no border.
    CHECK(pattern_where({{7}}, [](int x, int) { return x == 0 || x == 6; }) == "none");
    // A third of the array is not a border, although it includes it.
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

TEST_CASE("An index from which all elements are wrong is recognized", "[compare][pattern]") {
    CHECK(pattern_where({{3000}, {32}}, [](int x, int) { return x >= 1024; }) ==
          "only the last 1976 elements, at or after index 1024");
    CHECK(pattern_where({{3000}, {32}}, [](int x, int) { return x >= 1024 && x % 7 != 3; }) ==
          "only at or after index 1024");
    const auto scattered = coded(3000, 4);
    CHECK(pattern_where({{3000}}, [&](int x, int) { return x == 2048 || (x > 2048 && scattered[x] == 3); }) ==
          "only at or after index 2048");
    CHECK(pattern_where({{50, 40}, {16, 16}}, [](int x, int y) { return 50 * y + x >= 1024; }) ==
          "only the last 976 elements, at or after index 1024 (x 24, y 20)");
}

TEST_CASE("No pattern is reported if there is none", "[compare][pattern]") {
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

TEST_CASE("Patterns of places are recognized in bounded comparisons, too", "[compare][pattern]") {
    const auto expected = reals<double>(1000, 1);
    std::vector<float> got(expected.begin(), expected.end());
    for (std::size_t i = 31; i < got.size(); i += 32) got[i] += 0.5f + 0.1f * static_cast<float>(i % 7);
    CHECK(pattern(difference<float>(got, expected, std::vector(1000, 1e-6), {{1000}})) ==
          "every wrong index is 31 modulo 32");
}

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

TEST_CASE("An exclusive scan instead of an inclusive one is a shift", "[compare][pattern]") {
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

TEST_CASE("A shifted picture is reported with its offset", "[compare][pattern]") {
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
    CHECK_THAT(said(2, 2), StartsWith(begin + "(x + 2, y + 2)"));
    CHECK_THAT(said(-7, 0), StartsWith(begin + "(x - 7, y)"));
    CHECK_THAT(said(0, 12), StartsWith(begin + "(x, y + 12)"));
    CHECK_THAT(said(17, 0), !StartsWith(begin));
}

TEST_CASE("Three coincidences with a neighbour are not a shift", "[compare][pattern]") {
    const auto expected = coded(100, 2);
    auto got = expected;
    for (const std::size_t i : {13, 40, 71}) got[i] = expected[i - 1];
    CHECK(pattern(difference<float>(got, expected, {{100}})) == "none");
}

TEST_CASE("A shift must explain more than the few elements that have a neighbour", "[compare][pattern]") {
    const auto expected = coded(100, 2);
    auto got = expected;
    for (std::size_t i = 0; i < 100; i += 2) got[i] = 100 + expected[i];
    for (const std::size_t i : {13, 21, 41, 51, 71, 97}) got[i] = expected[i - 1];
    CHECK(pattern(difference<float>(got, expected, {{2, 50}})) == "none");
}

TEST_CASE("Zeros next to expected zeros are not a shift", "[compare][pattern]") {
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
        return "all wrong values are the expected ones times a constant factor (" + factor + ")";
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

TEST_CASE("A constant factor is recognized despite rounding, and in a subset of the elements",
          "[compare][pattern]") {
    const auto expected = reals<double>(500, 3);
    std::vector<float> got(expected.begin(), expected.end());
    for (std::size_t i = 3; i < 500; i += 7) got[i] = 2 * got[i] + 1e-5f;
    CHECK(pattern(difference<float>(got, expected, std::vector(500, 1e-5), {{500}})) ==
          "all wrong values are the expected ones times a constant factor (2)");
}

TEST_CASE("A constant factor is not reported without evidence", "[compare][pattern]") {
    // A single value, results that differ in the last bit, and a bound wider than the expected values.
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

TEST_CASE("A constant difference is recognized", "[compare][pattern]") {
    const auto expected = coded<int>(500, 3);
    auto got = expected;
    for (std::size_t i = 1; i < got.size(); i += 3) --got[i];
    CHECK(pattern(difference<int>(got, expected, {{500}})) ==
          "each wrong value is 1 less than the expected one");
    got = expected;
    for (std::size_t i = 400; i < got.size(); ++i) --got[i];
    CHECK(pattern(difference<int>(got, expected, {{500}})) ==
          "each wrong value is 1 less than the expected one; only the last 100 elements, at or after index "
          "400");
    // Luminances rounded down, as in a picture that turns gray.
    const auto exact = reals<double>(500, 4, 10, 200);
    std::vector<unsigned char> bytes(500);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(exact[i] + 2.5);
    CHECK(pattern(difference<unsigned char>(bytes, exact, std::vector(500, 0.5001), {{500}})) ==
          "each wrong value is 2 more than the expected one");
    const auto real = reals<double>(500, 3);
    std::vector<float> floats(real.begin(), real.end());
    for (float& value : floats) value += 0.25f;
    CHECK(pattern(difference<float>(floats, real, std::vector(500, 1e-6), {{500}})) ==
          "each wrong value is 0.25 more than the expected one");
    floats[77] += 0.01f;
    CHECK(pattern(difference<float>(floats, real, std::vector(500, 1e-6), {{500}})) == "none");
}

TEST_CASE("Counters that are too narrow are recognized", "[compare][pattern]") {
    const std::vector<unsigned> expected{12, 300, 70000, 255}, eight{12, 44, 112, 255},
        sixteen{12, 300, 4464, 255};
    CHECK(pattern(difference<unsigned>(eight, expected, {{4}})) ==
          "each wrong value is the expected one modulo 256, as if it had been kept in 8 bits");
    CHECK(pattern(difference<unsigned>(sixteen, expected, {{4}})) ==
          "each wrong value is the expected one modulo 65536, as if it had been kept in 16 bits");
}

TEST_CASE("Exchanged and reversed elements are recognized", "[compare][pattern]") {
    const std::vector<unsigned> expected{11, 12, 13, 14, 15, 16, 17};
    const auto said = [&](const std::vector<unsigned>& got) {
        return pattern(difference<unsigned>(got, expected, {{7}}));
    };
    CHECK(said({17, 16, 15, 14, 13, 12, 11}) == "the elements are in reverse order");
    CHECK(said({12, 11, 14, 13, 15, 16, 17}) == "elements 0 and 1, 2 and 3 have each other's values");
    CHECK(said({12, 13, 11, 14, 15, 16, 17}) == "only the first 3 elements");
    const std::vector<unsigned> square{11, 12, 13, 14}, exchanged{13, 12, 11, 14};
    CHECK(pattern(difference<unsigned>(exchanged, square, {{2, 2}})) ==
          "elements (x 0, y 0) and (x 0, y 1) have each other's values");
}

TEST_CASE("Elements that are repeated in place of others are recognized", "[compare][pattern]") {
    const auto expected = coded<int>(1000, 5, 1000);
    const auto repeated = [&](std::size_t whole, std::size_t part) {
        auto got = expected;
        for (std::size_t i = 0; i < got.size(); ++i) got[i] = expected[i / whole * whole + i % part];
        return pattern(difference<int>(got, expected, {{1000}}));
    };
    const std::string earlier = "each wrong value is the expected value of an earlier element: the first ";
    CHECK(repeated(16, 4) == earlier + "4 of each 16 are repeated");
    CHECK(repeated(32, 1) == earlier + "of each 32 are repeated");
    CHECK(repeated(2000, 64) == earlier + "64 of all are repeated");
    CHECK(repeated(24, 4) == "none");
}

TEST_CASE("Values that are off by little are reported with their right digits", "[compare]") {
    const auto expected = reals<double>(500, 3, 1, 2);
    std::vector<float> got(expected.begin(), expected.end());
    for (std::size_t i = 0; i < got.size(); ++i) got[i] *= 1 + 1e-5f * static_cast<float>(i % 7);
    const auto said = verdict(difference<float>(got, expected, std::vector(500, 1e-5), {{500}}));
    CHECK_THAT(said, ContainsSubstring("\nall wrong values are right to 4 digits: the error is at most 1"));
    got[9] *= 2;
    CHECK_THAT(verdict(difference<float>(got, expected, std::vector(500, 1e-5), {{500}})),
               !ContainsSubstring("digits"));
}
