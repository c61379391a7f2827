// Requests of an observed launch and the demand that they add up to.
#include "estimate/gather.hpp"

#include "estimate/cache.hpp"
#include "estimate/source.hpp"
#include "suite.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

TEST_CASE("a cache keeps what was requested last") {
    estimate::Cache cache(16 * 128);  // one set of 16 lines
    CHECK_FALSE(cache.ask(0));
    CHECK(cache.ask(0));
    CHECK_FALSE(cache.ask(1));  // another sector of the line
    for (std::uint64_t line = 1; line < 16; ++line) CHECK_FALSE(cache.ask(4 * line));
    CHECK(cache.ask(0));
    CHECK_FALSE(cache.ask(4 * 16));  // takes the place of line 1
    CHECK(cache.ask(0));
    CHECK_FALSE(cache.ask(4));
}

TEST_CASE("observed requests add up: sectors that miss, passes, turns and waits") {
    const auto on = device();
    estimate::Gatherer gatherer(on);
    gatherer.launch_begins(scene(100));
    gatherer.request(request("runs", "", 0, 0));
    gatherer.request(request("load", "global", 4096, 4));  // a line that is not cached
    gatherer.request(request("load", "global", 4096, 4));  // the same line, now cached
    auto shared = request("store", "shared", 0, 4);
    shared.counts.shared_store.transactions = 1;
    gatherer.request(shared);
    auto wide = request("store", "global", 8192, 128);
    wide.steps = wide.ends = 32;
    gatherer.request(wide);
    gatherer.request(request("atomic", "global", 4096, 0));  // all lanes on one address
    gatherer.request(request("atomic", "global", 4096, 4));  // one address for each lane, in four sectors
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

TEST_CASE("a loop that is not unrolled waits in each round, an unrolled one costs no jump") {
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
    CHECK(unrolled.unrolled == 8);
    CHECK(plain.unrolled == 0);
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

TEST_CASE("a constant at a known address is an operand, and an instruction takes two of them") {
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

TEST_CASE("loads of an unrolled loop from shared memory are kept until something is written") {
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
        const auto d = gatherer.demands().at(0);
        CHECK(d.passes + d.merged == 4 + 4);
        return d.passes;
    };
    const std::string unrolled = "for (int i = 0; i < 4; ++i)";
    CHECK(passes_of(unrolled, false) == 1 + 4);
    CHECK(passes_of(unrolled, true) == 4 + 4);
    CHECK(passes_of("for (int i = 0; i < n; ++i)", false) == 4 + 4);
}

TEST_CASE("lanes that add a value that is not a literal to one word of shared memory are serialized") {
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

TEST_CASE("blocks that update one line are distinguished from blocks that have one each") {
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

TEST_CASE("a barrier joins warps: the longest path takes the slower one of each part") {
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
          3 + 3);  // warp 1 first, then warp 0, which has loaded one of its four lines before
}

TEST_CASE("the requests of a launch are attributed to the lines of its source") {
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
    CHECK(lines.at("a.cu:2").updates_of_most == 1);  // on the line that 41 updates most
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
