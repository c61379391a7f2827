// The histogram chapter as data: the purpose of each step, and the texts on which it is counted.
#include "error.hpp"
#include "histogram.problem.hpp"
#include "judge/suite.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace histogram::problem;
using histogram::bins;

namespace {

constexpr auto refuted = kata::Claim::Standing::refuted;
constexpr int of_words = 1;  // variant of the timed problem

/// The number of threads for each character of a long text, of which almost nothing is run.
kata::Idea with_threads(std::size_t length, double least, double most, std::string_view lacking) {
    return {.lacking = lacking,
            .number_is = "threads for each character of a text of " + std::to_string(length),
            .number = [length](const kata::Counted&) -> std::optional<double> {
                BothEnds text(length);
                const auto run = kata::observed_run(
                    {.sample = 1}, [&] { text.run(kata::step()); }, [] { return std::nullopt; });
                if (run.fault) return std::nullopt;
                return static_cast<double>(run.seen.counts->threads) / static_cast<double>(length);
            },
            .least = least,
            .most = most};
}

// In the lesson's exercise a thread has 64 characters. A grid that never grows must fill a GPU from the
// start.
const kata::Idea shares_a_long_text = with_threads(
    std::size_t{1} << 22, 1.0 / 128, 1, "few threads share a long text: most of a GPU has nothing to do");

// A grid with one block for every 32 Ki characters zeroes and adds up 8192 counters for every 1024 atomics of
// a warp.
const kata::Idea has_few_blocks =
    with_threads(std::size_t{1200} << 20, 0, 1.0 / 256,
                 "a long text has too many blocks: each zeroes counters for all its lanes and adds them up, "
                 "which pays only if it counts many characters; launch no more blocks than run at a time, "
                 "and let each go on in a loop");

const kata::Idea one_atomic_a_run{
    .lacking =
        "a thread makes more than one atomic for a run of letters of one bin, or a character that is not a "
        "letter ends the run",
    .number_is = "atomics of a thread on shared memory, for a text of one letter and blanks",
    .number = [](const kata::Counted& counted) -> std::optional<double> {
        const auto& c = counted("blanks");
        return static_cast<double>(c.shared_atomic.accesses) / static_cast<double>(c.threads);
    },
    .most = 1.5};

// Adding up the counters may take a few more passes. In the base text a warp meets one letter most of the
// time.
const kata::Idea no_lane_waits{
    .lacking =
        "lanes of a warp meet at one counter, or reach different counters in one bank of shared memory, and "
        "wait "
        "for each other",
    .number_is = "passes beyond the first, each time that a warp adds to its counters, for a text of words",
    .number = [](const kata::Counted& counted) -> std::optional<double> {
        const auto& c = counted("words");
        return static_cast<double>(c.same_address + c.bank_conflicts) /
               static_cast<double>(c.shared_atomic.requests);
    },
    .most = 0.5};

// A condition makes warps diverge in a text of words. One row for all characters that are no letters is as
// good as one for each.
const kata::Idea asks_nothing{
    .lacking =
        "it tests whether each character is a letter, which makes the warps of a text of words diverge",
    .number_is =
        "atomics on shared memory for each character of a text without letters, which must be counted, too",
    .number = [](const kata::Counted& counted) -> std::optional<double> {
        return static_cast<double>(counted("no letters").shared_atomic.accesses) / (4 * 32768);
    },
    .least = 0.9};

// "1.90 times" above a timed claim is what an H100 (sm_90) measured, for 2^28 letters.
const kata::Step steps[] = {
    {.name = "01_global_atomics",
     .entry = "count_letters",
     .traits = "[letters][global atomics][thread each][side by side]",
     .beats =
         {
             {"02_privatized_global", "basic_blocks", 1.0,
              "a thread has one character, and there are no copies to zero and to merge", "PMPP-notes 9.2"},
         },
     .figures = {{"letters", "atomics", 100000},
                 {"letters", "shared_atomics", 0},
                 {"one letter", "waits", 63488}}},
    {.name = "02_privatized_global",
     .before = "01_global_atomics",
     .entry = "count_letters",
     .traits = "[letters][thread each][side by side]",
     .beats =
         {
             // 8.8 times, and 12.7 times where runs are long.
             {"01_global_atomics", "milliseconds", 4.0,
              "letters of different blocks do not meet on one address", "PMPP-notes 9.4"},
         },
     .figures = {{"letters", "atomics", 100686},
                 {"letters", "shared_atomics", 0},
                 {"letters", "barriers_a_block", 2}}},
    {.name = "03_privatized_shared",
     .before = "02_privatized_global",
     .entry = "count_letters",
     .traits = "[letters][thread each][side by side]",
     .beats =
         {
             {"02_privatized_global", "atomics", 40.0,
              "a letter is counted in shared memory, and only the merge is left of the atomics on global "
              "memory",
              "PMPP-notes 9.4"},
             // 6.2 times.
             {"02_privatized_global", "milliseconds", 3.0,
              "an atomic on shared memory does not leave the multiprocessor", "PMPP-notes 9.4"},
         },
     .ideas = {shares_a_long_text},
     // A vote of the warp for each bin, in place of an atomic for each letter, is accepted, too.
     .allows = {{"shared_passes", 7}, {"work", 4}},
     .figures = {{"letters", "atomics", 686},
                 {"letters", "shared_atomics", 100000},
                 {"letters", "barriers_a_block", 2}}},
    {.name = "04_coarsened_contiguous",
     .before = "03_privatized_shared",
     .entry = "count_letters",
     .traits = "[letters][coarsened][side by side]",
     .beats =
         {
             {"03_privatized_shared", "threads", 4.0, "a thread counts 16 characters", "PMPP-notes 9.5"},
             {"03_privatized_shared", "atomics", 2.0,
              "a block takes 16 times the characters, so copies are merged a sixteenth as often",
              "PMPP-notes 9.5"},
             {"03_privatized_shared", "basic_blocks", 2.0,
              "what each thread does once is done by a sixteenth as many threads, and all lanes still count",
              "PMPP-notes 9.5"},
             // 4.0 times.
             {"03_privatized_shared", "milliseconds", 2.0, "fewer copies are zeroed and merged",
              "PMPP-notes 9.5"},
         },
     .ideas = {shares_a_long_text},
     .figures = {{"letters", "atomics", 49},
                 {"letters", "shared_atomics", 100000},
                 {"letters", "barriers_a_block", 2},
                 {"whole tiles", "load_efficiency", 6.25},
                 {"whole tiles", "blocks", 4},
                 {"whole tiles", "atomics", 28}}},
    {.name = "05_coarsened_interleaved",
     .before = "04_coarsened_contiguous",
     .entry = "count_letters",
     .traits = "[letters][coarsened][strided]",
     .beats =
         {
             {"04_coarsened_contiguous", "sectors_loaded", 8.0,
              "neighbouring lanes read neighbouring characters, 32 of them from one sector",
              "PMPP-notes 9.5"},
             {"03_privatized_shared", "threads", 4.0, "a thread counts 16 characters", "PMPP-notes 9.5"},
             {"03_privatized_shared", "atomics", 2.0,
              "a block takes 16 times the characters, so copies are merged a sixteenth as often",
              "PMPP-notes 9.5"},
             // 3.3 times; 1.8 times if the loads are issued together, each with its guard, which is accepted,
             // too.
             {"03_privatized_shared", "basic_blocks", 1.5,
              "what each thread does once is done by a sixteenth as many threads, and all lanes still count",
              "PMPP-notes 9.5"},
             // 1.90 times.
             {"03_privatized_shared", "milliseconds", 1.3, "fewer copies are zeroed and merged",
              "PMPP-notes 9.5"},
             // 0.47 times in this loop, for which nvcc generates one load and one atomic a round. With 16
             // loads issued together it is 0.78 times if each has its guard, and 0.98 times with one guard
             // for all of them (05_coarsened_interleaved.sixteen_loads_guarded and .sixteen_loads_together).
             {"04_coarsened_contiguous", "milliseconds", 1.0,
              "neighbouring lanes read neighbouring characters", "PMPP-notes 9.5", refuted},
         },
     .ideas = {shares_a_long_text},
     .figures = {{"letters", "atomics", 49},
                 {"letters", "shared_atomics", 100000},
                 {"letters", "barriers_a_block", 2},
                 {"whole tiles", "load_efficiency", 100},
                 {"whole tiles", "blocks", 4},
                 {"whole tiles", "atomics", 28},
                 {"short runs", "waits", 31684}}},
    {.name = "06_aggregated",
     .before = "05_coarsened_interleaved",
     .entry = "count_letters",
     .traits = "[letters][coarsened][strided]",
     .beats =
         {
             // 2.5 times; 1.4 times if four characters are loaded together, each with its guard, which is
             // accepted, too.
             {"03_privatized_shared", "basic_blocks", 1.1,
              "finding runs costs a thread less than it saves, and all lanes still count", "PMPP-notes 9.6"},
             {"04_coarsened_contiguous", "shared_passes", 3.0,
              "where a thread meets one bin again and again, one atomic adds all of it", "PMPP-notes 9.6"},
             {"05_coarsened_interleaved", "shared_passes", 3.0,
              "where a thread meets one bin again and again, one atomic adds all of it", "PMPP-notes 9.6"},
             // 0.86 times, and 0.48 times if runs are long, but shorter than the number of threads in the
             // grid.
             {"05_coarsened_interleaved", "milliseconds", 1.0,
              "a run of equal bins is one atomic instead of one for each letter", "PMPP-notes 9.6", refuted},
             {"05_coarsened_interleaved", "milliseconds", 1.0,
              "a run of equal bins is one atomic instead of one for each letter", "PMPP-notes 9.6", refuted,
              100000},
         },
     .ideas = {shares_a_long_text, one_atomic_a_run},
     .figures = {{"letters", "atomics", 49},
                 {"letters", "shared_atomics", 86125},
                 {"letters", "barriers_a_block", 2},
                 {"whole tiles", "blocks", 4},
                 {"whole tiles", "atomics", 28},
                 {"one letter", "shared_atomics", 4096},
                 {"long runs", "shared_atomics", 8192},
                 {"short runs", "shared_atomics", 27309},
                 {"short runs", "waits", 26395}}},
    {.name = "07_wide_loads",
     .before = "06_aggregated",
     .entry = "count_letters",
     .traits = "[letters][coarsened][strided]",
     .beats =
         {
             {"06_aggregated", "global_requests", 8.0, "a load brings 16 characters instead of one",
              "not in the documents"},
             // 16 times, and 8 times if the loads of a thread are side by side.
             {"04_coarsened_contiguous", "sectors_loaded", 12.0,
              "the lanes of a warp load from neighbouring addresses", "not in the documents"},
             // 0.101 ms, like the next step; a kernel that only reads takes 0.098.
             {"06_aggregated", "milliseconds", 2.0,
              "a load brings 16 characters, and four of them are in flight at once", "not in the documents"},
             // 2.1 times, in another run.
             {"04_coarsened_contiguous", "milliseconds", 1.4,
              "a load brings 16 characters, and four of them are in flight at once", "not in the documents"},
         },
     .figures = {{"letters", "atomics", 28},
                 {"letters", "shared_atomics", 100000},
                 {"letters", "barriers_a_block", 2},
                 {"whole tiles", "load_efficiency", 100},
                 {"whole tiles", "global_requests", 128},
                 {"one letter", "waits", 63488}}},
    {.name = "08_private_counters",
     .before = "07_wide_loads",
     .entry = "count_letters",
     .traits = "[letters][coarsened][stays]",
     .beats =
         {
             // 8.9 times, for long runs: lanes that wait for one address count as steps, too.
             {"07_wide_loads", "work", 3.0,
              "each lane has counters of its own, so that none waits for another", "not in the documents"},
             {"06_aggregated", "global_requests", 8.0, "a load brings 16 characters instead of one",
              "not in the documents"},
             // Both steps wait for memory, except in a text of words: 1.38 times there, in another run.
             {"07_wide_loads", "milliseconds", 1.02,
              "a character is counted without a test for being a letter", "not in the documents", refuted},
             {"07_wide_loads", "milliseconds", 1.1,
              "a character is counted without a test for being a letter, so no warp diverges",
              "not in the documents", kata::Claim::Standing::asserted, of_words},
         },
     .ideas = {has_few_blocks, no_lane_waits, asks_nothing},
     // With a row of counters for each bin (rows_of_bins) an H100 times 0.90 of step 07.
     .allows = {{"milliseconds", 1.3}},
     .figures = {{"letters", "atomics", 28},
                 {"letters", "shared_atomics", 131072},
                 {"letters", "barriers_a_block", 2},
                 {"whole tiles", "load_efficiency", 100},
                 {"whole tiles", "global_requests", 128},
                 {"one letter", "waits", 0},
                 {"words", "waits", 0},
                 {"words", "bank_conflicts", 0}}},
    {.name = "09_every_byte",
     .before = "07_wide_loads",
     .entry = "count_bytes",
     .traits = "[bytes][coarsened][stays]",
     .beats =
         {
             // 8.3 times, and 2.9 times if warps add up rows by shuffles. That is accepted, too, because a
             // block of a long text has many tiles, and here it has one.
             {"07_wide_loads", "work", 2.7,
              "each lane has counters of its own, so that none waits for another", "not in the documents"},
             {"06_aggregated", "global_requests", 8.0, "a load brings 16 characters instead of one",
              "not in the documents"},
             {"07_wide_loads", "milliseconds", 1.1,
              "lanes never meet at an address or in a bank, whatever the text", "not in the documents",
              kata::Claim::Standing::asserted, of_words},
         },
     .ideas = {has_few_blocks, no_lane_waits},
     // Warps may add up rows by shuffles, because a block of a long text has many tiles, and here it has one.
     .allows = {{"work", 4}},
     .figures = {{"letters", "atomics", 104},
                 {"letters", "shared_atomics", 100000},
                 {"letters", "barriers_a_block", 2},
                 {"whole tiles", "load_efficiency", 100},
                 {"whole tiles", "global_requests", 128},
                 {"one letter", "waits", 0},
                 {"words", "waits", 0},
                 {"words", "bank_conflicts", 0}}},
};

/// Not judged: texts on which right kernels differ by more than a factor.
constexpr bool for_ideas = false;

/// Returns the step on a text.
kata::Shape on(std::string_view name, Text (*text)(), bool judged = true, bool for_fixed_grids = false) {
    return {name,
            [text](const Module& step) {
                return try_on(step, Problem{text(), bins_of(step)});
            },
            for_fixed_grids ? "[coarsened]" : "", judged, for_fixed_grids};
}

/// 2^28 characters.
constexpr std::size_t timed_length = std::size_t{1} << 28;

/// Letters in random order (0), words (of_words), or runs of letters up to this length.
Problem timed(unsigned longest_run) {
    constexpr std::size_t most = histogram::values;  // room for any step that is timed
    if (longest_run == of_words) return {kata::repeated(words(kata::prime_period), timed_length), most};
    return {longest_run > 0 ? runs(timed_length, longest_run)
                            : kata::repeated(letters(kata::prime_period), timed_length),
            most};
}

/// A text like that of a timed problem, without a copy on the host. A random text repeats after a prime
/// number of pages, which costs no memory.
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

/// Returns the contents of a bin: letters "a-d", or, if there are 256 bins, a character or the number of a
/// byte.
std::string name_of(std::size_t bin, std::size_t bins) {
    const int number = static_cast<int>(bin);
    if (bins == histogram::values)
        return number > ' ' && number <= '~' ? std::string(1, static_cast<char>(number)) + "  "
                                             : std::to_string(number);
    const int first = number * histogram::letters_per_bin,
              last = std::min(first + histogram::letters_per_bin, histogram::letters) - 1;
    return {letter(first), '-', letter(last)};
}

/// Counts the letters or the bytes of a text and draws its histogram; of 256 bins, only those that are not
/// empty.
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
    .steps = steps,
    .ladder =
        [](const Module& step) {
            return try_on(step, Problem{letters(100000), bins_of(step)});
        },
    .shapes = {on("base", base_text), on("letters", [] { return letters(100000); }),
               on("ragged", [] { return letters(2 * 16384 - 1); }),
               on("one letter", [] { return Text(2 * 32768, 'k'); }),
               on("one bin", [] { return one_bin(16 * 16384); }),
               on("words", [] { return words(2 * 32768); }),
               on(
                   "large", [] { return letters(1'600'000); }, true, true),
               on(
                   "blanks", [] { return with_blanks(16 * 16384); }, for_ideas),
               on(
                   "no letters", [] { return Text(4 * 32768, '-'); }, for_ideas),
               on(
                   "whole tiles", [] { return letters(2 * 32768); }, for_ideas),
               on(
                   "long runs", [] { return runs(2 * 16384, 20000, 2); }, for_ideas),
               on(
                   "short runs", [] { return runs(2 * 16384, 1000); }, for_ideas)},
    .sketch = [](const Module& step) -> kata::Sketch {
        // One half are random letters, and the other half is the same letter throughout.
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
            // Contention depends on the text.
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
