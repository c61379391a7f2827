// The suite of the sort chapter: what every step must compute.
#include "judge/trial.hpp"
#include "sort.problem.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <stdexcept>

using namespace sort::problem;
using kata::only_on_a_gpu;
using kata::Order;
using kata::require_right;
using sort::Keys;
using sort::Pair;

// First in the process, because a step that keeps something from its first call fails in the second one.
TEST_CASE("three calls one after the other", "[equivalence]") {
    require_right(elements(512));
    require_right(elements(3000));
    require_right(elements(300));
}

TEST_CASE("a step sorts arrays of every size around its warp, block and tile", "[equivalence]") {
    require_right(elements(GENERATE(1u, 2u, 3u, 7u, 31u, 32u, 33u, 127u, 128u, 129u, 255u, 256u, 257u, 511u,
                                    513u, 895u, 896u, 897u, 1021u, 1791u, 1793u)));
}

TEST_CASE("an array of several tiles and a bit", "[equivalence]") { require_right(elements(9001)); }

TEST_CASE("an empty array is no work and no error", "[equivalence]") { require_right(elements(0)); }

TEST_CASE("both halves of a 64-bit key decide the order", "[equivalence]") {
    require_right(elements<std::uint64_t>(GENERATE(1u, 37u, 1500u)));
    auto p = elements<std::uint64_t>(600);
    for (auto& key : p.in) key &= 0xffff'ffff;  // the upper half is equal
    std::ranges::sort(p.in.begin(), p.in.begin() + static_cast<std::ptrdiff_t>(p.first_list));
    std::ranges::sort(p.in.begin() + static_cast<std::ptrdiff_t>(p.first_list), p.in.end());
    require_right(p);
}

// The values number the elements, so that an exchange of two with the same key shows.
TEST_CASE("elements with the same key stay in their order", "[equivalence]") {
    require_right(elements<Pair>(GENERATE(64u, 2000u), GENERATE(Keys::few, Keys::equal)));
}

TEST_CASE("keys of any distribution", "[equivalence]") {
    const auto keys = GENERATE(Keys::sorted, Keys::reversed, Keys::few, Keys::skewed, Keys::frequent,
                               Keys::equal, Keys::ends);
    require_right(elements(1900, keys));
    require_right(elements<Pair>(700, keys));
}

TEST_CASE("either of two lists may be short or empty, or have only smaller keys than the other",
          "[equivalence][lists]") {
    const auto [m, n] = GENERATE(
        table<unsigned, unsigned>({{0, 1}, {1, 0}, {0, 900}, {900, 0}, {1, 999}, {999, 1}, {700, 700}}));
    require_right(lists<std::uint32_t>(m, n, Keys::uniform));
    require_right(lists<std::uint32_t>(m, n, Keys::sorted));    // all of the first list precede the second
    require_right(lists<std::uint32_t>(m, n, Keys::reversed));  // all of the second list precede the first
    require_right(lists<Pair>(m, n, Keys::equal));
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    kata::require_right_in_any_order(elements<Pair>(2500, Keys::few));
    kata::require_right_in_any_order(elements(12'000));
}

TEST_CASE("a tile adds up whatever the tiles to its left have published by then",
          "[equivalence][looks back]") {
    require_right(
        elements(60'000, Keys::uniform, 1),
        {{.order = Order::shuffled, .seed = GENERATE(range(1u, 5u)), .metered = false, .resident = 6}});
}

TEST_CASE("a second array gets an answer of its own", "[equivalence]") {
    kata::require_answers_of_their_own(elements<Pair>(1200, Keys::uniform, 1),
                                       elements<Pair>(1200, Keys::uniform, 2));
}

// A counter of 16 bits runs over, and counts are scanned by several blocks.
TEST_CASE("a large array", "[equivalence]") {
    auto p = elements(70'003);
    for (auto& key : p.in) key = std::min(key, 0x0fff'ffffu);  // more than 2^16 are equal
    require_right(p, kata::unmetered);
}

TEST_CASE("a very large array", "[equivalence]") {
    only_on_a_gpu();
    require_right(elements(5'000'011));
    require_right(elements<Pair>(1'000'003, GENERATE(Keys::few, Keys::skewed, Keys::reversed)));
    require_right(elements<std::uint64_t>(1'000'003));
}

TEST_CASE("a huge array", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right(elements(sort::max_elements, GENERATE(Keys::sorted, Keys::equal)));
}

TEST_CASE("lengths outside the limits are refused in one line", "[limits]") {
    CHECK_THROWS_AS(sort::check(-1), std::invalid_argument);
    CHECK_THROWS_AS(sort::check(sort::max_elements, 1), std::invalid_argument);
    CHECK_NOTHROW(sort::check(sort::max_elements));
}
