// Random programs: races are found as by an oracle that checks all pairs of accesses.
#include "suite.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using kernels::Operation;
using kernels::Verb;

struct Access {
    int block, phase, warp, lane;
    int position;  // number of synchronizations of the warp in this phase before the access
    Verb verb;
    int begin, end;  // bytes
    bool shared;
};

struct Program {
    int blocks = 0, threads = 0, length = 0;
    std::vector<std::vector<Operation>> operations;  // the operations of each thread
    std::vector<Access> accesses;
    std::map<std::tuple<int, int, int>, std::vector<unsigned>> masks;  // by block, phase and warp
};

bool is_atomic(Verb v) { return v >= Verb::update && v <= Verb::atomic_write_in_block; }

Program random_program(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Program p;
    p.blocks = below(3) == 0 ? 2 + below(2) : 1;
    p.threads = std::array{64, 64, 64, 72, 96, 128, 256}[below(7)];
    p.operations.resize(p.blocks * p.threads);
    // Either few threads, mostly from one warp, on few places, so that they conflict; or a crowd from all
    // warps that mostly does the same.
    const bool crowd = below(3) == 0;
    const int first_warp = below(p.threads / 32);
    std::vector<int> actors;
    for (int i = crowd ? 4 + below(12) : 2 + below(6); i-- > 0;)
        actors.push_back(crowd || below(4) == 0 ? below(p.threads)
                                                : std::min(first_warp * 32 + below(8), p.threads - 1));
    const int places = 1 + below(crowd ? 2 : 4), phases = 1 + below(3);
    const bool narrow = below(3) == 0, partial = below(2) == 0;
    // Blocks may conflict with any access, or with none if all their accesses are signals.
    const auto verbs = p.blocks > 1 && below(2) == 0
                           ? std::vector{Verb::update,         Verb::update,      Verb::volatile_read,
                                         Verb::volatile_write, Verb::atomic_read, Verb::atomic_write}
                           : std::vector{Verb::read,
                                         Verb::read,
                                         Verb::update,
                                         Verb::write,
                                         Verb::volatile_read,
                                         Verb::volatile_write,
                                         Verb::atomic_read,
                                         Verb::atomic_write,
                                         Verb::update_in_block,
                                         Verb::atomic_read_in_block,
                                         Verb::atomic_write_in_block};
    const auto usual = verbs[below(3)];
    for (int phase = 0; phase < phases; ++phase) {
        for (int event = below(crowd ? 16 : 10); event-- > 0;) {
            const int block = below(p.blocks), actor = actors[below(static_cast<int>(actors.size()))];
            const int warp = actor / 32, lanes = std::min(32, p.threads - warp * 32);
            auto& masks = p.masks[{block, phase, warp}];
            if (below(3) == 0) {
                unsigned mask = ~0u >> (32 - lanes);
                if (partial) mask &= static_cast<unsigned>(random()) | 1u << actor % 32;
                for (int l = 0; l < lanes; ++l)
                    if (mask >> l & 1)
                        p.operations[block * p.threads + warp * 32 + l].push_back({Verb::warp, 0, 0, mask});
                masks.push_back(mask);
                continue;
            }
            const auto verb = crowd && below(12) != 0 ? usual : verbs[below(static_cast<int>(verbs.size()))];
            const int size = is_atomic(verb) || !narrow ? 4 : 1 << below(4);
            const int offset = below(places) * 4 + (size < 4 ? below(4 / size) * size : 0);
            const int begin = offset / size * size;
            const bool shared = below(2) == 0;
            p.operations[block * p.threads + actor].push_back(
                {verb, size, begin + (shared ? kernels::shared_place : 0), 0});
            p.accesses.push_back({block, phase, warp, actor % 32, static_cast<int>(masks.size()), verb, begin,
                                  begin + size, shared});
        }
        for (auto& thread : p.operations) thread.push_back({Verb::barrier, 0, 0, 0});
    }
    for (const auto& thread : p.operations) p.length = std::max(p.length, static_cast<int>(thread.size()));
    for (auto& thread : p.operations) thread.resize(p.length, {Verb::nothing, 0, 0, 0});
    return p;
}

/// Returns true if `a` happens before `b` by CUDA's rules alone: barriers, and chains of synchronizations in
/// the warp.
bool before(const Program& p, const Access& a, const Access& b) {
    if (a.block != b.block) return false;
    if (a.phase != b.phase) return a.phase < b.phase;
    if (a.warp != b.warp) return false;
    const auto& masks = p.masks.at({a.block, a.phase, a.warp});
    unsigned reached = 1u << a.lane;  // the lanes that are synchronized with a
    for (int i = a.position; i < b.position; ++i)
        if (masks[i] & reached) reached |= masks[i];
    return reached >> b.lane & 1;
}

bool conflicting(const Access& a, const Access& b) {
    const auto writes = [](Verb v) {
        return v == Verb::write || v == Verb::volatile_write || v == Verb::update ||
               v == Verb::atomic_write || v == Verb::update_in_block || v == Verb::atomic_write_in_block;
    };
    const auto signals = [](Verb v) {
        return v != Verb::read && v != Verb::write && v != Verb::update_in_block &&
               v != Verb::atomic_read_in_block && v != Verb::atomic_write_in_block;
    };
    if (a.shared != b.shared || a.begin >= b.end || b.begin >= a.end) return false;
    if (a.shared && a.block != b.block) return false;
    if (a.block == b.block && a.warp == b.warp && a.lane == b.lane) return false;
    if (!writes(a.verb) && !writes(b.verb)) return false;
    if (a.block == b.block) return !is_atomic(a.verb) || !is_atomic(b.verb);
    return !signals(a.verb) || !signals(b.verb);
}

bool races(const Program& p) {
    for (std::size_t i = 0; i < p.accesses.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) {
            const auto &a = p.accesses[i], &b = p.accesses[k];
            if (conflicting(a, b) && !before(p, a, b) && !before(p, b, a)) return true;
        }
    return false;
}

}  // namespace

TEST_CASE("no reader is forgotten, whichever other threads read", "[races]") {
    auto global = filled<char>("global", kernels::place_bytes);
    Buffer<int> out("out", 64);
    using Script = std::vector<std::pair<int, Operation>>;  // thread, operation
    const auto runs_clean = [&](const Script& script) {
        std::vector<std::vector<Operation>> of_thread(64);
        for (const auto& [thread, operation] : script) of_thread[thread].push_back(operation);
        const int length = static_cast<int>(script.size());
        std::vector<Operation> flat;
        for (auto& operations : of_thread) {
            operations.resize(length, {Verb::nothing, 0, 0, 0});
            flat.insert(flat.end(), operations.begin(), operations.end());
        }
        Buffer<Operation> program("program", std::span<const Operation>(flat));
        return clean([&] { kernels::interpret(program.data(), length, global.data(), out.data(), 1, 64); });
    };
    const auto reads = [](int thread, int place = 0, int size = 4) {
        return std::pair(thread, Operation{Verb::read, size, place, 0});
    };
    const auto writes = [](int thread, int place = 0, int size = 4) {
        return std::pair(thread, Operation{Verb::write, size, place, 0});
    };
    const auto meet = [](const std::vector<int>& lanes, Script script, const Script& then) {
        unsigned mask = 0;
        for (const int lane : lanes) mask |= 1u << lane;
        for (const int lane : lanes) script.push_back({lane, {Verb::warp, 0, 0, mask}});
        script.insert(script.end(), then.begin(), then.end());
        return script;
    };
    CHECK(runs_clean(meet({0, 1, 2, 3}, {reads(1), reads(2), reads(3)}, {writes(0)})));
    CHECK(!runs_clean(meet({0, 2, 3}, {reads(1), reads(2), reads(3)}, {writes(0)})));
    CHECK(!runs_clean(meet({0, 1, 3}, {reads(1), reads(2), reads(3)}, {writes(0)})));
    CHECK(!runs_clean(meet({0, 1, 2}, {reads(1), reads(2), reads(3)}, {writes(0)})));
    CHECK(runs_clean({reads(0, 0, 1), reads(32, 0, 1), reads(33, 1, 1), writes(1, 3, 1)}));
    CHECK(!runs_clean({reads(0, 0, 1), reads(32, 0, 1), reads(33, 0, 4), writes(1, 3, 1)}));
    CHECK(!runs_clean({reads(40, 0, 4), reads(40, 0, 1), writes(1, 3, 1)}));
    CHECK(!runs_clean({reads(40, 0, 8), writes(1, 4, 2)}));
    CHECK(runs_clean({reads(40, 0, 8), writes(1, 8, 2)}));
}

TEST_CASE("a race in a random program is found if and only if there is one", "[races]") {
    constexpr unsigned programs = 2000;
    auto global = filled<char>("global", kernels::place_bytes);
    Buffer<int> out("out", 3 * 256);
    unsigned racy = 0, wrong = 0;
    for (unsigned seed = 0; seed < programs; ++seed) {
        const auto p = random_program(seed);
        std::vector<Operation> flat;
        for (const auto& thread : p.operations) flat.insert(flat.end(), thread.begin(), thread.end());
        Buffer<Operation> operations("operations", std::span<const Operation>(flat));
        const Conditions conditions{
            .order = std::array{Order::forwards, Order::backwards, Order::shuffled}[seed % 3], .seed = seed};
        auto findings = found(
            [&] {
                kernels::interpret(operations.data(), p.length, global.data(), out.data(), p.blocks,
                                   p.threads);
            },
            conditions);
        std::erase_if(findings, [](const auto& text) {
            return !text.starts_with("race");
        });  // the oracle ignores values
        const bool expected = races(p);
        racy += expected;
        if (findings.empty() != expected) continue;
        CAPTURE(seed, expected, findings);
        if (wrong++ < 5) CHECK(findings.empty() == !expected);
    }
    CHECK(wrong == 0);
    // both answers of the oracle must be frequent
    CHECK(racy > programs / 4);
    CHECK(racy < programs * 3 / 4);
}
