// Atomics.
#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>
#include <string>
#include <utility>
#include <vector>

TEMPLATE_TEST_CASE("atomic sums lose no update and return every intermediate value once", "[atomics]", int,
                   unsigned, unsigned long long, float, double) {
    constexpr int threads = 300;
    auto sum = upload<TestType>("sum", {TestType{5}});
    Buffer<TestType> before("before", threads);
    const Order order = any_order();
    observe({.order = order}, [&] { kernels::add_up(sum.data(), before.data(), TestType{3}, threads); });
    CHECK(sum.values()[0] == 5 + 3 * threads);
    auto seen = before.values();
    std::sort(seen.begin(), seen.end());
    CHECK(seen == listed<TestType>(threads, [](int i) { return 5 + 3 * i; }));
}

TEST_CASE("64-bit atomics carry beyond 32 bits", "[atomics]") {
    auto sum = upload<unsigned long long>("sum", {0xffffffff});
    Buffer<unsigned long long> before("before", 4);
    observe({}, [&] { kernels::add_up(sum.data(), before.data(), 1ull << 40, 4); });
    CHECK(sum.values()[0] == 0xffffffff + (4ull << 40));
}

TEST_CASE("all other atomics do what their names say and return the old value", "[atomics]") {
    const Order order = any_order();
    constexpr int threads = 64;
    Buffer<int> before("before", threads);

    auto word = upload<int>("word", {-1});
    observe({.order = order}, [&] { kernels::exchange_all(word.data(), before.data(), threads); });
    auto chain = before.values();
    chain.push_back(word.values()[0]);
    CHECK_THAT(chain, Catch::Matchers::UnorderedEquals(counted<int>(threads + 1, -1)));

    auto least = upload<int>("least", {100}), most = upload<int>("most", {-100});
    auto long_least = upload<long long>("long_least", {0});
    auto long_most = upload<unsigned long long>("long_most", {1});
    observe({.order = order}, [&] {
        kernels::extremes(least.data(), most.data(), long_least.data(), long_most.data(), threads);
    });
    CHECK(least.values()[0] == -20);
    CHECK(most.values()[0] == 43);
    CHECK(long_least.values()[0] == -20'000'000'000'000);
    CHECK(long_most.values()[0] == 64ull << 40);

    auto all = upload<unsigned>("all", {0xffffffff}), any = zeros<unsigned>("any"),
         odd = zeros<unsigned>("odd");
    observe({.order = order}, [&] { kernels::bits(all.data(), any.data(), odd.data(), 20); });
    CHECK(all.values()[0] == 0xfff00000);
    CHECK(any.values()[0] == 0x000fffff);
    CHECK(odd.values()[0] == 0x000fffff);
    observe({.order = order}, [&] { kernels::bits(all.data(), any.data(), odd.data(), 20); });
    CHECK(odd.values()[0] == 0);

    auto balance = upload<int>("balance", {10});
    observe({.order = order}, [&] { kernels::subtract(balance.data(), before.data(), threads); });
    CHECK(balance.values()[0] == 10 - 2 * threads);
    auto balances = before.values();
    std::sort(balances.begin(), balances.end());
    CHECK(balances == listed<int>(threads, [](int i) { return 10 - 2 * (threads - 1 - i); }));

    auto scoped = zeros<int>("scoped");
    observe({.order = order}, [&] { kernels::scopes(scoped.data(), threads); });
    CHECK(scoped.values()[0] == 2 * threads);
}

TEST_CASE("atomicInc and atomicDec wrap at their limit", "[atomics]") {
    const auto wrapped = [](unsigned up, unsigned down, unsigned limit, int threads) {
        auto u = upload<unsigned>("up", {up}), d = upload<unsigned>("down", {down});
        observe({}, [&] { kernels::wrap(u.data(), d.data(), limit, threads); });
        return std::pair(u.values()[0], d.values()[0]);
    };
    CHECK(wrapped(0, 0, 6, 1) == std::pair(1u, 6u));
    CHECK(wrapped(0, 3, 6, 20) == std::pair(20u % 7, (3u + 7 * 20 - 20) % 7));
    CHECK(wrapped(9, 9, 6, 1) == std::pair(0u, 6u));  // above the limit
    CHECK(wrapped(5, 5, 0, 1) == std::pair(0u, 0u));
}

TEST_CASE("compare-and-swap can implement atomics that CUDA lacks", "[atomics]") {
    const Order order = any_order();
    std::vector<float> values(100);
    for (int i = 0; i < 100; ++i) values[i] = static_cast<float>((i * 37) % 100) / 8;
    auto in = upload("values", values);
    auto most = upload<float>("most", {0.0f});
    observe({.order = order}, [&] { kernels::compare_and_swap(most.data(), in.data(), 100); });
    CHECK(most.values()[0] == 99.0f / 8);
    auto word = zeros<unsigned short>("word");
    observe({.order = order}, [&] { kernels::compare_and_swap_short(word.data(), 50); });
    CHECK(word.values()[0] == 51);
}

TEST_CASE("reductions have atomics for all operators, whether CUDA has one or not", "[atomics]") {
    using enum kata::Arithmetic;
    const Order order = any_order();
    constexpr int threads = 100;
    const auto combined = [&]<class T>(kata::Operation operation, T start) {
        auto in = upload("in", listed<T>(threads, [=](int i) { return (i * 37) % threads - 200; }));
        auto out = upload<T>("out", {start});
        const auto seen = observe({.order = order},
                                  [&] { kernels::combine_all(operation, in.data(), out.data(), threads); });
        CHECK(seen.findings == std::vector<std::string>{});
        return out.values()[0];
    };
    constexpr int sum = threads * (threads - 1) / 2 - 200 * threads;
    CHECK(combined({sum_of_int}, 7) == sum + 7);
    CHECK(combined({sum_of_float}, 7.0f) == sum + 7);
    CHECK(combined({sum_of_double}, 7.0) == sum + 7);
    CHECK(combined({max_of_int}, -1000) == threads - 201);
    CHECK(combined({max_of_float}, -1000.0f) == threads - 201);
    CHECK(combined({max_of_double}, -1000.0) == threads - 201);
    CHECK(combined({max_of_int}, 5) == 5);
    auto applications = zeros<unsigned long long>("applications");
    CHECK(combined({counted_sum, applications.data()}, 7) == sum + 7);
    CHECK(applications.values()[0] == threads);
}

TEST_CASE("the last block sees what the others wrote before their fence", "[atomics]") {
    const Order order = any_order();
    constexpr int blocks = 40;
    auto in = upload("in", counted<int>(blocks)), sum = zeros<int>("sum");
    Buffer<int> partial("partial", blocks);
    auto done = zeros<unsigned>("done");
    const auto seen = observe({.order = order}, [&] {
        kernels::last_block_sums(in.data(), partial.data(), sum.data(), done.data(), blocks);
    });
    CHECK(sum.values()[0] == blocks * (blocks - 1) / 2);
    CHECK(seen.findings == std::vector<std::string>{});
}
