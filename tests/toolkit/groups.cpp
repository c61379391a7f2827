// Cooperative groups.
#include "suite.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <vector>

TEST_CASE("threads know their ranks in a block, a tile and a tile of a tile", "[groups]") {
    const dim3 block = GENERATE(dim3(40), dim3(5, 7, 3), dim3(1, 32));
    const unsigned threads = block.x * block.y * block.z;
    Buffer<unsigned> out("out", 8 * threads);
    observe({}, [&] { kernels::group_ranks(out.data(), block); });
    std::vector<unsigned> expected;
    for (unsigned i = 0; i < threads; ++i)
        expected.insert(expected.end(), {i, threads, i % 8, i / 8, (threads + 7) / 8, i % 4, i % 8 / 4, 2});
    CHECK(out.values() == expected);
}

TEST_CASE("a tile shuffles among its own threads", "[groups]") {
    using enum kernels::Tile_shuffle;
    const auto kind = GENERATE(index, up, down, exclusive_or);
    const int size = GENERATE(1, 2, 4, 8, 16, 32);
    const int argument = GENERATE(0, 1, 3, 8);
    const auto order = argument % 2 ? Order::backwards : Order::shuffled;
    auto in = upload("in", listed<int>(64, [](int i) { return 1000 + i; }));
    Buffer<int> out("out", 64);
    const auto seen = observe({.order = order},
                              [&] { kernels::tile_shuffle(kind, size, argument, in.data(), out.data()); });
    CHECK(seen.findings == Findings{});
    CHECK(out.values() == listed<int>(64, [=](int i) {
              const int first = i / size * size, rank = i % size;
              const int source = kind == index  ? argument % size
                                 : kind == up   ? rank - argument
                                 : kind == down ? rank + argument
                                                : rank ^ argument;
              return 1000 + (source < 0 || source >= size ? i : first + source);
          }));
}

TEST_CASE("a shuffle of a tile counts as one of the warp", "[groups]") {
    if (!kata::counts_available()) SKIP("nothing is counted");
    auto in = upload("in", listed<int>(64, [](int i) { return i; }));
    Buffer<int> out("out", 64);
    const auto by_warp = observe({}, [&] { kernels::warp_shuffle(in.data(), out.data()); });
    const auto expected = out.values();
    const auto by_tile =
        observe({}, [&] { kernels::tile_shuffle(kernels::Tile_shuffle::down, 8, 3, in.data(), out.data()); });
    CHECK(out.values() == expected);
    CHECK(by_tile.counts->global_load == by_warp.counts->global_load);
    CHECK(by_tile.counts->global_store == by_warp.counts->global_store);
    CHECK(by_tile.counts->barriers == 0);
}

TEST_CASE("a tile shuffles values of up to 32 bytes", "[groups]") {
    Buffer<double> out("out", 4 * 32);
    observe({}, [&] { kernels::wide_shuffle(out.data()); });
    CHECK(out.values() == listed<double>(4 * 32, [](int i) {
              const int t = i / 4 ^ 1;
              return i % 4 == 0 ? t : i % 4 == 1 ? -t : i % 4 == 2 ? 2 * t : 0.5;
          }));
}

TEST_CASE("a tile reduces the values of all its threads", "[groups]") {
    const int size = GENERATE(2, 16, 32);
    const auto value = [](int i) { return i % 7 == 0 ? -5 * i - 1 : 3 * i; };
    auto in = upload("in", listed<int>(64, value));
    Buffer<int> out("out", 6 * 64);
    Buffer<float> sums("sums", 64);
    observe({}, [&] { kernels::tile_reduce(size, in.data(), out.data(), sums.data()); });
    std::vector<int> expected;
    std::vector<float> halves;
    for (int i = 0; i < 64; ++i) {
        int sum = 0, least = 1 << 30, most = -least, all = -1, any = 0, odd = 0;
        for (int k = i / size * size; k < i / size * size + size; ++k) {
            sum += value(k), least = std::min(least, value(k)), most = std::max(most, value(k));
            all &= value(k), any |= value(k), odd ^= value(k);
        }
        expected.insert(expected.end(), {sum, least, most, all, any, odd});
        halves.push_back(0.5f * static_cast<float>(sum));
    }
    CHECK(out.values() == expected);
    CHECK(sums.values() == halves);
}

TEST_CASE("a scan keeps the order of the lanes", "[groups]") {
    const bool coalesced = GENERATE(false, true);
    const auto value = [](int i) { return int2{i % 3 == 0 ? 1 : 2, i + 1}; };
    std::vector<int2> values;
    for (int i = 0; i < 32; ++i) values.push_back(value(i));
    auto in = upload("in", values);
    auto inclusive = upload("inclusive", std::vector<int2>(32)),
         exclusive = upload("exclusive", std::vector<int2>(32));
    observe({}, [&] { kernels::group_scan(coalesced, in.data(), inclusive.data(), exclusive.data()); });
    const auto all = inclusive.values(), before = exclusive.values();
    int2 sum{}, last{};
    for (int i = 0; i < 32; ++i) {
        if (coalesced && i % 3 != 0) continue;
        const bool first = coalesced ? i == 0 : i % 8 == 0;
        const auto v = value(i);
        last = first ? int2{0, 0} : sum;
        // NVIDIA's operator gets the newer value first
        sum = first ? v : int2{sum.x * v.x, sum.y * v.x + v.y};
        CAPTURE(i);
        CHECK((all[i].x == sum.x && all[i].y == sum.y));
        CHECK((before[i].x == last.x && before[i].y == last.y));
    }
}

// A tile of 8 lanes shuffles three times for an inclusive scan and four times for an exclusive one.
TEST_CASE("a scan by the library counts its shuffles, but not its loops", "[groups]") {
    if (!kata::counts_available()) SKIP("nothing is counted");
    auto in = upload("in", std::vector<int2>(32)), inclusive = upload("inclusive", std::vector<int2>(32)),
         exclusive = upload("exclusive", std::vector<int2>(32));
    const auto seen =
        observe({}, [&] { kernels::group_scan(false, in.data(), inclusive.data(), exclusive.data()); });
    const auto steps = seen.counts->basic_blocks;
    CHECK(steps >= 7);
    CHECK(steps < 30);
}

TEST_CASE("coalesced lanes have ranks and vote by rank", "[groups]") {
    const unsigned mask = GENERATE(0xffffffffu, 0x80000001u, 0x0f0f0f00u, 0x00000010u);
    Buffer<int> out("out", 4 * 32);
    observe({}, [&] { kernels::lanes_together(mask, out.data()); });
    const auto seen = out.values();
    const int size = std::popcount(mask), last = 31 - std::countl_zero(mask);
    int sum = 0;
    for (int i = 0; i < 32; ++i) sum += mask >> i & 1 ? i : 0;
    for (int i = 0, rank = 0; i < 32; ++i) {
        if (!(mask >> i & 1)) continue;
        CHECK(seen[4 * i] == rank++);
        CHECK(seen[4 * i + 1] == 100 + last);
        CHECK(static_cast<unsigned>(seen[4 * i + 2]) ==
              (0xaaaaaaaau & (size == 32 ? ~0u : (1u << size) - 1)));
        CHECK(seen[4 * i + 3] == sum);
    }
}

TEST_CASE("a function can take any group", "[groups]") {
    const auto order = GENERATE(Order::forwards, Order::backwards, Order::shuffled);
    auto in = upload("in", listed<int>(64, [](int i) { return i * i; })), out = zeros<int>("out", 64);
    const auto seen =
        observe({.order = order}, [&] { kernels::reduce_through_group(in.data(), out.data()); });
    CHECK(seen.findings == Findings{});
    CHECK(out.values() == listed<int>(64, [](int i) {
              if (i % 16 != 0) return 0;
              int sum = 0;
              for (int k = i; k < (i == 0 ? 64 : i + 16); ++k) sum += k * k;
              return sum;
          }));
}

TEST_CASE("a thread that does not reach its tile is reported", "[groups]") {
    auto out = zeros<int>("out", 32);
    const auto message = fault([&] { kernels::tile_with_absent_lane(out.data()); });
    CHECK_THAT(message, StartsWith("deadlock: the threads of block (0,0,0)"));
    CHECK_THAT(message, ContainsSubstring("24 threads, first (0,0,0), wait at shfl_down in " +
                                          line_of("absent lane")));
    CHECK_THAT(message,
               ContainsSubstring("the mask 0x0000000f of shfl_down names 1 lane that did not come: 3"));
}

TEST_CASE("sync() of a block is a barrier like any other", "[groups]") {
    Buffer<int> out("out", 64);
    const auto seen = observe({}, [&] { kernels::group_barrier(false, out.data()); });
    CHECK(seen.findings == Findings{});
    if (seen.counts) CHECK(seen.counts->barriers == 1);
    CHECK(out.values() == listed<int>(64, [](int i) { return 63 - i; }));
    const auto message = fault([&] { kernels::group_barrier(true, out.data()); });
    CHECK_THAT(message, StartsWith("divergent barrier: "));
    CHECK_THAT(message, ContainsSubstring("10 threads, first (0,0,0), wait at sync in " +
                                          line_of("barrier of a group")));
}

TEST_CASE("a grid cannot synchronize", "[groups]") {
    CHECK_THAT(fault([] { kernels::grid_barrier(); }),
               StartsWith("this_grid().sync() in " + line_of("barrier of the grid")) &&
                   ContainsSubstring("end the kernel there, and launch the rest as another one"));
}
