// Races, lost updates and missing fences.
#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace {

std::string race_between(const std::string& one, const std::string& other, const std::string& advice) {
    return ": nothing orders\n  " + one + "\n  " + other + "\n  " + advice;
}

const std::string barrier_missing = "is a __syncthreads() missing between them, or must it be an atomic?";
const std::string warp_missing =
    "is a __syncthreads() missing between them (__syncwarp(), if only the warp shares it), or must it be an "
    "atomic?";
const std::string any_order =
    "? If not, look at the index. If so, they run in any order: what must be done before all of them belongs "
    "before the launch; otherwise use an atomic, or one as a flag with a __threadfence() on both sides";

}  // namespace

TEST_CASE("a race is reported with file, line, block and thread of both sides", "[races]") {
    auto out = filled<int>("out", 1);
    const auto one = " of block (0,0,0) writes in " + line_of("the first writes"),
               other = " of block (0,0,0) writes in " + line_of("the second writes");
    CHECK(found([&] { kernels::two_write_one(out.data(), 3, 70); }) ==
          Findings{"race in shared memory \"word\", element 1" +
                   race_between("thread (3,0,0)" + one, "thread (70,0,0)" + other, barrier_missing)});
    CHECK(found([&] { kernels::two_write_one(out.data(), 3, 4); }) ==
          Findings{"race in shared memory \"word\", element 1" +
                   race_between("thread (3,0,0)" + one, "thread (4,0,0)" + other, warp_missing)});
    CHECK(found([&] { kernels::two_write_one(out.data(), 3, 70); }, {.order = Order::backwards}) ==
          Findings{"race in shared memory \"word\", element 1" +
                   race_between("thread (70,0,0)" + other, "thread (3,0,0)" + one, barrier_missing)});
    CHECK(clean([&] { kernels::two_write_one(out.data(), 3, 3); }));
}

TEST_CASE("writes of one word by many threads are a race", "[races]") {
    auto out = filled<int>("out", 1);
    const int threads = GENERATE(2, 32, 33, 64, 256);
    CHECK(!clean([&] { kernels::all_write_one(out.data(), threads); }));
    CHECK(clean([&] { kernels::all_write_one(out.data(), 1); }));
}

TEST_CASE("without the meter there are neither counts nor findings, and the next observation has its own",
          "[races]") {
    auto out = filled<int>("out", 1);
    const auto racy = [&] { kernels::all_write_one(out.data(), 64); };
    const auto metered = observe({}, racy);
    CHECK_THROWS_AS(observe({}, [] { throw kata::Error("the observation before ends in a fault"); }),
                    kata::Error);
    const auto seen = observe({.metered = false}, racy);
    CHECK(!seen.counts);
    CHECK(seen.findings == Findings{});
    CHECK(seen.launches == 1);
    const auto after = observe({}, racy);
    CHECK(after.counts == metered.counts);
    CHECK(after.findings == metered.findings);
    CHECK(!after.findings.empty());
}

TEST_CASE("a read of a neighbour's write needs a barrier, within a warp and across warps", "[races]") {
    const int threads = GENERATE(2, 32, 64, 1024);
    Buffer<int> out("out", 1024);
    CHECK(clean([&] { kernels::neighbour(out.data(), threads, true); }));
    CHECK(!clean([&] { kernels::neighbour(out.data(), threads, false); }));
    CHECK(clean([&] { kernels::dynamic_neighbour(out.data(), threads, true); }));
    CHECK(!clean([&] { kernels::dynamic_neighbour(out.data(), threads, false); }));
    CHECK(clean([&] { kernels::neighbour_in_warp(out.data(), true); }));
    CHECK(!clean([&] { kernels::neighbour_in_warp(out.data(), false); }));
}

TEST_CASE("a race is reported once for each pair of lines, and at most eight findings are reported",
          "[races]") {
    Buffer<int> out("out", 1024);
    const auto races = [&](const Work& work) {
        const auto findings = found(work);
        return std::count_if(findings.begin(), findings.end(),
                             [](const auto& text) { return text.starts_with("race in shared memory \""); });
    };
    CHECK(races([&] { kernels::neighbour(out.data(), 1024, false); }) == 1);
    CHECK(races([&] { kernels::two_lines(out.data()); }) == 2);
    CHECK(found([&] { kernels::many_lines(out.data()); }).size() == 8);
}

TEST_CASE("a scan that lacks one of its barriers is reported", "[races]") {
    auto data = filled<float>("data", 1024, 1.0f);
    CHECK(clean([&] { kernels::kogge_stone(data.data()); }));
    CHECK(clean([&] { kernels::double_buffer(data.data(), true); }));
    CHECK(!clean([&] { kernels::double_buffer(data.data(), false); }));
    CHECK(!clean([&] { kernels::kogge_stone_single_barrier(data.data()); }));
    const auto findings = found([&] { kernels::kogge_stone_single_barrier(data.data()); });
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0], StartsWith("race in shared memory \"x\", element ") &&
                                ContainsSubstring(" writes in " + line_of("Kogge-Stone writes") + "\n") &&
                                ContainsSubstring(" reads in " + line_of("Kogge-Stone reads") + "\n"));
}

TEST_CASE("volatile does not order the lanes of a warp", "[races]") {
    auto data = filled<float>("data", 64, 1.0f);
    const auto tail = [&](kernels::Tail how) {
        return [&, how] { kernels::reduction_tail(how, data.data()); };
    };
    CHECK(!clean(tail(kernels::Tail::volatile_shared)));
    CHECK(!clean(tail(kernels::Tail::volatile_global)));
    CHECK(clean(tail(kernels::Tail::synchronised_shared)));
    CHECK(clean(tail(kernels::Tail::synchronised_global)));
    CHECK_THAT(found(tail(kernels::Tail::volatile_global))[0],
               StartsWith("race in global memory \"data\", element ") &&
                   ContainsSubstring("in " + line_of("volatile tail")) && EndsWith(warp_missing));
}

TEST_CASE("histograms need atomics, zeros and barriers", "[races]") {
    std::vector<int> values(500);
    for (int i = 0; i < 500; ++i) values[i] = i % 16;
    Buffer<int> in("in", std::span<const int>(values));
    auto bins = filled<int>("bins", 16);
    CHECK(clean([&] { kernels::histogram(in.data(), bins.data(), 500, true); }));
    CHECK(!clean([&] { kernels::histogram(in.data(), bins.data(), 500, false); }));
    CHECK(!clean([&] { kernels::histogram(in.data(), bins.data(), 64, false); }));  // within a single block
    const auto privately = [&](bool zeroed, bool atomic, bool barrier) {
        return [&, zeroed, atomic, barrier] {
            kernels::private_histogram(in.data(), bins.data(), 500, zeroed, atomic, barrier);
        };
    };
    CHECK(clean(privately(true, true, true)));
    CHECK(!clean(privately(true, false, true)));
    CHECK(!clean(privately(true, true, false)));
    CHECK(!clean(privately(false, true, true)));
    const auto unset = found(privately(false, true, true));
    REQUIRE(unset.size() == 1);
    CHECK_THAT(unset[0],
               StartsWith("read of unwritten memory: thread (127,0,0) of block (0,0,0) reads shared "
                          "memory \"mine\", element 15 in " +
                          line_of("private histogram counts") + "\n"));
    const auto unordered = found(privately(true, true, false));
    REQUIRE(!unordered.empty());
    CHECK_THAT(unordered[0],
               ContainsSubstring(" updates atomically in " + line_of("private histogram counts")) &&
                   ContainsSubstring(" reads in " + line_of("private histogram adds")));
}

TEST_CASE("the bytes of a word are tracked separately", "[races]") {
    auto out = filled<unsigned char>("out", 256);
    CHECK(clean([&] { kernels::bytes_of_words(out.data(), 64, 4); }));   // a byte for each thread
    CHECK(!clean([&] { kernels::bytes_of_words(out.data(), 64, 2); }));  // two lanes write one byte
    CHECK(clean([&] { kernels::byte_read_by_other(out.data(), 32); }));
    CHECK(!clean([&] { kernels::byte_read_by_other(out.data(), 64); }));
}

TEST_CASE("blocks are not ordered", "[races]") {
    auto data = filled<int>("data", 64);
    CHECK(clean([&] { kernels::blocks_write_one(data.data(), 1); }));
    CHECK(!clean([&] { kernels::blocks_write_one(data.data(), 5); }));
    CHECK_THAT(
        found([&] { kernels::blocks_write_one(data.data(), 5); })[0],
        StartsWith("race in global memory \"out\", element 0: nothing orders\n"
                   "  thread (0,0,0) of block (0,0,0) writes in races.cu:") &&
            ContainsSubstring("  thread (0,0,0) of block (1,0,0) writes in ") &&
            EndsWith("\n  two threads store to index 0: is blockIdx missing from the index, or blockDim that "
                     "multiplies it, does a loop run on into the next block's part, or should only one "
                     "block store?"));
    auto many = filled<int>("data", 200);
    using enum kernels::Index;
    CHECK(clean([&] { kernels::indexed(of_its_own, many.data()); }));
    CHECK_THAT(
        found([&] { kernels::indexed(added, many.data()); })[0],
        StartsWith("race in global memory \"data\", element 1: ") &&
            EndsWith("\n  two threads store to index 1: is blockIdx missing from the index, or blockDim "
                     "that multiplies it, does a loop run on into the next block's part, or should only "
                     "one block store?"));
    CHECK_THAT(
        found([&] { kernels::indexed(of_warps, many.data()); })[0],
        StartsWith("race in global memory \"data\", element 0: ") &&
            EndsWith("\n  two threads store to index 0: is threadIdx missing from the index, or should "
                     "only one of them store?"));
    CHECK_THAT(found([&] { kernels::indexed(updated, many.data()); })[0],
               EndsWith("\n  threads of two blocks reach index 1 in the same line: if each should have its "
                        "own, is blockIdx in the index, multiplied by the number of elements that a block "
                        "works on? If they share it, use an atomic"));
    CHECK(clean([&] { kernels::pixels(many.data(), 12, 10, true); }));
    CHECK_THAT(
        found([&] { kernels::pixels(many.data(), 12, 10, false); })[0],
        EndsWith("\n  two threads store to index 12, at x = 12, y = 0 and at x = 0, y = 1, which is one "
                 "place where a row has 12 elements, as \"width\" says. If rows are longer, the index must "
                 "use their length. If not, the guard must compare x and y each with its own limit, not the "
                 "index with the number of elements"));
    CHECK(clean([&] { kernels::stretches(many.data(), 4); }));
    for (const auto order : {kata::Order::forwards, kata::Order::backwards})
        CHECK_THAT(found([&] { kernels::stretches(many.data(), 3); }, {.order = order})[0],
                   ContainsSubstring(", and each stores to several in this line: their ranges overlap."));
    CHECK_THAT(found([&] { kernels::stretches(many.data(), 0); })[0],
               ContainsSubstring("is threadIdx missing from the index"));
    // A barrier of the warp is named where the two threads belong to one.
    for (const int other : {1, 40}) {
        std::vector<int> bin_of(64);
        std::iota(bin_of.begin(), bin_of.end(), 0);
        bin_of[static_cast<std::size_t>(other)] = 0;
        kata::Input<int> in("in", bin_of);
        auto bins = filled<int>("bins", 64);
        CHECK_THAT(
            found([&] { kernels::histogram(in.data(), bins.data(), 64, false); })[0],
            ContainsSubstring(std::string("store after a __syncthreads()") +
                              (other == 1 ? " (__syncwarp(), if only the warp shares it); if" : "; if")));
    }
    // An element of two words is one place, not a range.
    auto wide = filled<double>("data", 4);
    CHECK_THAT(found([&] { kernels::one_double(wide.data()); })[0],
               ContainsSubstring("two threads store to index 0: is threadIdx missing"));
    CHECK(clean([&] { kernels::block_reads_other(data.data(), 1); }));
    CHECK(!clean([&] { kernels::block_reads_other(data.data(), 4); }));
    using enum kernels::Count;
    const auto counts = [&](kernels::Count how, int blocks) {
        return [&, how, blocks] { kernels::block_counts_down(data.data(), blocks, how); };
    };
    CHECK(clean(counts(of_device, 8)));
    CHECK(clean(counts(of_system, 8)));
    CHECK(!clean(counts(plain, 8)));
    CHECK(!clean(counts(of_block, 8)));
    CHECK(clean(counts(of_block, 1)));
    CHECK_THAT(found(counts(of_block, 8))[0],
               StartsWith("race in global memory \"count\", element 0: nothing orders\n"
                          "  thread (0,0,0) of block (0,0,0) updates atomically in " +
                          line_of("block's own atomic")) &&
                   EndsWith("\n  an atomic of the block is atomic for its own threads only: give it the "
                            "scope of the device, or drop _block from its name"));
}

TEST_CASE("a two-part update of a volatile or an atomic by several blocks is a lost update", "[races]") {
    using enum kernels::Impatient;
    const auto how =
        GENERATE(adds, loads_and_stores, adds_behind_a_lock, adds_behind_a_flag, passes_on, sets_once);
    const bool loses = how == adds || how == loads_and_stores;
    for (unsigned seed = 1; seed <= 8; ++seed) {
        auto words = filled<int>("words", 2);
        const auto findings = found([&] { kernels::volatile_between_blocks(how, words.data(), 8); },
                                    {.order = Order::shuffled, .seed = seed});
        CHECK(words.values()[0] == (how == sets_once ? 1 : 8) - (loses ? 8 - words.values()[0] : 0));
        if (!loses) {
            CHECK(findings == Findings{});
            continue;
        }
        REQUIRE(findings.size() == 1);
        CHECK_THAT(
            findings[0],
            StartsWith("lost update of global memory \"words\", element 0: thread (0,0,0) of "
                       "block (") &&
                ContainsSubstring(" writes in " +
                                  line_of(how == adds ? "volatile adds" : "loads and stores") +
                                  " a value computed from an older one") &&
                EndsWith(how == adds ? ": use an atomic" : ": use one atomic update, such as fetch_add"));
    }
}

TEST_CASE("other threads may intervene between two atomics of a thread", "[races]") {
    using enum kernels::Impatient;
    const auto sum = [](kernels::Impatient how, unsigned seed) {
        auto words = filled<int>("words", 2);
        const auto findings = found([&] { kernels::volatile_between_blocks(how, words.data(), 8); },
                                    {.order = Order::shuffled, .seed = seed});
        CHECK(findings == Findings{});
        return words.values()[0];
    };
    for (unsigned seed = 1; seed <= 8; ++seed) {
        CHECK(sum(tries_once, seed) < 8);
        CHECK(sum(tries_again, seed) == 8);
    }
}

TEST_CASE("only compare-and-swaps that store are counted", "[races]") {
    using enum kernels::Impatient;
    auto words = filled<int>("words", 2);
    const auto swaps = [&](kernels::Impatient how, const Conditions& conditions) {
        return observe(conditions, [&] { kernels::volatile_between_blocks(how, words.data(), 8); })
            .counts->swaps;
    };
    for (const auto& conditions : {Conditions{}, Conditions{.order = Order::shuffled}}) {
        CHECK(swaps(tries_again, conditions) == 8);
        CHECK(swaps(adds_behind_a_lock, conditions) == 8);
        CHECK(swaps(sets_once, conditions) == 0);
    }
}

TEST_CASE("__ldg must not read memory that the same launch writes", "[races]") {
    using enum kernels::ReadOnly;
    auto in = filled<int>("in", 64), out = filled<int>("out", 128);
    const auto reads = [&](kernels::ReadOnly how) {
        return [&, how] { kernels::read_only_while_written(how, in.data(), out.data()); };
    };
    CHECK(clean(reads(of_input)));
    CHECK(clean(reads(in_two_launches)));
    CHECK(!clean(reads(of_output_before)));
    CHECK(!clean(reads(of_output)));
    CHECK_THAT(
        found(reads(of_output)).at(0),
        StartsWith("__ldg() of memory that the same launch writes: it reads \"out\", element ") &&
            EndsWith(" in " + line_of("__ldg of output") + ", which is written in " +
                     line_of("written before __ldg") +
                     "\n  the cache of __ldg() may return an older value: read the memory without it"));
}

TEST_CASE("launches are ordered", "[races]") {
    Buffer<int> data("data", 128);
    CHECK(clean([&] { kernels::two_launches(data.data(), 64); }));
}

TEST_CASE("a flag must not overtake its data, and a cache must not supply stale data", "[races]") {
    using enum kernels::ReadFence;
    using kernels::Fence;
    const auto [fence, read_fence, silent] = GENERATE(
        table<Fence, kernels::ReadFence, bool>({{Fence::none, by_asker, false},
                                                {Fence::block, by_asker, false},
                                                {Fence::device, by_asker, true},
                                                {Fence::by_all, by_asker, true},
                                                {Fence::by_some, by_asker, false},
                                                {Fence::device, none, false},
                                                {Fence::device, by_another_before_the_barrier, false},
                                                {Fence::device, by_another, false},
                                                {Fence::device, by_readers, true},
                                                {Fence::device, reads_volatile, true},
                                                {Fence::none, reads_volatile, false}}));
    const auto reads = read_fence == reads_volatile ? "chained scan reads volatile" : "chained scan reads";
    constexpr int blocks = 12;
    auto in = filled<int>("in", blocks, 1);
    for (const auto& conditions : all_orders) {
        auto out = filled<int>("out", blocks), flags = filled<int>("flags", blocks);
        auto ticket = filled<unsigned>("ticket", 1);
        Buffer<int> sums("sums", 2 * blocks);
        const auto findings = found(
            [&, fence = fence, read_fence = read_fence] {
                kernels::chained_scan(fence, read_fence, in.data(), out.data(), ticket.data(), flags.data(),
                                      sums.data(), blocks);
            },
            conditions);
        CAPTURE(findings);
        CHECK(findings.empty() == silent);
        CHECK(out.values()[blocks - 1] == blocks);
        if (silent || findings.empty()) continue;
        CHECK_THAT(findings[0], StartsWith("race in global memory \"sums\", element ") &&
                                    ContainsSubstring(" writes in " + line_of("chained scan writes")) &&
                                    ContainsSubstring(" reads in " + line_of(reads)) && EndsWith(any_order));
    }
}

TEST_CASE("synchronization through flags is transitive", "[races]") {
    using enum kernels::Relay;
    const auto [second, silent] =
        GENERATE(table<kernels::Relay, bool>({{asks, true},
                                              {does_not_ask, false},
                                              {another_thread_asks, false},
                                              {another_thread_asks_before_a_barrier, true}}));
    for (const auto& conditions : all_orders) {
        Buffer<int> data("data", 1), out("out", 1);
        auto flags = filled<int>("flags", 2);
        auto ticket = filled<unsigned>("ticket", 1);
        const auto findings = found(
            [&, second = second] {
                kernels::relay(second, data.data(), flags.data(), ticket.data(), out.data());
            },
            conditions);
        CAPTURE(findings);
        REQUIRE(findings.empty() == silent);
        if (silent) CHECK(out.values()[0] == 1);
        if (silent) continue;
        CHECK_THAT(findings[0], StartsWith("race in global memory \"data\", element 0") &&
                                    ContainsSubstring(line_of("relay writes")) &&
                                    ContainsSubstring(line_of("relay reads")) && EndsWith(any_order));
    }
}

TEST_CASE("only the thread that counted last may reset the count by a plain write", "[races]") {
    using kernels::SetBack;
    const auto [by, silent] = GENERATE(table<SetBack, bool>(
        {{SetBack::last_block, true}, {SetBack::another_thread, false}, {SetBack::first_block, false}}));
    CAPTURE(static_cast<int>(by));
    for (const auto& conditions : all_orders) {
        auto count = filled<unsigned>("count", 1);
        const auto findings = found([&, by = by] { kernels::set_back(by, count.data()); }, conditions);
        REQUIRE(findings.size() == (silent ? 0 : 1));
        if (silent) CHECK(count.values()[0] == 0);
        if (silent) continue;
        CHECK_THAT(findings[0], StartsWith("race in global memory \"count\", element 0") &&
                                    ContainsSubstring(line_of("set back writes")) &&
                                    ContainsSubstring(line_of("set back counts")) && EndsWith(any_order));
    }
}

TEST_CASE("a flag must not be read plainly", "[races]") {
    for (const auto& conditions : all_orders) {
        auto flag = filled<int>("flag", 1);
        Buffer<int> out("out", 1);
        const auto findings = found([&] { kernels::read_flag(flag.data(), out.data()); }, conditions);
        REQUIRE(findings.size() == 1);
        CHECK_THAT(findings[0], StartsWith("race in global memory \"flag\", element 0") &&
                                    ContainsSubstring(" reads in " + line_of("reads a flag plainly")) &&
                                    ContainsSubstring("\n  the write is atomic or volatile, and the read is "
                                                      "neither: if index 0 is a flag "));
    }
}

TEST_CASE("a flag that carries the data needs no fence", "[races]") {
    constexpr int blocks = 20;
    auto in = filled<int>("in", blocks, 1);
    for (const auto& conditions : all_orders) {
        auto out = filled<int>("out", blocks);
        auto ticket = filled<unsigned>("ticket", 1);
        auto states = filled<unsigned long long>("states", blocks);
        CHECK(
            found(
                [&] { kernels::look_back_scan(in.data(), out.data(), ticket.data(), states.data(), blocks); },
                conditions) == Findings{});
        CHECK(out.values()[blocks - 1] == blocks);
    }
}

TEST_CASE("a polling thread sees what was written while it was suspended", "[races]") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        Buffer<int> data("data", 1), out("out", 2);
        auto flag = filled<int>("flag", 1);
        CHECK(found([&] { kernels::polled_late(data.data(), flag.data(), out.data()); },
                    {.order = Order::shuffled, .seed = seed}) == Findings{});
        CHECK(out.values()[1] == 1);
    }
}
