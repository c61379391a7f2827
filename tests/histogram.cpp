// The suite of the histogram chapter: what every step must compute.
#include "histogram.problem.hpp"
#include "judge/trace.hpp"
#include "judge/trial.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <stdexcept>
#include <string_view>
#include <unistd.h>
#include <utility>

using namespace histogram::problem;
using histogram::bins;
using kata::only_on_a_gpu;
using kata::Order;

namespace {

void require_right(Text text, const kata::Trial& trial = {}) {
    kata::require_right(Problem{std::move(text)}, trial);
}

kata::Counts counted(const Text& text) { return kata::counted(Problem{text}); }

}  // namespace

TEST_CASE("a step counts the letters of several blocks and a bit", "[equivalence]") {
    require_right(mixed(2 * 16384 + 1111));
}

TEST_CASE("texts of every length around the warp, the block and the tile", "[equivalence]") {
    const std::size_t length = GENERATE(0, 1, 2, 15, 16, 17, 31, 32, 33, 127, 1023, 1024, 1025, 2047, 2049,
                                        3001, 16383, 16384, 16385);
    require_right(mixed(length, static_cast<unsigned>(length)));
}

TEST_CASE("of the 256 bytes only a to z are counted, four to a bin; or all are, each in its own bin",
          "[equivalence]") {
    Text text;  // byte b occurs b + 1 times, so no two counts are equal
    for (int byte = 0; byte < 256; ++byte)
        text.insert(text.end(), static_cast<std::size_t>(byte + 1), static_cast<char>(byte));
    std::shuffle(text.begin(), text.end(), std::mt19937(1));
    require_right(text);
}

TEST_CASE("a text without letters has counts of 0, not counts that were never written", "[equivalence]") {
    require_right(Text(2000, ' '));
    require_right(Text(2000, static_cast<char>(0xE4)));
}

TEST_CASE("a text of one letter only", "[equivalence]") {
    const char c = GENERATE('a', 'd', 'e', 'z');
    INFO("the letter " << c);
    require_right(Text(2100, c));
}

TEST_CASE("long runs and short ones", "[equivalence]") {
    const unsigned longest = GENERATE(3u, 40u, 3000u);
    INFO("runs of at most " << longest);
    require_right(runs(5003, longest));
}

TEST_CASE("runs that are longer than what a block counts", "[equivalence]") {
    require_right(runs(2 * 16384 + 777, 20000, 3));
}

TEST_CASE("runs that other characters interrupt", "[equivalence]") {
    auto text = runs(5003, 40);
    for (std::size_t i = 0; i < text.size(); i += 7) text[i] = '-';
    require_right(text);
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    const unsigned seed = order == Order::shuffled ? GENERATE(1u, 2u, 3u) : 1u;
    require_right(mixed(16384 + 2050), {{.order = order, .seed = seed}});
}

// Counters of eight bits hold up to 255, and steps that empty theirs in time may do so too late.
TEST_CASE("as many of one value as 8 or 16 bits can count, and one more", "[equivalence][bytes]") {
    const char value = GENERATE('\0', '\x7f', '\xff');
    INFO("the byte " << static_cast<int>(value));
    for (const std::size_t length : {255u, 256u, 257u, 65535u, 65536u, 65537u})
        require_right(Text(length, value), kata::unmetered);
}

// All values equally often, in order and in jumps; then half of them half as often as the other half, and so
// on.
TEST_CASE("all 256 values", "[equivalence][bytes]") {
    Text in_order(256 * 97 + 5), in_jumps(in_order.size()), halved(in_order.size());
    std::mt19937 engine(1);
    for (std::size_t i = 0; i < in_order.size(); ++i) {
        in_order[i] = static_cast<char>(i);
        in_jumps[i] = static_cast<char>(i * 32 + i / 8);
        halved[i] = static_cast<char>(std::countr_zero(engine()));
    }
    require_right(in_order);
    require_right(in_jumps);
    require_right(halved);
}

// A zero stands for no character where a load ends past the text, or is not issued.
TEST_CASE("zeros are counted as often as they occur", "[equivalence][bytes]") {
    const std::size_t length = GENERATE(1u, 15u, 16u, 17u, 8192u, 8193u, 32768u + 16, 32768u + 31);
    require_right(Text(length, '\0'));
}

TEST_CASE("a second text gets an answer of its own", "[equivalence]") {
    require_right(mixed(3000, 1));
    require_right(mixed(3000, 2), {.poison = std::byte{0x3C}});
}

TEST_CASE("words, whose letters are not equally frequent", "[equivalence]") { require_right(words(34567)); }

TEST_CASE("characters at the end that fill no load of 16 bytes, and a tile that is not full",
          "[equivalence]") {
    require_right(mixed(
        GENERATE(4 * 8192u - 1, 4 * 8192u, 4 * 8192u + 15, 4 * 8192u + 16, 8 * 8192u - 16, 8 * 8192u + 1)));
}

TEST_CASE("a large text", "[equivalence]") { require_right(mixed(100003)); }

// There are also more of one letter than 16 bits can count, if a block takes more than one tile, and more
// blocks than some grids are limited to.
TEST_CASE("a million times one letter", "[equivalence]") {
    require_right(Text(1025 * 1024 + 3, 'k'), kata::unmetered);
}

namespace {

void require_both_ends_counted(std::size_t length, const std::function<bool()>& is_right = {}) {
    BothEnds text(length);
    kata::require_right_at_ends([&](const Module& step) { text.run(step); }, [&] { return text.fault(); },
                                {.metered = false, .only_ends = true}, is_right);
}

/// More characters than 32 bits can number. The lower 32 bits of the length are negative as an int, and so is
/// the number of remaining characters in a step that counts them in an int.
constexpr std::size_t beyond_32_bits = (std::size_t{1} << 32) + (std::size_t{1} << 31) + (1 << 24) + 1;

bool are_both_ends_counted(std::size_t length) {
    BothEnds text(length);
    return kata::is_right_at_ends([&](const Module& step) { text.run(step); }, [&] { return text.fault(); });
}

}  // namespace

// More than 264 blocks of 1024 threads with 16 characters each: two for each multiprocessor of an H100.
TEST_CASE("the last character is counted in a text of five million", "[equivalence][coarsened]") {
    require_both_ends_counted(5'000'011);
}

// With one thread for each character, there are so many blocks of 1024 that only those at the ends are run.
TEST_CASE("the last character is counted in a text of 17 million", "[equivalence][thread each]") {
    require_both_ends_counted(17'400'011);
}

// More characters than 528 blocks, the number that an H100 runs at a time, take at 32 Ki each. They fill
// whole loads.
TEST_CASE("blocks that take several parts of a text go on until its end", "[equivalence][stays]") {
    require_both_ends_counted(17'400'000);
    // One block more than a block has threads: the last tile belongs to the last block, and no longer to the
    // first.
    require_both_ends_counted(512 * 32768 + 1600);
}

// Each of 64 blocks gets more letters than 16 bits can count, and each thread of 132 blocks of 128 threads
// more than eight bits can.
TEST_CASE("five million times one letter", "[equivalence][coarsened]") {
    require_right(Text(5'000'011, 'k'), kata::unmetered);
}

// In a grid that fills an H100, a block has two million characters of a text of 1200 MiB, and a lane's
// counters, which the warps of a block share, hold more than 16 bits can count. No CPU runs all blocks in
// time, so one block is run. This is a verdict only if the block adds up its own counters: a block that adds
// nothing may leave them to another one.
TEST_CASE("a block counts more of one letter than 16 bits do", "[equivalence][stays]") {
    kata::only_where_counted();
    constexpr std::size_t length = std::size_t{1200} << 20;
    kata::Buffer<char> text("text", length, kata::zeros);
    const Text page(std::size_t{1} << 20, 'k');
    kata::device::repeat(text.data(), length, std::as_bytes(std::span(page)));
    const auto all = bins_of(kata::step());
    kata::Buffer<unsigned> histo("histo", all),
        workspace("workspace", histogram::workspace_size(length), kata::zeros);
    const auto run = kata::observed_run(
        {.sample = 1}, [&] { call(kata::step(), text.data(), length, histo.data(), workspace.data()); },
        []() -> std::optional<std::string> { return std::nullopt; });
    if (run.fault || run.seen.counts->blocks == 0) return;  // one block alone proves nothing
    const auto loaded = run.seen.counts->global_load.bytes / run.seen.counts->blocks;
    const auto counted = histo.values()[all == bins ? 2 : 'k'];
    if (run.seen.launches == 1 && counted > 0 && counted < loaded)
        FAIL("a text has only the letter k; a block loads "
             << loaded << " of them and adds " << counted
             << " to the histogram: how many does a counter hold?");
    SUCCEED();
}

TEST_CASE("the last character is counted in a text of more than 2^32", "[equivalence][side by side]") {
    constexpr std::size_t few = 1 << 16;
    kata::only_where_counted();
    if (!kata::shares_out(counted(letters(few)), few)) return;
    require_both_ends_counted(beyond_32_bits, [] { return are_both_ends_counted((1 << 30) + 1); });
    // Whole blocks, and whole rows of them: the last block has the last character in a grid of two
    // dimensions, too.
    require_both_ends_counted(std::size_t{3} << 31, [] { return are_both_ends_counted(1 << 30); });
}

TEST_CASE("the last character of a long text is counted, also where a thread has many characters",
          "[equivalence][strided]") {
    kata::require_right_beyond_32_bits<BothEnds>([] { return BothEnds((1 << 20) + 1); },
                                                 [] { return BothEnds(beyond_32_bits); });
    // Whole rounds of a loop over the grid: the last thread has the last character.
    kata::require_right_beyond_32_bits<BothEnds>([] { return BothEnds(1 << 20); },
                                                 [] { return BothEnds(std::size_t{3} << 31); });
}

// These steps have grids of limited size, whose threads would loop over the whole text on a CPU.
TEST_CASE("the last character is counted in a text of more than 2^32, whatever the grid",
          "[equivalence][stays]") {
    only_on_a_gpu();
    require_both_ends_counted(beyond_32_bits);
}

TEST_CASE("a very large text", "[equivalence]") {
    only_on_a_gpu();
    require_right(kata::repeated(mixed(kata::prime_period), 50000017));
    require_right(kata::repeated(runs(kata::prime_period, 20000), 50000017));
    require_right(Text(50000017, 'y'));  // more than a float can count
}

// Each thread counts more than eight bits can hold, if there are as many threads as an H200 can run.
TEST_CASE("134 million times one value", "[equivalence][coarsened]") {
    only_on_a_gpu();
    require_right(Text((1 << 27) + 3, bins_of(kata::step()) == bins ? 'k' : '\xee'));
}

TEST_CASE("a text of 2^30 bytes", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right(kata::repeated(mixed(kata::prime_period), std::size_t{1} << 30), {{.time_limit = 60}});
}

TEST_CASE("the longest text, of more than 2^32 bytes", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right(kata::repeated(mixed(kata::prime_period), histogram::max_length), {{.time_limit = 60}});
}

TEST_CASE("as many of one letter as a count can hold", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right(Text(std::numeric_limits<unsigned>::max(), 'a'), {{.time_limit = 60}});
}

TEST_CASE("01 global atomics: explain counts all turns of the atomics, of lanes and of threads",
          "[solution][global atomics]") {
    kata::only_where_counted();
    const auto text = base_text();
    const auto histo = histogram::reference(text);
    std::uint64_t turns = 0;  // of the lanes of each warp, those on the address that most of them reach
    for (std::size_t i = 0; i < text.size(); i += 32) {
        const auto of_warp = histogram::reference(std::span(text).subspan(i, 32));
        turns += *std::max_element(of_warp.begin(), of_warp.end());
    }
    const auto file =
        std::filesystem::temp_directory_path() / ("explained-" + std::to_string(getpid()) + ".json");
    std::string arguments[] = {"", "--explain", kata::subject().module, "--to", file};
    char* pointers[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), arguments[3].data(),
                        arguments[4].data()};
    CHECK(kata::explain(pointers) == 0);
    std::ifstream said(file);
    std::string atomics, all;
    for (std::string line; std::getline(said, line);) {
        if (line.find("\"did\": \"atomic\"") != line.npos) atomics += line;
        if (line.find("\"all\"") != line.npos) all = line;
    }
    std::filesystem::remove(file);
    const auto most = std::to_string(*std::max_element(histo.begin(), histo.end()));
    CHECK(atomics.find("\"turns\": " + most + "}") != atomics.npos);
    CHECK(atomics.find("\"steps\": " + std::to_string(turns) + ",") != atomics.npos);
    CHECK(all.find("\"contention\": " + most + "}") != all.npos);
}

TEST_CASE("texts outside the limits are refused in one line", "[limits]") {
    CHECK_THROWS_AS(histogram::check(histogram::max_length + 1), std::invalid_argument);
    CHECK_NOTHROW(histogram::check(histogram::max_length));
    CHECK(histogram::workspace_size(0) == 0);
    CHECK(histogram::workspace_size(1025) == 2 * bins);
}
