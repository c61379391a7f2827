// How a wrong sum came about.
#include "check/miscount.hpp"

#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace {

/// Returns the explanation for a step that adds element i `times(i)` times, or "right". There are `inputs`
/// elements, and those from `first` up to `last` belong to the sum. Stores the number of queries in
/// `questions`.
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

TEST_CASE("A correct sum is not reported", "[miscount]") {
    const std::size_t n = GENERATE(0u, 1u, 2u, 3u, 1000u, 10007u);
    CHECK(said_of(n, [](std::size_t) { return 1; }) == "right");
    CHECK(said_of(n, n / 3, n / 2, [n](std::size_t i) { return i >= n / 3 && i < n / 2 ? 1 : 0; }) ==
          "right");
}

TEST_CASE("A single missing element is found, wherever it is", "[miscount]") {
    const std::size_t missing = GENERATE(0u, 1u, 37u, 511u, 512u, 10006u);
    CHECK(said_of(10007, [=](std::size_t i) { return i == missing ? 0 : 1; }) ==
          "element " + std::to_string(missing) + " is missing; the other 10006 count once");
    CHECK(said_of(1, [](std::size_t) { return 0; }) == "element 0 is missing");
    CHECK(said_of(2, [](std::size_t i) { return i; }) == "element 0 is missing; the other one counts once");
}

TEST_CASE("Consecutive missing elements are one range", "[miscount]") {
    CHECK(said_of(10007, [](std::size_t i) { return i >= 1024 && i < 1536 ? 0 : 1; }) ==
          "elements 1024 to 1535 are missing; the other 9495 count once");
    CHECK(said_of(10007, [](std::size_t i) { return i >= 1021 && i < 1539 ? 0 : 1; }) ==
          "elements 1021 to 1538 are missing; the other 9489 count once");
    CHECK(said_of(10007, [](std::size_t i) { return i < 8192 ? 1 : 0; }) ==
          "elements 8192 to 10006 are missing; the other 8192 count once");
    CHECK(said_of(100, [](std::size_t) { return 0; }) == "elements 0 to 99 are missing");
}

TEST_CASE("Missing elements at a regular distance are one sentence", "[miscount]") {
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

TEST_CASE("A single element instead of all is found, even if the sum is the same", "[miscount]") {
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

TEST_CASE("Several kinds of wrong elements are listed, even if they compensate each other", "[miscount]") {
    CHECK(said_of(5000, [](std::size_t i) {
              return i == 41 ? 0 : i == 42 ? 2 : 1;
          }) == "element 41 is missing, element 42 counts twice; the other 4998 count once");
    CHECK(said_of(5000, [](std::size_t i) { return i == 3 || i >= 4990 ? 0
                                                   : i / 256 == 2      ? 2
                                                                       : 1; }) ==
          "element 3 is missing, elements 512 to 767 count twice, elements 4990 to 4999 are missing; "
          "the other 4733 count once");
}

TEST_CASE("The first few of many wrong elements without a pattern are named", "[miscount]") {
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

TEST_CASE("A sum of a part of the elements is compared with that part", "[miscount]") {
    const auto said = [](auto times) { return said_of(1000, 256, 301, times); };
    CHECK(said([](std::size_t i) { return i >= 256 && i <= 301 ? 1 : 0; }) ==
          "element 301 counts and should not; the other 45 count once");
    CHECK(said([](std::size_t i) { return i >= 256 && i < 300 ? 1 : 0; }) ==
          "element 300 is missing; the other 44 count once");
    CHECK(said([](std::size_t i) { return i < 301 ? 1 : 0; }) ==
          "elements 0 to 255 count and should not; the other 45 count once");
}

TEST_CASE("A result that is not a sum of the elements is not explained", "[miscount]") {
    std::mt19937 engine(1);
    const auto said = [](const kata::SumOf& sum) { return kata::miscount(1000, 0, 1000, sum); };
    CHECK(!said([&](const auto&) { return engine(); }).value_or("").starts_with("element"));
    CHECK(!said([](const auto&) -> std::optional<double> { return std::nullopt; }));
    CHECK(!said([](const auto& values) { return *std::max_element(values.begin(), values.end()); }));
    // elements that saturate: each alone is right, and so are small sums
    CHECK(!said(
        [](const auto& values) { return std::min(100, std::accumulate(values.begin(), values.end(), 0)); }));
    CHECK(said([](const auto& values) { return 5 + std::accumulate(values.begin(), values.end(), 0); }) ==
          "even where no element adds anything, the result is not 0");
    CHECK(!said([](const auto&) { return std::nan(""); }));
    CHECK(said([](const auto& values) {  // the last one that adds anything is left out
              const auto last = std::find_if(values.rbegin(), values.rend(), [](int v) { return v != 0; });
              return std::accumulate(values.begin(), values.end(), 0) - (last == values.rend() ? 0 : *last);
          }) == "where element 0 alone adds 1, and all others nothing, the result is 0");
}

TEST_CASE("The summed elements have the name that the chapter gives them", "[miscount]") {
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

TEST_CASE("Few queries are made, and the same ones every time", "[miscount]") {
    const std::size_t n = GENERATE(100u, 10007u, 100000u);
    const std::size_t k = GENERATE(2u, 3u, 32u, 997u);
    const auto every = [=](std::size_t i) { return i % k == 1 ? 0 : 1; };
    std::size_t questions = 0, again = 0;
    const auto first = said_of(n, 0, n, every, &questions), second = said_of(n, 0, n, every, &again);
    CHECK(first == second);
    CHECK(questions == again);
    CHECK(static_cast<double>(questions) <= 8 * std::log2(static_cast<double>(n)) + 20);
}
