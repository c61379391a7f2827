// Test data.
#include "check/data.hpp"

#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

TEMPLATE_TEST_CASE("Coded values are whole numbers up to the maximum and never 0", "[data]", float, double,
                   int, unsigned, unsigned char, unsigned long long) {
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

TEST_CASE("Coded neighbours differ for every maximum that allows it", "[data]") {
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

TEST_CASE("Coded refuses a maximum that the type cannot hold", "[data]") {
    CHECK_THROWS_AS(coded(1, 1, 0), std::invalid_argument);
    CHECK_THROWS_AS(coded(1, 1, -3), std::invalid_argument);
    CHECK_THROWS_AS(coded<unsigned char>(1, 1, 256), std::invalid_argument);
    CHECK_THROWS_AS(coded<float>(1, 1, (1 << 24) + 1), std::invalid_argument);
    CHECK_NOTHROW(coded<float>(1, 1, 1 << 24));
    CHECK(coded(0, 1).empty());
}

TEST_CASE("Reals fill their range evenly, are the same for a seed and differ between seeds", "[data]") {
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
