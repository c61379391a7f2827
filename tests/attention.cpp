// The suite of the attention chapter: what every step must compute.
#include "attention.problem.hpp"
#include "judge/trial.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <limits>
#include <stdexcept>

using namespace attention::problem;
using attention::Matrix;
using attention::Shape;
using kata::only_on_a_gpu;
using kata::require_right;
using Float = std::numeric_limits<float>;

TEST_CASE("three matrices one after the other", "[equivalence][softmax]") {
    require_right(rows({5, 700}));
    require_right(rows({9, 300}, 2));
    require_right(rows({3, 700}, 3));
}

TEST_CASE("a step takes rows of every length around its warp and block", "[equivalence][softmax]") {
    require_right(rows({3, GENERATE(1, 2, 3, 31, 32, 33, 64, 127, 128, 129, 255, 256, 257, 511, 513, 1000)}));
}

TEST_CASE("long rows", "[equivalence][softmax]") {
    require_right(rows({2, GENERATE(1023, 1024, 1025, 4095, 4096, 4097, 8192, 16383, 16384)}));
}

TEST_CASE("one row, and one column", "[equivalence][softmax]") {
    require_right(rows(GENERATE(Matrix{1, 900}, Matrix{700, 1}, Matrix{1, 1})));
}

TEST_CASE("a matrix without rows or columns is no work and no error", "[equivalence][softmax]") {
    require_right(rows(GENERATE(Matrix{0, 0}, Matrix{0, 5}, Matrix{5, 0})));
}

// exp(1000) is no float, and exp(-1000) is 0 in float.
TEST_CASE("all elements of a row are far above or below zero", "[equivalence][softmax]") {
    const float about = GENERATE(1000.0f, -1000.0f);
    require_right(rows({3, 600}, 1, about - 8, about + 8));
}

TEST_CASE("the largest element may come first, last, or more than once", "[equivalence][softmax]") {
    auto p = rows({4, 1500}, 3);
    const auto row = [&](int i) { return p.in.begin() + i * 1500; };
    std::sort(row(0), row(1));
    std::sort(row(1), row(2), std::greater{});
    row(2)[1499] = 60;
    std::fill(row(3), p.in.end(), 7.0f);
    require_right(p);
}

// -∞ - -∞ is NaN. A thread, a warp or a whole block may have nothing else in the beginning.
TEST_CASE("elements of -infinity become 0", "[equivalence][softmax]") {
    constexpr float inf = Float::infinity();
    auto p = rows({5, 1400}, 4);
    const auto row = [&](int i) { return p.in.begin() + i * 1400; };
    std::fill(row(0), row(0) + 1399, -inf);  // only the last element has a share
    std::fill(row(1) + 1, row(2), -inf);     // only the first element has a share
    std::fill(row(2), row(2) + 700, -inf);   // blocks of 256 and more find nothing at first
    for (int i = 0; i < 1400; i += 2) row(3)[i] = -inf;
    for (int i = 0; i < 1400; ++i)
        if (i % 256 >= 32) row(4)[i] = -inf;  // seven of eight warps find nothing at all
    require_right(p);
}

TEST_CASE("NaN stays in its row", "[equivalence][softmax]") {
    auto p = rows({4, 600}, 5);
    p.in[0] = p.in[2 * 600 + 599] = Float::quiet_NaN();
    require_right(p);
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence][softmax]") {
    kata::require_right_in_any_order(rows({7, 777}));
}

TEST_CASE("a second matrix gets an answer of its own", "[equivalence][softmax]") {
    kata::require_answers_of_their_own(rows({6, 400}, 1), rows({6, 400}, 2));
}

TEST_CASE("a very large matrix", "[equivalence][softmax]") {
    only_on_a_gpu();
    require_right(rows({70'000, 2}));  // more than a grid has along y
    require_right(rows({20'011, 1000}));
    require_right(rows({3000, 16'001}));
}

TEST_CASE("three calls one after the other", "[equivalence][attention]") {
    require_right(heads({2, 70, 64}));
    require_right(heads({1, 100, 128}, 2));
    require_right(heads({2, 50, 64, true}, 3));
}

TEST_CASE("every key that a query sees has a weight", "[equivalence][attention]") {
    require_right(heads({2, 70, 64, GENERATE(false, true)}));
    require_right(heads({1, 40, 128, GENERATE(false, true)}));
}

TEST_CASE("sequences of every length around tiles", "[equivalence][attention]") {
    const int n = GENERATE(1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129);
    require_right(codes({2, n, 64}), kata::unmetered);
    require_right(codes({2, n, 64, true}), kata::unmetered);
}

TEST_CASE("rows of 128", "[equivalence][attention]") {
    const int n = GENERATE(1, 16, 33, 65);
    require_right(codes({2, n, 128}), kata::unmetered);
    require_right(codes({2, n, 128, true}), kata::unmetered);
}

// The score of a key that follows the query is far above all others, but its weight has to be 0.
TEST_CASE("keys that a query does not see have the largest scores", "[equivalence][attention]") {
    auto p = heads({2, 90, 64, true});
    const auto n = static_cast<std::size_t>(p.shape.n);
    for (std::size_t i = 0; i < p.q.size(); ++i) {
        const auto key = i / 64 % n;
        p.q[i] = std::abs(p.q[i]);
        p.k[i] = static_cast<float>(key) + p.k[i] / 8;
        p.v[i] += static_cast<float>(key);
    }
    require_right(p, kata::unmetered);
}

TEST_CASE("scores fall from key to key, or rise", "[equivalence][attention]") {
    auto p = heads({1, 130, 64});
    const float slope = GENERATE(3.0f, -3.0f);
    for (std::size_t i = 0; i < p.q.size(); ++i) {
        p.q[i] = 1 + p.q[i] / 16;
        p.k[i] = slope * static_cast<float>(i / 64) / 8;
    }
    require_right(p, kata::unmetered);
}

// If the largest score of another query is subtracted, no weight is left.
TEST_CASE("scores of one query are far larger than those of the next", "[equivalence][attention]") {
    auto p = heads({1, 70, 64, GENERATE(false, true)});
    for (std::size_t i = 0; i < p.q.size(); ++i) p.q[i] *= i / 64 % 2 == 0 ? 80.0f : 0.01f;
    require_right(p, kata::unmetered);
}

// The largest score of every query is far below zero: a maximum that begins with 0 leaves no weight.
TEST_CASE("all scores are far below zero", "[equivalence][attention]") {
    auto p = heads({2, 70, 64, GENERATE(false, true)});
    for (std::size_t i = 0; i < p.q.size(); ++i) {
        p.q[i] = 4 + p.q[i] / 8;
        p.k[i] = -4 + p.k[i] / 8;
    }
    require_right(p, kata::unmetered);
}

TEST_CASE("attention without heads or places is no work and no error", "[equivalence][attention]") {
    require_right(heads(GENERATE(Shape{0, 0, 64}, Shape{0, 9, 128}, Shape{3, 0, 64, true})));
}

TEST_CASE("the order of threads and blocks does not matter in attention", "[equivalence][attention]") {
    kata::require_right_in_any_order(heads({2, 70, 64, true}));
    kata::require_right_in_any_order(codes({1, 40, 128}));
}

TEST_CASE("a second call gets an answer of its own", "[equivalence][attention]") {
    kata::require_answers_of_their_own(codes({2, 50, 64}, 1), codes({2, 50, 64}, 2));
    kata::require_answers_of_their_own(heads({2, 50, 64}, 1), heads({2, 50, 64, true}, 2));
}

TEST_CASE("many heads of short sequences, and a long sequence", "[equivalence][attention]") {
    require_right(codes({150, 3, 64}), kata::unmetered);
    require_right(codes({1, 270, 64, GENERATE(false, true)}), kata::unmetered);
}

TEST_CASE("very large attention", "[equivalence][attention]") {
    only_on_a_gpu();
    const int d = GENERATE(64, 128);
    const bool causal = GENERATE(false, true);
    require_right(codes({2, 1100, d, causal}));
    require_right(heads({2, 700, d, causal}));
    require_right(codes({700, 65, d, causal}));
}

TEST_CASE("shapes outside the limits are refused in one line", "[limits]") {
    using attention::check, attention::check_with_scores;
    CHECK_THROWS_AS(check(Matrix{-1, 5}), std::invalid_argument);
    CHECK_THROWS_AS(check(Matrix{1, attention::max_columns + 1}), std::invalid_argument);
    CHECK_THROWS_AS(check(Matrix{1 << 20, 1 << 11}), std::invalid_argument);
    CHECK_NOTHROW(check(Matrix{1 << 17, attention::max_columns - 1}));
    CHECK_THROWS_AS(check(Shape{1, 5, 80}), std::invalid_argument);
    CHECK_THROWS_AS(check(Shape{1, -5, 64}), std::invalid_argument);
    CHECK_THROWS_AS(check(Shape{attention::max_heads + 1, 1, 64}), std::invalid_argument);
    CHECK_THROWS_AS(check(Shape{1 << 10, 1 << 15, 64}), std::invalid_argument);
    CHECK_NOTHROW(check(Shape{1, 1 << 20, 64}));
    CHECK_THROWS_AS(check_with_scores(Shape{1, 1 << 20, 64}), std::invalid_argument);
}
