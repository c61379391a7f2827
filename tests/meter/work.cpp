// Work and span. The compiler decides how many basic blocks a kernel has, so the tests take these numbers
// from the counts themselves or let them cancel out.
#include "meter/chains.hpp"
#include "suite.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <map>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

TEST_CASE("a step is a basic block, a line, a pass or an address of constant memory", "[work]") {
    auto in = filled<float>("in", 32 * 64), out = filled<float>("out", 64);
    const int stride = GENERATE(1, 2, 16, 32, 64);
    // 32 floats, `stride` apart, lie in `stride` lines of 32 floats, but in no more than one each
    const auto scattered = count([&] { kernels::copy(in.data(), out.data(), stride, 32); });
    CHECK(scattered.lines == std::min(stride, 32) + 1u);
    CHECK(scattered.work == scattered.basic_blocks + scattered.lines);
    const auto in_shared = count([&] { kernels::copy_in_shared(out.data(), std::min(stride, 32), 32); });
    CHECK(in_shared.work == in_shared.basic_blocks + in_shared.shared_load.transactions +
                                in_shared.shared_store.transactions + 1);
    const auto one = count([&] { kernels::constant_broadcast(out.data(), 32); }),
               each = count([&] { kernels::constant_by_lane(out.data(), 32); });
    CHECK(one.work == one.basic_blocks + 1 + 1);
    CHECK(each.work == each.basic_blocks + 32 + 1);
    // in a single warp every step waits for the one before
    const auto broadcast = count([&] { kernels::broadcast(in.data(), out.data(), 32); });
    CHECK(broadcast.lines == 1);  // the line of the store
    CHECK(broadcast.work == broadcast.basic_blocks + broadcast.shared_load.transactions +
                                broadcast.shared_store.transactions + 2);
    for (const auto& c : {scattered, in_shared, one, each, broadcast}) {
        CHECK(c.span == c.work);
        CHECK(c.parallelism() == 1.0);
        CHECK(c.makespan == kata::machine::latency * c.span);
        CHECK(c.contention == 0);
    }
}

TEST_CASE("atomics in shared memory take a step for each lane that updates the busiest word", "[work]") {
    auto sums = filled<int>("sums", 64);
    const auto c = [&](int different) {
        return count([&] { kernels::atomics_in_shared(sums.data(), different, 32); });
    };
    CHECK(c(1).work - c(1).basic_blocks == c(32).work - c(32).basic_blocks + 31);
    CHECK(c(4).work - c(4).basic_blocks == c(32).work - c(32).basic_blocks + 7);
}

TEST_CASE("both sides of a branch are steps of the warp", "[work]") {
    auto in = filled<float>("in", 1024), out = filled<float>("out", 1024);
    const auto c = count([&] { kernels::two_halves(in.data(), out.data()); });
    CHECK(c.lines == 4);
    CHECK(c.work == c.basic_blocks + 4);
    CHECK(c.span == c.work);
}

TEST_CASE("a thread that works alone takes as long as its loop, whatever the others do", "[work]") {
    auto in = filled<float>("in", 1024), out = filled<float>("out", 1024);
    const auto alone = [&](int n, int threads) {
        return count([&] { kernels::one_lane(in.data(), out.data(), n, threads); });
    };
    const auto round = (alone(1000, 32).span - alone(500, 32).span) / 500;
    CHECK(round >= 3);  // a basic block, a load and a store
    CHECK(alone(1000, 32).span == alone(500, 32).span + 500 * round);
    CHECK(alone(1000, 1024).span == alone(1000, 32).span);
    CHECK(alone(1000, 32).parallelism() == 1.0);
    const auto together = count([&] { kernels::copy(in.data(), out.data(), 1, 1024); });
    CHECK(together.parallelism() == 32.0);
    CHECK(alone(1024, 1024).makespan > 100 * together.makespan);
}

TEST_CASE("after a barrier all warps continue from the time of the latest", "[work]") {
    auto out = filled<float>("out", 4 * 32);
    const auto run = [&](const std::vector<int>& first, const std::vector<int>& then, bool barrier) {
        Buffer<int> a("first", std::span<const int>(first)), b("then", std::span<const int>(then));
        const int warps = static_cast<int>(first.size());
        return count([&] { kernels::rounds_by_warp(a.data(), b.data(), out.data(), warps, barrier); });
    };
    const auto none = run({0, 0, 0}, {0, 0, 0}, true), free = run({0, 0, 0}, {0, 0, 0}, false);
    const auto round = run({0, 0, 1}, {0, 0, 0}, true).span - none.span;
    CHECK(round > 0);
    // 70 rounds of the latest warp before the barrier, 50 after it
    const auto joined = run({70, 0, 20}, {10, 50, 0}, true);
    CHECK(joined.span == none.span + (70 + 50) * round);
    CHECK(joined.work == none.work + 150 * round);
    const auto apart = run({70, 0, 20}, {10, 50, 0}, false);
    CHECK(apart.span == free.span + (70 + 10) * round);
    CHECK(apart.work == free.work + 150 * round);
    CHECK(apart.evened == free.work + 3 * 80 * round);  // as if all warps ran as many rounds as the first
}

TEST_CASE("independent blocks share the multiprocessors", "[work]") {
    auto in = filled<float>("in", 64 * 101), out = filled<float>("out", 64 * 100);
    const auto run = [&](int blocks) {
        return count([&] { kernels::uniform(in.data(), out.data(), blocks, 64); });
    };
    const auto one = run(1);
    CHECK(one.makespan == kata::machine::latency * one.span);
    for (const int blocks : {2, 16, 17, 100}) {
        const auto all = run(blocks);
        CHECK(all.span == one.span);
        CHECK(all.work == blocks * one.work);
        const auto of_busiest = (blocks + 15) / 16 * one.work;  // 16 multiprocessors with 4 steps at a time
        CHECK(all.busiest == (of_busiest + 3) / 4);
        CHECK(all.makespan == std::max(one.makespan, all.busiest));
    }
}

TEST_CASE("blocks are assigned to the least loaded multiprocessor, the largest block first", "[work]") {
    CHECK(meter::busiest({}) == 0);
    CHECK(meter::busiest({7}) == 2);  // 4 at a time
    CHECK(meter::busiest(std::vector<std::uint64_t>(16, 40)) == 10);
    CHECK(meter::busiest(std::vector<std::uint64_t>(17, 40)) == 20);
    // the large block alone, wherever it is
    auto blocks = std::vector<std::uint64_t>(15 * 10, 40);
    for (const std::size_t place : {0u, 75u, 149u}) {
        auto uneven = blocks;
        uneven[place] = 400;
        CHECK(meter::busiest(uneven) == 100);
    }
}

TEST_CASE("blocks that pass a value on are a chain, in any order of execution", "[work]") {
    const auto scan = [](int blocks) {
        std::vector<int> numbers(blocks, 1);
        Buffer<int> in("in", std::span<const int>(numbers)), out("out", blocks);
        return count([&] {
            auto ticket = filled<unsigned>("ticket", 1);
            auto flags = filled<int>("flags", blocks), sums = filled<int>("sums", 2 * blocks);
            kernels::chained_scan(kernels::Fence::device, kernels::ReadFence::by_asker, in.data(), out.data(),
                                  ticket.data(), flags.data(), sums.data(), blocks);
        });
    };
    const auto five = scan(5), six = scan(6), twenty = scan(20);
    const auto link = six.span - five.span;
    CHECK(link > 2);
    CHECK(twenty.span == five.span + 15 * link);
    CHECK(twenty.contention == 20);  // the ticket
}

TEST_CASE("atomics on one address are serialized across all blocks", "[work]") {
    auto sums = filled<int>("sums", 64);
    const int different = GENERATE(1, 8, 64);
    const auto c = count([&] { kernels::atomics(sums.data(), different, 1024); });
    CHECK(c.contention == 1024u / different);
    CHECK(c.span >= c.contention);
    if (different <= 8) CHECK(c.span == c.contention);
    CHECK(count([&] {
              kernels::copy(filled<float>("in", 32).data(), filled<float>("out", 32).data(), 1, 32);
          }).contention == 0);
}

TEST_CASE("launches run one after the other", "[work]") {
    auto in = filled<float>("in", 256), out = filled<float>("out", 256);
    auto sums = filled<int>("sums", 64);
    const auto copies = [&] { kernels::copy(in.data(), out.data(), 1, 256); };
    const auto atomics = [&] { kernels::atomics(sums.data(), 1, 512); };
    auto expected = count(copies);
    expected += count(atomics);
    expected += count(atomics);
    CHECK(count([&] { copies(), atomics(), atomics(); }) == expected);
}

namespace {

using kernels::Act;
using kernels::Deed;

/// The deeds of each warp of each block, in a valid sequential order.
struct Walk {
    struct Event {
        int block, warp;  // each warp has its own event for a barrier
        Deed deed;
    };
    int blocks = 1, warps = 1;
    std::vector<Event> events;

    std::vector<std::vector<Deed>> by_warp() const {
        std::vector<std::vector<Deed>> all(blocks * warps);
        for (const auto& e : events) all[e.block * warps + e.warp].push_back(e.deed);
        std::size_t longest = 0;
        for (const auto& deeds : all) longest = std::max(longest, deeds.size());
        for (auto& deeds : all) deeds.resize(longest + 1, {Act::rest, 0});
        return all;
    }
    Counts measure(const Conditions& conditions = {}) const {
        const auto all = by_warp();
        std::vector<Deed> flat;
        for (const auto& deeds : all) flat.insert(flat.end(), deeds.begin(), deeds.end());
        Buffer<Deed> program("program", std::span<const Deed>(flat));
        auto ticket = filled<unsigned>("ticket", 1);
        auto flags = filled<int>("flags", 32 * 1000), counters = filled<int>("counters", 4);
        auto out = filled<float>("out", 32 * all.size());
        const auto seen = observe(conditions, [&] {
            kernels::walk(program.data(), static_cast<int>(all[0].size()), ticket.data(), flags.data(),
                          counters.data(), out.data(), blocks, warps);
        });
        CHECK(seen.findings == Findings{});
        return seen.counts.value();
    }
};

Walk random_walk(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Walk walk;
    const int crowd = below(16);
    walk.blocks = crowd == 0 ? 300 + below(100) : crowd < 5 ? 1 + below(40) : 1 + below(3);
    walk.warps = walk.blocks > 40 ? 8 : 1 + below(4);
    const int counters = 1 + below(4);
    int flags = 0;
    for (int block = 0; block < walk.blocks; ++block)
        for (int events = below(walk.blocks > 40 ? 2 : walk.blocks > 4 ? 4 : 16); events-- > 0;) {
            const int warp = below(walk.warps);
            switch (below(8)) {
                case 0:
                    for (int w = 0; w < walk.warps; ++w)
                        walk.events.push_back({block, w, {Act::all_meet, 0}});
                    break;
                case 1:
                case 2:
                    walk.events.push_back({block, warp, {Act::signal_to, flags++}});
                    break;
                case 3:
                case 4:
                    if (flags > 0) walk.events.push_back({block, warp, {Act::wait_for, below(flags)}});
                    break;
                case 5:
                    walk.events.push_back({block, warp, {Act::count_up, below(counters)}});
                    break;
                default:
                    walk.events.push_back({block, warp, {Act::rounds, 1 + below(60)}});
            }
        }
    return walk;
}

/// Reference model with readable rules: a deed begins when its warp's previous deed ends, a meeting when the
/// last warp of its block arrives, and a wait ends no earlier than its signal allows. The cost of each deed
/// is measured separately.
struct Model {
    std::uint64_t nothing, round, per_round, meeting, signal, wait, count, resting;
    std::uint64_t hand_over;  // from the start of the signal to the end of the wait

    /// Each warp rests first, because a loop may begin with more than its rounds.
    static std::uint64_t span(int warps, std::vector<Walk::Event> events) {
        for (int w = 0; w < warps; ++w) events.insert(events.begin(), {0, w, {Act::rest, 0}});
        return Walk{1, warps, std::move(events)}.measure().span;
    }
    static std::uint64_t alone(Deed deed) { return span(1, {{0, 0, deed}}) - span(1, {}); }

    Model() {
        const auto rest = span(1, {});
        resting = alone({Act::rest, 0});
        nothing = rest - 2 * resting;  // by_warp() adds another one at the end
        per_round = (alone({Act::rounds, 11}) - alone({Act::rounds, 1})) / 10;
        round = alone({Act::rounds, 1}) - per_round;
        meeting = alone({Act::all_meet, 0});
        signal = alone({Act::signal_to, 0});
        // without further work, the 32 serialized atomics would determine the span
        count = span(1, {{0, 0, {Act::count_up, 0}}, {0, 0, {Act::rounds, 500}}}) - rest - round -
                500 * per_round;
        wait = span(1, {{0, 0, {Act::signal_to, 0}}, {0, 0, {Act::wait_for, 0}}}) - rest - signal;
        // warp 0 signals late, and warp 1 has much work after the wait
        hand_over = span(2, {{0, 0, {Act::rounds, 1000}},
                             {0, 0, {Act::signal_to, 0}},
                             {0, 1, {Act::wait_for, 0}},
                             {0, 1, {Act::rounds, 500}}}) -
                    rest - 2 * round - 1500 * per_round;
    }
    std::uint64_t cost(Deed deed) const {
        switch (deed.act) {
            case Act::rest:
                return resting;
            case Act::rounds:
                return round + deed.value * per_round;
            case Act::all_meet:
                return meeting;
            case Act::signal_to:
                return signal;
            case Act::wait_for:
                return wait;
            case Act::count_up:
                return count;
        }
        return 0;
    }

    /// Returns work, span, makespan, contention and the steps of the busiest multiprocessor.
    std::array<std::uint64_t, 5> of(const Walk& walk) const {
        const auto deeds = walk.by_warp();
        // when each deed begins: raised until it is consistent
        std::vector<std::vector<std::uint64_t>> begin(deeds.size());
        for (auto& times : begin) times.assign(deeds[0].size() + 1, 0);
        std::map<int, std::pair<std::size_t, std::size_t>> signals;
        for (std::size_t w = 0; w < deeds.size(); ++w)
            for (std::size_t i = 0; i < deeds[w].size(); ++i)
                if (deeds[w][i].act == Act::signal_to) signals[deeds[w][i].value] = {w, i};
        const auto meetings = [&](std::size_t w, std::size_t until) {
            return std::count_if(deeds[w].begin(), deeds[w].begin() + static_cast<std::ptrdiff_t>(until),
                                 [](Deed d) { return d.act == Act::all_meet; });
        };
        for (bool changed = true; changed;) {
            changed = false;
            const auto raise = [&](std::uint64_t& time, std::uint64_t least) {
                changed = changed || time < least;
                time = std::max(time, least);
            };
            for (std::size_t w = 0; w < deeds.size(); ++w)
                for (std::size_t i = 0; i < deeds[w].size(); ++i) {
                    const auto deed = deeds[w][i];
                    raise(begin[w][i + 1], begin[w][i] + cost(deed));
                    if (deed.act == Act::wait_for) {
                        const auto [from, at] = signals.at(deed.value);
                        raise(begin[w][i + 1], begin[from][at] + hand_over);
                    }
                    if (deed.act != Act::all_meet) continue;
                    for (std::size_t other = w / walk.warps * walk.warps;
                         other < (w / walk.warps + 1) * walk.warps; ++other)
                        for (std::size_t k = 0; k < deeds[other].size(); ++k)
                            if (deeds[other][k].act == Act::all_meet && meetings(other, k) == meetings(w, i))
                                raise(begin[w][i + 1], begin[other][k] + meeting);
                }
        }
        std::vector<Walk::Event> rests;
        for (int w = 0; w < walk.warps; ++w) rests.push_back({0, w, {Act::rest, 0}});
        const auto idle = Walk{1, walk.warps, rests}.measure();
        std::vector<std::uint64_t> work(walk.blocks, idle.work - 2 * walk.warps * resting);
        std::uint64_t longest = 0;
        std::map<int, std::uint64_t> atomics, waits;
        for (std::size_t w = 0; w < deeds.size(); ++w) {
            longest = std::max(longest, begin[w].back() + nothing);
            for (const auto deed : deeds[w]) {
                work[w / walk.warps] += cost(deed);
                if (deed.act == Act::count_up) atomics[deed.value] += 32;
                if (deed.act == Act::signal_to || deed.act == Act::wait_for) ++waits[deed.value];
            }
        }
        std::uint64_t contention = walk.blocks, sum = 0;  // `contention` begins with that of the ticket
        for (const auto& [address, n] : atomics) contention = std::max(contention, n);
        for (const auto& [address, n] : waits) contention = std::max(contention, n);
        for (const auto w : work) sum += w;
        // the least loaded of 16 multiprocessors takes the largest remaining block
        std::array<std::uint64_t, 16> given{};
        while (!work.empty()) {
            const auto largest = std::max_element(work.begin(), work.end());
            *std::min_element(given.begin(), given.end()) += *largest;
            work.erase(largest);
        }
        const auto busiest = (*std::max_element(given.begin(), given.end()) + 3) / 4;
        return {sum, std::max(longest, contention), std::max({8 * longest, contention, busiest}), contention,
                busiest};
    }
};

}  // namespace

TEST_CASE("work and span of random programs match a reference model, in any order", "[work]") {
    constexpr unsigned programs = 300;
    const Model model;
    unsigned wrong = 0, waited = 0, contended = 0, busy = 0;
    for (unsigned seed = 0; seed < programs; ++seed) {
        const auto walk = random_walk(seed);
        const auto [work, span, makespan, contention, busiest] = model.of(walk);
        const Conditions conditions{
            .order = std::array{Order::forwards, Order::backwards, Order::shuffled}[seed % 3], .seed = seed};
        const auto c = walk.measure(conditions);
        contended += span == contention;
        busy += makespan == busiest;
        waited += std::any_of(walk.events.begin(), walk.events.end(),
                              [](const auto& e) { return e.deed.act == Act::wait_for; });
        const bool right = std::tuple(c.work, c.span, c.makespan, c.contention, c.busiest) ==
                           std::tuple(work, span, makespan, contention, busiest);
        CAPTURE(seed, walk.blocks, walk.warps, work, span, makespan, contention, c.work, c.span, c.makespan,
                c.contention, busiest, c.busiest);
        if (!right && wrong++ < 5) CHECK(right);
    }
    CHECK(wrong == 0);
    // the programs must exercise every part of the model
    CHECK(waited > programs / 3);
    CHECK(contended > programs / 50);
    CHECK(busy > programs / 50);
}
