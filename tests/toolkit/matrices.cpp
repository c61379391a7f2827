// Tensor cores.
#include "simt/toolkit/cuda_fp16.h"
#include "suite.hpp"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

TEST_CASE("a warp multiplies halves in every layout", "[wmma]") {
    const bool a_by_rows = GENERATE(true, false), b_by_rows = GENERATE(true, false),
               c_by_rows = GENERATE(true, false);
    const auto a = [](int y, int x) { return (3 * y + 5 * x) % 17 - 8; };
    const auto b = [](int y, int x) { return (7 * y + 2 * x + y * x) % 13 - 6; };
    const auto laid = [](const auto& value, bool by_rows) {
        return [=](int i) { return by_rows ? value(i / 16, i % 16) : value(i % 16, i / 16); };
    };
    const auto bits = [&](const auto& value, bool by_rows) {
        return listed<unsigned short>(256, [&](int i) { return half(laid(value, by_rows)(i)).bits(); });
    };
    auto left = upload("left", bits(a, a_by_rows)), right = upload("right", bits(b, b_by_rows));
    const auto before = [](int y, int x) { return y * 100 + x; };
    auto sum = upload("sum", listed<float>(256, laid(before, c_by_rows)));
    const auto seen = observe({.order = a_by_rows ? Order::shuffled : Order::backwards}, [&] {
        kernels::multiply_halves(a_by_rows, b_by_rows, c_by_rows, left.data(), right.data(), sum.data());
    });
    CHECK(seen.findings == Findings{});
    CHECK(seen.fragments);
    CHECK(sum.values() == listed<float>(256, laid(
                                                 [&](int y, int x) {
                                                     int result = before(y, x);
                                                     for (int k = 0; k < 16; ++k) result += a(y, k) * b(k, x);
                                                     return result;
                                                 },
                                                 c_by_rows)));
}

// Measured on an H100 with the same kernel: row and column of each element of lane 5.
TEST_CASE("a lane holds the same elements of a second factor as on an H100", "[wmma]") {
    const bool tf32 = GENERATE(true, false), by_rows = GENERATE(true, false);
    CAPTURE(tf32, by_rows);
    const std::size_t k = tf32 ? 8 : 16;
    std::vector<float> b(k * 16);
    std::vector<unsigned short> narrow(b.size());
    for (std::size_t row = 0; row < k; ++row)
        for (std::size_t column = 0; column < 16; ++column) {
            const auto at = by_rows ? row * 16 + column : column * k + row;
            b[at] = static_cast<float>(row * 16 + column);
            narrow[at] = static_cast<unsigned short>(std::bit_cast<unsigned>(b[at]) >> 16);
        }
    const auto elements = tf32 ? 4u : 8u;
    auto factor = upload("factor", b);
    auto narrow_factor = upload("narrow factor", narrow);
    auto out = zeros<float>("out", 32 * elements);
    observe({}, [&] {
        kernels::elements_of_lanes(tf32, by_rows, factor.data(), narrow_factor.data(), out.data());
    });
    const auto all = out.values();
    const std::vector<float> lane_5(all.begin() + 5 * elements, all.begin() + 6 * elements);
    const auto place = [](int row, int column) { return static_cast<float>(row * 16 + column); };
    if (tf32)
        CHECK(lane_5 == std::vector{place(1, 1), place(5, 1), place(1, 9), place(5, 9)});
    else
        CHECK(lane_5 == std::vector{place(2, 1), place(3, 1), place(10, 1), place(11, 1), place(2, 9),
                                    place(3, 9), place(10, 9), place(11, 9)});
}

TEST_CASE("tf32 has 10 fraction bits, rounded if requested", "[wmma]") {
    // a single element of the sum: 1 + 2^-11 is halfway between two tf32 numbers
    std::vector<float> a(16 * 8), b(8 * 16);
    a[0] = 1 + 0x1p-11f, b[0] = 1;
    a[8] = 1 + 0x1p-10f, b[1] = 1 + 0x1p-10f;
    auto left = upload("left", a), right = upload("right", b);
    auto sum = zeros<float>("sum", 256);
    observe({}, [&] { kernels::multiply_tf32(true, left.data(), right.data(), sum.data()); });
    CHECK(sum.values()[0] == 1 + 0x1p-10f);
    CHECK(sum.values()[17] == 1 + 0x1p-9f + 0x1p-20f);  // the product is exact
    observe({}, [&] { kernels::multiply_tf32(false, left.data(), right.data(), sum.data()); });
    CHECK(sum.values()[0] == 1);
}

TEST_CASE("rounding to tf32 keeps zeros and infinities, and a NaN remains NaN in a product", "[wmma]") {
    constexpr float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> numbers{0,
                                     -0.0f,
                                     inf,
                                     -inf,
                                     1 + 0x1p-11f,
                                     -1 - 0x1p-11f,
                                     1 + 0x1.fp-12f,
                                     std::numeric_limits<float>::max(),
                                     std::bit_cast<float>(0x7f800001u)};
    auto in = upload("in", numbers), out = zeros<float>("out", numbers.size());
    observe({}, [&] { kernels::round_to_tf32(in.data(), out.data(), static_cast<int>(numbers.size())); });
    const auto rounded = out.values();
    for (std::size_t i = 0; i < 4; ++i)
        CHECK(std::bit_cast<unsigned>(rounded[i]) == std::bit_cast<unsigned>(numbers[i]));
    CHECK(rounded[4] == 1 + 0x1p-10f);
    CHECK(rounded[5] == -1 - 0x1p-10f);
    CHECK(rounded[6] == 1);
    CHECK(rounded[7] == inf);
    CHECK(std::bit_cast<unsigned>(rounded[8]) == 0x7fffffffu);
}

TEST_CASE("a fragment that is loaded before its copy has arrived is found", "[wmma][copies]") {
    const auto numbers = listed<float>(256, [](int i) { return i; });
    auto in = upload("in", numbers), out = zeros<float>("out", 256);
    const auto waited = observe({}, [&] { kernels::through_a_fragment(true, in.data(), out.data()); });
    CHECK(waited.findings == Findings{});
    CHECK(out.values() == numbers);
    if (!waited.counts) return;  // only the meter finds the race
    const auto findings =
        observe({}, [&] { kernels::through_a_fragment(false, in.data(), out.data()); }).findings;
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0], StartsWith("read before the copy into shared memory has arrived: ") &&
                                ContainsSubstring(line_of("fragment of a copy")));
}

TEST_CASE("a fragment requires the whole warp, one address and its alignment", "[wmma]") {
    using enum kernels::Bad_matrix;
    auto out = zeros<float>("out", 300);
    const auto fault_of = [&](kernels::Bad_matrix how) {
        return fault([&] { kernels::multiply_badly(how, out.data()); });
    };
    CHECK(fault_of(none) == "");
    const auto start = "store_matrix_sync in " + line_of("bad matrix");
    for (const auto& [how, words] : std::vector<std::pair<kernels::Bad_matrix, std::string>>{
             {half_a_warp, " takes a whole warp: this one has only 16 threads"},
             {gone_lane, " takes a whole warp: lane 5 of this one has left the kernel"},
             {off_alignment,
              ", by warp 0 of block (0,0,0): the address of the first element is 16 bytes beyond "
              "a multiple of 32: tensor cores take only multiples"},
             {odd_pitch,
              ", by warp 0 of block (0,0,0): the leading dimension, 18, is not a multiple of 4 elements, "
              "which are 16 bytes"},
             {unlike_address,
              ", by warp 0 of block (0,0,0): lanes 0 and 9 give different addresses: the warp "
              "takes one matrix, and each lane gives the address of its first element"},
             {unlike_pitch,
              ", by warp 0 of block (0,0,0): lanes 0 and 9 give different leading dimensions, 16 "
              "and 20: the warp takes one matrix"},
             {unlike_layout,
              ", by warp 0 of block (0,0,0): lanes 0 and 9 give different layouts: the warp takes "
              "one matrix"}})
        CHECK_THAT(fault_of(how), StartsWith(start + words));
    const auto apart = fault_of(other_line);
    CHECK_THAT(apart, ContainsSubstring(" takes a whole warp: lane ") &&
                          ContainsSubstring(line_of("bad matrix")) &&
                          ContainsSubstring(line_of("other line")));
    CHECK_THAT(fault_of(absent_lane),
               StartsWith("deadlock: ") &&
                   ContainsSubstring("of store_matrix_sync names 1 lane that did not come: 5"));
}
