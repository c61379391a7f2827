// Barriers and warps.
#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <string>
#include <vector>

TEST_CASE("counting barriers give every thread the count, the conjunction and the disjunction", "[barrier]") {
    const Order order = any_order();
    const int threads = GENERATE(1, 31, 32, 100);
    const int ones = GENERATE(0, 1, 30, 100);
    std::vector<int> predicate(threads);
    for (int i = 0; i < std::min(ones, threads); ++i) predicate[i] = 4 + i;  // any nonzero number is true
    auto in = upload("predicate", predicate);
    Buffer<int> out("out", 3 * threads);
    observe({.order = order}, [&] { kernels::counting_barriers(in.data(), out.data(), threads); });
    const int count = std::min(ones, threads);
    CHECK(out.values() == listed<int>(3 * threads, [=](int i) {
              return i % 3 == 0 ? count : i % 3 == 1 ? count == threads : count > 0;
          }));
}

TEST_CASE("a barrier that not all threads reach is diagnosed", "[barrier]") {
    const Order order = any_order();
    const auto message = fault([] { kernels::divergent_barrier(64, 10); }, {.order = order});
    CHECK_THAT(message, StartsWith("divergent barrier: the threads of block (" +
                                   std::string(order == Order::forwards ? "0,0,0" : "")));
    CHECK_THAT(message, ContainsSubstring("54 threads, first (10,0,0), left the kernel"));
    CHECK_THAT(message, ContainsSubstring("10 threads, first (0,0,0), wait at __syncthreads in " +
                                          line_of("divergent barrier")));
    CHECK_THAT(message, ContainsSubstring("in place of a return before the barrier, put the work in an if") &&
                            ContainsSubstring("one that stands in an if itself belongs after that if") &&
                            ContainsSubstring("GPUs since Volta go on without threads that have left"));
    const std::string rounds = "its loop must have the same number of rounds for each thread";
    CHECK(message.find(rounds) == std::string::npos);
    CHECK_THAT(fault([] { kernels::barrier_in_loop(100); }), ContainsSubstring(rounds));
    CHECK(fault([] { kernels::barrier_in_loop(128); }) == "");
    CHECK(fault([] { kernels::divergent_barrier(64, 64); }) == "");
    CHECK(fault([] { kernels::divergent_barrier(64, 0); }) == "");
}

TEST_CASE("two different barriers do not match", "[barrier]") {
    const auto message = fault([] { kernels::two_barriers(40, 39); });
    CHECK_THAT(message, StartsWith("divergent barrier: the threads of block (0,0,0)"));
    CHECK_THAT(message, ContainsSubstring("39 threads, first (0,0,0), wait at __syncthreads in " +
                                          line_of("first of two barriers")));
    CHECK_THAT(message, ContainsSubstring("1 thread, first (39,0,0), wait at __syncthreads in " +
                                          line_of("second of two barriers")));
    CHECK(fault([] { kernels::two_barriers(40, 40); }) == "");
}

TEST_CASE("two barriers in one line or in one helper do not match", "[barrier]") {
    need_meter();
    const auto text = [](const std::string& one, const std::string& other) {
        return "divergent barrier: the threads of block (0,0,0) do not all come to the same __syncthreads\n"
               "  20 threads, first (0,0,0), wait at __syncthreads in " +
               one + "\n  44 threads, first (20,0,0), wait at __syncthreads in " + other +
               "\n  all threads of a block must come to the same barrier: put the work in the if, and one "
               "barrier after it";
    };
    const auto line = line_of("two in a line"), helper = line_of("helper's barrier");
    CHECK(fault([] { kernels::two_barriers_in_a_line(64, 20); }) == text(line, line + ", at another call"));
    CHECK(fault([] { kernels::two_barriers_in_a_line(64, 64); }) == "");
    CHECK(fault([] { kernels::barriers_in_a_helper(64, 20); }) ==
          text(helper + ", called in " + line_of("first call of the helper"),
               helper + ", called in " + line_of("second call of the helper")));
    for (const int n : {0, 64}) CHECK(fault([n] { kernels::barriers_in_a_helper(64, n); }) == "");
}

TEST_CASE("a barrier does not match a synchronization of a warp", "[barrier]") {
    const auto message = fault([] { kernels::barrier_against_shuffle(64); });
    CHECK_THAT(message,
               StartsWith("deadlock: the threads of block (0,0,0) do not all come to the same place"));
    CHECK_THAT(message, ContainsSubstring("32 threads, first (0,0,0), wait at __syncthreads in " +
                                          line_of("barrier against shuffle")));
    CHECK_THAT(message, ContainsSubstring("32 threads, first (16,0,0), wait at __syncwarp in " +
                                          line_of("shuffle against barrier")));
    CHECK_THAT(message,
               ContainsSubstring("the mask 0xffffffff of __syncwarp names 16 lanes that did not come: "
                                 "0, 1, 2, 3, 4, 5, 6, 7, …"));
}

namespace {

/// Returns the lane whose value `lane` receives, as PTX specifies it for shfl.sync.
int source_of(kernels::Shuffle kind, int lane, int argument, int width) {
    const int first = lane / width * width, last = first + width - 1;
    int source = lane;
    switch (kind) {
        case kernels::Shuffle::index:
            source = first + (argument % width + width) % width;
            break;
        case kernels::Shuffle::up:
            source = lane - argument >= first ? lane - argument : lane;
            break;
        case kernels::Shuffle::down:
            source = lane + argument <= last ? lane + argument : lane;
            break;
        case kernels::Shuffle::exclusive_or:
            source = (lane ^ argument) <= last ? lane ^ argument : lane;
            break;
    }
    return source;
}

}  // namespace

TEST_CASE("shuffles return the value of the lane that CUDA specifies", "[warp]") {
    using enum kernels::Shuffle;
    const auto kind = GENERATE(index, up, down, exclusive_or);
    const int width = GENERATE(1, 2, 4, 8, 16, 32);
    const int argument = GENERATE(0, 1, 3, 8, 31);
    constexpr int threads = 64;
    const auto order = argument % 2 ? Order::backwards : Order::shuffled;
    auto in = upload("in", counted<int>(threads, 1000));
    Buffer<int> out("out", threads);
    observe({.order = order},
            [&] { kernels::shuffle(kind, 0xffffffff, argument, width, in.data(), out.data(), threads); });
    CHECK(out.values() == listed<int>(threads, [=](int i) {
              return 1000 + i / 32 * 32 + source_of(kind, i % 32, argument, width);
          }));
}

TEST_CASE("shuffles work among the lanes of a mask and in a partial warp", "[warp]") {
    const auto [mask, threads] = GENERATE(
        table<unsigned, int>({{0x0000ffffu, 32}, {0xffff0000u, 32}, {0x55555555u, 32}, {0xffffffffu, 20}}));
    auto in = upload("in", counted<int>(threads, 1000));
    auto out = zeros<int>("out", threads);
    observe({}, [&, mask = mask, threads = threads] {
        kernels::shuffle(kernels::Shuffle::exclusive_or, mask, 2, 32, in.data(), out.data(), threads);
    });
    CHECK(out.values() == listed<int>(threads, [mask = mask, threads = threads](int i) {
              const int partner = (i ^ 2) < threads ? i ^ 2 : i;
              return mask >> i & 1 ? 1000 + partner : 0;
          }));
}

TEST_CASE("shuffles exchange values of up to eight bytes", "[warp]") {
    Buffer<double> doubles("doubles", 32);
    Buffer<long long> longs("longs", 32);
    Buffer<unsigned> halves("halves", 32);
    observe({}, [&] { kernels::shuffle_types(doubles.data(), longs.data(), halves.data()); });
    CHECK(doubles.values() == listed<double>(32, [](int i) { return 0.5 + (i ^ 1); }));
    CHECK(longs.values() == listed<long long>(32, [](int i) { return (1ll << 40) + 31 - i; }));
    CHECK(halves.values() == listed<unsigned>(32, [](int i) { return std::min(i + 1, 31); }));
}

TEST_CASE("votes count the lanes of the mask and no others", "[warp]") {
    const auto [mask, threads] = GENERATE(
        table<unsigned, int>({{0xffffffffu, 64}, {0x0ff00001u, 64}, {0xffffffffu, 40}, {0x000000ffu, 8}}));
    const unsigned yes = GENERATE(0u, 0xffffffffu, 0x00010001u, 0x0ff00001u);
    std::vector<int> predicate(threads);
    for (int i = 0; i < threads; ++i) predicate[i] = (yes >> i % 32 & 1) * (i + 5);
    auto in = upload("predicate", predicate);
    auto out = zeros<unsigned>("out", 3 * threads);
    observe({},
            [&, mask = mask, threads = threads] { kernels::votes(mask, in.data(), out.data(), threads); });
    std::vector<unsigned> expected(3 * threads);
    for (int i = 0; i < threads; ++i) {
        if (!(mask >> i % 32 & 1)) continue;
        const int lanes = std::min(32, threads - i / 32 * 32);
        const unsigned present = mask & (lanes == 32 ? ~0u : (1u << lanes) - 1);
        expected[3 * i] = yes & present;
        expected[3 * i + 1] = (yes & present) != 0;
        expected[3 * i + 2] = (yes & present) == present;
    }
    CHECK(out.values() == expected);
}

TEST_CASE("matches find the lanes with the same value, also in a partial warp", "[warp]") {
    const int threads = GENERATE(32, 20), kinds = GENERATE(1, 3, 32);
    std::vector<int> values(threads);
    for (int i = 0; i < threads; ++i) values[i] = i % kinds - 1;
    auto in = upload("values", values);
    Buffer<unsigned> out("out", 3 * threads);
    observe({}, [&] { kernels::matches(0xffffffff, in.data(), out.data(), threads); });
    std::vector<unsigned> expected;
    for (int i = 0; i < threads; ++i) {
        unsigned same = 0;
        for (int k = 0; k < threads; ++k) same |= (values[k] == values[i] ? 1u : 0u) << k;
        expected.insert(expected.end(), {same, kinds == 1 ? 0xffffffff : 0, kinds == 1 ? 1u : 0u});
    }
    CHECK(out.values() == expected);
}

TEST_CASE("a warp sums over the lanes of the mask that exist in the block", "[warp]") {
    const auto [mask, threads] =
        GENERATE(table<unsigned, int>({{0xffffffffu, 32}, {0x80000001u, 32}, {0xffffffffu, 5}}));
    auto in = upload("values", counted<int>(threads, -3));
    auto out = zeros<int>("out", threads);
    observe({}, [&, mask = mask, threads = threads] { kernels::sums(mask, in.data(), out.data(), threads); });
    int sum = 0;
    for (int i = 0; i < threads; ++i) sum += mask >> i & 1 ? i - 3 : 0;
    CHECK(out.values() == listed<int>(threads, [&, mask = mask](int i) { return mask >> i & 1 ? sum : 0; }));
}

TEST_CASE("__syncwarp orders the lanes of its mask, at two places at once", "[warp]") {
    const Order order = any_order();
    auto in = upload("in", counted<int>(32));
    Buffer<int> out("out", 32);
    const auto seen = observe({.order = order}, [&] { kernels::swap_in_halves(in.data(), out.data()); });
    CHECK(out.values() == listed<int>(32, [](int i) { return i < 16 ? i ^ 1 : i ^ 3; }));
    CHECK(seen.findings == std::vector<std::string>{});
}

TEST_CASE("__activemask names the lanes that are at the same place", "[warp]") {
    const Order order = any_order();
    Buffer<unsigned> out("out", 40);
    std::vector<int> rounds(40);
    for (int i = 0; i < 40; ++i) rounds[i] = i % 7 * 50;
    auto in = upload("rounds", rounds);
    observe({.order = order}, [&] { kernels::active_lanes(in.data(), out.data(), 40); });
    // lanes need not be converged after a loop, and with a shuffled order they are not
    const auto together = listed<unsigned>(40, [](int i) { return i < 32 ? 0xffffffff : 0xff; });
    const auto behind_loop = out.values();
    for (int i = 0; i < 40; ++i) {
        CHECK((behind_loop[i] & ~together[i]) == 0);
        CHECK((behind_loop[i] >> i % 32 & 1) == 1);
    }
    CHECK((behind_loop == together) == (order != Order::shuffled));
    auto halves = zeros<unsigned>("halves", 32);
    observe({.order = order}, [&] { kernels::active_halves(halves.data()); });
    const auto masks = halves.values();
    bool whole = true;
    for (int i = 0; i < 32; ++i) {
        const unsigned branch = i % 2 == 0 ? 0x55555555 : i < 24 ? 0x00aaaaaa : 0;
        CHECK((masks[i] & ~branch) == 0);
        CHECK((branch == 0 || (masks[i] >> i & 1) == 1));
        whole = whole && masks[i] == branch;
    }
    // lanes need not be converged in a branch, and with a shuffled order they are not
    CHECK(whole == (order != Order::shuffled));
}

TEST_CASE("lanes that remain after others have exited need not be converged", "[warp]") {
    const Order order = any_order();
    auto out = zeros<unsigned>("out", 16);
    observe({.order = order}, [&] { kernels::active_rest(out.data()); });
    const auto masks = out.values();
    bool whole = true;
    for (int i = 0; i < 16; ++i) {
        CHECK((masks[i] & ~0xffffu) == 0);
        CHECK((masks[i] >> i & 1) == 1);
        whole = whole && masks[i] == 0xffff;
    }
    CHECK(whole == (order != Order::shuffled));
}

TEST_CASE("a mask that names lanes which never arrive is diagnosed", "[warp]") {
    Buffer<int> out("out", 32);
    const auto message = fault([&] { kernels::absent_lanes(out.data()); });
    CHECK_THAT(message, StartsWith("deadlock: the threads of block (0,0,0)"));
    CHECK_THAT(message, ContainsSubstring("16 threads, first (0,0,0), wait at __shfl_down_sync in " +
                                          line_of("absent lanes")));
    CHECK_THAT(message,
               ContainsSubstring("the mask 0xffffffff of __shfl_down_sync names 16 lanes that did not "
                                 "come: 16, 17, 18, 19, 20, 21, 22, 23, …"));
}

TEST_CASE("lanes that have left the kernel are not waited for, even if the mask names them", "[warp]") {
    const Order order = any_order();
    const int n = GENERATE(1, 5, 31, 32);
    auto in = upload("in", counted<int>(32, 1)), out = zeros<int>("out", 64);
    CHECK(fault([&] { kernels::early_return(in.data(), out.data(), n); }, {.order = order}) == "");
    CHECK(out.values()[0] == n * (n + 1) / 2);
    for (int l = 0; l < 32; ++l) CHECK(out.values()[32 + l] == (l < n ? n : 0));
}

TEST_CASE("a shuffle from a lane that does not take part shows in any result", "[warp]") {
    const auto [n, mask] = GENERATE(table<int, unsigned>({{5, 0xffffffffu}, {5, 0x1fu}}));
    auto ints = zeros<int>("ints", 32);
    auto floats = zeros<float>("floats", 32);
    auto doubles = zeros<double>("doubles", 32);
    const auto seen = observe({}, [&, n = n, mask = mask] {
        kernels::from_absent_lane(ints.data(), n, mask);
        kernels::from_absent_lane(floats.data(), n, mask);
        kernels::from_absent_lane(doubles.data(), n, mask);
    });
    CHECK(ints.values()[n - 2] == 1);
    CHECK(floats.values()[n - 2] == 1);
    CHECK(doubles.values()[n - 2] == 1);
    CHECK(ints.values()[n - 1] < -1000);
    CHECK(std::isnan(floats.values()[n - 1]));
    CHECK(std::isnan(doubles.values()[n - 1]));
    const auto finding =
        "undefined value: thread (4,0,0) of block (0,0,0) calls __shfl_down_sync in " +
        line_of("from a lane that has left") + " for the value of lane 5, which " +
        (mask == 0x1f
             ? "its mask 0x0000001f does not name; the result depends on it"
             : "has left the kernel without this call; the result depends on it\n  each lane that the "
               "mask names must come to the call: does an if around it, or a return before it, keep "
               "some of them away?");
    if (kata::counts_available()) CHECK(seen.findings == std::vector<std::string>{finding});
    auto sum = zeros<int>("sum");
    CHECK(observe({}, [&] { kernels::halves_of_16(sum.data()); }).findings.empty());
    CHECK(sum.values()[0] == 16);
}

TEST_CASE("a mask without the caller's own lane is diagnosed", "[warp]") {
    Buffer<int> out("out", 32);
    CHECK_THAT(
        fault([&] { kernels::foreign_mask(out.data()); }),
        Equals(
            "__ballot_sync in " + line_of("foreign mask") +
            ": thread (16,0,0) of block (0,0,0) calls it with the mask 0x0000ffff, which does not name its "
            "own lane 16\n  bit i of the mask stands for lane i: it names all lanes that make the call, "
            "0xffffffff the whole warp"));
}

TEST_CASE("lanes that disagree on the mask are diagnosed", "[warp]") {
    need_meter();
    Buffer<int> out("out", 32);
    const auto message = fault([&] { kernels::unlike_masks(out.data()); });
    CHECK_THAT(message, StartsWith("deadlock: "));
    CHECK_THAT(message, ContainsSubstring(line_of("unlike masks")));
    CHECK_THAT(message,
               ContainsSubstring("the mask 0xffffffff of __any_sync names 16 lanes that did not come: 16"));
}
