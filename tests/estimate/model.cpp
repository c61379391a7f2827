// The time of a launch on a device.
#include "error.hpp"
#include "estimate/gather.hpp"
#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <vector>

TEST_CASE("a description is read, and a request for a missing quantity is an error") {
    const auto d = device();
    CHECK(d.name == "Round 10");
    CHECK(d.at("clock") == 1e9);
    CHECK(d.at("barrier", 32) == 10);
    CHECK(d.at("barrier", 528) == Approx(55));  // halfway
    CHECK(d.at("barrier", 4096) == 100);
    CHECK(d.most("l2_read") == 320e9);
    CHECK(d.most("l2_read", 1) == 32e9);
    CHECK_THROWS_AS(d.at("price"), kata::Error);
    CHECK(d.most("l2_read", 5.5) == Approx(176e9));  // halfway from the better one of two rows
    CHECK(d.most("l2_read", 100) == 320e9);
    CHECK_THROWS_AS(d.most("price", 7), kata::Error);
    CHECK_THROWS_AS(device("clock,fast\n"), kata::Error);
    CHECK_THROWS_AS(estimate::read_device(std::filesystem::path("no such file.csv")), kata::Error);
}

TEST_CASE("a launch that does nothing takes the time of the launch") {
    Demand nothing;
    CHECK(estimate::estimate(nothing, device()).seconds == 1e-6);
    CHECK(estimate::estimate({nothing, nothing}, device()).seconds == Approx(2e-6));
}

TEST_CASE("DRAM supplies an array once, however often its sectors are requested") {
    auto d = idle(1000);
    d.arrays["in"] = {.bytes = 1e9, .loaded = 1e9 / 32 / 1000};
    CHECK(bound_of(d) == "DRAM");
    CHECK(seconds_of(d) == Approx(1e9 / 100e9));
    d.arrays["in"] = {.bytes = 1e9, .loaded = 2e9 / 32 / 1000};
    CHECK(seconds_of(d) == Approx(1e9 / 100e9));
    d.arrays["out"] = {.bytes = 1e9, .stored = 1e9 / 32 / 1000};
    CHECK(seconds_of(d) == Approx(1e9 / 100e9 + 1e9 / 50e9));
    d.arrays = {{"few", {.bytes = 3200, .loaded = 1e9 / 32 / 1000}}};
    CHECK(bound_of(d) == "L2");
    CHECK(seconds_of(d) == Approx(1e9 / 32 / 10e9));
}

TEST_CASE("few blocks get no more from L2 and DRAM than their multiprocessors can request") {
    const auto needs = [](double blocks, const char* what) {
        auto d = idle(blocks);
        d.looked_at = blocks;
        d.arrays["in"] = {.bytes = 32e6, .loaded = 1e6};
        const auto all = estimate::estimate(d, device()).needs;
        const auto found =
            std::find_if(all.begin(), all.end(), [&](const auto& n) { return n.what == what; });
        REQUIRE(found != all.end());
        return found->seconds;
    };
    CHECK(needs(1, "L2") == Approx(32e6 / 32e9));
    CHECK(needs(1, "DRAM") == Approx(32e6 / 20e9));
    CHECK(needs(10, "L2") == Approx(32e6 / 320e9));
    CHECK(needs(10, "DRAM") == Approx(32e6 / 100e9));
    CHECK(needs(1000, "L2") == Approx(32e6 / 320e9));
}

TEST_CASE("the busiest multiprocessor decides: 11 blocks on 10 take as long as 20") {
    auto d = idle(10);
    d.lines = 1e6;
    const auto ten = estimate::estimate(d, device()).needs;
    d.blocks = 11;
    const auto eleven = seconds_of(d);
    d.blocks = 20;
    CHECK(eleven == Approx(seconds_of(d)));
    REQUIRE(ten.front().what == "latency");
    CHECK(ten.front().seconds == Approx(1e6 * 1e-9 + turnaround));
    CHECK(eleven == Approx(2 * 1e6 * 1e-9).epsilon(1e-3));
}

TEST_CASE("passes over banks and lines of the L1 cache compete") {
    auto d = idle(1000);
    d.passes = 3000, d.lines = 2000;
    CHECK(bound_of(d) == "L1 and shared memory");
    CHECK(seconds_of(d) == Approx((3000 + 2000) * 1e-9 * 100));
}

TEST_CASE("latency of a block is hidden by as many other blocks as fit") {
    auto d = idle(640);
    d.chain.misses = 100;
    d.arrays["few"] = {.bytes = 32, .loaded = 100};  // nearly all from L2
    CHECK(bound_of(d) == "latency");
    const double alone = 100 * 200e-9 + 100 * 32 / 32e9 + turnaround;
    CHECK(seconds_of(d) == Approx(alone * 64 / 16).epsilon(0.01));  // 16 blocks of 128 threads at once
    d.shared_bytes = 98976;  // half of the shared memory, including the system's part
    CHECK(seconds_of(d) == Approx(alone * 64 / 2).epsilon(0.01));
}

TEST_CASE("blocks of a multiprocessor that wait and then occupy it delay one another") {
    auto d = idle(1000);
    d.threads = 1024;  // two resident blocks
    d.chain.requests = 490, d.lines = 500;
    const double waits = 490e-9 + turnaround, takes = 500e-9;
    // The second block finds the multiprocessor occupied by the first half of the time.
    CHECK(seconds_of(d) == Approx(100 * (waits + takes * 1.5) / 2));
    CHECK(estimate::estimate(d, device()).needs.front().seconds == Approx(100 * takes));
    d.threads = 32;  // 32 resident blocks, which occupy it all the time
    CHECK(seconds_of(d) == Approx(100 * takes).epsilon(1e-3));
    d.blocks = 10, d.threads = 1024;  // a single block
    CHECK(seconds_of(d) == Approx(waits + takes));
}

TEST_CASE("the number of resident blocks") {
    const auto d = device();
    CHECK(estimate::resident(d, 1024, 0) == 2);
    CHECK(estimate::resident(d, 1000, 0) == 2);
    CHECK(estimate::resident(d, 32, 0) == 32);
    CHECK(estimate::resident(d, 128, 0) == 16);
    CHECK(estimate::resident(d, 128, 49000) == 3);
    CHECK(estimate::resident(d, 128, 1e9) == 1);
}

TEST_CASE("atomics on one line are serialized, those on many lines are not") {
    auto d = idle(1000);
    d.updates = 32;
    CHECK(seconds_of(d) < 32 * 1000 * 1e-9 / 5);
    d.updates_of_all = 32;
    CHECK(bound_of(d) == "atomics on one line");
    CHECK(seconds_of(d) == Approx(32 * 1000 * 1e-9));
}

TEST_CASE("blocks that wait for one another come one after the other") {
    auto d = idle(1001);
    d.links = 4;
    d.link.atomics = 8, d.link.misses = 4;
    CHECK(bound_of(d) == "blocks one after the other");
    CHECK(seconds_of(d) == Approx(1000 * (2 * 400 + 200) * 1e-9).epsilon(0.05));
}

TEST_CASE("a launch does not end before its longest block, however many others do little") {
    auto d = idle(100000);
    d.chain.misses = 1, d.chain.requests = 10, d.requests = 10;
    const auto even = seconds_of(d);
    d.longest.chain = d.chain, d.longest.asked.requests = 10;
    CHECK(seconds_of(d) == even);
    d.longest.chain.misses = 1e6;
    CHECK(bound_of(d) == "one block");
    CHECK(seconds_of(d) == Approx(1e6 * 200e-9));
    d.longest.chain.misses = 1, d.longest.asked.requests = 1e8;
    CHECK(seconds_of(d) == Approx(1e8 * 1e-9).epsilon(1e-3));
    d.longest.asked.requests = 10, d.longest.asked.lines = 1e8;
    CHECK(seconds_of(d) == Approx(1e8 * 1e-9).epsilon(1e-3));
    d.longest.asked.lines = 0, d.longest.sectors = 1e9;
    CHECK(seconds_of(d) == Approx(1e9 * 32 / 32e9).epsilon(1e-3));
    d.longest.sectors = 0, d.longest.chain.updates = 1e8;
    CHECK(seconds_of(d) == Approx(1e8 / 1e9).epsilon(1e-3));
}

TEST_CASE("very unequal blocks are distinguished from equal ones if all are counted, many or few") {
    const auto counts = [](std::uint64_t blocks, std::uint64_t work, std::uint64_t busiest) {
        kata::Counts c;
        c.launches = 1, c.blocks = blocks, c.work = work,
        c.busiest = busiest / kata::machine::issued_together;
        return c;
    };
    const auto solution = counts(1600, 160000, 10000);
    CHECK_FALSE(estimate::unequal_blocks(solution, solution));
    CHECK_FALSE(estimate::unequal_blocks(counts(1600, 160000, 39000), solution));
    CHECK(estimate::unequal_blocks(counts(1600, 160000, 41000), solution));
    CHECK(estimate::unequal_blocks(counts(1600, 1000000, 900000), solution) ==
          "its blocks have very unequal work, so that a sample does not represent all: if all are counted, "
          "the busiest of 16 multiprocessors does 90 % of the work, in the solution 6 %");
    CHECK_FALSE(estimate::unequal_blocks(counts(1, 160000, 160000), solution));  // one block for all
    CHECK_FALSE(estimate::unequal_blocks(counts(4, 160000, 40000), solution));
    CHECK(estimate::unequal_blocks(counts(17, 160000, 160000), solution));
    const auto unequal = counts(1600, 160000, 40000);
    CHECK_FALSE(estimate::unequal_blocks(counts(1600, 160000, 120000), unequal));
    CHECK_FALSE(estimate::unequal_blocks(counts(0, 0, 0), solution));
}

TEST_CASE("there is no estimate if an end of the grid does much more than the summed blocks") {
    auto d = idle(1000);
    d.chain.requests = 1000;
    const auto why = [&] { return estimate::unequal_ends(estimate::estimate({idle(), d}, device())); };
    d.longest.chain.requests = 3900, d.longest_is_beside = true;
    CHECK_FALSE(why());
    d.longest.chain.requests = 7000;
    CHECK(why() ==
          "the first or the last block of the grid takes 7 times as long as the examined blocks between "
          "them, and it is not known how many are like it");
    d.longest_is_beside = false;
    CHECK_FALSE(why());
    d.chain.requests = 0, d.longest_is_beside = true;  // next to blocks that do nothing
    CHECK(why());
}

TEST_CASE("the first block is examined besides the sample: it may be the longest, and is in no sum") {
    const auto on = device();
    const auto looked_at = [&on](bool is_beside) {
        estimate::Gatherer gatherer(on, is_beside);
        gatherer.launch_begins(scene(1000));
        const auto loads = [&](unsigned block, int count) {
            for (int i = 0; i < count; ++i) {
                auto load = request("load", "global", 4096 + 128 * static_cast<std::uintptr_t>(i), 4);
                load.block = block;
                gatherer.request(load);
            }
        };
        loads(500, 2), loads(118, 3);
        CHECK(gatherer.sample_ends() == is_beside);
        loads(0, 40), loads(999, 1);
        gatherer.launch_begins(scene(10));
        loads(7, 5);
        return gatherer.demands();
    };
    const auto beside = looked_at(true), within = looked_at(false);
    REQUIRE(beside.size() == 2);
    CHECK(beside[0].looked_at == 2);
    CHECK(beside[0].lines == 5);
    CHECK(beside[0].arrays.at("in").loaded == 4 * 5);
    CHECK(beside[0].longest.asked.lines == 40);
    CHECK(beside[0].longest_is_beside);
    CHECK_FALSE(within[0].longest_is_beside);
    CHECK(beside[0].longest.sectors == 4 * 40);
    CHECK(beside[0].longest.chain.requests == 40);
    CHECK(within[0].looked_at == 4);
    CHECK(within[0].lines == 46);
    CHECK(within[0].longest.asked.lines == 40);
    CHECK(beside[1].looked_at == 1);
    CHECK(beside[1].longest.asked.lines == 5);
}

TEST_CASE("atomics on a word of each block are serialized if these words are adjacent") {
    auto d = idle(1000);  // 32 threads: 320 blocks are resident
    d.threads = 32;
    d.looked_at = 10;
    const auto seconds = [&] {
        const auto found = estimate::estimate(d, device()).needs;
        return std::find_if(found.begin(), found.end(), [](const auto& n) { return n.what == "atomics"; })
            ->seconds;
    };
    d.updates = 1e6;  // in the sample
    CHECK(seconds() == Approx(1e8 / 10e9));
    d.own_updates = 1e6, d.own_words = 10, d.own_bytes = 1000;  // at most one word for each block
    const double of_320 = 16e9 + 184e9 * (320 - 88) / 912;
    CHECK(seconds() == Approx(1e8 / (of_320 / 8)));
    d.own_words = 2.75;  // 88 words in flight, two sectors a nanosecond
    CHECK(seconds() == Approx(1e8 / 2e9));
    d.own_updates = 5e5;
    CHECK(seconds() == Approx(5e7 / 2e9));
    d.own_bytes = 4000;                      // a block has a word again
    CHECK(seconds() == Approx(1e8 / 10e9));  // serialized, they are slower
    d.own_bytes = 0, d.own_words = 0.03125;  // one word in flight
    CHECK(seconds() == Approx(5e7 / 1e9));
}

TEST_CASE("three consecutive blocks with equal requests are enough, fewer or different ones are not") {
    const auto on = device();
    estimate::Gatherer gatherer(on);
    gatherer.launch_begins(scene(1000));
    const auto has_enough_behind = [&](unsigned block, unsigned loads, std::uintptr_t stride = 4) {
        for (unsigned i = 0; i < loads; ++i) {
            auto load = request("load", "global", 4096 + 128 * std::uintptr_t{block}, stride);
            load.block = block;
            gatherer.request(load);
        }
        return gatherer.has_enough();
    };
    CHECK_FALSE(has_enough_behind(500, 2));
    CHECK_FALSE(has_enough_behind(118, 2));
    CHECK_FALSE(has_enough_behind(736, 1));  // does less than the blocks before it
    CHECK_FALSE(has_enough_behind(354, 2));
    CHECK_FALSE(has_enough_behind(972, 2, 8));  // as many requests for more sectors
    CHECK_FALSE(has_enough_behind(590, 2, 8));
    CHECK(has_enough_behind(208, 2, 8));
    gatherer.launch_begins(scene(1000));
    CHECK_FALSE(has_enough_behind(500, 2, 8));
    CHECK_FALSE(has_enough_behind(118, 2, 8));
    CHECK(has_enough_behind(736, 2, 8));
}

TEST_CASE("arithmetic takes issue slots: two operations of 32 lanes for each instruction") {
    const auto d = idle(1000);
    CHECK(seconds_of(d, 64e9) == Approx(1e9 / 10 / 1e9).epsilon(0.01));
}

TEST_CASE("launches run one after the other, and their needs add up") {
    auto d = idle(1000);
    d.lines = 1000;
    const auto one = estimate::estimate(d, device()), two = estimate::estimate({d, d}, device());
    CHECK(two.seconds == Approx(2 * one.seconds));
    CHECK(two.needs.front().what == one.needs.front().what);
    REQUIRE(two.launches.size() == 2);
    CHECK(two.launches[1].seconds == Approx(one.seconds));
    CHECK(two.needs.front().seconds == Approx(2 * one.needs.front().seconds));
}

TEST_CASE("a division takes instructions and time, once for its line") {
    const auto on = device();
    auto begun = scene(1);
    begun.lines_of = [](auto codes) { return std::vector<std::string>(codes.size(), "a.cu:1"); };
    begun.text_of = [](const std::string&) { return "if (t % n == 0 && t < n) a = 1;"; };
    estimate::Gatherer gatherer(on);
    gatherer.launch_begins(begun);
    for (const std::uint32_t code : {7, 5, 5, 9}) {
        auto runs = request("runs", "", 0, 0);
        runs.code = code;
        gatherer.request(runs);
    }
    auto d = gatherer.demands().at(0);
    CHECK(d.divisions == 2);
    CHECK(d.chain.divisions == 2);
    d.blocks = 10;
    CHECK(seconds_of(d) == Approx((2 * 50 + 4 * 5 + 2 * 10 + 4 * 2) * 1e-9 + turnaround));
    d.blocks = 1e6;
    CHECK(bound_of(d) == "issue");
    CHECK(seconds_of(d) == Approx((2 * 10 + 4 * 2) * 1e-9 * 1e5).epsilon(1e-3));
}

TEST_CASE("slower kernels get longer estimates") {
    const auto time = [](auto change) {
        auto d = idle(1000);
        d.requests = 300, d.basic_blocks = 100, d.lines = 200;
        d.arrays["in"] = {.bytes = 1e9, .loaded = 800};
        d.chain.misses = 3, d.chain.requests = 50;
        change(d);
        return seconds_of(d);
    };
    const double plain = time([](Demand&) {});
    CHECK(time([](Demand& d) { d.arrays["in"].loaded *= 8, d.lines *= 8; }) > 3 * plain);  // not coalesced
    CHECK(time([](Demand& d) { d.passes = 32 * 300; }) > 3 * plain);                       // bank conflicts
    CHECK(time([](Demand& d) { d.blocks = 1, d.chain.misses = 3000, d.requests = 3e5; }) >
          3 * plain);                                                                 // one block for all
    CHECK(time([](Demand& d) { d.updates = d.updates_of_all = 1000; }) > 3 * plain);  // one counter for all
}
