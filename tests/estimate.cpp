// Tests the estimate on made-up launches and a made-up device, for which the time is known.
#include "estimate/estimate.hpp"

#include "error.hpp"
#include "estimate/cache.hpp"
#include "estimate/device.hpp"
#include "estimate/gather.hpp"
#include "estimate/source.hpp"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <sstream>
#include <string>

using Catch::Approx;
using estimate::Demand;
using estimate::Device;

namespace {

/// A device with round numbers: ten multiprocessors of 1 GHz, each with one warp instruction and one pass per
/// cycle.
Device device(const std::string& more = "") {
    std::istringstream text(R"(# Round 10, sm_00
quantity,x,y,value,unit
multiprocessors,0,0,10,1
threads_a_multiprocessor,0,0,2048,1
blocks_a_multiprocessor,0,0,32,1
shared_a_multiprocessor,0,0,200000,B
clock,0,0,1e9,Hz
rate_float_fma,0,0,1,warps/cycle
rate_int_divide,0,0,0.1,warps/cycle
latency_int_divide,0,0,50,cycles
latency_float_fma,0,0,5,cycles
latency_shared_load,0,0,20,cycles
latency_l1_load,0,0,30,cycles
latency_l2_load,0,0,200,cycles
latency_dram_load,0,0,600,cycles
latency_global_atomic,0,0,400,cycles
shared_load,1,32,1,cycles/request
shared_load,32,32,32,cycles/request
barrier,32,0,10,cycles
barrier,1024,0,100,cycles
l2_read,1,128,8e9,B/s
l2_read,1,512,32e9,B/s
l2_read,10,512,320e9,B/s
dram_read,1,512,20e9,B/s
dram_read,10,512,100e9,B/s
dram_write,10,0,50e9,B/s
global_atomic,1,0,1e9,1/s
global_atomic,8,0,8e9,1/s
global_atomic,88,0,16e9,1/s
global_atomic,1000,0,200e9,1/s
global_atomic_own_line,1,0,10e9,1/s
global_atomic_own_line,32,0,80e9,1/s
launch,0,0,1e-6,s
blocks,32,0,16e9,blocks/s
blocks,1024,0,2e9,blocks/s
)" + more);
    return estimate::read_device(text);
}

/// Returns a launch of one block per multiprocessor that does almost nothing.
Demand idle(double blocks = 10) {
    Demand d;
    d.blocks = blocks;
    d.looked_at = 1;
    d.threads = 128;
    return d;
}

/// Seconds from one block's end to the next one's end in its place if they do nothing: 2 places on each of 10
/// multiprocessors, at 2 blocks a nanosecond. At 32 threads it would be 20 ns.
constexpr double turnaround = 10e-9;

double seconds_of(const Demand& d, double operations = 0) {
    return estimate::estimate(d, device(), operations).seconds - 1e-6;  // without the launch
}
std::string bound_of(const Demand& d) { return estimate::estimate(d, device()).needs.front().what; }

/// Returns a request of a warp's first lanes: lane l accesses begin + l * stride.
kata::Request request(const char* did, const char* memory, std::uintptr_t begin, std::uintptr_t stride,
                      unsigned lanes = 32) {
    kata::Request r;
    r.did = did;
    r.memory = memory;
    r.bytes = 4;
    r.steps = r.ends = 1;
    for (unsigned l = 0; l < lanes; ++l) {
        r.lanes |= 1u << l;
        r.addresses[l] = begin + l * stride;
    }
    return r;
}

kata::Scene scene(unsigned blocks) {
    kata::Scene s;
    s.grid = {blocks, 1, 1};
    s.block = {32, 1, 1};
    s.array_at = [](std::uintptr_t address) {
        return address < 4096 ? kata::Array{"tile", 0, 4096} : kata::Array{"in", 4096, 1 << 20};
    };
    return s;
}

}  // namespace

TEST_CASE("a description is read, and who asks for what it lacks is told") {
    const auto d = device();
    CHECK(d.name == "Round 10");
    CHECK(d.at("clock") == 1e9);
    CHECK(d.at("barrier", 32) == 10);
    CHECK(d.at("barrier", 528) == Approx(55));  // half way
    CHECK(d.at("barrier", 4096) == 100);
    CHECK(d.most("l2_read") == 320e9);
    CHECK(d.most("l2_read", 1) == 32e9);
    CHECK_THROWS_AS(d.at("price"), kata::Error);
    CHECK(d.most("l2_read", 5.5) == Approx(176e9));  // halfway from the better of two rows
    CHECK(d.most("l2_read", 100) == 320e9);
    CHECK_THROWS_AS(d.most("price", 7), kata::Error);
    CHECK_THROWS_AS(device("clock,fast\n"), kata::Error);
    CHECK_THROWS_AS(estimate::read_device(std::filesystem::path("no such file.csv")), kata::Error);
}

TEST_CASE("a launch that does nothing costs the launch") {
    Demand nothing;
    CHECK(estimate::estimate(nothing, device()).seconds == 1e-6);
    CHECK(estimate::estimate({nothing, nothing}, device()).seconds == Approx(2e-6));
}

TEST_CASE("what DRAM gives is an array once, however often its sectors are asked for") {
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

TEST_CASE("few blocks ask no more of L2 and of DRAM than their multiprocessors get") {
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

TEST_CASE("passes over banks and lines of the L1 cache go through one another's way") {
    auto d = idle(1000);
    d.passes = 3000, d.lines = 2000;
    CHECK(bound_of(d) == "L1 and shared memory");
    CHECK(seconds_of(d) == Approx((3000 + 2000) * 1e-9 * 100));
}

TEST_CASE("what a block waits for is hidden by other blocks, as many as fit") {
    auto d = idle(640);
    d.chain.misses = 100;
    d.arrays["few"] = {.bytes = 32, .loaded = 100};  // almost all from L2
    CHECK(bound_of(d) == "latency");
    const double alone = 100 * 200e-9 + 100 * 32 / 32e9 + turnaround;
    CHECK(seconds_of(d) == Approx(alone * 64 / 16).epsilon(0.01));  // 16 blocks of 128 threads at once
    d.shared_bytes = 98976;                                         // together with the reserved part, half
    CHECK(seconds_of(d) == Approx(alone * 64 / 2).epsilon(0.01));
}

TEST_CASE("blocks of a multiprocessor that wait and then take it are in one another's way") {
    auto d = idle(1000);
    d.threads = 1024;  // two at once
    d.chain.requests = 490, d.lines = 500;
    const double waits = 490e-9 + turnaround, takes = 500e-9;
    // The second block meets the first one as often as that is there: half of the time.
    CHECK(seconds_of(d) == Approx(100 * (waits + takes * 1.5) / 2));
    CHECK(estimate::estimate(d, device()).needs.front().seconds == Approx(100 * takes));
    d.threads = 32;  // thirty-two blocks, which hide all waiting
    CHECK(seconds_of(d) == Approx(100 * takes).epsilon(1e-3));
    d.blocks = 10, d.threads = 1024;  // one alone
    CHECK(seconds_of(d) == Approx(waits + takes));
}

TEST_CASE("how many blocks are resident") {
    const auto d = device();
    CHECK(estimate::resident(d, 1024, 0) == 2);
    CHECK(estimate::resident(d, 1000, 0) == 2);
    CHECK(estimate::resident(d, 32, 0) == 32);
    CHECK(estimate::resident(d, 128, 0) == 16);
    CHECK(estimate::resident(d, 128, 49000) == 3);
    CHECK(estimate::resident(d, 128, 1e9) == 1);
}

TEST_CASE("atomics on one line take turns, on many lines not") {
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

TEST_CASE("where all blocks are counted, those of very unequal work are told from equal ones, many or few") {
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
          "its blocks have very unequal work, so that some of them do not stand for all: where all are "
          "counted, the busiest of 16 multiprocessors does 90 % of the work, in the solution 6 %");
    CHECK_FALSE(estimate::unequal_blocks(counts(1, 160000, 160000), solution));  // one block for all
    CHECK_FALSE(estimate::unequal_blocks(counts(4, 160000, 40000), solution));
    CHECK(estimate::unequal_blocks(counts(17, 160000, 160000), solution));
    const auto unequal = counts(1600, 160000, 40000);
    CHECK_FALSE(estimate::unequal_blocks(counts(1600, 160000, 120000), unequal));
    CHECK_FALSE(estimate::unequal_blocks(counts(0, 0, 0), solution));
}

TEST_CASE(
    "there is no estimate where an end of the grid does much more than the blocks that were summed up") {
    auto d = idle(1000);
    d.chain.requests = 1000;
    const auto why = [&] { return estimate::unequal_ends(estimate::estimate({idle(), d}, device())); };
    d.longest.chain.requests = 3900, d.longest_is_beside = true;
    CHECK_FALSE(why());
    d.longest.chain.requests = 7000;
    CHECK(why() ==
          "the first or the last block of the grid takes 7 times as long as those between them that were "
          "looked at, and how many there are like it is not known");
    d.longest_is_beside = false;
    CHECK_FALSE(why());
    d.chain.requests = 0, d.longest_is_beside = true;  // compared with blocks that do nothing at all
    CHECK(why());
}

TEST_CASE("the first block is looked at beside the sample: it may be the longest, and is in no sum") {
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

TEST_CASE("atomics on words of each block's own take turns where these lie side by side") {
    auto d = idle(1000);  // 32 threads: 320 blocks are in flight
    d.threads = 32;
    d.looked_at = 10;
    const auto seconds = [&] {
        const auto found = estimate::estimate(d, device()).needs;
        return std::find_if(found.begin(), found.end(), [](const auto& n) { return n.what == "atomics"; })
            ->seconds;
    };
    d.updates = 1e6;  // of the sample
    CHECK(seconds() == Approx(1e8 / 10e9));
    d.own_updates = 1e6, d.own_words = 10, d.own_bytes = 1000;  // at most one word per block
    const double of_320 = 16e9 + 184e9 * (320 - 88) / 912;
    CHECK(seconds() == Approx(1e8 / (of_320 / 8)));
    d.own_words = 2.75;  // 88 words in flight, two sectors per nanosecond
    CHECK(seconds() == Approx(1e8 / 2e9));
    d.own_updates = 5e5;
    CHECK(seconds() == Approx(5e7 / 2e9));
    d.own_bytes = 4000;                      // one word per block again
    CHECK(seconds() == Approx(1e8 / 10e9));  // all together are slower
    d.own_bytes = 0, d.own_words = 0.03125;  // one word in flight
    CHECK(seconds() == Approx(5e7 / 1e9));
}

TEST_CASE("three blocks in a row that ask for the same are enough, and fewer or others are not") {
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
    CHECK_FALSE(has_enough_behind(736, 1));  // does less than those before
    CHECK_FALSE(has_enough_behind(354, 2));
    CHECK_FALSE(has_enough_behind(972, 2, 8));  // as many requests, but for more sectors
    CHECK_FALSE(has_enough_behind(590, 2, 8));
    CHECK(has_enough_behind(208, 2, 8));
    gatherer.launch_begins(scene(1000));
    CHECK_FALSE(has_enough_behind(500, 2, 8));
    CHECK_FALSE(has_enough_behind(118, 2, 8));
    CHECK(has_enough_behind(736, 2, 8));
}

TEST_CASE("arithmetic takes slots: two operations of 32 lanes an instruction") {
    const auto d = idle(1000);
    CHECK(seconds_of(d, 64e9) == Approx(1e9 / 10 / 1e9).epsilon(0.01));
}

TEST_CASE("launches follow each other, and their needs add up") {
    auto d = idle(1000);
    d.lines = 1000;
    const auto one = estimate::estimate(d, device()), two = estimate::estimate({d, d}, device());
    CHECK(two.seconds == Approx(2 * one.seconds));
    CHECK(two.needs.front().what == one.needs.front().what);
    REQUIRE(two.launches.size() == 2);
    CHECK(two.launches[1].seconds == Approx(one.seconds));
    CHECK(two.needs.front().seconds == Approx(2 * one.needs.front().seconds));
}

TEST_CASE("a cache keeps what was asked for last") {
    estimate::Cache cache(16 * 128);  // one set of 16 lines
    CHECK_FALSE(cache.ask(0));
    CHECK(cache.ask(0));
    CHECK_FALSE(cache.ask(1));  // another sector of the line
    for (std::uint64_t line = 1; line < 16; ++line) CHECK_FALSE(cache.ask(4 * line));
    CHECK(cache.ask(0));
    CHECK_FALSE(cache.ask(4 * 16));  // replaces line 1
    CHECK(cache.ask(0));
    CHECK_FALSE(cache.ask(4));
}

TEST_CASE("what is watched adds up: sectors that miss, passes, turns, and who waits") {
    const auto on = device();
    estimate::Gatherer gatherer(on);
    gatherer.launch_begins(scene(100));
    gatherer.request(request("runs", "", 0, 0));
    gatherer.request(request("load", "global", 4096, 4));  // a line that is not cached
    gatherer.request(request("load", "global", 4096, 4));  // now cached
    auto shared = request("store", "shared", 0, 4);
    shared.counts.shared_store.transactions = 1;
    gatherer.request(shared);
    auto wide = request("store", "global", 8192, 128);
    wide.steps = wide.ends = 32;
    gatherer.request(wide);
    gatherer.request(request("atomic", "global", 4096, 0));  // all lanes on one address
    gatherer.request(request("atomic", "global", 4096, 4));  // one lane per address of four sectors
    const auto d = gatherer.demands().at(0);
    CHECK(d.blocks == 100);
    CHECK(d.looked_at == 1);
    CHECK(d.requests == 6);
    CHECK(d.basic_blocks == 1);
    CHECK(d.lines == 1 + 1 + 32 + 1 + 1);
    CHECK(d.arrays.at("in").loaded == 4);
    CHECK(d.arrays.at("in").stored == 32);
    CHECK(d.arrays.at("in").updated == 1 + 4);
    CHECK(d.updates == 32 + 4);
    CHECK(d.updates_of_one == 32 + 4);
    CHECK(d.updates_of_all == 0);
    CHECK(d.shared_bytes == 4096);
    CHECK(d.chain.misses == 1);  // both loads are in flight together
    CHECK(d.passes == 1);
    CHECK(d.chain.passes == 31);
    CHECK(d.links == 0);
}

TEST_CASE("a source says which of its loops are unrolled") {
    const auto lines = estimate::lines_in(R"(constexpr int tile = 32, half = tile / 2;
template <int r, class T>
__global__ void f(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += i;
    for (int i = -r; i <= r; ++i)
        sum += i;
#pragma unroll 1
    for (int i = 0; i < tile; ++i) sum += i;
#pragma unroll
    for (int i = 0; i < n; ++i) {
        sum += i;
        for (int k = n; k < n + 1; ++k)  // for (int k = 0; k < 8; ++k) {
            if (k > 3)
                sum += k;
            else
                sum -= k;
        sum += "for (" == nullptr;
    }
#pragma unroll 8
    for (int i = threadIdx.x; i < half; i += 2) sum += i;
    while (n > 0) --n;
    do {
        ++n;
    } while (n < 3);
    for (T x : values) sum += x;
    for (; sum < tile; ++sum) g();
    sum = 0;
    for (int i = 0; i < tile; ++i)
        if (i < n) sum += i;
    for (int i = 0; i < tile; ++i)
        if constexpr (r > 2) sum += i;
}
)");
    const auto at = [&](std::size_t line) {
        return std::pair(lines.at(line - 1).rounds, lines.at(line - 1).unrolled);
    };
    const std::pair no_loop(0u, false), not_known(4u, false), all(0u, true);
    CHECK(at(4) == no_loop);
    CHECK(at(5) == not_known);
    CHECK(at(6) == all);
    CHECK(at(7) == all);
    CHECK(at(8) == no_loop);
    CHECK(at(9) == std::pair(1u, false));
    for (const std::size_t line : {12, 13, 14, 15, 16, 17, 18}) CHECK(at(line) == not_known);
    CHECK(at(21) == std::pair(8u, false));
    CHECK(at(22) == not_known);
    CHECK(at(24) == not_known);
    CHECK(at(26) == all);
    CHECK(at(27) == not_known);
    CHECK(at(28) == no_loop);
    CHECK(at(29) == all);
    CHECK(at(31) == all);
    CHECK(lines.at(28).predicated);
    CHECK_FALSE(lines.at(30).predicated);
    CHECK(estimate::lines_in("for (").size() == 1);  // an unfinished source
    CHECK(estimate::lines_in("/* ").size() == 1);
    CHECK(estimate::lines_in("").size() == 1);
}

TEST_CASE("a loop whose conditions decide on a plain statement each is unrolled, one with jumps is not") {
    const auto is_unrolled = [](const std::string& body) {
        const auto line = estimate::lines_in("for (int i = 0; i < 8; ++i) " + body).at(0);
        CHECK(line.predicated == line.unrolled);
        return line.unrolled;
    };
    CHECK(is_unrolled("if (i > n && i < m) sum += in[i];"));
    CHECK(is_unrolled("{ if (i > n) { sum += in[i]; } if (i < m) --sum; }"));
    CHECK(is_unrolled("sum += i < n ? in[i] : 0;"));
    CHECK_FALSE(is_unrolled("if (i < n) sum += in[i]; else sum -= in[i];"));
    CHECK_FALSE(is_unrolled("if (i < n) { sum += in[i]; ++sum; }"));
    CHECK_FALSE(is_unrolled("if (i < n) if (i < m) sum += in[i];"));
    CHECK_FALSE(is_unrolled("if (i < n) while (sum < n) ++sum;"));
    CHECK_FALSE(is_unrolled("if (i < n) atomicAdd(&sum[i], 1);"));
    CHECK_FALSE(is_unrolled("switch (i - n) default: ++sum;"));
    CHECK_FALSE(is_unrolled("{ __syncthreads(); if (i < n) sum += in[i]; }"));
    CHECK_FALSE(is_unrolled("{ block.sync(); if (i < n) sum += in[i]; }"));
}

TEST_CASE("a source says where it divides by what is no constant") {
    const auto lines = estimate::lines_in(R"(constexpr int two = 2;
a = b / two + c % 32;  // and / n
a = b / n + c % (2 * n) + d / two;
a /= blockDim.x;
a /= 4;
for (int i = 1; i < two; ++i)
    a = n % i;
a = n % i;
)");
    std::vector<unsigned> divisions;
    for (const auto& line : lines) divisions.push_back(line.divisions);
    CHECK(divisions == std::vector{0u, 0u, 2u, 1u, 0u, 0u, 0u, 1u, 0u});
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

TEST_CASE("a source says which of its atomics add a number") {
    const auto lines = estimate::lines_in(R"(for (;;) atomicAdd(&s[f(1, 2)], 1);
atomicAdd(&s[1], count);
atomicAdd(&s[i],
          1u);
)");
    CHECK(lines.at(0).adds_a_number);
    CHECK(lines.at(0).rounds == 4);
    CHECK_FALSE(lines.at(1).adds_a_number);
    CHECK(lines.at(2).adds_a_number);
    CHECK(lines.at(3).adds_a_number);
}

TEST_CASE("a loop that is not unrolled waits for each round, an unrolled one costs no jump") {
    const auto on = device();
    const auto eight_rounds_of = [&on](const std::string& loop, const std::string& line = "2") {
        auto begun = scene(1);
        begun.lines_of = [&line](auto codes) {
            return std::vector<std::string>(codes.size(), "a.cu:" + line);
        };
        begun.text_of = [&loop](const std::string&) { return loop + "\n    sum += in[i];\n"; };
        estimate::Gatherer gatherer(on);
        gatherer.launch_begins(begun);
        for (std::uintptr_t round = 0; round < 8; ++round) {
            auto runs = request("runs", "", 0, 0);
            runs.code = 1;
            gatherer.request(runs);
            auto load = request("load", "global", 4096 + 128 * round, 4);
            load.code = 2;
            gatherer.request(load);
        }
        return gatherer.demands().at(0);
    };
    const auto plain = eight_rounds_of("for (int i = 0; i < n; ++i)"),
               kept = eight_rounds_of("#pragma unroll 1\nfor (int i = 0; i < n; ++i)", "3"),
               unrolled = eight_rounds_of("for (int i = 0; i < 8; ++i)"),
               guarded = eight_rounds_of("for (int i = 0; i < 8; ++i) if (i < n)"),
               four_guarded = eight_rounds_of("for (int i = 0; i < n; ++i) if (i < m)");
    CHECK(plain.chain.misses == 2);
    CHECK(plain.basic_blocks == 8);
    CHECK(plain.addresses == 8);
    CHECK(kept.chain.misses == 8);
    CHECK(eight_rounds_of("#pragma unroll 2\nfor (;;)", "3").chain.misses == 4);
    CHECK(unrolled.chain.misses == 1);
    CHECK(unrolled.basic_blocks == 0);
    CHECK(unrolled.addresses == 0);
    CHECK(unrolled.comparisons == 0);
    CHECK(guarded.chain.misses == 1);
    CHECK(guarded.basic_blocks == 0);
    CHECK(guarded.addresses == 0);
    CHECK(guarded.comparisons == 8);
    CHECK(guarded.chain.requests == unrolled.chain.requests + 8);
    CHECK(four_guarded.chain.misses == 2);
    CHECK(four_guarded.basic_blocks == 0);
    CHECK(four_guarded.comparisons == 8);
    CHECK(four_guarded.addresses == 8);
    CHECK(plain.comparisons == 0);
    CHECK(eight_rounds_of("#pragma unroll 1\nfor (int i = 0; i < n; ++i) if (i < m)", "3").comparisons == 0);
}

TEST_CASE("a constant at a place that is known is an operand, and two come with one instruction") {
    const auto on = device();
    const auto asked = [&on](const std::string& loop) {
        auto begun = scene(1);
        begun.lines_of = [](auto codes) { return std::vector<std::string>(codes.size(), "a.cu:1"); };
        begun.text_of = [&loop](const std::string&) { return loop + " sum += weights[i];"; };
        estimate::Gatherer gatherer(on);
        gatherer.launch_begins(begun);
        for (int i = 0; i < 10; ++i) gatherer.request(request("load", "constant", 4096, 0));
        auto d = gatherer.demands().at(0);
        d.blocks = 1e6;
        return d;
    };
    const auto known = asked("for (int i = 0; i < 10; ++i)"),
               not_known = asked("for (int i = 0; i < n; ++i)");
    CHECK(known.operands == 10);
    CHECK(known.requests == 0);
    CHECK(not_known.operands == 0);
    CHECK(not_known.requests == 10);
    CHECK(seconds_of(known) == Approx(10 * 0.5 * 1e-9 * 1e5).epsilon(1e-3));
    CHECK(seconds_of(not_known) == Approx(10 * 2 * 1e-9 * 1e5).epsilon(1e-3));
}

TEST_CASE("what an unrolled loop has loaded from shared memory is kept until something is written") {
    const auto on = device();
    const auto passes_of = [&on](const std::string& loop, bool writes_between) {
        auto begun = scene(1);
        begun.lines_of = [](auto codes) { return std::vector<std::string>(codes.size(), "a.cu:1"); };
        begun.text_of = [&loop](const std::string&) { return loop + " sum += s[0] * s[i];"; };
        estimate::Gatherer gatherer(on);
        gatherer.launch_begins(begun);
        for (std::uintptr_t round = 0; round < 4; ++round) {
            for (const std::uintptr_t at : {std::uintptr_t{0}, 128 * (1 + round)}) {
                auto load = request("load", "shared", at, 4);
                load.counts.shared_load.transactions = 1;
                gatherer.request(load);
            }
            if (writes_between) gatherer.request(request("store", "global", 8192, 4));
        }
        return gatherer.demands().at(0).passes;
    };
    const std::string unrolled = "for (int i = 0; i < 4; ++i)";
    CHECK(passes_of(unrolled, false) == 1 + 4);
    CHECK(passes_of(unrolled, true) == 4 + 4);
    CHECK(passes_of("for (int i = 0; i < n; ++i)", false) == 4 + 4);
}

TEST_CASE("lanes that add what is no number to one word of shared memory take turns") {
    const auto on = device();
    const auto passes_of = [&on](const std::string& source) {
        auto begun = scene(1);
        begun.lines_of = [](auto codes) { return std::vector<std::string>(codes.size(), "a.cu:1"); };
        begun.text_of = [&source](const std::string&) { return source; };
        estimate::Gatherer gatherer(on);
        gatherer.launch_begins(begun);
        auto add = request("atomic", "shared", 0, 0);
        add.counts.shared_atomic.transactions = 1;
        gatherer.request(add);
        return gatherer.demands().at(0).passes;
    };
    CHECK(passes_of("atomicAdd(&s[0], 1);") == 1);
    CHECK(passes_of("atomicAdd(&s[0], n);") == 32);
}

TEST_CASE("blocks that update one line are told from those that have one each") {
    const auto on = device();
    estimate::Gatherer gatherer(on);
    gatherer.launch_begins(scene(2));
    for (const unsigned block : {0u, 1u}) {
        auto r = request("atomic", "global", 4096 + 4096 * block, 0);
        r.block = block;
        gatherer.request(r);
    }
    gatherer.launch_begins(scene(2));
    for (const unsigned block : {0u, 1u}) {
        auto r = request("atomic", "global", 4096, 0);
        r.block = block;
        gatherer.request(r);
    }
    const auto both = gatherer.demands();
    CHECK(both.at(0).updates_of_all == 0);
    CHECK(both.at(1).updates_of_all == 64);
    CHECK(both.at(1).updates_of_one == 32);
}

TEST_CASE("a barrier joins warps: the longest way leads through the slower one of each part") {
    const auto on = device();
    estimate::Gatherer gatherer(on);
    gatherer.launch_begins(scene(1));
    const auto add = [&](unsigned warp, unsigned barriers, int loads) {
        for (int i = 0; i < loads; ++i) {
            auto load =
                request("load", "global", 4096 + 128 * static_cast<std::uintptr_t>(100 * warp + i), 4);
            load.warp = warp, load.barriers = barriers;
            gatherer.request(load);
            auto use = request("store", "shared", 0, 4);
            use.warp = warp, use.barriers = barriers;
            use.counts.shared_store.transactions = 1;
            gatherer.request(use);
        }
    };
    add(0, 0, 1), add(1, 0, 3), add(0, 1, 4), add(1, 1, 2);
    const auto d = gatherer.demands().at(0);
    CHECK(d.chain.barriers == 1);
    CHECK(d.chain.requests == 2 * (3 + 4));
    CHECK(d.chain.misses ==
          3 + 3);  // warp 1 first, then warp 0, which has already requested one of its four lines
}

TEST_CASE("the order that must come out") {
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

TEST_CASE("each line of a source has its part of what bounds the launch") {
    const auto parts = [](const Demand& d, double operations = 0) {
        const auto found = estimate::estimate(d, device(), operations);
        std::map<std::string, double> of;
        for (const auto& [line, what, seconds] : found.lines) {
            CHECK(what == found.needs.front().what);
            of[line] = seconds / found.needs.front().seconds;
        }
        return of;
    };
    auto d = idle(1000);
    const std::string none;
    SECTION("instructions, less the arithmetic, which is of no line") {
        d.requests = 3000, d.basic_blocks = 500, d.divisions = 100;  // a basic block is two instructions
        d.lines_of_source["a.cu:1"].requests = 3000;
        d.lines_of_source["a.cu:2"].basic_blocks = 500;
        d.lines_of_source["a.cu:2"].divisions = 100;  // ten cycles each
        REQUIRE(bound_of(d) == "issue");
        CHECK(parts(d).at("a.cu:1") == Approx(0.6));
        CHECK(parts(d).at("a.cu:2") == Approx(0.4));
        CHECK_FALSE(parts(d).contains(none));
        CHECK(parts(d, 5000.0 * 1000 * 64).at("a.cu:1") == Approx(0.3));
        CHECK(parts(d, 5000.0 * 1000 * 64).at(none) == Approx(0.5));
    }
    SECTION("lines of the L1 cache and passes") {
        d.passes = 3000, d.lines = 1000;
        d.lines_of_source["a.cu:1"].passes = 3000;
        d.lines_of_source["a.cu:2"].lines = 1000;
        CHECK(parts(d).at("a.cu:1") == Approx(0.75));
        CHECK(parts(d).at("a.cu:2") == Approx(0.25));
    }
    SECTION("sectors: of an array that is smaller than they are, DRAM gives each line less") {
        d.arrays["in"] = {.bytes = 1e9, .loaded = 2e9 / 32 / 1000};
        d.arrays["out"] = {.bytes = 1e9, .stored = 1e9 / 32 / 1000};
        d.lines_of_source["a.cu:1"].loaded["in"] = 1.5e9 / 32 / 1000;
        d.lines_of_source["a.cu:2"].loaded["in"] = 0.5e9 / 32 / 1000;
        d.lines_of_source["a.cu:2"].written["out"] = 1e9 / 32 / 1000;
        REQUIRE(bound_of(d) == "DRAM");  // 10 ms for loads, 20 ms for stores
        CHECK(parts(d).at("a.cu:1") == Approx(0.25));
        CHECK(parts(d).at("a.cu:2") == Approx(0.75));
        for (auto& [name, array] : d.arrays) array.bytes = 3200;
        REQUIRE(bound_of(d) == "L2");
        CHECK(parts(d).at("a.cu:1") == Approx(0.5));
        CHECK(parts(d).at("a.cu:2") == Approx(0.5));
    }
    SECTION("turns of atomics") {
        d.updates = 40;
        d.lines_of_source["a.cu:1"].updates = 32;
        d.lines_of_source["a.cu:2"].updates = 8;
        REQUIRE(bound_of(d) == "atomics");
        CHECK(parts(d).at("a.cu:1") == Approx(0.8));
        d.updates_of_all = 8;
        d.lines_of_source["a.cu:2"].updates_of_most = 8;
        REQUIRE(bound_of(d) == "atomics on one line");
        CHECK(parts(d) == std::map<std::string, double>{{"a.cu:2", 1.0}});
    }
    SECTION("a chain is of no line") {
        d.lines_of_source["a.cu:1"].requests = 1;
        d.chain.misses = 1e6;
        REQUIRE(bound_of(d) == "latency");
        CHECK(parts(d).empty());
    }
    SECTION("launches of one kernel add up") {
        d.lines = 1000;
        d.lines_of_source["a.cu:1"].lines = 1000;
        const auto one = estimate::estimate(d, device()), two = estimate::estimate({d, d}, device());
        REQUIRE(two.lines.size() == 1);
        CHECK(two.lines[0].seconds == Approx(2 * one.lines.at(0).seconds));
    }
}

TEST_CASE("what a launch asks for is asked by the lines of its source") {
    const auto on = device();
    auto begun = scene(2);
    begun.lines_of = [](auto codes) {
        std::vector<std::string> lines;
        for (const auto code : codes) lines.push_back("a.cu:" + std::to_string(code / 10));
        return lines;
    };
    begun.text_of = [](const std::string&) {
        return "\n\nfor (int i = 0; i < 8; ++i) s += in[i];\n\nfor (int i = 0; i < n; ++i) if (i < m) ++s;\n";
    };
    estimate::Gatherer gatherer(on);
    gatherer.launch_begins(begun);
    const auto ask = [&](std::uint32_t code, kata::Request r) {
        r.code = code;
        gatherer.request(r);
    };
    ask(10, request("runs", "", 0, 0));
    ask(11, request("load", "global", 4096, 4));
    ask(12, request("load", "global", 4096, 4));  // cached
    ask(20, request("store", "global", 8192, 4));
    ask(30, request("runs", "", 0, 0));  // unrolled
    ask(31, request("load", "global", 4096 + 1024, 4));
    ask(32, request("load", "constant", 64, 4));
    ask(50, request("runs", "", 0, 0));  // predicated
    auto shared = request("store", "shared", 0, 4);
    shared.counts.shared_store.transactions = 7;
    ask(40, shared);
    ask(41, request("atomic", "global", 4096, 0));  // 32 turns on one line
    ask(20, request("atomic", "global", 4096, 4, 8));
    ask(20, request("atomic", "global", 8192, 128, 20));
    const auto d = gatherer.demands().at(0);
    const auto& lines = d.lines_of_source;
    REQUIRE(lines.size() == 5);
    CHECK(lines.at("a.cu:1").basic_blocks == 1);
    CHECK(lines.at("a.cu:1").requests == 2);
    CHECK(lines.at("a.cu:1").loaded.at("in") == 4);
    CHECK(lines.at("a.cu:2").written.at("in") == 4 + 1 + 20);
    CHECK(lines.at("a.cu:2").updates == 1 + 20);
    CHECK(lines.at("a.cu:2").updates_of_most == 1);  // of the line that 41 updates most
    CHECK(lines.at("a.cu:3").basic_blocks == 0);
    CHECK(lines.at("a.cu:3").addresses == 0);
    CHECK(lines.at("a.cu:3").requests == 1);
    CHECK(lines.at("a.cu:3").operands == 1);
    CHECK(lines.at("a.cu:5").comparisons == 1);
    CHECK(lines.at("a.cu:4").passes == 7);
    CHECK(lines.at("a.cu:4").updates_of_most == 32);
    estimate::Asked sum;
    for (const auto& [line, of] : lines) {
        sum.requests += of.requests, sum.addresses += of.addresses, sum.basic_blocks += of.basic_blocks;
        sum.lines += of.lines, sum.passes += of.passes, sum.updates += of.updates;
        sum.comparisons += of.comparisons, sum.operands += of.operands;
    }
    CHECK(sum.comparisons == d.comparisons);
    CHECK(sum.operands == d.operands);
    CHECK(sum.requests == d.requests);
    CHECK(sum.addresses == d.addresses);
    CHECK(sum.basic_blocks == d.basic_blocks);
    CHECK(sum.lines == d.lines);
    CHECK(sum.passes == d.passes);
    CHECK(sum.updates == d.updates);
}
