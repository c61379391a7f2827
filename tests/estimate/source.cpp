// Facts read from the source of a launch, and the shares of its lines.
#include "estimate/source.hpp"

#include "suite.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

TEST_CASE("the loops of a source that are unrolled are found") {
    const auto lines = estimate::lines_in(R"(constexpr int tile = 32, half = tile / 2;
template <int r, class T>
__global__ void f(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += i;
    for (int i = -r; i <= r; ++i)
        sum += i;
#pragma unroll 1
    for (int i = 0; i < tile; ++i) sum += i;
#pragma unroll
    for (int i = 0; i < n; ++i) {
        sum += i;
        for (int k = n; k < n + 1; ++k)  // for (int k = 0; k < 8; ++k) {
            if (k > 3)
                sum += k;
            else
                sum -= k;
        sum += "for (" == nullptr;
    }
#pragma unroll 8
    for (int i = threadIdx.x; i < half; i += 2) sum += i;
    while (n > 0) --n;
    do {
        ++n;
    } while (n < 3);
    for (T x : values) sum += x;
    for (; sum < tile; ++sum) g();
    sum = 0;
    for (int i = 0; i < tile; ++i)
        if (i < n) sum += i;
    for (int i = 0; i < tile; ++i)
        if constexpr (r > 2) sum += i;
    for (int i { 0 }; i < tile; ++i) sum += i;
}
)");
    const auto at = [&](std::size_t line) {
        return std::pair(lines.at(line - 1).rounds, lines.at(line - 1).unrolled);
    };
    const std::pair no_loop(0u, false), not_known(4u, false), all(0u, true);
    CHECK(at(4) == no_loop);
    CHECK(at(5) == not_known);
    CHECK(at(6) == all);
    CHECK(at(7) == all);
    CHECK(at(8) == no_loop);
    CHECK(at(9) == std::pair(1u, false));
    for (const std::size_t line : {12, 13, 14, 15, 16, 17, 18}) CHECK(at(line) == not_known);
    CHECK(at(21) == std::pair(8u, false));
    CHECK(at(22) == not_known);
    CHECK(at(24) == not_known);
    CHECK(at(26) == all);
    CHECK(at(27) == not_known);
    CHECK(at(28) == no_loop);
    CHECK(at(29) == all);
    CHECK(at(31) == all);
    CHECK(at(33) == all);
    CHECK(lines.at(28).predicated);
    CHECK_FALSE(lines.at(30).predicated);
    CHECK(estimate::lines_in("for (").size() == 1);  // an incomplete source
    CHECK(estimate::lines_in("/* ").size() == 1);
    CHECK(estimate::lines_in("").size() == 1);
}

TEST_CASE("a loop whose conditions decide on a plain statement each is unrolled, one with jumps is not") {
    const auto is_unrolled = [](const std::string& body) {
        const auto line = estimate::lines_in("for (int i = 0; i < 8; ++i) " + body).at(0);
        CHECK(line.predicated == line.unrolled);
        return line.unrolled;
    };
    CHECK(is_unrolled("if (i > n && i < m) sum += in[i];"));
    CHECK(is_unrolled("{ if (i > n) { sum += in[i]; } if (i < m) --sum; }"));
    CHECK(is_unrolled("sum += i < n ? in[i] : 0;"));
    CHECK_FALSE(is_unrolled("if (i < n) sum += in[i]; else sum -= in[i];"));
    CHECK_FALSE(is_unrolled("if (i < n) { sum += in[i]; ++sum; }"));
    CHECK_FALSE(is_unrolled("if (i < n) if (i < m) sum += in[i];"));
    CHECK_FALSE(is_unrolled("if (i < n) while (sum < n) ++sum;"));
    CHECK_FALSE(is_unrolled("if (i < n) atomicAdd(&sum[i], 1);"));
    CHECK_FALSE(is_unrolled("switch (i - n) default: ++sum;"));
    CHECK_FALSE(is_unrolled("{ __syncthreads(); if (i < n) sum += in[i]; }"));
    CHECK_FALSE(is_unrolled("{ block.sync(); if (i < n) sum += in[i]; }"));
}

TEST_CASE("divisions by a value that is not constant are found in a source") {
    const auto lines = estimate::lines_in(R"(constexpr int two = 2;
a = b / two + c % 32;  // and / n
a = b / n + c % (2 * n) + d / two;
a /= blockDim.x;
a /= 4;
for (int i = 1; i < two; ++i)
    a = n % i;
a = n % i;
)");
    std::vector<unsigned> divisions;
    for (const auto& line : lines) divisions.push_back(line.divisions);
    CHECK(divisions == std::vector{0u, 0u, 2u, 1u, 0u, 0u, 0u, 1u, 0u});
}

TEST_CASE("atomics that add a number are found in a source") {
    const auto lines = estimate::lines_in(R"(for (;;) atomicAdd(&s[f(1, 2)], 1);
atomicAdd(&s[1], count);
atomicAdd(&s[i],
          1u);
)");
    CHECK(lines.at(0).adds_a_number);
    CHECK(lines.at(0).rounds == 4);
    CHECK_FALSE(lines.at(1).adds_a_number);
    CHECK(lines.at(2).adds_a_number);
    CHECK(lines.at(3).adds_a_number);
}

TEST_CASE("each line of a source has its share of the launch's bound") {
    const auto parts = [](const Demand& d, double operations = 0) {
        const auto found = estimate::estimate(d, device(), operations);
        std::map<std::string, double> of;
        for (const auto& [line, what, seconds] : found.lines) {
            CHECK(what == found.needs.front().what);
            of[line] = seconds / found.needs.front().seconds;
        }
        return of;
    };
    auto d = idle(1000);
    const std::string none;
    SECTION("instructions, less the arithmetic, which is of no line") {
        d.requests = 3000, d.basic_blocks = 500, d.divisions = 100;  // a basic block counts as two
        d.lines_of_source["a.cu:1"].requests = 3000;
        d.lines_of_source["a.cu:2"].basic_blocks = 500;
        d.lines_of_source["a.cu:2"].divisions = 100;  // ten cycles each
        REQUIRE(bound_of(d) == "issue");
        CHECK(parts(d).at("a.cu:1") == Approx(0.6));
        CHECK(parts(d).at("a.cu:2") == Approx(0.4));
        CHECK_FALSE(parts(d).contains(none));
        CHECK(parts(d, 5000.0 * 1000 * 64).at("a.cu:1") == Approx(0.3));
        CHECK(parts(d, 5000.0 * 1000 * 64).at(none) == Approx(0.5));
    }
    SECTION("lines of the L1 cache and passes") {
        d.passes = 3000, d.lines = 1000;
        d.lines_of_source["a.cu:1"].passes = 3000;
        d.lines_of_source["a.cu:2"].lines = 1000;
        CHECK(parts(d).at("a.cu:1") == Approx(0.75));
        CHECK(parts(d).at("a.cu:2") == Approx(0.25));
    }
    SECTION("sectors: of an array that is smaller than they are, DRAM gives each line less") {
        d.arrays["in"] = {.bytes = 1e9, .loaded = 2e9 / 32 / 1000};
        d.arrays["out"] = {.bytes = 1e9, .stored = 1e9 / 32 / 1000};
        d.lines_of_source["a.cu:1"].loaded["in"] = 1.5e9 / 32 / 1000;
        d.lines_of_source["a.cu:2"].loaded["in"] = 0.5e9 / 32 / 1000;
        d.lines_of_source["a.cu:2"].written["out"] = 1e9 / 32 / 1000;
        REQUIRE(bound_of(d) == "DRAM");  // 10 ms for the loads, 20 ms for the stores
        CHECK(parts(d).at("a.cu:1") == Approx(0.25));
        CHECK(parts(d).at("a.cu:2") == Approx(0.75));
        for (auto& [name, array] : d.arrays) array.bytes = 3200;
        REQUIRE(bound_of(d) == "L2");
        CHECK(parts(d).at("a.cu:1") == Approx(0.5));
        CHECK(parts(d).at("a.cu:2") == Approx(0.5));
    }
    SECTION("turns of atomics") {
        d.updates = 40;
        d.lines_of_source["a.cu:1"].updates = 32;
        d.lines_of_source["a.cu:2"].updates = 8;
        REQUIRE(bound_of(d) == "atomics");
        CHECK(parts(d).at("a.cu:1") == Approx(0.8));
        d.updates_of_all = 8;
        d.lines_of_source["a.cu:2"].updates_of_most = 8;
        REQUIRE(bound_of(d) == "atomics on one line");
        CHECK(parts(d) == std::map<std::string, double>{{"a.cu:2", 1.0}});
    }
    SECTION("a chain is of no line") {
        d.lines_of_source["a.cu:1"].requests = 1;
        d.chain.misses = 1e6;
        REQUIRE(bound_of(d) == "latency");
        CHECK(parts(d).empty());
    }
    SECTION("launches of one kernel add up") {
        d.lines = 1000;
        d.lines_of_source["a.cu:1"].lines = 1000;
        const auto one = estimate::estimate(d, device()), two = estimate::estimate({d, d}, device());
        REQUIRE(two.lines.size() == 1);
        CHECK(two.lines[0].seconds == Approx(2 * one.lines.at(0).seconds));
    }
}
