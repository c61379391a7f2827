// Reads of unwritten memory.
#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

TEST_CASE("a read of unwritten memory is reported", "[races]") {
    Buffer<int> out("out", 32), unwritten("in", 32);
    CHECK(found([&] { kernels::unwritten_shared(out.data()); }) ==
          Findings{
              "read of unwritten memory: thread (31,0,0) of block (0,0,0) reads shared memory "
              "\"tile\", element 0 in " +
              line_of("unwritten shared") + "\n  written so far: 31 of its 32 words, in " +
              line_of("writes all but one") +
              "; every word that is read must be written before, also by threads that have no other work"});
    CHECK(!clean([&] { kernels::unwritten_dynamic(out.data()); }));
    Buffer<int> of_two_warps("out", 64);
    CHECK_THAT(found([&] { kernels::unordered_shared(of_two_warps.data()); }).at(0), StartsWith("race in "));
    CHECK(found([&] { kernels::unordered_shared(of_two_warps.data()); }).size() == 1);
    const auto findings = found([&] { kernels::unwritten_global(unwritten.data(), out.data()); });
    REQUIRE(findings.size() == 1);
    CHECK_THAT(
        findings[0],
        StartsWith("read of unwritten memory: thread (0,0,0) of block (0,0,0) reads \"in\", element 0 in ") &&
            EndsWith("\n  neither the host nor a kernel has set it since it was allocated: set it before, "
                     "for zeros "
                     "with cudaMemset"));
    CHECK(clean([&] { kernels::unwritten_global(filled<int>("in", 32).data(), out.data()); }));
    Buffer<int> half("half", 64);
    CHECK_THAT(
        found([&] {
            kernels::unwritten_global(filled<int>("in", 32).data(), half.data());
            kernels::unwritten_global(half.data() + 32, out.data());
        }).at(0),
        EndsWith("\n  kernels have written 32 of the array's 64 words of 4 bytes, but not this one: is "
                 "the index right, both here and where it is stored?"));
    Buffer<int> set_in_vain("in", 32);
    CHECK_THAT(found([&] {
                   kernels::host_sets_no_bytes(set_in_vain.data(), 128);
                   kernels::unwritten_global(set_in_vain.data(), out.data());
               }).at(0),
               EndsWith("; the host has called it with the value 128 and 0 bytes: the value comes first, and "
                        "then the number of bytes"));
}

TEST_CASE("a partial write by the host initializes that part only", "[races]") {
    using Parts = std::vector<std::pair<int, int>>;  // first element and count
    const auto [parts, unwritten] = GENERATE(table<Parts, int>({{{{0, 32}}, -1},
                                                                {{{0, 16}, {16, 16}}, -1},
                                                                {{{16, 16}, {0, 16}}, -1},
                                                                {{{0, 10}, {20, 12}, {5, 20}}, -1},
                                                                {{{1, 31}}, 0},
                                                                {{{0, 31}}, 31},
                                                                {{{0, 8}, {9, 23}}, 8},
                                                                {{{30, 2}, {0, 30}, {32, 8}}, -1}}));
    Buffer<int> in("in", 64), out("out", 32);
    const auto findings = found([&, parts = parts] {
        for (const auto& [first, number] : parts) kernels::host_clears(in.data(), first, number);
        kernels::unwritten_global(in.data(), out.data());
    });
    CAPTURE(findings, unwritten);
    REQUIRE(findings.empty() == (unwritten < 0));
    if (unwritten >= 0)
        CHECK_THAT(findings[0],
                   ContainsSubstring("reads \"in\", element " + std::to_string(unwritten) + " in "));
}

TEST_CASE("an atomic may write memory that the host left unwritten, but not read it", "[races]") {
    const int more = GENERATE(0, 1);
    const auto after_clearing = [more](int first, bool exchange, int at = 0) {
        Buffer<int> data("data", 16);
        return found([&] {
            kernels::host_clears(data.data(), first, 4);
            kernels::exchange_or_add(data.data() + at, exchange, more);
        });
    };
    CHECK(after_clearing(4, true) == Findings{});
    const auto findings = after_clearing(4, false);
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0], StartsWith("read of unwritten memory") && EndsWith("for zeros with cudaMemset"));
    CHECK_THAT(findings[0], ContainsSubstring(line_of("adds atomically")));
    CHECK_THAT(after_clearing(4, false, 9).at(0),
               EndsWith("; the host has set bytes 16 to 31 of this array, and this element begins at byte "
                        "36: is the number of bytes too small, or is it a number of elements?"));
    CHECK(after_clearing(0, false) == Findings{});
}

TEST_CASE("a read of unwritten memory is harmless if its value is not used", "[races]") {
    using enum kernels::Use;
    auto in = filled<int>("in", 32, -5);
    std::vector<int> before(32, 3);
    for (const auto use : {none, sum, choice, maximum}) {
        Buffer<int> out("out", std::span<const int>(before));
        CHECK(clean([&] { kernels::unwritten_used(use, in.data(), out.data()); }) == (use == none));
        const auto seen = observe({}, [&] { kernels::unwritten_used(use, in.data(), out.data()); });
        CHECK(seen.launches == 1);
        CHECK(seen.counts->launches == 1);
        CHECK(seen.counts->global_store.accesses == 32);
        std::uint64_t steps = 0;
        for (const auto& place : seen.places) steps += place.steps;
        CHECK(steps == seen.counts->work);
        CHECK(out.values()[31] == (use == sum ? -10 : -5));
        if (use == none) continue;
        CHECK(seen.findings ==
              Findings{"read of unwritten memory: thread (0,0,0) of block (0,0,0) reads shared memory "
                       "\"before\" in " +
                       line_of("unwritten used")});
    }
}

TEST_CASE("a report of an unwritten read says in which of several launches it happened", "[launches]") {
    auto in = Buffer<int>("in", 128);
    auto out = filled<int>("out", 64);
    const auto told = found([&] {
        kernels::launch_twice(kernels::Superfluous::none, out.data(), out.data());
        kernels::launch_twice(kernels::Superfluous::none, in.data(), out.data());
    });
    REQUIRE(!told.empty());
    CHECK_THAT(told[0], StartsWith("read of unwritten memory") &&
                            ContainsSubstring("\n  in the 2nd launch, in ") &&
                            ContainsSubstring(": doubled_kernel<<<1, 64>>>"));
    const auto first =
        found([&] { kernels::launch_twice(kernels::Superfluous::none, in.data(), out.data()); });
    REQUIRE(!first.empty());
    CHECK(first[0].find("launch") == std::string::npos);
}

TEST_CASE("an uninitialized local variable is wrong every time", "[races]") {
    auto floats = filled<float>("floats", 4, 1);
    auto ints = filled<int>("ints", 4, 1);
    auto doubles = filled<double>("doubles", 4, 1);
    observe({}, [&] { kernels::uninitialised(floats.data(), ints.data(), doubles.data(), 2); });
    const auto pattern = []<class T>(const std::vector<T>& values) {
        const auto bytes = std::as_bytes(std::span(values).subspan(2));
        CHECK(values[1] == 1);
        return std::ranges::all_of(bytes, [](std::byte b) {
#if defined(__clang__)
            return b == std::byte{0xAA} || b == std::byte{0xFF};
#else
            return b == std::byte{0xFE};
#endif
        });
    };
    CHECK(pattern(floats.values()));
    CHECK(pattern(ints.values()));
    CHECK(pattern(doubles.values()));
}
