// Endless loops and waits, and blocks that wait for one another.
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <vector>

namespace {

/// Returns ", in endless.cu:12" for the marked line if the meter reports lines.
std::string in(const char* mark) { return kata::counts_available() ? ", in " + line_of(mark) : ""; }

}  // namespace

TEST_CASE("an endless loop ends the launch after the time limit", "[endless]") {
    auto out = zeros<int>("out");
    CHECK_THAT(
        fault([&] { kernels::endless(out.data()); }),
        Equals("perhaps endless: thread (0,0,0) of block (0,0,0) still runs after 0.1 s of processor time" +
               in("endless") + "; does its loop end for every thread, or has it far too many rounds?"));
    if (!kata::counts_available()) return;  // an optimizer may assume that a loop like this one ends
    CHECK_THAT(fault([] { kernels::endless_without_memory(40); }, {.time_limit = 0.05}),
               StartsWith("perhaps endless: thread (39,0,0) of block (0,0,0) still runs after 0.05 s"));
}

// Its threads are between barriers when the time is over, as those of an endless loop are.
TEST_CASE("a launch of many blocks with barriers is too long and not endless", "[endless]") {
    auto out = zeros<int>("out");
    const Conditions short_of_time{.time_limit = 0.1, .metered = false};
    const auto late = fault([&] { kernels::rounds(out.data(), 8, 1 << 20); }, short_of_time);
    CHECK_THAT(late, StartsWith("launch too long: it has come to block ("));
    CHECK_THAT(fault([&] { kernels::rounds(out.data(), 1 << 30, 4); }, short_of_time),
               StartsWith("perhaps endless: thread ("));
}

namespace {

/// A limit that a test has time to reach, although solutions take more steps.
constexpr std::uint64_t few_steps = 4'000'000;

}  // namespace

TEST_CASE("an endless loop ends after the maximum number of steps if steps are counted", "[endless]") {
    need_meter();
    const Conditions conditions{.most_steps = few_steps};
    for (const int threads : {1, 256})
        CHECK_THAT(fault([=] { kernels::endless_without_memory(threads); }, conditions),
                   StartsWith("perhaps endless: thread (" + std::to_string(threads - 1) +
                              ",0,0) of block (0,0,0)") &&
                       EndsWith(in("endless without memory") +
                                "; does its loop end for every thread, or has it far too many rounds?"));
    auto flag = zeros<int>("flag");
    CHECK_THAT(fault([&] { kernels::spin_on_atomic(flag.data()); }, conditions),
               StartsWith("endless wait: thread (") &&
                   EndsWith(in("spin on atomic") + "; does another thread write what it waits for?"));
    CHECK_THAT(fault([&] { kernels::count_for_ever(flag.data()); }, conditions),
               StartsWith("perhaps endless: thread (") &&
                   EndsWith(in("count for ever") +
                            "; does its loop end for every thread, or has it far too many rounds?"));
}

TEST_CASE("a sampled block that takes too long is not reported as endless", "[endless]") {
    need_meter();
    auto out = zeros<int>("out");
    CHECK_THAT(
        fault([&] { kernels::endless(out.data()); }, {.most_steps = few_steps, .sample = 1}),
        Equals("it takes too long at full size: block (0,0,0) alone is not done after 2 million steps of "
               "its threads, as if few threads did the work of all"));
}

TEST_CASE("a wait that no thread can end is ended soon, and no other wait is", "[endless]") {
    need_meter();
    const Conditions conditions{.most_steps = few_steps};
    constexpr int polls = 300'000;
    constexpr unsigned long_work = 500'000;
    auto flag = zeros<int>("flag");
    CHECK_THAT(fault([&] { kernels::wait_for_work(flag.data(), polls, 0, false); }, conditions),
               StartsWith("endless wait: thread (0,0,0) of block (0,0,0)"));
    CHECK(fault([&] { kernels::wait_for_work(flag.data(), polls, long_work, true); }, conditions) == "");
    CHECK(flag.values() == std::vector{1});
}

TEST_CASE("an endless wait for memory ends the launch after the time limit", "[endless]") {
    const Order order = any_order();
    auto flag = zeros<int>("flag");
    const Conditions conditions{.order = order, .time_limit = 0.1};
    CHECK_THAT(
        fault([&] { kernels::spin_on_atomic(flag.data()); }, conditions),
        StartsWith("perhaps endless: thread (") && ContainsSubstring("of block (0,0,0) still polls memory"));
    // only the meter notices a volatile read
    const std::string does = kata::counts_available() ? " still polls memory" : " still runs";
    CHECK_THAT(fault([&] { kernels::spin_on_volatile(flag.data()); }, conditions), ContainsSubstring(does));
    if (!kata::counts_available()) return;
    CHECK_THAT(fault([&] { kernels::spin_on_plain(flag.data()); }, conditions),
               StartsWith("perhaps endless: thread ("));
}

TEST_CASE("the looping thread is reported, not one that has polled and waits for it in a vote", "[endless]") {
    auto flag = zeros<int>("flag"), out = zeros<int>("out", 32);
    const Conditions conditions{.order = any_order(), .time_limit = 0.1};
    CHECK_THAT(fault([&] { kernels::loop_beside_vote(flag.data(), out.data()); }, conditions),
               StartsWith("perhaps endless: thread (1,0,0) of block (0,0,0) still runs"));
    auto set = upload("flag", std::vector{1});
    CHECK(fault([&] { kernels::loop_beside_vote(set.data(), out.data()); }, conditions) == "");
}

TEST_CASE("threads of a block may wait for one another", "[endless]") {
    const Order order = any_order();
    Buffer<int> out("out", 96);
    CHECK(fault([&] { kernels::wait_for_flag_in_block(out.data(), 96); }, {.order = order}) == "");
    CHECK(out.values() == std::vector<int>(96, 1));
}

TEST_CASE("a wait for a block that has not started is diagnosed", "[endless]") {
    constexpr int blocks = 12;
    auto flags = zeros<int>("flags", blocks), out = zeros<int>("out", blocks);
    CHECK(fault([&] { kernels::wait_for_block_before(flags.data(), out.data(), blocks); }) == "");
    CHECK(out.values() == counted<int>(blocks));
    auto fresh = zeros<int>("flags", blocks);
    CHECK_THAT(fault([&] { kernels::wait_for_block_before(fresh.data(), out.data(), blocks); },
                     {.order = Order::backwards, .time_limit = 0.1}),
               Equals("perhaps endless: thread (0,0,0) of block (11,0,0) still polls memory after 0.1 s of "
                      "processor time" +
                      in("wait for block before") +
                      "; does it wait for a block that has not started, or for its own?"));
}

TEST_CASE("blocks that number themselves as they start may wait for earlier ones", "[endless]") {
    const auto [order, seed] = GENERATE(table<Order, unsigned>({{Order::forwards, 1},
                                                                {Order::backwards, 1},
                                                                {Order::shuffled, 1},
                                                                {Order::shuffled, 2},
                                                                {Order::shuffled, 3}}));
    constexpr int blocks = 12;
    auto ticket = zeros<unsigned>("ticket");
    auto flags = zeros<int>("flags", blocks), out = zeros<int>("out", blocks);
    CHECK(fault([&] { kernels::wait_for_ticket_before(ticket.data(), flags.data(), out.data(), blocks); },
                {.order = order, .seed = seed}) == "");
    CHECK(out.values() == counted<int>(blocks));
}

TEST_CASE("a warp that polls and votes waits for another resident block, counted or not", "[endless]") {
    constexpr int blocks = 12;
    const bool metered = GENERATE(true, false);
    const unsigned resident = GENERATE(2u, 5u), seed = GENERATE(1u, 2u, 3u);
    auto ticket = zeros<unsigned>("ticket");
    auto flags = zeros<int>("flags", blocks), out = zeros<int>("out", blocks);
    CHECK(
        fault([&] { kernels::warp_waits_for_ticket_before(ticket.data(), flags.data(), out.data(), blocks); },
              {.order = Order::shuffled,
               .seed = seed,
               .time_limit = 1,
               .metered = metered,
               .resident = resident}) == "");
    CHECK(out.values() == counted<int>(blocks));
}

TEST_CASE("the conditions limit how many blocks run alternately if nothing is counted", "[endless]") {
#if defined(__SANITIZE_ADDRESS__)
    SKIP("under AddressSanitizer blocks run one after the other, because shared memory cannot be moved");
#endif
    const auto met = [](unsigned resident, bool metered, double seconds) {
        auto arrived = zeros<unsigned>("arrived");
        return fault([&] { kernels::meet(arrived.data(), 5); }, {.order = Order::shuffled,
                                                                 .time_limit = seconds,
                                                                 .metered = metered,
                                                                 .resident = resident}) == "";
    };
    CHECK(met(5, false, 30));
    CHECK(!met(4, false, 0.1));
    CHECK((!kata::counts_available() || !met(5, true, 0.1)));
}

TEST_CASE("a first block that the conditions suspend continues when all others poll", "[endless]") {
#if defined(__SANITIZE_ADDRESS__)
    SKIP("under AddressSanitizer blocks run one after the other, because shared memory cannot be moved");
#endif
    constexpr int blocks = 40;
    const auto others_seen = [](bool held_back, unsigned polls_per_turn, unsigned seed,
                                bool together = false) {
        auto ticket = zeros<unsigned>("ticket");
        auto arrived = zeros<int>("arrived"), flag = zeros<int>("flag"), seen = zeros<int>("seen");
        CHECK(fault(
                  [&] {
                      kernels::wait_for_first(ticket.data(), arrived.data(), flag.data(), seen.data(), blocks,
                                              together);
                  },
                  {.order = Order::shuffled,
                   .seed = seed,
                   .metered = false,
                   .resident = blocks,
                   .first_held_back = held_back,
                   .polls_per_turn = polls_per_turn}) == "");
        return seen.values()[0];
    };
    const unsigned seed = GENERATE(1u, 2u, 3u);
    CHECK(others_seen(true, 64, seed) == blocks - 1);
    CHECK(others_seen(true, 1, seed) == blocks - 1);
    CHECK(others_seen(false, 64, seed) < blocks - 1);
    // No block is seen to poll, and yet the launch ends.
    CHECK(others_seen(true, 64, seed, true) == 0);
}

TEST_CASE("the block that started last runs first unless it waits for others, if the conditions prefer it",
          "[endless]") {
#if defined(__SANITIZE_ADDRESS__)
    SKIP("under AddressSanitizer blocks run one after the other, because shared memory cannot be moved");
#endif
    constexpr unsigned blocks = 20;
    auto ticket = zeros<unsigned>("ticket");
    auto arrived = zeros<int>("arrived"), flag = zeros<int>("flag"), seen = zeros<int>("seen"),
         flags = zeros<int>("flags", blocks);
    const auto next = [&](bool in_a_chain, bool together, unsigned resident, unsigned seed) {
        return observe({.order = Order::shuffled,
                        .seed = seed,
                        .metered = false,
                        .resident = resident,
                        .first_held_back = true,
                        .latest_first = true,
                        .polls_per_turn = 4},
                       [&] {
                           if (in_a_chain)
                               kernels::wait_in_a_chain(ticket.data(), flags.data(), blocks);
                           else
                               kernels::wait_for_first(ticket.data(), arrived.data(), flag.data(),
                                                       seen.data(), blocks, together);
                       })
            .next;
    };
    const unsigned seed = GENERATE(1u, 2u, 3u), resident = GENERATE(19u, 20u);
    const bool in_a_chain = GENERATE(false, true), together = GENERATE(false, true);
    if (in_a_chain && together) return;
    const auto [overtaken, not_overtaken] = next(in_a_chain, together, resident, seed);
    CHECK(overtaken == (in_a_chain ? 0 : blocks - 2));
    CHECK(not_overtaken == (in_a_chain ? blocks - 2 : 0));
}

TEST_CASE("other blocks run between any two polls if the conditions end turns that early", "[endless]") {
#if defined(__SANITIZE_ADDRESS__)
    SKIP("under AddressSanitizer blocks run one after the other, because shared memory cannot be moved");
#endif
    constexpr int looks = 320;
    const auto changes_seen = [](unsigned polls_per_turn) {
        auto value = zeros<int>("value"), changes = zeros<int>("changes");
        CHECK(fault([&] { kernels::look_twice(value.data(), changes.data(), looks); },
                    {.order = Order::shuffled, .metered = false, .polls_per_turn = polls_per_turn}) == "");
        return changes.values()[0];
    };
    CHECK(changes_seen(64) <= 2 * looks / 64);
    CHECK(changes_seen(1) > looks / 2);
}
