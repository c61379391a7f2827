// Tests of WarpLog and of meter::account(), which counts logged requests. Their events are made by hand; no
// kernel runs.
#include "meter/warp_log.hpp"
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace {

using meter::Event;
using meter::Space;
using meter::WarpLog;
using meter::What;

/// Logs one request by the given lanes, each of `bytes` bytes at address(lane).
Counts request(What what, Space space, int bytes, const std::vector<int>& lanes,
               const std::function<std::uintptr_t(int)>& address) {
    std::vector<Event> events;
    for (const int lane : lanes)
        events.push_back({address(lane), 1, static_cast<std::uint8_t>(bytes), false, what, space,
                          static_cast<std::uint8_t>(lane)});
    std::vector<const Event*> pointers;
    for (const auto& e : events) pointers.push_back(&e);
    Counts c;
    meter::account(pointers, c);
    return c;
}

void read(WarpLog& log, std::uint32_t waiting, Counts& counts) {
    log.read(waiting, [&](meter::Group group) { meter::account(group, counts); });
}

std::vector<int> warp() {
    std::vector<int> lanes(32);
    std::iota(lanes.begin(), lanes.end(), 0);
    return lanes;
}

}  // namespace

TEST_CASE("a request is accounted for by kind, memory, sectors and banks", "[account]") {
    const auto at = [](std::uintptr_t base, int stride) {
        return [=](int lane) { return base + static_cast<std::uintptr_t>(lane * stride); };
    };
    CHECK(request(What::load, Space::global, 4, warp(), at(256, 4)).global_load == traffic(32, 4, 1, 4));
    CHECK(request(What::load, Space::global, 4, warp(), at(260, 4)).global_load == traffic(32, 4, 1, 5));
    CHECK(request(What::store, Space::global, 1, {0}, at(31, 0)).global_store == traffic(1, 1, 1, 1));
    CHECK(request(What::store, Space::global, 8, {0, 1, 2}, at(0, 64)).global_store == traffic(3, 8, 1, 3));
    CHECK(request(What::load, Space::constant, 4, warp(), at(64, 0)).constant_load ==
          Traffic{32, 128, 4, 1, 1});
    CHECK(request(What::load, Space::global, 8, {0, 1}, at(0, 4)).global_load == Traffic{2, 16, 12, 1, 1});
    CHECK(request(What::load, Space::shared, 4, warp(), at(4, 128)).shared_load == traffic(32, 4, 1, 32));
    CHECK(request(What::store, Space::shared, 2, warp(), at(0, 2)).shared_store == traffic(32, 2, 1, 1));
    CHECK(request(What::load, Space::shared, 4, {3, 9}, at(0, 128)).bank_conflicts == 1);
    CHECK(request(What::load, Space::shared, 4, {3, 9}, at(0, 0)).bank_conflicts == 0);
    const auto atomic =
        request(What::atomic, Space::shared, 4, warp(), [](int lane) { return lane % 2 * 128; });
    CHECK(atomic.shared_atomic == Traffic{32, 128, 8, 1, 2});
    CHECK(atomic.same_address == 30);
    CHECK(atomic.bank_conflicts == 1);
    CHECK(request(What::atomic, Space::global, 8, {5}, at(0, 8)).global_atomic == traffic(1, 8, 1, 1));
    const auto step = request(What::basic_block, Space::none, 0, {1, 2, 3}, at(0, 0));
    CHECK(std::pair(step.lane_basic_blocks, step.basic_blocks) ==
          std::pair(std::uint64_t{3}, std::uint64_t{1}));
}

TEST_CASE("the log takes the lowest code address first among the lanes that can continue", "[account]") {
    const auto load = [](std::uint32_t code, std::uintptr_t address) {
        return Event{address, code, 4, false, What::load, Space::global};
    };
    constexpr auto all = 0xffffffffu;
    WarpLog log;
    Counts c;
    read(log, all, c);
    CHECK(c == Counts{});

    // lane 0 runs 10, 20, 10, 30, lane 1 runs 10, 30
    for (const std::uint32_t code : {10, 20, 10, 30}) log.add(0, load(code, 0));
    log.add(1, load(10, 4));
    read(log, ~0b11u, c);
    CHECK(c.global_load.requests == 1);  // the next code of lane 1 is unknown: it could come before 20
    log.add(1, load(30, 4));
    read(log, ~0b11u, c);
    CHECK(c.global_load.requests == 4);
    CHECK(c.global_load.accesses == 6);
    read(log, all, c);
    CHECK(c.global_load.requests == 4);  // nothing is counted twice

    // the log does not wait for a waiting lane; the lane joins when it continues
    log.add(0, load(50, 0));
    read(log, ~0b01u, c);
    CHECK(c.global_load.requests == 5);
    log.add(0, load(60, 0));
    log.add(1, load(60, 0));
    read(log, all, c);
    CHECK(c.global_load.requests == 6);

    // one instruction that accesses two memories
    c = {};
    log.add(0, {0, 70, 4, false, What::store, Space::shared});
    log.add(1, {0, 70, 4, false, What::store, Space::global});
    log.add(2, {4, 70, 4, false, What::store, Space::shared});
    read(log, all, c);
    CHECK(c.shared_store == traffic(2, 4, 1, 1));
    CHECK(c.global_store == traffic(1, 4, 1, 1));
}

TEST_CASE("the log reports when a lane is full, and has room again once it has been read", "[account]") {
    WarpLog log;
    Counts c;
    std::uint64_t added = 0;
    for (int round = 0; round < 3; ++round) {
        for (; !log.full(7); ++added) log.add(7, {0, 1, 4, false, What::load, Space::global});
        CHECK(!log.full(6));
        CHECK(!log.full(8));
        read(log, 0xffffffff, c);
        CHECK(!log.full(7));
        CHECK(c.global_load.requests == added);
    }
    log.clear();
    read(log, 0xffffffff, c);
    CHECK(c.global_load.requests == added);
}
