// The suite of the histogram chapter: what every step must compute, and what each of them must gain.
#include "histogram.hpp"

#include "check/data.hpp"
#include "error.hpp"
#include "suite/trace.hpp"
#include "suite/trial.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string_view>
#include <unistd.h>
#include <utility>

using histogram::bins;
using kata::Buffer;
using kata::Module;
using kata::only_on_a_gpu;
using kata::Order;

namespace {

using Text = std::vector<char>;

/// Steps from 09 on have a bin for each value of a byte.
std::size_t bins_of(const Module& step) {
    return static_cast<std::size_t>(step.has("count_bytes") ? histogram::values : bins);
}

std::vector<unsigned> reference(std::span<const char> text, std::size_t bins) {
    const auto as_vector = [](const auto& histo) { return std::vector(histo.begin(), histo.end()); };
    return bins == histogram::values ? as_vector(histogram::reference_of_bytes(text))
                                     : as_vector(histogram::reference(text));
}

void call(const Module& step, const char* text, std::size_t length, unsigned* histo, unsigned* workspace) {
    if (bins_of(step) == histogram::values)
        step.function<decltype(count_bytes)>("count_bytes")(text, length, histo);
    else
        step.function<decltype(count_letters)>("count_letters")(text, length, histo, workspace);
}

char letter(int position) { return static_cast<char>('a' + position); }

/// Letters, all equally often.
Text letters(std::size_t length, unsigned seed = 1) {
    std::mt19937 engine(seed);
    Text text(length);
    for (char& c : text) c = letter(static_cast<int>(engine() % histogram::letters));
    return text;
}

/// Three letters in four, and any of the 256 bytes elsewhere.
Text mixed(std::size_t length, unsigned seed = 1) {
    std::mt19937 engine(seed);
    Text text(length);
    for (char& c : text)
        c = engine() % 4 != 0 ? letter(static_cast<int>(engine() % histogram::letters))
                              : static_cast<char>(engine() % 256);
    return text;
}

/// Runs of one letter, 1 to `longest` times.
Text runs(std::size_t length, unsigned longest, unsigned seed = 1) {
    std::mt19937 engine(seed);
    Text text;
    text.reserve(length);
    while (text.size() < length) {
        const std::size_t run = 1 + engine() % longest;
        text.insert(text.end(), std::min(run, length - text.size()),
                    letter(static_cast<int>(engine() % histogram::letters)));
    }
    return text;
}

/// Words as in English: its letters about as often, blanks, and a capital now and then.
Text words(std::size_t length, unsigned seed = 1) {
    // of 1000 letters, a to z
    std::vector<double> frequencies{82, 15, 28, 43, 127, 22, 20, 61, 70, 2,  8, 40, 24,
                                    67, 75, 19, 1,  60,  63, 91, 28, 10, 24, 2, 20, 1};
    std::mt19937 engine(seed);
    std::discrete_distribution<int> any(frequencies.begin(), frequencies.end());
    Text text;
    text.reserve(length + 16);
    while (text.size() < length) {
        const auto word = text.size();
        for (auto left = 2 + engine() % 7; left > 0; --left) text.push_back(letter(any(engine)));
        if (engine() % 12 == 0) text[word] = static_cast<char>(text[word] - 'a' + 'A');
        text.push_back(' ');
    }
    text.resize(length);
    return text;
}

struct Problem {
    Text characters;
    std::size_t bins = bins_of(kata::step());

    std::string text() const { return "length = " + std::to_string(characters.size()); }
    /// A character is what is worked on; of bins there are 7.
    double outputs() const { return static_cast<double>(characters.size()); }
    /// An addition for each letter, or for each byte.
    double operations() const {
        const auto histo = reference(characters, bins);
        return std::accumulate(histo.begin(), histo.end(), 0.0);
    }
    kata::Expected expected() const {
        histogram::check(characters.size());
        const auto histo = reference(characters, bins);
        return {{histo.begin(), histo.end()}, {}, {{static_cast<int>(bins)}}};
    }
    /// A letter of bin b counts as b + 1, so that it can be told from its neighbours, and a byte as its
    /// value.
    std::optional<std::string> made_of(const Module& step, const kata::Conditions& conditions,
                                       const std::vector<unsigned>&) const {
        static_assert(histogram::bins == kata::most_indicated);
        if (characters.size() >= kata::too_large_to_ask) return std::nullopt;
        const std::size_t of_first_bin = bins == histogram::values ? 0 : 1;
        const auto sum_of = [&](const std::vector<int>& few) {
            Problem other{Text(few.size(), ' '), bins};
            for (std::size_t i = 0; i < few.size(); ++i)
                if (bins == histogram::values)
                    other.characters[i] = static_cast<char>(few[i]);
                else if (few[i] > 0)
                    other.characters[i] = letter((few[i] - 1) * histogram::letters_per_bin);
            return kata::asked(step, other, conditions, [&](const auto& histo) {
                double sum = 0;
                for (std::size_t bin = 0; bin < histo.size(); ++bin)
                    sum += static_cast<double>(bin + of_first_bin) * histo[bin];
                return sum;
            });
        };
        if (const auto text = kata::miscount(characters.size(), 0, characters.size(), sum_of, "character"))
            return "what the counts are made of: " + *text;
        return std::nullopt;
    }

    struct Device {
        kata::Input<char> text;
        Buffer<unsigned> histo, workspace;

        explicit Device(const Problem& p, std::byte poison)
            : text("text", p.characters),
              histo("histo", p.bins, poison),
              workspace("workspace", histogram::workspace_size(p.characters.size()), poison) {}
        void run(const Module& step) { call(step, text.data(), text.size(), histo.data(), workspace.data()); }
        auto damage() const { return kata::damage_of(text, histo, workspace); }
        auto result() const { return histo.values(); }
    };
};

void require_right(Text text, const kata::Trial& trial = {}) {
    kata::require_right(Problem{std::move(text)}, trial);
}

kata::Counts counted(const Text& text) { return kata::counted(Problem{text}); }

}  // namespace

TEST_CASE("steps 01 to 08 count letters in 7 bins, step 09 counts bytes in 256", "[equivalence]") {
    const bool bytes = kata::step_name() >= "09";
    if (!kata::step().has(bytes ? "count_bytes" : "count_letters"))
        FAIL("the step defines no " << (bytes ? "count_bytes" : "count_letters") << "(): "
                                    << (bytes ? "bytes" : "histogram") << ".cuh says what it defines");
    SUCCEED();
}

TEST_CASE("a step counts the letters of several blocks and a bit", "[equivalence]") {
    require_right(mixed(2 * 16384 + 1111));
}

TEST_CASE("texts of every length around the warp, the block and the tile", "[equivalence]") {
    const std::size_t length = GENERATE(0, 1, 2, 15, 16, 17, 31, 32, 33, 127, 1023, 1024, 1025, 2047, 2049,
                                        3001, 16383, 16384, 16385);
    require_right(mixed(length, static_cast<unsigned>(length)));
}

TEST_CASE("many threads share the text", "[step][01_global_atomics][02_privatized_global]") {
    const auto c = counted(letters(4096));
    kata::require_at_least(
        4096 / 8, static_cast<double>(c.threads),
        "the result is right, but the step does not gain what it is for: many threads share the text",
        "threads for 4096 characters");
}

// A thread of the lesson's exercise has 64 characters. A grid that never grows must fill a GPU from the
// start.
TEST_CASE("many threads share a long text",
          "[step][03_privatized_shared][04_coarsened_contiguous][05_coarsened_interleaved][06_aggregated]") {
    constexpr std::size_t length = std::size_t{1} << 22;
    kata::require_at_least(length / 128, kata::threads_for(Problem{kata::repeated(letters(1 << 16), length)}),
                           "the result is right, but few threads share a long text: most of a GPU has "
                           "nothing to do",
                           "threads for " + std::to_string(length) + " characters");
}

// Each letter by itself: a bin that is left out costs little where others are counted, too.
TEST_CASE("no letter is counted in global memory, whichever it is",
          "[claims][step][03_privatized_shared][04_coarsened_contiguous][05_coarsened_interleaved]"
          "[06_aggregated][07_wide_loads][08_private_counters]") {
    constexpr std::size_t length = 4096;
    kata::only_where_counted();
    char worst = letter(0);
    std::uint64_t most = 0;
    for (int position = 0; position < histogram::letters; ++position) {
        const auto atomics = counted(Text(length, letter(position))).global_atomic.accesses;
        if (atomics > most) most = atomics, worst = letter(position);
    }
    kata::require_at_most(
        length / 4.0, static_cast<double>(most),
        "the result is right, but letters are counted in global memory, each with an atomic of its own: has "
        "the block's copy in shared memory a counter for every bin?",
        "atomics on global memory for 4096 times the letter " + std::string(1, worst));
}

// What is counted elsewhere is whole tiles.
TEST_CASE("the end of a text is shared out like the rest of it",
          "[step][03_privatized_shared][04_coarsened_contiguous][05_coarsened_interleaved][06_aggregated]") {
    kata::only_where_counted();
    const auto chain = [](std::size_t length) { return static_cast<double>(counted(letters(length)).span); };
    kata::require_at_most(4 * chain(2 * 16384), chain(2 * 16384 - 1),
                          "the result is right, but a few threads count the end of the text, one character "
                          "after the other, while all others wait",
                          "the longest chain of steps for a text that is no multiple of 16384 characters",
                          ", which is four times that for whole tiles");
}

TEST_CASE("of the 256 bytes only a to z count, four to a bin; or each in a bin of its own", "[equivalence]") {
    Text text;  // byte b comes up b + 1 times: no two of them can be mistaken for each other
    for (int byte = 0; byte < 256; ++byte)
        text.insert(text.end(), static_cast<std::size_t>(byte + 1), static_cast<char>(byte));
    std::shuffle(text.begin(), text.end(), std::mt19937(1));
    require_right(text);
}

TEST_CASE("a text without letters has counts of 0, not counts that nobody wrote", "[equivalence]") {
    require_right(Text(2000, ' '));
    require_right(Text(2000, static_cast<char>(0xE4)));
}

TEST_CASE("a text of one letter only", "[equivalence]") {
    const char c = GENERATE('a', 'd', 'e', 'z');
    CAPTURE(c);
    require_right(Text(2100, c));
}

TEST_CASE("long runs and short ones", "[equivalence]") {
    const unsigned longest = GENERATE(3u, 40u, 3000u);
    CAPTURE(longest);
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
    CAPTURE(order == Order::shuffled, seed);
    require_right(mixed(16384 + 2050), {{.order = order, .seed = seed}});
}

// Counters of eight bits hold 255, and steps that empty theirs in time may do so too late.
TEST_CASE("as many of one value as eight and sixteen bits count, and one more",
          "[equivalence][step][09_every_byte]") {
    const char value = GENERATE('\0', '\x7f', '\xff');
    CAPTURE(static_cast<int>(value));
    for (const std::size_t length : {255u, 256u, 257u, 65535u, 65536u, 65537u})
        require_right(Text(length, value), kata::unmetered);
}

// Each value as often as any other, in order and in jumps, and half of them each half as often as the one
// before.
TEST_CASE("all 256 values", "[equivalence][step][09_every_byte]") {
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

// A zero stands for no character where a load ends behind the text, or is not made.
TEST_CASE("zeros are counted as often as they are there", "[equivalence][step][09_every_byte]") {
    const std::size_t length = GENERATE(1u, 15u, 16u, 17u, 8192u, 8193u, 32768u + 16, 32768u + 31);
    require_right(Text(length, '\0'));
}

TEST_CASE("a second text gets an answer of its own", "[equivalence]") {
    require_right(mixed(3000, 1));
    require_right(mixed(3000, 2), {.poison = std::byte{0x3C}});
}

TEST_CASE("words, whose letters are not equally frequent", "[equivalence]") { require_right(words(34567)); }

TEST_CASE("characters at the end that fill no load of 16 bytes, and a tile that is not full",
          "[equivalence][step][07_wide_loads][08_private_counters][09_every_byte]") {
    require_right(mixed(
        GENERATE(4 * 8192u - 1, 4 * 8192u, 4 * 8192u + 15, 4 * 8192u + 16, 8 * 8192u - 16, 8 * 8192u + 1)));
}

TEST_CASE("a large text", "[equivalence]") { require_right(mixed(100003)); }

// Also more of one letter than 16 bits count, where a block takes more than one tile; and more blocks than
// some grids are cut to.
TEST_CASE("a million times one letter", "[equivalence]") {
    require_right(Text(1025 * 1024 + 3, 'k'), kata::unmetered);
}

namespace {

/// A text of which only the first and the last character are letters, of bins 0 and 1. All others are zeros:
/// a step that has a bin for them is not asked about it, for most of its blocks need not run.
struct BothEnds {
    std::size_t length, all = bins_of(kata::step());
    Buffer<char> characters{"text", length, kata::zeros};
    Buffer<unsigned> histo{"histo", all},
        workspace{"workspace", histogram::workspace_size(length), kata::zeros};
    std::array<char, 2> ends{letter(0), letter(histogram::letters_per_bin)};

    explicit BothEnds(std::size_t n) : length(n) {
        characters.set(0, ends[0]);
        characters.set(length - 1, ends[1]);
    }
    std::string text() const { return "length = " + std::to_string(length); }
    std::size_t elements() const { return length; }
    void run(const Module& step) { call(step, characters.data(), length, histo.data(), workspace.data()); }
    std::optional<std::string> fault() {
        const auto expected = reference(ends, all);
        const auto first = static_cast<std::size_t>(all == histogram::values ? ends[0] : 0);
        const auto last = static_cast<std::size_t>(all == histogram::values ? ends[1] : 1);
        auto got = histo.values();
        if (all == histogram::values) got[0] = 0;
        if (got != expected)
            return "of " + std::to_string(length) +
                   " characters only the first and the last are letters, one of bin " +
                   std::to_string(first) + " and one of bin " + std::to_string(last) + ": counted were " +
                   std::to_string(got[first]) + " and " + std::to_string(got[last]);
        return kata::damage_of(characters, histo, workspace);
    }
};

void require_both_ends_counted(std::size_t length, const std::function<bool()>& is_right = {}) {
    BothEnds text(length);
    kata::require_right_at_ends([&](const Module& step) { text.run(step); }, [&] { return text.fault(); },
                                {.metered = false, .only_ends = true}, is_right);
}

/// Characters more than 32 bits number. What of them 32 bits hold is negative with a sign: so is then what is
/// left of the text for whoever counts that in an int.
constexpr std::size_t beyond_32_bits = (std::size_t{1} << 32) + (std::size_t{1} << 31) + (1 << 24) + 1;

bool are_both_ends_counted(std::size_t length) {
    BothEnds text(length);
    return kata::is_right_at_ends([&](const Module& step) { text.run(step); }, [&] { return text.fault(); });
}

}  // namespace

// More than 264 blocks of 1024 threads with 16 characters each: two for each multiprocessor of an H100.
TEST_CASE("the last character of a text counts, of more than a grid has threads for at a time",
          "[step][04_coarsened_contiguous][05_coarsened_interleaved][06_aggregated][07_wide_loads]"
          "[08_private_counters][09_every_byte]") {
    require_both_ends_counted(5'000'011);
}

// With a thread for each character they are so many blocks of 1024 that only those at the ends are run.
TEST_CASE("the last character of a text counts, of as many as a thread each has blocks for",
          "[step][01_global_atomics][02_privatized_global][03_privatized_shared]") {
    require_both_ends_counted(17'400'011);
}

// More than 528 blocks take, as many as an H100 runs of them, with 32 Ki characters each; and of full loads.
TEST_CASE("blocks that stay go on until the end of the text",
          "[equivalence][step][08_private_counters][09_every_byte]") {
    require_both_ends_counted(17'400'000);
    // One block more than a block has threads: the last tile is its own, and the first block's no more.
    require_both_ends_counted(512 * 32768 + 1600);
}

// In each of 64 blocks more than 16 bits count, and in each thread of 132 blocks of 128 threads more than
// eight.
TEST_CASE("five million times one letter",
          "[step][04_coarsened_contiguous][05_coarsened_interleaved][06_aggregated][09_every_byte]") {
    require_right(Text(5'000'011, 'k'), kata::unmetered);
}

namespace {

/// A text of 1200 MiB of one letter, of which one block is run.
struct Glimpse {
    static constexpr std::size_t length = std::size_t{1200} << 20;
    kata::Counts counts;
    std::uint64_t loaded;  ///< characters of the block
    unsigned counted;      ///< by it
};

Glimpse glimpse() {
    kata::only_where_counted();
    constexpr auto length = Glimpse::length;
    Buffer<char> text("text", length, kata::zeros);
    const Text page(std::size_t{1} << 20, 'k');
    kata::device::repeat(text.data(), length, std::as_bytes(std::span(page)));
    Buffer<unsigned> histo("histo", bins_of(kata::step())),
        workspace("workspace", histogram::workspace_size(length), kata::zeros);
    const auto run = kata::observed_run(
        {.sample = 1}, [&] { call(kata::step(), text.data(), length, histo.data(), workspace.data()); },
        []() -> std::optional<std::string> { return std::nullopt; });
    if (run.fault) FAIL(*run.fault);
    const auto& c = *run.seen.counts;
    if (c.blocks == 0) FAIL("no kernel was launched for a text of " << length << " letters");
    // Blocks of another kernel, which zeroes the bins, load nothing: on average it is less then.
    return {c, c.global_load.bytes / c.blocks, histo.values()[bins_of(kata::step()) == bins ? 2 : 'k']};
}

}  // namespace

// A block of a grid that fills an H100 has two million characters then, and a lane's counters, which the 16
// warps share, more than 16 bits count. One block is run, and its characters are those that it has loaded.
TEST_CASE("a block counts more of one letter than 16 bits do", "[step][08_private_counters][09_every_byte]") {
    const auto seen = glimpse();
    if (seen.counted < seen.loaded)
        FAIL("of a text of " << Glimpse::length << " letters k a block loads " << seen.loaded
                             << " and counts " << seen.counted << ": how many does a counter hold?");
}

TEST_CASE("the last character of a text counts that 32 bits cannot number",
          "[step][01_global_atomics][02_privatized_global][03_privatized_shared][04_coarsened_contiguous]") {
    constexpr std::size_t few = 1 << 16;
    kata::only_where_counted();
    if (kata::shares_out(counted(letters(few)), few))
        require_both_ends_counted(beyond_32_bits, [] { return are_both_ends_counted((1 << 30) + 1); });
}

TEST_CASE("the last character of a long text counts where a thread has many characters",
          "[equivalence][step][05_coarsened_interleaved][06_aggregated][07_wide_loads]") {
    kata::require_right_beyond_32_bits<BothEnds>([] { return BothEnds((1 << 20) + 1); },
                                                 [] { return BothEnds(beyond_32_bits); });
}

// These have grids that are cut, whose threads would go through all of it on a CPU.
TEST_CASE("the last character of a text counts that 32 bits cannot number, whatever the grid",
          "[step][08_private_counters][09_every_byte]") {
    only_on_a_gpu();
    require_both_ends_counted(beyond_32_bits);
}

TEST_CASE("a very large text", "[equivalence]") {
    only_on_a_gpu();
    require_right(kata::repeated(mixed(kata::prime_period), 50000017));
    require_right(kata::repeated(runs(kata::prime_period, 20000), 50000017));
    require_right(Text(50000017, 'y'));  // more than a float counts
}

// More than eight bits count in each thread, of as many as an H200 has room for.
TEST_CASE(
    "134 million times one value",
    "[equivalence][step][04_coarsened_contiguous][05_coarsened_interleaved][06_aggregated][07_wide_loads]"
    "[08_private_counters][09_every_byte]") {
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

// Half of the characters, anywhere, so that every way to share out the text meets them.
TEST_CASE("characters that are no letters end no run", "[step][06_aggregated]") {
    const Text letters_only(16 * 16384, 'k');
    auto with_blanks = letters_only;
    std::mt19937 engine(1);
    for (char& c : with_blanks)
        if (engine() % 2 == 0) c = ' ';
    const auto atomics = [](const Text& text) {
        const auto c = counted(text);
        return c.shared_atomic.accesses + c.global_atomic.accesses;
    };
    kata::require_at_most(
        2 * static_cast<double>(atomics(letters_only)), static_cast<double>(atomics(with_blanks)),
        "the result is right, but the step does not gain what it is for: characters "
        "between equal letters that are no letters themselves end the run",
        "atomics for a text of one letter and blanks", ", which is twice those without blanks");
}

namespace {

double all_atomics(const kata::Counts& c) {
    return static_cast<double>(c.shared_atomic.accesses + c.global_atomic.accesses);
}

}  // namespace

TEST_CASE("a run of one bin is one atomic for each thread", "[step][06_aggregated]") {
    const auto one = counted(Text(16 * 16384, 'k'));
    // Blocks are merged besides.
    kata::require_at_most(1.5 * static_cast<double>(one.threads), all_atomics(one),
                          "the result is right, but the step does not gain what it is for: a thread that "
                          "meets the same letter all the time makes more than one atomic of it",
                          "atomics for a text of one letter", ", three for two threads");
    Text of_one_bin(16 * 16384);
    std::mt19937 engine(1);
    for (char& c : of_one_bin) c = letter(8 + static_cast<int>(engine() % 4));
    kata::require_at_most(
        1.5 * all_atomics(one), all_atomics(counted(of_one_bin)),
        "the result is right, but the step does not gain what it is for: letters that differ end a run "
        "also where their bin is the same",
        "atomics for a text of the letters i to l", ", which is half more than for one letter");
}

// In the text that is counted elsewhere a warp meets one letter most of the time.
TEST_CASE("no lane waits for another, whatever the text is", "[step][08_private_counters][09_every_byte]") {
    for (const auto& [what, text] :
         {std::pair{"one letter", Text(2 * 32768, 'k')},
          std::pair{"letters in random order", letters(2 * 32768)}, std::pair{"words", words(2 * 32768)}}) {
        const auto c = counted(text);
        const auto atomics = static_cast<double>(c.shared_atomic.requests);
        const auto of_what = std::string(" for a text of ") + what;
        // Adding up the counters may have a few.
        kata::require_at_most(8 * atomics, static_cast<double>(c.same_address),
                              "the result is right, but the step does not gain what it is for: lanes of a "
                              "warp meet at one counter and wait for each other",
                              "lanes that wait" + of_what, ", which is one in four");
        kata::require_at_most(atomics / 2, static_cast<double>(c.bank_conflicts),
                              "the result is right, but the step does not gain what it is for: lanes of a "
                              "warp reach different counters in one bank of shared memory",
                              "bank conflicts" + of_what, ", which is one for two atomics of a warp");
    }
}

// A grid with a block for each 32 Ki characters zeroes and adds up 8192 counters for each 1024 atomics of a
// warp.
TEST_CASE("a block of a long text counts a lot", "[step][08_private_counters][09_every_byte]") {
    const auto seen = glimpse();
    kata::require_at_most(static_cast<double>(Glimpse::length) / 256,
                          static_cast<double>(seen.counts.threads),
                          "the result is right, but a long text has too many blocks: each zeroes counters "
                          "for all its lanes and adds them up, which pays only where it counts a lot; have "
                          "no more blocks than run at a time, and let them go on in a loop",
                          "threads for " + std::to_string(Glimpse::length) + " characters");
}

// Of a text of one load that is nearly all. 1.02 times the solution's in other styles, and 1.8 times where
// seven threads add up.
TEST_CASE("counters are zeroed and added up by all threads of a block", "[step][08_private_counters]") {
    kata::only_where_counted();
    const Problem few{Text(16, 'k')};
    const auto theirs = counts_of(try_on(kata::rival("08_private_counters"), few)).span;
    kata::require_at_most(
        1.6 * static_cast<double>(theirs), static_cast<double>(kata::counted(few).span),
        "the result is right, but while a few threads zero the counters or add them up, one "
        "after the other, the rest of the block waits",
        "the longest chain of steps for a text of 16 letters", ", which is 1.6 times the solution's");
}

// Who asks leaves such a text alone. A row for all that is no letter is as good as one for each.
TEST_CASE("nothing is asked of a character while it is counted", "[step][08_private_counters]") {
    constexpr std::size_t length = 4 * 32768;
    kata::require_at_least(
        0.9 * all_atomics(counted(Text(length, 'k'))), all_atomics(counted(Text(length, '-'))),
        "the result is right, but the step does not gain what it is for: it asks of each character whether "
        "it is a letter, which divides the warps of a text of words; count every character, and look in the "
        "end which are letters",
        "atomics for a text without letters");
}

TEST_CASE("the private copies lie in the workspace", "[step][02_privatized_global]") {
    const std::size_t length = GENERATE(5000u, 100u);  // the latter of one block, which has a copy, too
    const Problem p{letters(length)};
    Problem::Device device(p, kata::poison);
    const auto run = try_on(kata::step(), p, device);
    if (run.fault) FAIL(*run.fault);
    const auto left = device.workspace.values(),
               untouched = Problem::Device(p, kata::poison).workspace.values();
    if (left == untouched)
        FAIL("the result is right, but nothing was written to the workspace for a text of "
             << length << " letters: "
             << (length > histogram::copy_characters
                     ? "where is the copy of each block?"
                     : "the first block has a copy, too, and does not count in the histogram itself"));
}

// What each step gains, counted on whole tiles of 32768 characters, as many as the largest solution has.

namespace {

/// How far apart the characters of a thread of steps 05 and 06 lie.
std::size_t threads_of_grid(std::size_t length) { return (length + 16383) / 16384 * 1024; }

// Runs that are longer than the grid has threads: of others step 06 sees little.
const Text& counted_text() {
    static const Text text = runs(16 * 32768, 320000, 2);
    return text;
}

using enum kata::Quantity;

constexpr auto refuted = kata::Claim::Standing::refuted;
constexpr int of_words = 1;  // variant of the timed problem

constexpr kata::Claim claims[] = {
    {"01_global_atomics", "02_privatized_global", basic_blocks, 1.0,
     "a thread has one character, and there are no copies to zero and to merge", "PMPP-notes 9.2"},
    {"03_privatized_shared", "02_privatized_global", atomics, 40.0,
     "a letter is counted in shared memory, and only the merge is left of the atomics on global memory",
     "PMPP-notes 9.4"},
    {"04_coarsened_contiguous", "03_privatized_shared", threads, 4.0, "a thread counts 16 characters",
     "PMPP-notes 9.5"},
    {"04_coarsened_contiguous", "03_privatized_shared", atomics, 2.0,
     "a block that takes 16 times the characters is merged a sixteenth as often", "PMPP-notes 9.5"},
    {"04_coarsened_contiguous", "03_privatized_shared", basic_blocks, 2.0,
     "what is done once a thread is done a sixteenth as often, and all lanes still count", "PMPP-notes 9.5"},
    {"05_coarsened_interleaved", "04_coarsened_contiguous", sectors_loaded, 8.0,
     "neighbouring lanes read neighbouring characters, 32 of them from one sector", "PMPP-notes 9.5"},
    {"05_coarsened_interleaved", "03_privatized_shared", threads, 4.0, "a thread counts 16 characters",
     "PMPP-notes 9.5"},
    {"05_coarsened_interleaved", "03_privatized_shared", atomics, 2.0,
     "a block that takes 16 times the characters is merged a sixteenth as often", "PMPP-notes 9.5"},
    // 3.3 times; 1.8 times where the loads are issued together, each with its guard: right, too.
    {"05_coarsened_interleaved", "03_privatized_shared", basic_blocks, 1.5,
     "what is done once a thread is done a sixteenth as often, and all lanes still count", "PMPP-notes 9.5"},
    // 2.5 times; 1.4 times where four characters are loaded together, each with its guard: right, too.
    {"06_aggregated", "03_privatized_shared", basic_blocks, 1.1,
     "what a thread does to find runs costs less than what it saves, and all lanes still count",
     "PMPP-notes 9.6"},
    {"06_aggregated", "04_coarsened_contiguous", shared_passes, 3.0,
     "where a thread meets one bin again and again, one atomic adds all of it", "PMPP-notes 9.6"},
    {"06_aggregated", "05_coarsened_interleaved", shared_passes, 3.0,
     "where a thread meets one bin again and again, one atomic adds all of it", "PMPP-notes 9.6"},
    {"07_wide_loads", "06_aggregated", global_requests, 8.0, "a load brings 16 characters instead of one",
     "not in the documents"},
    // 16 times, and 8 times where the loads of a thread lie side by side.
    {"07_wide_loads", "04_coarsened_contiguous", sectors_loaded, 12.0,
     "the lanes of a warp load from neighbouring addresses", "not in the documents"},
    // 8.9 times, of long runs: those who wait for one address are steps, too.
    {"08_private_counters", "07_wide_loads", work, 3.0,
     "each lane has counters of its own, so that none waits for another", "not in the documents"},
    {"08_private_counters", "06_aggregated", global_requests, 8.0,
     "a load brings 16 characters instead of one", "not in the documents"},
    // Another problem: as of step 08, for 256 bins.
    // 8.3 times, and 2.9 times where warps add up rows by shuffles: right, too, for a block of a long text
    // has many tiles, and here one.
    {"09_every_byte", "07_wide_loads", work, 2.7,
     "each lane has counters of its own, so that none waits for another", "not in the documents"},
    {"09_every_byte", "06_aggregated", global_requests, 8.0, "a load brings 16 characters instead of one",
     "not in the documents"},
    // Times, of 2^28 letters. On an H100 (sm_90):
    // 8.8 times, and 12.7 times where runs are long.
    {"02_privatized_global", "01_global_atomics", kata::Quantity::time, 4.0,
     "letters of different blocks do not meet on one address", "PMPP-notes 9.4"},
    // 6.2 times.
    {"03_privatized_shared", "02_privatized_global", kata::Quantity::time, 3.0,
     "an atomic on shared memory does not leave the multiprocessor", "PMPP-notes 9.4"},
    // 4.0 times.
    {"04_coarsened_contiguous", "03_privatized_shared", kata::Quantity::time, 2.0,
     "fewer copies are zeroed and merged", "PMPP-notes 9.5"},
    // 1.90 times.
    {"05_coarsened_interleaved", "03_privatized_shared", kata::Quantity::time, 1.3,
     "fewer copies are zeroed and merged", "PMPP-notes 9.5"},
    // 0.47 times, in this loop, of which nvcc makes one load and one atomic a round. With 16 loads issued
    // together 0.78 times, if each has its guard, and 0.98 times with one guard for all of them
    // (05_coarsened_interleaved.sixteen_loads_guarded and .sixteen_loads_together).
    {"05_coarsened_interleaved", "04_coarsened_contiguous", kata::Quantity::time, 1.0,
     "neighbouring lanes read neighbouring characters", "PMPP-notes 9.5", refuted},
    // 0.86 times, and 0.48 times where runs are long, but shorter than the grid has threads.
    {"06_aggregated", "05_coarsened_interleaved", kata::Quantity::time, 1.0,
     "a run of equal bins is one atomic instead of one for each letter", "PMPP-notes 9.6", refuted},
    {"06_aggregated", "05_coarsened_interleaved", kata::Quantity::time, 1.0,
     "a run of equal bins is one atomic instead of one for each letter", "PMPP-notes 9.6", refuted, 100000},
    // 0.101 ms, as the step that follows: a kernel that only reads takes 0.098.
    {"07_wide_loads", "06_aggregated", kata::Quantity::time, 2.0,
     "a load brings 16 characters, and four of them are under way at once", "not in the documents"},
    // 2.1 times, in another run.
    {"07_wide_loads", "04_coarsened_contiguous", kata::Quantity::time, 1.4,
     "a load brings 16 characters, and four of them are under way at once", "not in the documents"},
    // Both wait for memory, unless the text has words: 1.38 times then, in another run.
    {"08_private_counters", "07_wide_loads", kata::Quantity::time, 1.02,
     "nothing is asked of a character while it is counted", "not in the documents", refuted},
    {"08_private_counters", "07_wide_loads", kata::Quantity::time, 1.1,
     "nothing is asked of a character while it is counted, so that none divides a warp",
     "not in the documents", kata::Claim::Standing::asserted, of_words},
    {"09_every_byte", "07_wide_loads", kata::Quantity::time, 1.1,
     "lanes never meet at an address or in a bank, whatever the text has", "not in the documents",
     kata::Claim::Standing::asserted, of_words},
};

/// Which step a step betters: the one before it, and step 09, which has more bins, the last one on whose bins
/// lanes meet.
std::string betters(const std::string& step) {
    if (step >= "09") return "07_wide_loads";
    std::string before;
    for (const auto& claim : claims)
        for (const std::string name : {claim.better, claim.worse})
            if (name < step) before = std::max(before, name);
    return before;
}

kata::Run count(const Module& step) { return try_on(step, Problem{counted_text(), bins_of(step)}); }

}  // namespace

// The figures of the documents.

namespace {

constexpr std::size_t ladder_length = 100000;

std::uint64_t letters_in(const Text& text) {
    const auto histo = histogram::reference(text);
    return std::accumulate(histo.begin(), histo.end(), std::uint64_t{0});
}

/// Bins that hold something after each block's part of the text, summed over blocks.
std::uint64_t merged(const Text& text, std::size_t characters_of_block) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < text.size(); i += characters_of_block) {
        const auto part = std::span(text).subspan(i, std::min(characters_of_block, text.size() - i));
        const auto histo = histogram::reference(part);
        sum += static_cast<std::uint64_t>(
            std::count_if(histo.begin(), histo.end(), [](unsigned count) { return count > 0; }));
    }
    return sum;
}

}  // namespace

TEST_CASE("9.3: 128 GB/s are 32 G elements a second, 2.5 M atomics, 17.5 M of them on 7 bins",
          "[figures][01_global_atomics]") {
    constexpr double channels = 8, bytes = 8, per_cycle = 2, hertz = 1e9, latency = 200;
    CHECK(channels * bytes * per_cycle * hertz == 128e9);
    CHECK(channels * bytes * per_cycle * hertz / sizeof(float) == 32e9);
    CHECK(hertz / (2 * latency) == 2.5e6);  // a read and a write, and nobody else in between
    CHECK(bins * hertz / (2 * latency) == 17.5e6);
}

TEST_CASE("01 global atomics: one global atomic a letter", "[figures][01_global_atomics]") {
    kata::only_where_counted();
    const auto text = mixed(5000);
    const auto c = counted(text);
    CHECK(c.global_atomic.accesses == letters_in(text));
    CHECK(c.global_load.bytes == text.size());
    // Of a warp of one letter, 31 lanes wait for another one.
    CHECK(counted(Text(64, 'a')).same_address == 62);
}

TEST_CASE("01 global atomics: explain gives the atomics all turns that lanes and threads take",
          "[figures][01_global_atomics]") {
    kata::only_where_counted();
    const auto& text = counted_text();
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

TEST_CASE("02 privatized global: at most blocks x bins atomics on the histogram",
          "[figures][02_privatized_global]") {
    kata::only_where_counted();
    const auto text = mixed(5000);
    const auto c = counted(text);
    const auto merge = c.global_atomic.accesses - letters_in(text);
    CHECK(c.blocks == 5);
    CHECK(merge <= c.blocks * bins);
    CHECK(merge == merged(text, 1024));
    CHECK(counted(Text(5000, 'q')).global_atomic.accesses == 5000 + 5);  // of empty bins there is no merge
}

TEST_CASE("03 privatized shared: at most blocks x bins global atomics", "[figures][03_privatized_shared]") {
    const auto text = mixed(5000);
    const auto c = counted(text);
    CHECK(c.blocks == 5);
    CHECK(c.global_atomic.accesses <= c.blocks * bins);
    CHECK(c.global_atomic.accesses == merged(text, 1024));
    CHECK(c.shared_atomic.accesses == letters_in(text));
}

TEST_CASE("04, 05 and 06: a sixteenth of the blocks, at most blocks x bins global atomics",
          "[figures][04_coarsened_contiguous][05_coarsened_interleaved][06_aggregated]") {
    const auto text = mixed(3 * 16384);
    const auto c = counted(text);
    CHECK(c.blocks == 3);
    CHECK(c.global_atomic.accesses == c.blocks * bins);
    CHECK(c.global_load.bytes == text.size());
}

TEST_CASE("04 coarsened contiguous: 16 sectors a load, 6.25 % of them asked for",
          "[figures][04_coarsened_contiguous]") {
    const auto c = counted(letters(16384));
    CHECK(c.global_load.requests == 16384 / 32);
    CHECK(c.global_load.transactions == 16 * c.global_load.requests);
    CHECK(c.shared_atomic.accesses == 16384);
}

TEST_CASE("05 coarsened interleaved: one sector a load, all of it asked for",
          "[figures][05_coarsened_interleaved]") {
    const auto c = counted(letters(16384));
    CHECK(c.global_load.requests == 16384 / 32);
    CHECK(c.global_load.transactions == c.global_load.requests);
    CHECK(c.load_efficiency() == 1.0);
    CHECK(c.shared_atomic.accesses == 16384);
}

namespace {

/// Runs of equal bins in what each thread of step 06 meets.
std::uint64_t runs_of_threads(const Text& text) {
    const auto threads = threads_of_grid(text.size());
    std::uint64_t sum = 0;
    for (std::size_t t = 0; t < threads; ++t) {
        int previous = -1;
        for (std::size_t i = t; i < text.size(); i += threads) {
            const int position = text[i] - 'a';
            if (position < 0 || position >= histogram::letters) continue;
            sum += position / 4 != previous;
            previous = position / 4;
        }
    }
    return sum;
}

}  // namespace

TEST_CASE("06 aggregated: one atomic a run of equal bins, as a thread meets them",
          "[figures][06_aggregated]") {
    kata::only_where_counted();
    CHECK(counted(Text(16384, 'k')).shared_atomic.accesses == 1024);  // one for each thread
    // What each thread meets: letters of one bin, what is no letter, another bin, the first bin again.
    const Text met{'a', 'b', 'c', 'd', 'a', '-', 'a', 'x', 'x', 'w', ' ', 'b', 'b', 'b', 'b', 'b'};
    Text text;
    for (const char c : met) text.insert(text.end(), 1024, c);
    CHECK(counted(text).shared_atomic.accesses == 3 * 1024);
    const auto any = mixed(20000);
    CHECK(counted(any).shared_atomic.accesses == runs_of_threads(any));
}

TEST_CASE("06 aggregated: 8192 atomics for 32768 letters in runs longer than the grid has threads",
          "[figures][06_aggregated]") {
    kata::only_where_counted();
    CHECK(counted(runs(2 * 16384, 20000, 2)).shared_atomic.accesses == 8192);
}

TEST_CASE("06 aggregated: a run shorter than the grid has threads is none for a thread",
          "[figures][06_aggregated]") {
    const auto text = runs(2 * 16384, 1000);
    const auto c = counted(text);
    CHECK(c.shared_atomic.accesses == 27309);  // for 32768 letters
    // Lanes that wait for another one, with aggregation and without.
    CHECK(c.same_address == 26395);
    const auto without = try_on(kata::rival("05_coarsened_interleaved"), Problem{text});
    CHECK(counts_of(without).same_address == 31684);
    // In stretches of 16 characters, as the variant 06_aggregated.contiguous counts them, they are runs.
    std::uint64_t in_stretches = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
        in_stretches += i % 16 == 0 || (text[i] - 'a') / 4 != (text[i - 1] - 'a') / 4;
    CHECK(in_stretches == 2107);
}

TEST_CASE("07 to 09: a load for 16 characters, and each sector once",
          "[figures][07_wide_loads][08_private_counters][09_every_byte]") {
    const auto c = counted(letters(2 * 32768));
    CHECK(c.blocks == 2);
    CHECK(c.global_load.requests == 2 * 32768 / 16 / 32);
    CHECK(c.global_load.transactions == 2 * 32768 / 32);
    CHECK(c.load_efficiency() == 1.0);
}

TEST_CASE("08 private counters: no lane waits for another, whatever the text is",
          "[figures][08_private_counters]") {
    const auto of = [](const Text& text) {
        const auto alone = counted(text);
        CHECK(alone.same_address == 0);
        CHECK(alone.bank_conflicts == 0);
        return counts_of(try_on(kata::rival("07_wide_loads"), Problem{text})).same_address;
    };
    kata::only_where_counted();
    CHECK(of(Text(32768, 'k')) == 32768 / 32 * 31);
    CHECK(of(letters(32768)) == 25695);
    CHECK(of(words(32768)) == 20495);
}

TEST_CASE("09 every byte: no lane waits for another, in counting or in adding up",
          "[figures][09_every_byte]") {
    kata::only_where_counted();
    for (const Text& text : {Text(32768, 'k'), letters(32768), words(32768)}) {
        const auto c = counted(text);
        CHECK(c.blocks == 1);
        CHECK(c.same_address == 0);
        CHECK(c.bank_conflicts == 0);
        // A row is zeroed in a pass; a character is one of 32 of a pass; 8 warps read 32 columns each.
        CHECK(value_of(shared_passes, c) == 256 + 32768 / 32 + 8 * 32);
    }
}

TEST_CASE("the table of the lesson: atomics for 100000 letters, all equally often",
          "[figures][01_global_atomics][02_privatized_global][03_privatized_shared]"
          "[04_coarsened_contiguous][05_coarsened_interleaved][06_aggregated]"
          "[07_wide_loads][08_private_counters][09_every_byte]") {
    struct Atomics {
        std::uint64_t on_global, on_shared;
    };
    const std::map<std::string, Atomics> lesson{
        {"01_global_atomics", {100000, 0}},
        {"02_privatized_global", {100686, 0}},
        {"03_privatized_shared", {686, 100000}},
        {"04_coarsened_contiguous", {49, 100000}},
        {"05_coarsened_interleaved", {49, 100000}},
        {"06_aggregated", {49, 86125}},
        {"07_wide_loads", {28, 100000}},
        {"08_private_counters", {28, 131072}},
        {"09_every_byte", {104, 100000}},
    };
    const auto c = counted(letters(ladder_length));
    CHECK(c.global_atomic.accesses == lesson.at(kata::step_name()).on_global);
    CHECK(c.shared_atomic.accesses == lesson.at(kata::step_name()).on_shared);
}

TEST_CASE("two barriers a block",
          "[figures][02_privatized_global][03_privatized_shared]"
          "[04_coarsened_contiguous][05_coarsened_interleaved][06_aggregated]"
          "[07_wide_loads][08_private_counters][09_every_byte]") {
    const auto c = counted(mixed(20000));
    CHECK(c.barriers == 2 * c.blocks);
}

TEST_CASE("texts outside the limits are refused in one line", "[limits]") {
    CHECK_THROWS_AS(histogram::check(histogram::max_length + 1), std::invalid_argument);
    CHECK_NOTHROW(histogram::check(histogram::max_length));
    CHECK(histogram::workspace_size(0) == 0);
    CHECK(histogram::workspace_size(1025) == 2 * bins);
}

namespace {

kata::Run ladder(const Module& step) { return try_on(step, Problem{letters(ladder_length), bins_of(step)}); }

/// 2^28 characters.
constexpr std::size_t timed_length = std::size_t{1} << 28;

/// Letters in random order (0), words (of_words), or runs of letters that are as long at most.
Problem timed(unsigned longest_run) {
    constexpr std::size_t most = histogram::values;  // room for any step that is timed
    if (longest_run == of_words) return {kata::repeated(words(kata::prime_period), timed_length), most};
    return {longest_run > 0 ? runs(timed_length, longest_run)
                            : kata::repeated(letters(kata::prime_period), timed_length),
            most};
}

/// A text like that of a timed problem, without a copy on the host. What is at random begins anew after a
/// prime number of pages, which cost nothing.
Buffer<char> timed_text(unsigned longest_run) {
    if (longest_run > 0 && longest_run != of_words)
        return {"text", std::span<const char>(runs(timed_length, longest_run))};
    Buffer<char> text("text", timed_length, kata::zeros);
    constexpr std::size_t pages = 251, page = 4096;
    const auto period = longest_run == of_words ? words(pages * page) : letters(pages * page);
    kata::device::repeat(text.data(), timed_length, std::as_bytes(std::span(period)));
    return text;
}

Text read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    Text text((std::istreambuf_iterator<char>(in)), {});
    if (!in.is_open() || in.bad() || std::filesystem::is_directory(file))
        throw kata::Error(file.string() + " cannot be read: it must be a file of text");
    return text;
}

/// What a bin holds: letters "a-d", or, of 256 bins, a character or the number of a byte.
std::string name_of(std::size_t bin, std::size_t bins) {
    const int number = static_cast<int>(bin);
    if (bins == histogram::values)
        return number > ' ' && number <= '~' ? std::string(1, static_cast<char>(number)) + "  "
                                             : std::to_string(number);
    const int first = number * histogram::letters_per_bin,
              last = std::min(first + histogram::letters_per_bin, histogram::letters) - 1;
    return {letter(first), '-', letter(last)};
}

/// Counts the letters or the bytes of a text and draws its histogram; of 256 bins those that are not empty.
kata::Run on_file(const Module& step, const kata::Brought& file) {
    const Problem p{read_text(file.in), bins_of(step)};
    Problem::Device device(p, kata::poison);
    const auto run = try_on(step, p, device, {file.conditions(p.outputs())});
    if (run.fault) return run;

    std::ofstream drawing(file.out);
    const auto histo = device.result();
    const auto most = std::max(1u, *std::max_element(histo.begin(), histo.end()));
    for (std::size_t bin = 0; bin < p.bins; ++bin) {
        const auto count = histo[bin];
        if (count > 0 || p.bins == bins)
            drawing << std::setw(3) << std::left << name_of(bin, p.bins) << std::right << std::setw(12)
                    << count << "  " << std::string(static_cast<std::size_t>(60.0 * count / most), '#')
                    << '\n';
    }
    if (!drawing.flush()) throw kata::Error(file.out.string() + " cannot be written");
    return run;
}

}  // namespace

static const kata::Chapter chapter{
    .name = "histogram",
    .problem = "a text of 100000 letters, each of which is an output",
    .timed_problem = "a text of 2^28 letters",
    .claims = claims,
    .betters = betters,
    .ladder = ladder,
    .count = count,
    .sketch = [](const Module& step) -> kata::Sketch {
        // Half of it letter by letter at random, half of it the same letter again and again.
        auto text = letters(4096);
        text.insert(text.end(), 4096, letter(10));
        const auto of_step = bins_of(step);
        return {try_on(step, Problem{text, of_step}),
                "4096 letters at random, and 4096 times the same letter",
                "contention",
                {{"histo", {static_cast<int>(of_step)}}, {"text", {8192}}}};
    },
    .timed =
        [](std::optional<int> longest_run) {
            const auto p = ::timed(static_cast<unsigned>(longest_run.value_or(0)));
            return std::make_unique<kata::TimedOn<Problem>>(p, p.outputs() + bins * sizeof(unsigned));
        },
    .at_scale =
        [](const Module& step, std::optional<int> longest_run) {
            // Which letters meet depends on the text.
            auto text = timed_text(static_cast<unsigned>(longest_run.value_or(0)));
            Buffer<unsigned> histo("histo", bins_of(step), kata::zeros),
                workspace("workspace", histogram::workspace_size(timed_length), kata::zeros);
            call(step, text.data(), timed_length, histo.data(), workspace.data());
            return kata::AtScale{static_cast<double>(timed_length)};
        },
    .columns = {"bytes_loaded", "sectors", "load_efficiency", "atomics", "shared_atomics", "barriers",
                "parallelism"},
    .check_file = [](const std::filesystem::path& file) { read_text(file); },
    .on_file = on_file,
};
const kata::Chapter& kata::chapter = ::chapter;
