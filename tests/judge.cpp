// Tests the judge that all chapters share on made-up counts and claims.
#include "check/report.hpp"
#include "error.hpp"
#include "judge/chain.hpp"
#include "judge/claims.hpp"
#include "judge/excess.hpp"
#include "judge/origin.hpp"
#include "judge/source.hpp"
#include "watch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

using kata::Claim;
using kata::Counts;
using kata::Quantity;

namespace {

using Texts = std::vector<std::string>;

kata::Run run_with(const Counts& counts) {
    kata::Run run;
    run.seen.counts = counts;
    run.seen.line_of = [](const kata::Place& place) { return "02_b.cu:" + std::to_string(place.code); };
    return run;
}

/// Returns the counts of a faultless kernel: 1000 steps of 100 warps in 16 blocks.
Counts plain() {
    Counts c;
    c.work = 1000, c.span = 20, c.makespan = 100, c.busiest = 20, c.evened = 1000;
    c.blocks = 16, c.threads = 16 * 128, c.launches = 1;
    c.global_load.requests = 100, c.global_load.transactions = 400, c.lines = 100;
    c.basic_blocks = 500, c.lane_basic_blocks = 32 * 500;
    return c;
}

}  // namespace

TEST_CASE("a key names one counter, and a ladder divides it as the counter says", "[judge]") {
    CHECK(kata::counter("barriers").per == kata::Per::block);
    CHECK_THROWS_AS(kata::counter("bariers"), kata::Error);
    for (const auto& one : kata::counters::table)
        for (const auto& other : kata::counters::table) CHECK((&one == &other || one.key != other.key));
    auto c = plain();
    c.barriers = 32, c.global_load.bytes = 50;
    CHECK(kata::shown(kata::counter("barriers"), c, 10, 7) == 2);
    CHECK(kata::shown(kata::counter("bytes_loaded"), c, 10, 7) == 5);
    CHECK(kata::shown(kata::counter("intensity"), c, 10, 100) == 2);
    CHECK(kata::shown(kata::counter("span"), c, 10, 7) == 20);
}

TEST_CASE("a step that needs what its solution needs is not worse, and one that needs much more is",
          "[judge]") {
    CHECK(worse_than_solution(run_with(plain()), plain()).empty());
    auto c = plain();
    c.work = 4000;
    CHECK(worse_than_solution(run_with(c), plain(), {}, &c).size() == 1);
    const auto compiled = plain();  // nvcc saves the rest
    CHECK(worse_than_solution(run_with(c), plain(), {}, &compiled).empty());
    c = plain();
    c.lines = 32 * 100;
    auto worse = worse_than_solution(run_with(c), plain());
    REQUIRE(worse.size() == 1);
    CHECK(worse[0].text.starts_with("its accesses to global memory are not coalesced"));
    CHECK(worse[0].text.find("128-byte lines of global memory: now 3200, in the solution 100, at most 516") !=
          std::string::npos);
    CHECK(worse[0].share == 515.625 / 3200);
    // The same number of lines per request as in the solution, but many more requests.
    c.global_load.requests = 32 * 100;
    CHECK(
        worse_than_solution(run_with(c), plain())[0].text.starts_with("it reaches global memory too often"));
}

TEST_CASE("every limit has a kernel that it rejects", "[judge]") {
    const std::pair<const char*, void (*)(Counts&)> excesses[] = {
        {"128-byte lines of global memory", [](Counts& c) { c.lines = 10000; }},
        {"atomics on global memory", [](Counts& c) { c.global_atomic.accesses = 100; }},
        {"compare-and-swaps that store their value", [](Counts& c) { c.swaps = 100; }},
        {"times that a warp stores to global memory", [](Counts& c) { c.global_store.requests = 100; }},
        {"passes over the banks of shared memory", [](Counts& c) { c.shared_load.transactions = 400; }},
        {"steps of all warps", [](Counts& c) { c.work = 4000, c.evened = 4000, c.busiest = 80; }},
        {"steps until a model GPU of 16 multiprocessors is done", [](Counts& c) { c.makespan = 500; }},
        {"percent of the work that the busiest of 16 multiprocessors does",
         [](Counts& c) { c.busiest = 250; }},
        {"steps of the busiest warp of a block, divided by the mean of its warps",
         [](Counts& c) { c.evened = 4000; }},
        {"bytes copied from the device to the host", [](Counts& c) { c.bytes_to_host = 64; }},
        {"bytes copied from the host to the device", [](Counts& c) { c.bytes_to_device = 8192; }},
        {"bytes moved by cudaMemset and by copies within the device",
         [](Counts& c) { c.bytes_beside = 50000; }},
    };
    for (const auto& [name, make] : excesses) {
        CAPTURE(name);
        auto c = plain();
        make(c);
        const auto worse = worse_than_solution(run_with(c), plain());
        REQUIRE(!worse.empty());
        CHECK(worse[0].text.find(name + std::string(": now ")) != std::string::npos);
        CHECK(worse[0].share < 1);
    }
    auto theirs = plain(), c = plain();
    c.exchanges = 1000;
    CHECK(worse_than_solution(run_with(c), theirs).empty());  // replaces what the solution has elsewhere
    theirs.exchanges = 100;
    CHECK(!worse_than_solution(run_with(c), theirs).empty());
}

TEST_CASE("the line with most of an excess is reported with what its addresses show", "[judge]") {
    using kata::Place;
    const auto said = [](Counts c, Place place) {
        auto run = run_with(c);
        run.seen.places = {place};
        const auto worse = worse_than_solution(run, plain());
        return worse.empty() ? "" : worse[0].text;
    };
    auto lines = plain(), passes = plain();
    lines.lines = 10000, passes.shared_load.transactions = passes.bank_conflicts = 400;
    const Place apart{
        .requests = 10, .lines = 320, .bytes = 4, .distance = -128, .requests_with_distance = 9};
    CHECK(said(lines, apart).find("neighbouring threads are 128 bytes apart") != std::string::npos);
    auto place = apart;
    place.requests_with_distance = 8;  // not so in too many of them
    CHECK(said(lines, place).find("apart") == std::string::npos);
    place = apart, place.distance = 4;
    CHECK(said(lines, place).find("apart") == std::string::npos);

    Place column{.requests = 10, .passes = 320, .bytes = 4, .distance = 64, .requests_with_distance = 10};
    CHECK(said(passes, column)
              .find("16 words apart there, so that those 2 threads apart access the same bank") !=
          std::string::npos);
    column.distance = 12;  // three words: each has a bank of its own
    CHECK(said(passes, column).find("apart") == std::string::npos);

    auto stores = plain();
    stores.global_store.requests = 100;
    Place sum{.requests = 10, .stores = 10, .again = 6, .bytes = 4};
    CHECK(said(stores, sum).find("6 of these times a thread accesses the element") != std::string::npos);
    sum.again = 5;
    CHECK(said(stores, sum).find("a register") == std::string::npos);

    auto atomics = plain();
    atomics.global_atomic.accesses = 1000;
    Place bins{.requests = 100, .atomics = 1000, .words = 7, .bytes = 4};
    CHECK(said(atomics, bins)
              .find("update 7 words: if the threads of each block first combined their updates in shared "
                    "memory, 112 atomics would do") != std::string::npos);
    bins.words = 40;  // 640 by blocks
    CHECK(said(atomics, bins).find("would do") == std::string::npos);
}

TEST_CASE("atomics on one word are reported with the line of the last of them", "[judge]") {
    auto c = plain();
    c.makespan = c.contention = 1000;
    auto run = run_with(c);
    run.seen.places = {{.code = 7, .steps = 10, .on_one_word = 999}, {.code = 8, .on_one_word = 1000}};
    const auto worse = worse_than_solution(run, plain());
    REQUIRE(!worse.empty());
    CHECK(worse[0].of_chain);
    CHECK(worse[0].text.find("\n  atomics on one word, one after the other: now 1000, in the solution 0; the "
                             "last of them in 02_b.cu:8") != std::string::npos);
    run.seen.counts->contention = 100;
    CHECK(worse_than_solution(run, plain())[0].text.find("atomics on one word") == std::string::npos);
}

TEST_CASE("the longest chain is followed from warp to warp, and the line with most of its steps is reported",
          "[judge]") {
    const auto chain = [](std::uint64_t longest) {
        return kata::most_of_chain([&] {
            const auto ran = [](unsigned warp, std::uint32_t code, std::uint64_t begins, std::uint64_t ends) {
                kata::Request r;
                r.warp = warp, r.code = code, r.begins = begins, r.ends = ends;
                kata::watcher->request(r);
            };
            kata::Scene scene;
            scene.lines_of = [](std::span<const std::uint32_t> codes) {
                return std::vector{"x.cu:" + std::to_string(codes[0])};
            };
            kata::watcher->launch_begins(scene);
            // Warp 1 waits at a barrier for warp 0, which is busy in line 5.
            ran(0, 4, 0, 1), ran(0, 5, 1, 8), ran(1, 6, 0, 2), ran(1, 7, 8, 11), ran(0, 8, 8, 9);
            return longest;
        });
    };
    CHECK(chain(11) == "\n  of the 11 steps of the longest chain 7 are in x.cu:5");
    CHECK(chain(100).empty());
}

TEST_CASE("an allowance for one counter allows nothing of another", "[judge]") {
    auto c = plain();
    c.makespan = 500;
    const std::vector<kata::Allowance> allowances{{"makespan", 6}};
    CHECK(worse_than_solution(run_with(c), plain(), allowances).empty());
    c.lines = 10000;
    CHECK(worse_than_solution(run_with(c), plain(), allowances).size() == 1);
}

TEST_CASE("blocks of half a warp are reported if no other limit is exceeded", "[judge]") {
    auto c = plain();
    c.blocks = 16 * 8, c.threads = c.blocks * 16;
    const auto worse = worse_than_solution(run_with(c), plain());
    REQUIRE(worse.size() == 1);
    CHECK(worse[0].text.starts_with("at least half of the lanes of its warps are empty"));
}

TEST_CASE("one thread that does all the work is reported first", "[judge]") {
    auto c = plain(), theirs = plain();
    c.threads = c.launches = theirs.launches = 1, theirs.threads = 4000, c.makespan = 500;
    CHECK(worse_than_solution(run_with(c), theirs)[0].text.starts_with(
        "one thread does all the work: launched 1, the solution 4000\n  it takes too long"));
    theirs.threads = 1;
    CHECK(worse_than_solution(run_with(c), theirs)[0].text.starts_with("it takes too long"));
}

TEST_CASE("bank conflicts that cost a step little are noted, and those of its solution are not", "[judge]") {
    Counts counts;
    counts.work = 1000;
    counts.bank_conflicts = 310;
    auto run = run_with(counts);
    auto& mine = *run.seen.counts;
    run.seen.places = {{.code = 7, .requests = 600, .passes = 600},
                       {.code = 5, .requests = 10, .passes = 320, .conflicts = 310},
                       {.code = 9, .requests = 900}};
    Counts theirs;
    const auto remark = kata::remark_on_banks(run, theirs);
    REQUIRE(remark);
    CHECK(remark->starts_with(
        "Right, but each time a warp executes 02_b.cu:5, it takes 32.0 passes over the banks of shared "
        "memory. Without bank conflicts 1.0 would do"));
    CHECK(remark->find("31 % of what the step's warps execute") != remark->npos);

    theirs.bank_conflicts = 200;
    CHECK_FALSE(kata::remark_on_banks(run, theirs));
    theirs.bank_conflicts = 0;
    mine.work = 10000;  // the conflicts are a small part of it
    CHECK_FALSE(kata::remark_on_banks(run, theirs));
    mine.work = 1000;
    run.seen.places[1].passes = 700;  // most passes are required by the width of the accesses
    CHECK_FALSE(kata::remark_on_banks(run, theirs));
    run.seen.places = {{.code = 9, .requests = 900}};
    CHECK_FALSE(kata::remark_on_banks(run, theirs));
}

TEST_CASE("two steps without a counted or a timed claim about each other are reported", "[judge]") {
    using kata::Step;
    using kata::unclaimed;
    const Claim count{"01_a", "threads", 2, "why", "a document"},
        refuted_time{"01_a", "milliseconds", 2, "why", "a document", Claim::Standing::refuted},
        the_other_way{"02_b", "milliseconds", 2, "why", "a document"},
        of_others{"01_a", "milliseconds", 2, "why", "a document"};
    const auto steps = [](std::vector<Claim> first, std::vector<Claim> second,
                          std::vector<Claim> third = {}) {
        return std::vector<Step>{{.name = "01_a", .beats = std::move(first)},
                                 {.name = "02_b", .beats = std::move(second)},
                                 {.name = "03_c", .beats = std::move(third)}};
    };
    CHECK(unclaimed(steps({}, {count, refuted_time}), "01_a", "02_b", true).empty());
    CHECK(unclaimed(steps({the_other_way}, {count}), "01_a", "02_b", true).empty());
    CHECK(unclaimed(steps({}, {count}), "01_a", "02_b", false).empty());
    CHECK(unclaimed(steps({}, {refuted_time}), "01_a", "02_b", true, false).empty());
    CHECK(unclaimed(steps({}, {count}), "01_a", "02_b", true, false) ==
          "01_a and 02_b have no timed claim about each other");
    CHECK(unclaimed(steps({}, {count}, {of_others}), "01_a", "02_b", true) ==
          "01_a and 02_b have no timed claim about each other");
    CHECK(unclaimed(steps({}, {refuted_time}), "01_a", "02_b", false) ==
          "01_a and 02_b have no counted claim about each other");
    CHECK(unclaimed(steps({}, {count}, {of_others}), "02_b", "03_c", true) ==
          "02_b and 03_c have no claim, counted or timed, about each other");
}

TEST_CASE("a claim accepts another style of the step, but not the step that it is compared with", "[judge]") {
    const Claim claim{"01_a", "barriers", 1.2, "why", "a document"};
    CHECK(most_of(claim, 120, {}) == 100);
    CHECK(most_of(claim, 120, 50) == 100);
    CHECK(most_of(claim, 120, 70) == 105);
    CHECK_FALSE(broken(claim, 105, 120, 70));
    CHECK(broken(claim, 106, 120, 70) ==
          "the step misses its goal: barriers: now 106, in the solution 70, at most 105; 01_a needs 120\n"
          "  the goal: why");
    // A limit of 2.67 is 2 barriers, and not the 3 that break it.
    CHECK(broken(claim, 3, 3.2)->find("barriers: now 3, at most 2; 01_a needs 3") != std::string::npos);
    CHECK_FALSE(broken(claim, 119, 120, 100));
    CHECK(broken(claim, 120, 120, 100));
}

TEST_CASE("a step that is wrong on the problem of its counts is reported with that problem", "[judge]") {
    kata::Run run;
    run.fault = "1 of 5 elements differs";
    run.problem = "n = 5";
    std::string told;
    try {
        kata::counts_of(run);
    } catch (const kata::Error& e) {
        told = e.what();
    }
    CHECK(told == "1 of 5 elements differs\nwith n = 5");
}

TEST_CASE("gains are over the step before, the largest first", "[judge]") {
    const auto claim = [](std::string_view worse, Quantity q) {
        return Claim{worse, q, 1, "why", "a document"};
    };
    const auto first = claim("01_a", "threads"), before = claim("02_b", "barriers"),
               half = claim("02_b", "atomics"), same = claim("02_b", "threads"),
               later = claim("04_d", "atomics"), sixth = claim("02_b", "bytes_loaded"),
               third = claim("02_b", "shared_passes");
    const auto told = [](std::vector<kata::Gain> gains) {
        return kata::most_telling("02_b", std::move(gains));
    };
    CHECK(told({{&first, 1, 10}, {&later, 1, 10}, {&before, 0, 4}}).empty());
    CHECK(told({{&first, 1, 10}, {&before, 3, 4}, {&half, 2, 4}, {&same, 100, 101}}) ==
          Texts{"atomics on global memory 2, 1/2 of the 4 in 02_b",
                "barriers 3, 25 % less than the 4 in 02_b"});
    CHECK(told({{&before, 3, 4}, {&half, 2, 4}, {&sixth, 1, 6}, {&third, 1, 3}}).size() == 3);
}

TEST_CASE("a later step's idea is noted where a step has all that it gains and a GPU was slower with it",
          "[judge]") {
    const std::vector<kata::Step> steps{
        {.name = "01_a"},
        {.name = "02_b", .beats = {{"01_a", "atomics", 2, "they are fewer", "a document"}}},
        {.name = "03_c",
         .beats = {{"02_b", "sectors_loaded", 8, "neighbours read neighbours", "a document"},
                   {"02_b", "barriers", 2, "nobody waits", "a document"}}}};
    const auto counts = [](std::uint64_t sectors, std::uint64_t barriers) {
        Counts c;
        c.global_load.transactions = sectors;
        c.barriers = barriers;
        c.global_atomic.accesses = 10;
        return c;
    };
    const auto b = counts(1600, 40), c = counts(100, 20);
    const auto told = [&](const char* step, const Counts& mine, std::optional<double> times) {
        return kata::remark_on_idea(
            steps, step, mine, [&](std::string_view name) -> const Counts& { return name == "03_c" ? c : b; },
            [&](std::string_view) {
                return times ? std::optional(kata::Timed{"H100", *times}) : std::nullopt;
            });
    };
    CHECK(told("02_b", c, 0.5) ==
          "Right, and it already does what step 03_c teaches: neighbours read neighbours. An H100 takes 2.0 "
          "times as long for that step's solution as for this step's, so on a GPU this may fail as too slow");
    CHECK_FALSE(told("02_b", b, 0.5));                // it belongs to the step itself
    CHECK_FALSE(told("02_b", counts(100, 40), 0.5));  // it gains only a part of what the idea gains
    CHECK_FALSE(told("02_b", c, 0.9));                // the later step is about as fast
    CHECK_FALSE(told("02_b", c, {}));                 // the later step has no time
    CHECK_NOTHROW(kata::remark_on_idea(
        steps, "02_b", c, [](std::string_view) -> const Counts& { throw kata::Error("counted"); },
        [](std::string_view) { return std::nullopt; }));
    CHECK_FALSE(told("01_a", c, 0.5));  // lacks the idea of 02_b
    CHECK_FALSE(told("03_c", c, 0.5));
}

TEST_CASE("a step with several traits has each of them", "[judge]") {
    const kata::Step step{.name = "07_c", .traits = "[whole][stays]"};
    CHECK(has_traits(step, ""));
    CHECK(has_traits(step, "[stays]"));
    CHECK(has_traits(step, "[stays][whole]"));
    CHECK_FALSE(has_traits(step, "[stay]"));
    CHECK_FALSE(has_traits(step, "[whole][sections]"));
    CHECK(kata::tags_of("[whole][stays]") == Texts{"[whole]", "[stays]"});
}

TEST_CASE("a step that requires another GPU is skipped, with a line that names it", "[judge]") {
    constexpr std::size_t little = 99 * 1024;
    const auto lacking = [](const char* need, const char* architecture, std::size_t shared = 227 * 1024) {
        return kata::lacking(need, architecture, shared);
    };
    CHECK(!lacking("", "sm_75"));
    CHECK(!lacking("sm_80", "sm_80"));
    CHECK(!lacking("sm_80", "sm_90"));
    CHECK(!lacking("sm_80", ""));  // the CPU back end
    CHECK(!lacking("sm_90a", "sm_90"));
    CHECK(lacking("sm_80", "sm_75") == "needs a GPU of compute capability 8.0 or newer");
    CHECK(lacking("sm_90a", "sm_100") == "needs a GPU of compute capability 9.0");
    CHECK(lacking("sm_90a", "") == "needs a GPU of compute capability 9.0");
    CHECK(!lacking("sm_90, 193 KiB", "sm_90"));
    CHECK(!lacking("sm_90, 193 KiB", ""));
    CHECK(!lacking("sm_90", "sm_120", little));
    for (const auto& [architecture, shared] : {std::pair("sm_120", little), std::pair("sm_80", 2 * little)})
        CHECK(lacking("sm_90, 193 KiB", architecture, shared) ==
              "needs a GPU of compute capability 9.0 or newer with 193 KiB of shared memory for a block");
    CHECK(kata::can_be_counted("sm_90, 193 KiB"));  // also where a GPU with less runs this
    CHECK(!kata::can_be_counted("sm_90, 228 KiB"));
    CHECK(!kata::can_be_counted("sm_90a"));
}

TEST_CASE("a record is one line of JSON", "[judge]") {
    kata::Record record{"a \"test\"", "slow", "first\nsecond\t", {}};
    record.remarks.shares = {0.5, 0.25};
    record.remarks.gains = {"half"};
    record.remarks.figures = {{"work", "steps", 3, 1}};
    CHECK(
        record.json() ==
        R"({"test": "a \"test\"", "kind": "slow", "text": "first\nsecond ", "share": 0.25, "gains": ["half"], )"
        R"("counts": [{"key": "work", "heading": "steps", "step": 3, "solution": 1}]})");
    record = {"b", "right", "", {}};
    CHECK(record.json() == R"({"test": "b", "kind": "right"})");
}

namespace {

/// Pretends that a kernel with blocks of two threads runs. `in` lies at the addresses from 1000 on, and the
/// result from 2000 on, each with twelve elements of 4 bytes.
class Pretended {
  public:
    /// The input is at this address; both arrays are gone when another kernel is run.
    explicit Pretended(unsigned blocks, std::uintptr_t in = 1000, unsigned down = 1) {
        static std::uintptr_t at;
        at = in;
        kata::Scene scene;
        scene.grid = {blocks, down, 1};
        scene.block = {2, 1, 1};
        scene.array_at = [](std::uintptr_t a) {
            return a < 2000 ? kata::Array{"in", at, 48} : kata::Array{"out", 2000, 48};
        };
        scene.lines_of = [](std::span<const std::uint32_t> codes) {
            return Texts(1, "02_b.cu:" + std::to_string(codes[0]));
        };
        kata::watcher->launch_begins(scene);
    }
    void does(const char* what, std::size_t block, unsigned thread, std::uint32_t line,
              std::uintptr_t address) {
        kata::Request request{.code = line, .did = what, .memory = "global", .block = block, .bytes = 4};
        request.lanes = 1u << thread;
        request.addresses[thread] = address;
        kata::watcher->request(request);
    }
    static const void* result() { return reinterpret_cast<const void*>(2000); }
};

std::string traced(std::size_t wrong, const kata::Solve& step, const kata::Solve& solution = {}) {
    return kata::origin({}, {4, 12, {12}, wrong}, step, solution);
}

/// A step in which each block stores two elements, which begin `apart` after those of the block before. For
/// element i it loads element i / shared_by of the input.
kata::Solve copies(unsigned blocks, std::size_t apart, std::size_t shared_by = 1, std::uintptr_t in = 1000) {
    return [=] {
        Pretended kernel(blocks, in);
        for (std::size_t b = 0; b < blocks; ++b)
            for (unsigned t = 0; t < 2; ++t) {
                const auto i = apart * b + t;
                kernel.does("load", b, t, 5, in + 4 * (i / shared_by));
                kernel.does("store", b, t, 6, 2000 + 4 * i);
            }
        return Pretended::result();
    };
}

/// A step whose threads each store the element of this number.
kata::Solve stores(unsigned across, unsigned down, std::size_t (*place)(std::size_t block, unsigned thread)) {
    return [=] {
        Pretended kernel(across, 1000, down);
        for (std::size_t b = 0; b < std::size_t{across} * down; ++b)
            for (unsigned t = 0; t < 2; ++t) kernel.does("store", b, t, 6, 2000 + 4 * place(b, t));
        return Pretended::result();
    };
}

}  // namespace

TEST_CASE("a wrong element is traced to the thread that stored it, and to what that thread had loaded",
          "[judge]") {
    const std::string stored = "(x 3) is stored by thread (1,0,0) of block (1,0,0) in 02_b.cu:6";
    CHECK(traced(3, copies(6, 2)) == stored);
    CHECK(traced(3, copies(6, 2, 2), copies(6, 2, 1, 1500)) ==
          stored +
              "\n  it has loaded element 1 of \"in\" in 02_b.cu:5; for this result the solution loads "
              "element 3");
    CHECK(traced(3, copies(6, 2), copies(6, 2))
              .starts_with(stored + "\n  it has loaded just the elements that"));
    CHECK(traced(3, copies(6, 2, 2)) ==
          "no thread loads element 6 of \"in\": the last before it, element 5, is loaded by thread (1,0,0) "
          "of block "
          "(5,0,0) in 02_b.cu:5, and none after it\n  there are 6 blocks, and each loads 1 element: "
          "12 would "
          "reach the end");
}

TEST_CASE("an element that two threads load is traced to both, if the solution's threads share none",
          "[judge]") {
    // Blocks add up `each` elements, which begin `apart` after those of the block before, in one place.
    const auto sums = [](std::size_t each, std::size_t apart) {
        return [=]() -> const void* {
            Pretended kernel(3);
            for (std::size_t b = 0; b < 3; ++b) {
                for (std::size_t k = 0; k < each && apart * b + k < 12; ++k)
                    kernel.does("load", b, static_cast<unsigned>(2 * k / each), 5,
                                1000 + 4 * (apart * b + k));
                kernel.does("atomic", b, 0, 6, 2000);
            }
            return Pretended::result();
        };
    };
    CHECK(
        traced(0, sums(8, 4), sums(4, 4)) ==
        "element 4 of \"in\" is loaded by thread (1,0,0) of block (0,0,0) in 02_b.cu:5 and by thread (0,0,0) "
        "of block (1,0,0) in 02_b.cu:5; in the solution only one thread loads it\n  each block loads 8 "
        "elements of \"in\", and the next begins 4 further on: if each has a part of its own, both numbers "
        "must be the same");
    // Every block loads all elements from its own on, so the size of its part is unknown.
    CHECK(traced(0, sums(12, 4), sums(4, 4))
              .ends_with("of block (1,0,0) in 02_b.cu:5; in the solution only one thread loads it"));
    CHECK(traced(0, sums(8, 4), sums(8, 4)).empty());
    CHECK(traced(0, sums(8, 4)).empty());
}

TEST_CASE("blocks that store to each other's places are reported with the solution's", "[judge]") {
    const auto right = [](std::size_t b, unsigned t) { return 2 * b + t; };
    const auto exchanged = [](std::size_t b, unsigned t) {  // there are no blocks (0,2) and (1,2)
        return b % 3 == 2 ? 100 : 2 * (b % 3 * 3 + b / 3) + t;
    };
    const auto turned = [](std::size_t b, unsigned t) { return 2 * ((b + 1) % 6) + t; };
    const std::string stored = "(x 2) is stored by thread (0,0,0) of block ";
    CHECK(
        traced(2, stores(3, 2, exchanged), stores(3, 2, right)) ==
        stored +
            "(0,1,0) in 02_b.cu:6\n  each block (x, y) stores to where block (y, x) stores in the solution, "
            "whose grid is as large");
    CHECK(traced(2, stores(3, 2, turned), stores(3, 2, right)) == stored + "(0,0,0) in 02_b.cu:6");
    CHECK(traced(2, stores(3, 2, right), stores(3, 2, right)) == stored + "(1,0,0) in 02_b.cu:6");
    CHECK(traced(2, stores(3, 2, exchanged), stores(2, 3, right)) == stored + "(0,1,0) in 02_b.cu:6");
}

TEST_CASE("an element that no thread stores is traced to those on either side of it", "[judge]") {
    CHECK(
        traced(4, copies(2, 2)) ==
        "no thread stores (x 4): the last before it, (x 3), is stored by thread (1,0,0) of block (1,0,0) in "
        "02_b.cu:6, and none after it\n  there are 2 blocks, and each stores 2 elements: 6 would "
        "reach the "
        "end");
    CHECK(traced(4, copies(1, 2)).ends_with("\n  there is 1 block, and it stores 2 of the 12 elements"));
    CHECK(traced(4, copies(2, 12)).ends_with("\n  only 1 of the 2 blocks stores any element"));
    CHECK(
        traced(2, copies(3, 4)) ==
        "no thread stores (x 2): the last before it, (x 1), is stored by thread (1,0,0) of block (0,0,0) in "
        "02_b.cu:6, and the next, (x 4), is stored by thread (0,0,0) of block (1,0,0) in 02_b.cu:6\n  each "
        "block "
        "stores 2 elements, and the next begins 4 further on: both numbers must be the same");
    CHECK(traced(0,
                 [] {
                     Pretended(1).does("store", 0, 1, 6, 2004);
                     return Pretended::result();
                 }) ==
          "no thread stores (x 0): the first, (x 1), is stored by thread (1,0,0) of block (0,0,0) in "
          "02_b.cu:6");
    CHECK(traced(0, [] { return Pretended::result(); }).empty());
    CHECK(
        traced(2, stores(1, 3, [](std::size_t b, unsigned t) { return 4 * b + t; }))
            .ends_with("each block stores 2 elements, and the next begins 4 further on: both numbers must be "
                       "the same"));
    CHECK(
        traced(2, stores(2, 1, [](std::size_t b, unsigned t) { return 6 * t + b; }))
            .ends_with("the first threads of all blocks together store 2 elements, and the second ones begin "
                       "6 further on: both numbers must be the same"));
    CHECK(traced(2, stores(2, 2, [](std::size_t b, unsigned t) { return b == 2 ? 20 + t : 3 * b + t; }))
              .ends_with("\n  1 of the 4 blocks stores no element, the first of them block (0,1,0)"));
    CHECK(traced(2, stores(2, 1, [](std::size_t b, unsigned t) { return 6 * t + 3 * b; }))
              .ends_with("is stored by thread (0,0,0) of block (1,0,0) in 02_b.cu:6"));
}

TEST_CASE("a race is compared with what its threads do in the solution", "[judge]") {
    const auto said = [](const kata::Solve& solution) {
        return kata::unlike_solution({}, {0, "out", {{{1, 0}, {0, 1}}}}, copies(6, 1, 1), solution);
    };
    CHECK(said(copies(6, 1, 1)).empty());
    const std::string overlap =
        "each block stores 2 elements of \"out\", and the next begins 1 further on: if each has a part of "
        "its own, both numbers must be the same";
    const std::string thread =
        "thread (0,0,0) of block (1,0,0) stores element 1 of \"out\" in 02_b.cu:6, and not in the solution; "
        "there it stores element 2 instead";
    CHECK(said(copies(6, 2, 2)) == overlap + "\n" + thread);
    CHECK(said(copies(3, 2)) == overlap);  // of another grid
}
