// Launches: what is refused, what is reported of them, and launches that run in part.
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

TEST_CASE("launches are counted", "[launch]") {
    CHECK(observe({}, [] { kernels::nothing({2, 3}, 32, 0); }).launches == 1);
    CHECK(observe({}, [] {}).launches == 0);
}

TEST_CASE("a launch that no device accepts is refused", "[launch]") {
    const auto fault_of = [](dim3 grid, dim3 block, std::size_t bytes = 0) {
        return fault([=] { kernels::nothing(grid, block, bytes); }, {});
    };
    CHECK(fault_of(70'000, 1) == "");
    CHECK(fault_of(1, {32, 32}) == "");
    CHECK(fault_of(1, 1, 48 * 1024) == "");
    CHECK_THAT(fault_of(1, 1025),
               Equals("launch refused: grid (1, 1, 1), block (1025, 1, 1) = 1025 threads, 0 bytes of dynamic "
                      "shared memory: a block has room for 1024 threads"));
    CHECK_THAT(fault_of(1, {32, 33}), ContainsSubstring("block (32, 33, 1) = 1056 threads"));
    CHECK_THAT(fault_of(1, {1, 1, 65}), EndsWith(": a block may have (1024, 1024, 64) threads at most"));
    CHECK_THAT(fault_of(1, {65536, 65536}), EndsWith(": a block has room for 1024 threads"));
    CHECK_THAT(fault_of(1, {0, 4}), EndsWith(": a block needs at least one thread in x, y and z"));
    for (const dim3 grid : {dim3(1, 65536), dim3(1, 1, 65536), dim3(0x80000000)})
        CHECK_THAT(fault_of(grid, 1),
                   ContainsSubstring(": a grid may have (2147483647, 65535, 65535) blocks"));
    CHECK_THAT(fault_of(1, 1, 48 * 1024 + 1),
               ContainsSubstring(" 49153 bytes of dynamic shared memory: a block gets 49152 bytes"));
}

TEST_CASE("chevrons launch a kernel, and an empty grid is refused as on a GPU", "[launch]") {
    constexpr int n = 75;
    auto in = upload("in", counted<int>(n)), out = zeros<int>("out", n);
    const auto seen = observe({}, [&] { kernels::chevrons(in.data(), out.data(), n); });
    CHECK(seen.launches == 2);
    CHECK(out.values() == listed<int>(n, [](int i) { return 3 * i; }));
    CHECK_THAT(fault([] {
                   kernels::nothing({0, 1, 1}, 32, 0);
               }),
               StartsWith("launch refused: grid (0, 1, 1), ") &&
                   EndsWith(": the grid has no blocks: if there is nothing to do, launch nothing; if there "
                            "is less than one block can do, round up, as ceil_div(n, threads) does"));
    CHECK_THAT(fault([] { kernels::nothing(1, 2048, 0); }), StartsWith("launch refused: grid"));
}

TEST_CASE("a launch outside of an observation is refused", "[launch]") {
    CHECK_THROWS_WITH(kernels::nothing(1, 1, 0), "launch outside of observe()");
    CHECK_THROWS_WITH(observe({}, [] { observe({}, [] {}); }), "observe() inside of observe()");
    CHECK(fault([] { kernels::nothing(1, 1, 0); }) == "");
}

TEST_CASE("a kernel that launches a kernel is refused", "[launch]") {
    CHECK_THAT(fault([] { kernels::launch_in_kernel(); }), ContainsSubstring("a kernel launches a kernel"));
}

TEST_CASE("an open kata is distinguished from a failure, in a kernel and on the host", "[launch]") {
    CHECK_THROWS_AS(observe({}, kernels::open_in_kernel), kata::OpenKata);
    CHECK_THROWS_AS(observe({}, kernels::open_on_host), kata::OpenKata);
    CHECK(fault([] { kernels::nothing(1, 1, 0); }) == "");
}

TEST_CASE("a launch of fewer threads is run completely", "[launch]") {
    constexpr int n = 1 << 22;
    Buffer<int> in("in", n, kata::zeros), out("out", n, kata::zeros);
    const auto seen = observe({.metered = false, .only_ends = true},
                              [&] { kernels::add_one(in.data(), out.data(), n, n / 256, 256); });
    CHECK(!seen.in_part);
    CHECK(out.element(n / 2) == 1);
}

TEST_CASE("a variable that counts blocks is restored if some blocks are left out", "[launch]") {
    const auto [blocks, conditions] = GENERATE(table<int, kata::Conditions>({
        {9, {.metered = false, .only_ends = true, .even_of_few = true}},
        {(1 << 14) + 1, {.metered = false, .only_ends = true}},
    }));
    auto out = zeros<int>("out");
    const int launched = blocks;
    CHECK(observe(conditions, [&] { kernels::number_last_block(out.data(), launched); }).in_part);
    CHECK(out.element(0) == 0);
    observe({.metered = false}, [&] { kernels::number_last_block(out.data(), 3); });
    CHECK(out.element(0) == 3);
}

TEST_CASE("variables of the host are not restored along with those of the device", "[launch]") {
    auto out = zeros<int>("out");
    int remembered = 0;
    for (const int expected : {1, 2, 3}) {
        observe({.metered = false, .only_ends = true, .even_of_few = true},
                [&] { remembered = kernels::launches_remembered(out.data(), 9); });
        CHECK(remembered == expected);
    }
}

TEST_CASE("a launch of few blocks also runs at its ends if requested", "[launch]") {
    constexpr int threads = 64, blocks = 9, n = threads * blocks;
    Buffer<int> in("in", n, kata::zeros), out("out", n, kata::zeros);
    const auto seen = observe({.metered = false, .only_ends = true, .even_of_few = true},
                              [&] { kernels::add_one(in.data(), out.data(), n, blocks, threads); });
    CHECK(seen.in_part);
    for (int block = 0; block < blocks; ++block)
        CHECK(out.element(static_cast<std::size_t>(block * threads)) == (block < 2 || block >= blocks - 6));
}

TEST_CASE("a launch that takes too long reports whether blocks were confused with threads", "[launch]") {
    need_meter();
    constexpr int many = 1 << 20;
    const Conditions short_of_time{.time_limit = 0.05};
    const std::string blocks = "idle_blocks_kernel<<<1048576, 32>>> has 32 times as many threads as n = ";
    CHECK_THAT(fault([] { kernels::idle_blocks(many, 32, many); }, short_of_time),
               StartsWith("launch too long: it has come to block (") &&
                   ContainsSubstring(blocks + "1048576 says: the first argument of <<<"));
    CHECK_THAT(fault([] { kernels::idle_blocks(many, 32, 32 * many); }, short_of_time),
               StartsWith("launch too long: it has come to block (") && !ContainsSubstring(blocks));
    try {
        observe(short_of_time, [] { kernels::idle_blocks(many, 32, many); });
    } catch (const kata::Error& e) {
        CHECK(e.out_of_time == kata::OutOfTime::in_all_blocks);
    }
}

TEST_CASE("launches whose errors are never checked are counted", "[launch]") {
    using enum kernels::Asks;
    const auto unchecked = [](kernels::Asks when) {
        return kata::observe({}, [=] { kernels::asks(when); }).unchecked;
    };
    CHECK(unchecked(behind_each) == 0);
    CHECK(unchecked(at_the_end) == 0);
    CHECK(unchecked(in_between) == 1);
    for (const auto when : {compared, kept, by_lambda}) CHECK(unchecked(when) == 0);
    for (const auto when : {never, dropped, dropped_in_branch}) CHECK(unchecked(when) == 2);
}

TEST_CASE("an error in one of several launches says in which", "[launch]") {
    CHECK(fault([] { kernels::asks(kernels::Asks::fails); }) ==
          "__trap() in " + line_of("second fails") +
              ": thread (0,0,0) of block (0,0,0) ends the launch\n  in the 2nd launch, in " +
              line_of("second launch") + ": may_trap_kernel<<<2, (8,4,1)>>>" +
              (kata::counts_available() ? " with number = 2" : ""));
}

void launch_small_beside_large(int* out, bool too);  // tools/large_shared.cu

TEST_CASE("a module with a kernel that needs more shared memory than a block has is refused", "[launch]") {
    need_meter();
    Buffer<int> out("out", 32);
    CHECK(fault([&] { launch_small_beside_large(out.data(), false); }) ==
          "launch refused: large(int*) has 53248 bytes of shared memory; a block has 49152");
}

TEST_CASE("a launch of a template or an overloaded kernel is resolved by its arguments", "[launch]") {
    Buffer<int> ints("ints", 4);
    Buffer<double> doubles("doubles", 4);
    observe({}, [&] { kernels::chosen_by_arguments(ints.data(), doubles.data()); });
    CHECK(ints.values() == std::vector<int>{1, 2, 3, 4});
    CHECK(doubles.values() == std::vector<double>{0.5, 1.5, 2.5, 3.5});
}

TEST_CASE("local arrays that do not fit into registers are reported once", "[launch]") {
    using enum kernels::Apart;
    Buffer<float> out("out", std::vector<float>(2048));
    const auto told = [&](kernels::Apart how) {
        return observe({}, [&] { kernels::summed_apart(how, out.data()); }).spilled;
    };
    for (const auto how : {sums_of_248, in_960_threads, promised_15}) CHECK(told(how).empty());
    for (const auto how : {sums_of_256, doubles, in_1024_threads, promised_16})
        REQUIRE(told(how).size() == 1);
    CHECK_THAT(
        told(sums_of_256)[0],
        StartsWith("the local array \"sums\" in launches.cu:") &&
            EndsWith(" does not fit into the registers of a thread: it has 256 words of 4 bytes, and a "
                     "thread has 255 registers at most"));
    CHECK_THAT(told(doubles)[0], ContainsSubstring("it has 256 words"));
    CHECK_THAT(
        told(in_1024_threads)[0],
        EndsWith("it has 64 words of 4 bytes, and a thread has 64 registers at most, where a block has "
                 "1024 threads"));
    CHECK_THAT(told(promised_16)[0],
               EndsWith("a thread has 64 registers at most, where 16 blocks are promised, of 64 threads"));
}

TEST_CASE("a block has no more threads than __launch_bounds__ allows", "[launch]") {
    auto out = zeros<int>("out", 64);
    CHECK(fault([&] { kernels::bounded(out.data(), 64); }) == "");
    CHECK(fault([&] { kernels::bounded(out.data(), 66); }) ==
          "launch refused: grid (1, 1, 1), block (33, 2, 1) = 66 threads, 0 bytes of dynamic shared memory: "
          "__launch_bounds__ promises the kernel no more than 64 threads in a block");
}

TEST_CASE("an observation lists the first launches with their configuration", "[launch]") {
    Buffer<int> out("out", 12), flags("flags", 12);
    const auto seen = kata::observe({}, [&] {
        for (int i = 0; i < 4; ++i) kernels::wait_for_block_before(flags.data(), out.data(), 12 - i);
    });
    CHECK(seen.launches == 4);
    REQUIRE(seen.launched.size() == 3);
    for (unsigned i = 0; i < 3; ++i)
        CHECK(seen.launched[i].text ==
              "wait_for_block_before_kernel<<<" + std::to_string(12 - i) + ", 32>>>");
    CHECK(seen.launched[1].configuration() == "<<<11, 32>>>");
    CHECK(!seen.launched[1].is_like(seen.launched[0]));
}

TEST_CASE("kernels can be launched as others were", "[launch]") {
    const auto launch = [](int blocks, Buffer<int>& out) {
        auto flags = zeros<int>("flags", 12);
        return kata::observe({}, [&] { kernels::wait_for_block_before(flags.data(), out.data(), blocks); });
    };
    auto out = zeros<int>("out", 12), other_out = zeros<int>("out", 12);
    const auto other = launch(5, other_out).launched;
    const kata::LaunchedAs as_there(other);
    CHECK(launch(12, out).launched.at(0).text == "wait_for_block_before_kernel<<<12, 32>>>");
    CHECK(out.values() == std::vector<int>{0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0});
}
