// Which inputs count wrongly in a weighted sum.
#include "check/displaced.hpp"

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
                   return kata::Answer{sum(got, values) + more * values[7] * values[8],
                                       sum(expected, values)};
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
}

TEST_CASE("No inputs are named if they do not explain all", "[displaced]") {
    CHECK(said_of(right, right, 1) == "");
    CHECK(said_of({{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}, right) == "");
}
