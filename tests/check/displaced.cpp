// Tests which inputs are named as the cause of a wrong weighted sum.
#include "check/miscount.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <vector>

namespace {

using Weights = std::map<std::size_t, double>;

std::string said_of(const Weights& got, const Weights& expected, double more = 0) {
    const auto sum = [](const Weights& weights, const std::vector<int>& values) {
        double sum = 0;
        for (const auto& [i, weight] : weights) sum += weight * values[i];
        return sum;
    };
    return kata::displaced(
               1000,
               [&](const std::vector<int>& values) {
                   return kata::Sums{sum(got, values) + more * values[7] * values[8], sum(expected, values)};
               },
               [](std::size_t i) { return std::to_string(i); })
        .value_or("");
}

const Weights right{{10, 3}, {11, -2}, {500, 5}, {999, 7}};

}  // namespace

TEST_CASE("A wrong weighted sum is explained by its inputs", "[displaced]") {
    CHECK(said_of(right, right) == "");
    CHECK(said_of({{10, 3}, {11, -2}, {500, 5}}, right) == "999 is missing");
    CHECK(said_of({{10, 8}, {11, -2}, {999, 7}}, right) == "10 counts in place of 500");
    CHECK(said_of({{0, 3}, {11, -2}, {500, 5}, {999, 7}}, right) == "0 counts in place of 10");
    CHECK(said_of({{10, 3}, {11, -2}, {500, 5}, {998, 0.5}, {999, 7}}, right) == "998 counts and should not");
    CHECK(said_of({{10, 3}, {11, -2}, {500, 2.5}, {999, 7}}, right) == "500 counts times 2.5 instead of 5");
    CHECK(said_of({{10, -2}, {11, 3}, {500, 5}, {999, 7}}, right) == "10 and 11 have each other's weights");
}

TEST_CASE("Of many inputs that are displaced alike, the first and the last are named", "[displaced]") {
    const auto row = [](std::size_t first, double weight = 0) {
        Weights weights;
        for (std::size_t i = 0; i < 6; ++i) weights[first + 100 * i] = weight != 0 ? weight : 1.0 + i;
        return weights;
    };
    const auto both = [](Weights a, const Weights& b) {
        a.insert(b.begin(), b.end());
        return a;
    };
    CHECK(said_of(row(20), row(21)) ==
          "20 counts in place of 21; the same is true of 5 more, each just as far off, the last of them 520");
    CHECK(said_of(row(20), both(row(20), row(30))) ==
          "30 is missing; the same is true of 5 more, the last of them 530");
    CHECK(said_of(both(row(20, 2), row(50, 3)), both(row(20, 3), row(50, 2))) ==
          "20 and 50 have each other's weights; the same is true of 5 more pairs, the last of them that of "
          "520");
    // not all in the same way
    CHECK(said_of(both(row(20), {{7, 9}}), row(21)) ==
          "7 counts and should not, 20 counts in place of 21, 120 counts in place of 121, and 4 more do not "
          "count as they should");
}

TEST_CASE("No inputs are named if they do not explain all", "[displaced]") {
    CHECK(said_of(right, right, 1) == "");
    Weights many;
    for (std::size_t i = 0; i < 20; ++i) many[20 * i] = 1.0 + i;
    CHECK(said_of(many, right) == "");
}
