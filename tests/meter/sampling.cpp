// Samples: some blocks are counted and represent the others.
#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace {

/// Counts one block in `one_in`, while the others run on all cores.
kata::Observation sampled(std::uint64_t one_in, const Work& work) {
    return observe({.one_in = one_in}, work);
}

}  // namespace

TEST_CASE("a sample of equal blocks yields the counts of all blocks, and all blocks run", "[sample]") {
    constexpr int n = 256;  // rows and columns; a block has a tile of 32 x 32
    std::vector<float> values(n * n);
    std::iota(values.begin(), values.end(), 0.0f);
    Buffer<float> in("in", std::span<const float>(values));
    const auto how =
        GENERATE(kernels::Transpose::naive, kernels::Transpose::tiled, kernels::Transpose::padded);
    const auto one_in = GENERATE(std::uint64_t{2}, std::uint64_t{7}, std::uint64_t{50});
    Buffer<float> out("out", n * n), again("again", n * n);
    const auto whole = observe({}, [&] { kernels::transpose(how, in.data(), out.data(), n); });
    const auto part = sampled(one_in, [&] { kernels::transpose(how, in.data(), again.data(), n); });
    CHECK(part.findings == Findings{});
    CHECK(again.values() == out.values());
    auto counts = part.counts.value();
    // A sample is assigned in groups, so the busiest multiprocessor differs.
    counts.makespan = whole.counts->makespan, counts.busiest = whole.counts->busiest;
    CHECK(counts == whole.counts.value());
}

TEST_CASE("a sample of unequal blocks yields an estimate", "[sample]") {
    constexpr int blocks = 40;
    auto in = filled<float>("in", 64 * blocks, 1.0f);
    Buffer<float> out("out", 64 * blocks), again("again", 64 * blocks);
    const auto all = count([&] { kernels::each_block(in.data(), out.data(), blocks); });
    const auto c = sampled(8, [&] { kernels::each_block(in.data(), again.data(), blocks); }).counts.value();
    CHECK(again.values() == out.values());
    CHECK(c.blocks == blocks);
    CHECK(c.global_store == all.global_store);
    // Each thread of block b reads b + 1 elements.
    const auto loads = static_cast<double>(c.global_load.accesses) / all.global_load.accesses;
    CHECK(loads != 1.0);
    CHECK(loads > 0.75);
    CHECK(loads < 1.25);
    // If there are fewer blocks than that, a single block represents all.
    const auto one =
        sampled(1000, [&] { kernels::each_block(in.data(), again.data(), blocks); }).counts.value();
    CHECK(one.global_load.accesses % (64 * blocks) == 0);
}

TEST_CASE("blocks in several processes update the same words and wait for one another", "[sample]") {
    constexpr int n = 20000, blocks = 300;
    std::vector<int> data(n);
    for (int i = 0; i < n; ++i) data[i] = i % 16;
    Buffer<int> in("in", std::span<const int>(data));
    auto bins = filled<int>("bins", 16);
    const auto right = sampled(10, [&] { kernels::histogram(in.data(), bins.data(), n, true); });
    CHECK(right.findings == Findings{});
    CHECK(bins.values() == std::vector<int>(16, n / 16));
    CHECK(right.counts->global_atomic.accesses / 100 == n / 100);
    const auto wrong = sampled(10, [&] { kernels::histogram(in.data(), bins.data(), n, false); });
    CHECK(wrong.findings.size() == 1);

    auto ones = filled<int>("in", blocks, 1);
    auto ticket = filled<unsigned>("ticket", 1);
    auto flags = filled<int>("flags", blocks);
    Buffer<int> out("out", blocks), sums("sums", 2 * blocks);
    const auto chained = sampled(5, [&] {
        kernels::chained_scan(kernels::Fence::device, kernels::ReadFence::by_asker, ones.data(), out.data(),
                              ticket.data(), flags.data(), sums.data(), blocks);
    });
    CHECK(chained.findings == Findings{});
    CHECK(out.values()[blocks - 1] == blocks);
}

TEST_CASE("a failure in a block that is not counted is reported", "[sample]") {
    constexpr int blocks = 100;
    auto ran = filled<int>("ran", 1);
    const auto run = [&](kernels::Failure how, unsigned block) {
        sampled(50, [&] { kernels::one_block_fails(how, block, blocks, ran.data()); });
    };
    run(kernels::Failure::none, 0);
    CHECK(ran.values()[0] == blocks);
    unsigned crashed = 0;
    for (unsigned block = 0; block < 4; ++block) {
        CHECK_THROWS_WITH(run(kernels::Failure::assertion, block), ContainsSubstring("assertion failed"));
        try {
            run(kernels::Failure::crash, block);
        } catch (const kata::Error& error) {
            crashed +=
                std::string(error.what()).find("Segmentation fault; --full counts all") != std::string::npos;
        }
    }
    CHECK(crashed >= 3);  // the access of the counted one of 50 blocks is refused instead
    run(kernels::Failure::none, 0);
    CHECK(ran.values()[0] == blocks);
}

TEST_CASE("progress is reported, for a sample and for all blocks", "[sample]") {
    const auto one_in = GENERATE(std::uint64_t{1}, std::uint64_t{10});
    auto in = filled<float>("in", 6400);
    Buffer<float> out("out", 6400);
    std::vector<double> parts;
    observe({.one_in = one_in, .progress = [&](double part) { parts.push_back(part); }},
            [&] { kernels::each_block(in.data(), out.data(), 100); });
    CHECK(std::is_sorted(parts.begin(), parts.end()));
    CHECK(parts.front() < 1);
    CHECK(parts.back() == 1);
}

namespace {

/// Returns the resident bytes of this process.
std::size_t resident_bytes() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;
    return pages * 4096;
}

}  // namespace

TEST_CASE("if a launch is too large to run, some of its blocks run and count for all", "[sample]") {
    constexpr int n = 256;  // rows and columns; a block has a tile of 32 x 32
    std::vector<float> values(n * n);
    std::iota(values.begin(), values.end(), 1.0f);
    Buffer<float> in("in", std::span<const float>(values));
    Buffer<float> out("out", n * n), again("again", n * n, kata::zeros);
    const auto enough = GENERATE(std::uint64_t{1}, std::uint64_t{20000}, ~std::uint64_t{0} / 2);
    const auto run = [&](Buffer<float>& to) {
        return [&] { kernels::transpose(kernels::Transpose::tiled, in.data(), to.data(), n); };
    };
    const auto whole = observe({}, run(out)), part = observe({.sample = enough}, run(again));
    auto counts = part.counts.value();
    counts.makespan = whole.counts->makespan, counts.busiest = whole.counts->busiest;
    CHECK(counts == whole.counts.value());
    const auto all = again.values();
    const auto written = n * n - std::count(all.begin(), all.end(), 0.0f);
    CHECK(written % 1024 == 0);
    if (enough == 1) CHECK(written == 1024);
    if (enough == 20000) CHECK((written > 1024 && written < n * n));
    if (enough > 20000) CHECK(all == out.values());
}

TEST_CASE("an observer of a sample also sees the first and the last block, each once", "[sample]") {
    const int blocks = GENERATE(1, 2, 3, 100);
    auto in = filled<float>("in", 6400), out = filled<float>("out", 6400);
    const auto enough = GENERATE(std::uint64_t{1}, ~std::uint64_t{0} / 2);
    const Watched watched;
    observe({.sample = enough}, [&] { kernels::each_block(in.data(), out.data(), blocks); });
    REQUIRE(watched.samples_ended_at.size() == 1);
    std::vector<std::uint64_t> sampled, beside;
    for (std::size_t i = 0; i < watched.requests.size(); ++i) {
        auto& seen = i < watched.samples_ended_at[0] ? sampled : beside;
        if (seen.empty() || seen.back() != watched.requests[i].block)
            seen.push_back(watched.requests[i].block);
    }
    CHECK(sampled.front() == static_cast<std::uint64_t>(blocks) / 2);
    if (enough > 1) {
        CHECK(sampled.size() == static_cast<std::size_t>(blocks));
        CHECK(beside.empty());
        return;
    }
    CHECK(sampled.size() == 1);
    std::vector<std::uint64_t> ends{0, static_cast<std::uint64_t>(blocks) - 1};
    std::erase(ends, sampled.front());
    CHECK(beside == ends);
}

TEST_CASE("a sample ends once its observer has seen enough", "[sample]") {
    auto in = filled<float>("in", 6400), out = filled<float>("out", 6400);
    Watched watched;
    watched.seen_enough = GENERATE(true, false);
    observe({.sample = ~std::uint64_t{0} / 2}, [&] { kernels::each_block(in.data(), out.data(), 100); });
    std::set<std::uint64_t> blocks;
    for (const auto& r : watched.requests) blocks.insert(r.block);
    if (watched.seen_enough)
        CHECK(blocks == std::set<std::uint64_t>{0, 50, 99});
    else
        CHECK(blocks.size() == 100);
}

TEST_CASE("a launch that is too large to run is not searched for races and takes no memory", "[sample]") {
    auto word = filled<int>("out", 1);
    const auto race = [&] { kernels::blocks_write_one(word.data(), 100); };
    CHECK(observe({}, race).findings.size() == 1);
    CHECK(observe({.sample = 1000}, race).findings == Findings{});

    constexpr std::size_t n = 16384, mebibyte = 1 << 20;
    Buffer<float> in("in", n * n, kata::zeros), out("out", n * n, kata::zeros);
    const auto grown = [](const Work& work) {
        const auto before = resident_bytes();
        observe({.sample = 100000}, work);
        return static_cast<double>(resident_bytes()) - static_cast<double>(before);
    };
    CHECK(grown([&] { kernels::transpose(kernels::Transpose::naive, in.data(), out.data(), n); }) <
          64 * mebibyte);
    CHECK(grown([&] { kernels::read_only(in.data(), out.data(), 64); }) < 64 * mebibyte);
    CHECK(grown([&] { kernels::copy(in.data(), out.data(), 1, 64); }) < 64 * mebibyte);
}

TEST_CASE("a repeated period of whole pages takes no more memory than a single one", "[sample]") {
    const std::size_t length = 256 * 4096 + GENERATE(0u, 1u), count = 64 << 20;
    const std::vector<std::uint8_t> period(length, 1);
    const auto before = resident_bytes();
    Buffer<std::uint8_t> buffer("buffer", count, kata::zeros);
    kata::device::repeat(buffer.data(), count, std::as_bytes(std::span(period)));
    CHECK((resident_bytes() - before < count / 4) == (length % 4096 == 0));
}
