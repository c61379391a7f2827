// Atomics of libcu++.
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <vector>

/// Under AddressSanitizer shared memory is plain static memory, which one block at a time can use, so no
/// block can wait for a later one.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool blocks_run_side_by_side = false;
#else
constexpr bool blocks_run_side_by_side = true;
#endif

TEST_CASE("a block hands data to another by a release", "[atomic_ref]") {
    using enum kernels::Handover;
    const auto order = GENERATE(Order::forwards, Order::shuffled);
    if (order == Order::shuffled && !blocks_run_side_by_side) return;
    const auto run = [&](kernels::Handover how) {
        auto data = zeros<int>("data", 32), flag = zeros<int>("flag"), out = zeros<int>("out", 32);
        const auto seen =
            observe({.order = order}, [&] { kernels::hand_over(how, data.data(), flag.data(), out.data()); });
        if (how == right) CHECK(out.values() == listed<int>(32, [](int i) { return 7 * i; }));
        return seen.findings;
    };
    CHECK(run(right) == Findings{});
    if (!kata::counts_available()) return;
    const auto unordered = run(relaxed), narrow = run(of_block), plain = run(plain_flag);
    REQUIRE(unordered.size() == 1);
    CHECK_THAT(unordered[0], StartsWith("race in global memory \"data\""));
    REQUIRE(narrow.size() == 2);
    CHECK_THAT(narrow[0], StartsWith("race in global memory \"flag\"") &&
                              ContainsSubstring(" writes atomically in ") &&
                              ContainsSubstring(" reads atomically in ") &&
                              ContainsSubstring("give it the scope of the device"));
    REQUIRE(plain.size() == 1);
    CHECK_THAT(plain[0], StartsWith("race in global memory \"flag\""));
}

TEST_CASE("an atomic_ref does what the names of its members say", "[atomic_ref]") {
    auto values = upload("values", std::vector<int>(8, 12)), before = zeros<int>("before", 8);
    const auto seen = observe({}, [&] { kernels::fetch_all(values.data(), before.data()); });
    CHECK(seen.findings == Findings{});
    CHECK(values.values() == std::vector<int>{17, 7, 4, 14, 10, -6, 60, 9});
    CHECK(before.values() == std::vector<int>(8, 12));
    auto counts = zeros<int>("counts", 3), sum = zeros<int>("sum");
    const auto order = GENERATE(Order::forwards, Order::shuffled);
    CHECK(observe({.order = order}, [&] { kernels::count_in_block(counts.data()); }).findings == Findings{});
    CHECK(counts.values() == std::vector<int>(3, 128));
    CHECK(observe({.order = order}, [&] { kernels::compare_and_swap(sum.data(), 4); }).findings ==
          Findings{});
    CHECK(sum.values()[0] == 4 * 32 * 3);
}

TEST_CASE("an atomic load counts as a load, a store as a store, and the rest as atomics", "[atomic_ref]") {
    auto words = zeros<unsigned long long>("words", 32);
    const auto seen = observe({}, [&] { kernels::atomic_traffic(words.data()); });
    CHECK(words.values() == std::vector<unsigned long long>(32, 2));
    if (!seen.counts) return;
    for (const auto& traffic :
         {seen.counts->global_load, seen.counts->global_store, seen.counts->global_atomic})
        CHECK((traffic.requests == 1 && traffic.bytes == 256 && traffic.transactions == 8));
}
