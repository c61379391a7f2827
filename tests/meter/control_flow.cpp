// Control flow: how branches, loops and exits split the requests of a warp.
#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace {

/// Returns the loads and stores of a kernel on arrays filled with `value`, except for the `first` elements.
std::pair<Traffic, Traffic> moved(const std::function<void(const float*, float*)>& kernel, float value = 1.0f,
                                  const std::vector<float>& first = {}) {
    std::vector<float> values(1024, value);
    std::copy(first.begin(), first.end(), values.begin());
    Buffer<float> in("in", std::span<const float>(values)), out("out", 1024);
    const auto c = count([&] { kernel(in.data(), out.data()); });
    return {c.global_load, c.global_store};
}

}  // namespace

TEST_CASE("each side of a branch makes its own requests", "[control flow]") {
    CHECK(moved(kernels::two_halves) == std::pair(traffic(32, 4, 2, 2 * 2), traffic(32, 4, 2, 2 * 2)));
}

TEST_CASE("lanes reconverge after nested branches", "[control flow]") {
    // 8 + 8 lanes, the 16 of them together, and the other 16; then all 32
    CHECK(moved(kernels::nested_halves) == std::pair(traffic(48, 4, 4, 1 + 1 + 2 + 2), traffic(32, 4, 1, 4)));
}

TEST_CASE("an iteration is one request for the lanes that do not skip it", "[control flow]") {
    constexpr int rounds = 8;
    // half of the lanes, and three quarters of them, spread over all four sectors
    CHECK(moved([](auto in, auto out) { kernels::skipped_iterations(in, out, rounds); }) ==
          std::pair(traffic(16 * rounds, 4, rounds, 4 * rounds), traffic(32, 4, 1, 4)));
    for (const float value : {1.0f, -1.0f})
        CHECK(moved([](auto in, auto out) { kernels::continued_iterations(in, out, rounds); }, value) ==
              std::pair(traffic(24 * rounds, 4, rounds, 4 * rounds), traffic(32, 4, 1, 4)));
}

TEST_CASE("lanes that leave a loop wait after it", "[control flow]") {
    // iteration i runs for the lanes from 4 (i + 1) on
    CHECK(moved(kernels::broken_loop) ==
          std::pair(traffic(28 + 24 + 20 + 16 + 12 + 8 + 4, 4, 7, 4 + 3 + 3 + 2 + 2 + 1 + 1),
                    traffic(32, 4, 1, 4)));
    // iteration i runs for the 31 - i lanes above i
    CHECK(moved(kernels::trip_counts) ==
          std::pair(traffic(31 * 32 / 2, 4, 31, 7 * 4 + 8 * 3 + 8 * 2 + 8 * 1), traffic(32, 4, 1, 4)));
    // three times 24, 16 and 8 lanes, spread over all four sectors
    CHECK(moved(kernels::nested_trip_counts) ==
          std::pair(traffic(3 * (24 + 16 + 8), 4, 3 * 3, 3 * 3 * 4), traffic(96, 4, 3, 12)));
    // the even ones of 32 … 63, of 16 … 31, of 8 … 15, of 4 … 7 and of 2 … 3
    CHECK(moved(kernels::while_not_done) ==
          std::pair(traffic(16 + 8 + 4 + 2 + 1, 4, 5, 4 + 2 + 1 + 1 + 1), traffic(32, 4, 1, 4)));
}

TEST_CASE("cases, conjunctions and early exits split a request as they should", "[control flow]") {
    // three cases of 8 lanes, and 16 lanes in the last case
    CHECK(moved(kernels::switched) == std::pair(traffic(8 + 8 + 8 + 16, 4, 4, 4 * 4), traffic(32, 4, 1, 4)));
    // every second lane reads, and every second one of those has a positive element
    std::vector<float> first(32, 1.0f);
    for (int i = 0; i < 32; i += 4) first[i] = -1.0f;
    CHECK(moved(kernels::short_circuit, 1.0f, first) ==
          std::pair(traffic(16 + 8 + 8, 4, 3, 3 * 4), traffic(32, 4, 1, 4)));
    // 32 and 8 lanes read, every second one stores
    std::vector<float> alternating(64, 1.0f);
    for (int i = 1; i < 64; i += 2) alternating[i] = -1.0f;
    CHECK(moved([](auto in, auto out) { kernels::early_exit(in, out, 40, 64); }, 1.0f, alternating) ==
          std::pair(traffic(40, 4, 2, 4 + 1), traffic(20, 4, 2, 4 + 1)));
}

TEST_CASE("lanes for which a condition is known early get no copy of the code that follows",
          "[control flow]") {
    // all lanes, and the 30 lanes whose left neighbours are elements 0 … 29
    CHECK(moved(kernels::known_condition) == std::pair(traffic(32 + 30, 4, 2, 4 + 4), traffic(32, 4, 1, 4)));
}

TEST_CASE("lanes reconverge after helpers that some of them call", "[control flow]") {
    constexpr int rounds = 5;
    // 16 even lanes and 8 others at three offsets; at one of them the even lanes reach a fifth sector
    CHECK(moved([](auto in, auto out) { kernels::helpers_in_branches(in, out, rounds); }) ==
          std::pair(traffic(rounds * 3 * (16 + 8), 4, rounds * 6, rounds * (4 + 4 + 5 + 4 + 4 + 4)),
                    traffic(32 * rounds, 4, rounds, 4 * rounds)));
}

TEST_CASE("one instruction that reaches two memories makes two requests", "[control flow]") {
    auto in = filled<float>("in", 32), out = filled<float>("out", 32);
    const auto c = count([&] { kernels::one_pointer(in.data(), out.data()); });
    CHECK(c.global_load == traffic(16, 4, 1, 4));
    CHECK(c.shared_load == traffic(16, 4, 1, 1));
}

TEST_CASE("a lane may do any amount of work before it waits", "[control flow]") {
    // the log of a lane is read whenever it is full, at any point
    auto in = filled<float>("in", 64), out = filled<float>("out", 64);
    bool right = true;
    for (int rounds = 100; rounds < 400; ++rounds)
        for (const auto kernel : {kernels::long_until_barrier, kernels::long_until_warp}) {
            const auto c = observe({}, [&] { kernel(in.data(), out.data(), rounds, 64); }).counts.value();
            right = right && c.global_load.requests == 2u * rounds &&
                    c.global_load.accesses == 64u * rounds && c.global_store == traffic(64, 4, 2, 8);
        }
    CHECK(right);
}

TEST_CASE("active lanes are those that exist in the block and take the branch", "[control flow]") {
    auto in = filled<float>("in", 1024), out = filled<float>("out", 1024);
    CHECK(count([&] { kernels::uniform(in.data(), out.data(), 3, 64); }).active_lanes() == 32.0);
    CHECK(count([&] { kernels::uniform(in.data(), out.data(), 2, 20); }).active_lanes() == 20.0);
    CHECK(count([&] { kernels::uniform(in.data(), out.data(), 1, 40); }).active_lanes() == 20.0);  // 32 and 8
    const auto halves = count([&] { kernels::two_halves(in.data(), out.data()); }).active_lanes();
    CHECK(halves > 16.0);
    CHECK(halves < 32.0);
}

TEST_CASE("the work of a Kogge-Stone scan matches its formula", "[control flow]") {
    constexpr std::uint64_t n = 1024, log_n = 10, sums = n * log_n - (n - 1);
    auto data = filled<float>("data", n, 1.0f);
    const auto c = observe({}, [&] { kernels::kogge_stone(data.data()); }).counts.value();
    CHECK(data.values()[n - 1] == n);
    CHECK(c.shared_load.accesses == 2 * sums + n);  // plus the result
    CHECK(c.shared_store.accesses == sums + n);     // plus the input
    // strides below 32 keep all warps busy, larger ones idle stride / 32 of them
    std::uint64_t requests = 5 * 32;
    for (std::uint64_t stride = 32; stride < n; stride *= 2) requests += (n - stride) / 32;
    CHECK(c.shared_store.requests == requests + n / 32);
    CHECK(c.shared_load.requests == 2 * requests + n / 32);
    CHECK(c.bank_conflicts == 0);
    CHECK(c.barriers == 2 * log_n);
}

TEST_CASE("a barrier is counted once for each block", "[control flow]") {
    const auto c = count([] { kernels::barriers(7, 3, 96); });
    CHECK(c.barriers == 21);
    CHECK(c.blocks == 3);
    CHECK(c.threads == 288);
}

TEST_CASE("a single block can be counted", "[control flow]") {
    constexpr int blocks = 6;
    auto in = filled<float>("in", 64 * blocks), out = filled<float>("out", 64 * blocks);
    for (std::uint64_t block = 0; block < blocks; ++block)
        for (const auto& order : all_orders) {
            auto conditions = order;
            conditions.only_block = block;
            const auto c = observe(conditions, [&] {
                               kernels::each_block(in.data(), out.data(), blocks);
                           }).counts.value();
            CHECK(c.global_load == traffic(64 * (block + 1), 4, 2 * (block + 1), 8 * (block + 1)));
            CHECK(std::tuple(c.blocks, c.threads, c.launches) == std::tuple(1u, 64u, 1u));
        }
}
