// Phases of loads, waits and exchanges.
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

TEST_CASE("a warp starts a phase of loads once, and again after each barrier", "[span]") {
    auto in = filled<int>("in", 256);
    Buffer<int> out("out", 128);
    const auto c = count([&] { kernels::loads_behind_barrier(in.data(), out.data(), 128); });
    CHECK(c.load_phases == 4 + 1);
}

TEST_CASE("a warp starts another phase of loads after an exchange, whatever other warps do", "[span]") {
    auto in = filled<int>("in", 256);
    Buffer<int> out("out", 64);
    const auto c = count([&] { kernels::load_phases(in.data(), out.data()); });
    CHECK(c.load_phases == 2 + 3);
}

// On the CPU the tiles run one after the other.
TEST_CASE("tiles of a warp that exchange values internally share their loads and exchanges", "[span]") {
    auto in = filled<int>("in", 64);
    Buffer<int> out("out", 32);
    const auto order = GENERATE(Order::forwards, Order::backwards);
    const auto counted = [&](int rounds, int more) {
        return observe({.order = order},
                       [&] { kernels::phases_of_tiles(in.data(), out.data(), rounds, more); })
            .counts.value();
    };
    CHECK(counted(0, 0).load_phases == 1);
    CHECK(counted(3, 0).load_phases == 1 + 3);
    CHECK(counted(3, 0).exchanges == 3);
    CHECK(counted(0, 1).load_phases == 1 + 3);  // the last tile runs three rounds, the first one none
    CHECK(counted(0, 1).exchanges == 3);
}

TEST_CASE("a warp waits for loads that it stores to shared memory before it reads there", "[span]") {
    auto in = filled<int>("in", 128);
    Buffer<int> out("out", 64);
    const auto waited_for = [&](kernels::Way way) {
        return count([&] { kernels::second_tile(way, in.data(), out.data()); }).waited_for;
    };
    // The warp always waits for the first tile, and for the second one only if that is stored at once.
    CHECK(waited_for(kernels::Way::at_once) == 4 * 2 * 64);
    CHECK(waited_for(kernels::Way::in_structures) == 4 * 2 * 64);
    CHECK(waited_for(kernels::Way::copied_at_once) == 4 * 2 * 64);
    CHECK(waited_for(kernels::Way::ahead) == 4 * 64);
    CHECK(waited_for(kernels::Way::ahead_beside_copy) == 4 * 64);
    CHECK(waited_for(kernels::Way::structures_ahead) == 4 * 64);
    CHECK(waited_for(kernels::Way::copied) == 4 * 64);
}

// A copy warp waits only for its copies, while the other warps have work to do.
TEST_CASE("a block with dedicated copy warps does not wait for their copies", "[span]") {
    constexpr int tiles = 4;
    auto in = filled<int>("in", 64 * tiles);
    Buffer<int> out("out", 128);
    const auto order = GENERATE(Order::forwards, Order::backwards, Order::shuffled);
    const auto waited_for = [&](kernels::Copiers how) {
        return observe({.order = order}, [&] { kernels::copy_tiles(how, in.data(), out.data(), tiles); })
            .counts.value()
            .waited_for;
    };
    CHECK(waited_for(kernels::Copiers::own_warps) == 4 * 64);  // the first tile
    CHECK(waited_for(kernels::Copiers::own_warps_at_once) == 4 * 64 * tiles);
    CHECK(waited_for(kernels::Copiers::all_at_once) == 4 * 64 * tiles);
    // No warp reads the first tile meanwhile; the copying warps read the other tiles before they copy.
    CHECK(waited_for(kernels::Copiers::half_at_once) == 4 * 64 * tiles);
}

TEST_CASE("exchanges of tiles count once for each distinct instruction", "[span]") {
    Buffer<int> out("out", 32);
    const auto exchanges = [&](int threads, int rounds, bool in_two_lines, bool together) {
        return count(
                   [&] { kernels::exchanges_of_tiles(out.data(), threads, rounds, in_two_lines, together); })
            .exchanges;
    };
    CHECK(exchanges(32, 3, false, false) == 3);
    CHECK(exchanges(32, 3, true, false) == 2 * 3);
    CHECK(exchanges(24, 3, true, false) == 2 * 3);
    CHECK(exchanges(24, 3, true, true) == 2 * 3 + 1);
}

TEST_CASE("shuffles and votes count once for each warp, and __syncwarp() does not count", "[span]") {
    Buffer<int> out("out", 64);
    const int rounds = GENERATE(0, 3);
    CHECK(count([&] { kernels::exchanges(out.data(), rounds); }).exchanges ==
          2 * static_cast<unsigned>(rounds) + 1);
}
