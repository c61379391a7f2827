// The scan chapter as data: the purpose of each step, and the arrays on which it is counted.
#include "judge/accesses.hpp"
#include "judge/suite.hpp"
#include "scan.problem.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace scan::problem;
using scan::Kind;

namespace {

constexpr auto refuted = kata::Claim::Standing::refuted;
constexpr auto asserted = kata::Claim::Standing::asserted;

double number(std::uint64_t count) { return static_cast<double>(count); }

/// Passes each request of the step for global memory to `see`, with the array that it accesses.
template <class See>
void watch(const auto& problem, const kata::Conditions& conditions, See see) {
    const kata::Accesses accesses(see);
    (void)kata::counted(problem, conditions);
}

// Two persistent blocks with a dozen tiles each.
constexpr int few_tiles = 25, few_elements = few_tiles * 12288;  // tiles as step 10 has them
const kata::Conditions two_multiprocessors{.multiprocessors = 2};

/// The longest chain for a long array may be up to `most` times that of the solution.
kata::Idea chain_is_short(double most) {
    return {
        .lacking =
            "its longest chain of steps that must follow one another, within a section or from section to "
            "section, is too long",
        .number_is = "the longest chain of steps for 262144 elements, divided by that of the solution",
        .number = [](const kata::Counted& counted) -> std::optional<double> {
            return number(counted("long").span) / number(counted.of_solution("long").span);
        },
        .most = most,
        .of_chain = true};
}

/// At most `most` sections may finish before the last one, which starts late.
kata::Idea looks_past_waiting_sections(double most) {
    return {.lacking =
                "a section waits until those before it know the sum of everything up to them, rather than "
                "add up their own sums, or publishes its own too late, or looks at one section at a time",
            .number_is =
                "sections that finish before the last of 40, which starts when the first section "
                "is done and all others wait",
            .number = [](const kata::Counted&) -> std::optional<double> {
                const auto run =
                    try_on(kata::step(), maps(sections_held_back * tile_of_maps() - 5), {first_held_back()});
                if (run.fault) return std::nullopt;
                return 1 + number(run.seen.next.not_overtaken);
            },
            .most = most};
}

/// The counted blocks may load at most `most` bytes that others have published.
kata::Idea loads_little_of_others(const char* counted_where, int tiles, kata::Conditions conditions,
                                  double most) {
    return {.lacking = "what other blocks have published is loaded more often than needed",
            .number_is = std::string("bytes published by others that ") + counted_where,
            .number = [=](const kata::Counted&) -> std::optional<double> {
                double bytes = 0;
                watch(coded(tiles * kata::this_step().tile), conditions,
                      [&](const kata::Request& r, const std::string& array) {
                          if (array != "in" && std::string_view(r.did) != "store")
                              bytes += r.bytes * std::popcount(r.lanes);
                      });
                return bytes;
            },
            .most = most};
}

// In step 06 the block loads a flag and a sum. From 07 on, one of its warps loads the states of 32 sections,
// of eight bytes each, and finds a prefix there.
const kata::Idea block_64_loads_little =
    loads_little_of_others("the block of the 64th section loads", 64, {.only_block = 63}, 400);

// A solution's two blocks load 392 bytes: each loads once what a tile has published.
const kata::Idea blocks_that_stay_load_little =
    loads_little_of_others("two blocks load for 25 tiles", few_tiles, two_multiprocessors, 1500);

// Asynchronous copies are ahead if they are in flight at a barrier; loads, if they do not go straight into
// shared memory.
const kata::Idea copies_ahead{
    .lacking = "no copies are in flight while a tile is added up, so that the memory is idle",
    .number_is = "the part of the input that a block waits for and does nothing meanwhile",
    .number = [](const kata::Counted& counted) -> std::optional<double> {
        const auto& c = counted("two multiprocessors");
        constexpr double input = 4.0 * few_elements;
        return (c.copy_waits > 0 ? std::max(0.0, input - number(c.bytes_ahead)) : number(c.waited_for)) /
               input;
    },
    .most = 0.5};

// A solution publishes two rounds ahead, and each round has one barrier.
const kata::Idea publishes_ahead{
    .lacking =
        "the sum of a tile is published only when its block is about to scan it, and the blocks that need it "
        "wait",
    .number_is = "barriers between the publication of a tile's sum and the stores of the tile, on average",
    .number = [](const kata::Counted&) -> std::optional<double> {
        double stored = 0, barriers_stored = 0, published = 0, barriers_published = 0;
        watch(coded(few_elements), two_multiprocessors,
              [&](const kata::Request& r, const std::string& array) {
                  if (std::string_view(r.did) != "store") return;
                  auto& count = array == "out" ? stored : published;
                  auto& barriers = array == "out" ? barriers_stored : barriers_published;
                  ++count;
                  barriers += r.barriers;
              });
        return stored == 0 || published == 0
                   ? std::nullopt
                   : std::optional(barriers_stored / stored - barriers_published / published);
    },
    .least = 1.5};

const kata::Idea fills_the_gpu{
    .lacking = "fewer blocks are launched than run at a time, so that part of the GPU has nothing to do",
    .number_is = "blocks for 25 tiles, on two multiprocessors that take one block each",
    .number = [](const kata::Counted& counted) -> std::optional<double> {
        return number(counted("two multiprocessors").blocks);
    },
    .least = 2};

// "1.17 times" above a timed claim is what an H100 (sm_90) measured, for 2^28 floats, in sections of 1024 up
// to step 04.
const kata::Step steps[] = {
    {.name = "01_kogge_stone",
     .entry = "scan_sections",
     .traits = "[sections][kogge-stone]",
     .beats =
         {
             {"03_brent_kung", "span", 1.8, "there are 10 rounds instead of 19", "PMPP-scan 11.4"},
             // 1.08 times. The document expects Brent-Kung to take twice the time if there are enough units.
             {"03_brent_kung", "milliseconds", 2.0, "there are 10 rounds instead of 19", "PMPP-scan 11.4",
              refuted},
         },
     // Warps add 289 times in all rounds together, with a load and a store each; 32 warps have stored before.
     .figures = {{"one section", "shared_requests", 2 * 289 + 32}, {"base", "barriers_a_block", 20}}},
    {.name = "02_kogge_stone_double_buffered",
     .before = "01_kogge_stone",
     .entry = "scan_sections",
     .traits = "[sections][kogge-stone]",
     .beats =
         {
             {"01_kogge_stone", "barriers", 1.6, "with two buffers one barrier a round is enough",
              "PMPP-scan 11.2"},
             // 1.11 times.
             {"01_kogge_stone", "milliseconds", 1.03, "half of the barriers are gone", "PMPP-scan 11.2",
              asserted, std::nullopt, "sm_90"},
             // 1.20 times.
             {"03_brent_kung", "milliseconds", 1.05,
              "there are 10 rounds instead of 19, and no bank conflicts", "PMPP-scan 11.4", asserted,
              std::nullopt, "sm_90"},
         },
     // With one array of two halves (pout_pin) an H100 times 0.95 of step 01.
     .allows = {{"milliseconds", 1.15}},
     .figures = {{"base", "barriers_a_block", 10}}},
    {.name = "03_brent_kung",
     .before = "02_kogge_stone_double_buffered",
     .entry = "scan_sections",
     .traits = "[sections][brent-kung]",
     .beats =
         {
             // 0.87 times: all lanes of a warp wait for the one that still has an addition, and strides lead
             // to the same banks.
             {"02_kogge_stone_double_buffered", "work", 1.0, "less than a quarter of the additions",
              "not in the document", refuted},
             {"02_kogge_stone_double_buffered", "threads", 1.6,
              "no round has work for more than one thread for every two elements", "PMPP-scan 11.4"},
             {"01_kogge_stone", "basic_blocks", 1.4,
              "the threads that are active in a round are neighbours, so that the other warps are idle",
              "PMPP-scan 11.4"},
             {"01_kogge_stone", "sectors_loaded", 0.8,
              "neighbouring threads load neighbouring elements, although each loads two", "PMPP-scan 11.4"},
             {"01_kogge_stone", "sectors_stored", 0.8,
              "neighbouring threads store neighbouring elements, although each stores two", "PMPP-scan 11.4"},
             // 0.92 times, although there are less than a quarter of the additions.
             {"01_kogge_stone", "milliseconds", 1.0, "less than a quarter of the additions",
              "not in the document", refuted},
         },
     .figures = {{"base", "barriers_a_block", 20}}},
    {.name = "04_coarsened",
     .before = "03_brent_kung",
     .entry = "scan_sections",
     .traits = "[sections][subsections]",
     .beats =
         {
             {"01_kogge_stone", "sectors_loaded", 0.8,
              "neighbouring threads load neighbouring elements, although each scans four in a row",
              "PMPP-scan 11.5"},
             {"01_kogge_stone", "sectors_stored", 0.8,
              "neighbouring threads store neighbouring elements, although each scans four in a row",
              "PMPP-scan 11.5"},
             {"01_kogge_stone", "span", 0.5,
              "the last elements of the subsections are scanned by all threads together, and not one after "
              "the other",
              "PMPP-scan 11.5"},
             {"01_kogge_stone", "shared_passes", 1.5,
              "padding keeps lanes out of each other's banks while they walk through their subsections",
              "not in the document"},
             {"01_kogge_stone", "basic_blocks", 2.5,
              "the parallel scan is over the last elements of the subsections only", "PMPP-scan 11.5"},
             {"03_brent_kung", "shared_passes", 3.0,
              "subsections are padded, and the strides of the trees make lanes meet in the same banks",
              "not in the document"},
             {"03_brent_kung", "basic_blocks", 1.5,
              "the parallel scan is over the last elements of the subsections only", "PMPP-scan 11.5"},
             {"05_hierarchical", "bytes_loaded", 1.5,
              "separate sections are read once, and a scan of the whole reads them again to add the sums",
              "PMPP-scan 11.6"},
             // 2.72 times. It was not measured which of the things that step 04 does less often is the cause.
             {"01_kogge_stone", "milliseconds", 1.5,
              "a quarter of the threads do most additions sequentially", "PMPP-scan 11.5"},
             // 2.46 times.
             {"02_kogge_stone_double_buffered", "milliseconds", 1.5,
              "a quarter of the threads do most additions sequentially", "PMPP-scan 11.5"},
             // 2.95 times.
             {"03_brent_kung", "milliseconds", 1.5, "half of the threads do most additions sequentially",
              "PMPP-scan 11.5"},
             // 1.86 times.
             {"05_hierarchical", "milliseconds", 1.4,
              "separate sections take one kernel, and a scan of the whole takes another one over all "
              "elements",
              "PMPP-scan 11.6"},
         },
     .figures = {{"base", "barriers_a_block", 19}, {"base", "bank_conflicts", 0}}},
    {.name = "05_hierarchical",
     .before = "04_coarsened",
     .entry = "scan_whole",
     .traits = "[whole][levels]",
     .tile = 1024,
     .beats =
         {
             {"01_kogge_stone", "basic_blocks", 2.0,
              "sections are scanned as in step 04, and adding the sums is little work for many threads",
              "PMPP-scan 11.6"},
             {"06_single_pass", "span", 1.2,
              "the sums of the sections are scanned in parallel, and not passed on one after the other",
              "not in the document"},
             {"01_kogge_stone", "shared_passes", 1.1,
              "sections are scanned as in step 04, by all threads of a block in shared memory",
              "PMPP-scan 11.6"},
             // 53 times.
             {"06_single_pass", "milliseconds", 20.0,
              "the sums of the sections are scanned in parallel, and not passed on one after the other",
              "not in the document"},
         },
     .ideas = {chain_is_short(1.65)},
     // There are 64 sections of 1024 elements. Their sums are one section. All sections but the first are
     // loaded and stored again, and each of their 256 threads loads the sum before.
     .figures = {{"base", "bytes_loaded", 4 * (65536 + 64 + (65536 - 1024) + 63 * 256)},
                 {"base", "bytes_stored", 4 * (65536 + 64 + 64 + 1 + (65536 - 1024))},
                 {"base", "launches", 3},
                 {"base", "bank_conflicts", 0}}},
    {.name = "06_single_pass",
     .before = "05_hierarchical",
     .entry = "scan_whole",
     .traits = "[whole][single pass]",
     .tile = 4096,
     .beats =
         {
             {"05_hierarchical", "bytes_loaded", 1.9, "an element is read once instead of twice",
              "PMPP-scan 11.7"},
             {"05_hierarchical", "bytes_stored", 1.9, "an element is written once instead of twice",
              "PMPP-scan 11.7"},
             {"05_hierarchical", "shared_passes", 1.2,
              "sections are scanned by all threads of a block in shared memory, and their sums are not "
              "scanned",
              "PMPP-scan 11.7"},
             {"07_look_back", "span", 1.4,
              "where blocks run one after the other, as they do here, the sum of all sections before is "
              "known when it is needed, and one thread loads it sooner than a warp that looks back",
              "not in the document"},
             // 0.019 times: the sums of 65536 sections pass from block to block, one after the other, at 1.2
             // µs each.
             {"05_hierarchical", "milliseconds", 1.0, "an element is read once and written once",
              "PMPP-scan 11.7", refuted},
         },
     .ideas = {chain_is_short(3), block_64_loads_little},
     // In addition to the elements, 16 sections publish their sums, and 15 wait for one.
     .figures = {{"base", "bytes_loaded", 4 * (65536 + 15)},
                 {"base", "bytes_stored", 4 * (65536 + 16)},
                 {"base", "launches", 1},
                 {"base", "bank_conflicts", 0}}},
    {.name = "07_look_back",
     .before = "06_single_pass",
     .entry = "scan_whole",
     .traits = "[whole][single pass][looks back]",
     .tile = 4096,
     .beats =
         {
             {"05_hierarchical", "bytes_loaded", 1.8, "an element is read once instead of twice",
              "not in the document"},
             // 76 times, in two runs.
             {"06_single_pass", "milliseconds", 20.0,
              "a section that waits adds up what those before it have published", "not in the document"},
         },
     .ideas = {looks_past_waiting_sections(1), block_64_loads_little},
     // In addition to the elements, 16 sections publish a word twice, and load up to 32 words of the sections
     // before.
     .figures = {{"base", "bytes_loaded", 4 * 65536 + 8 * 120},
                 {"base", "bytes_stored", 4 * 65536 + 8 * 32},
                 {"base", "launches", 1},
                 {"base", "bank_conflicts", 0}}},
    {.name = "08_shuffles",
     .before = "07_look_back",
     .entry = "scan_whole",
     .traits = "[whole][single pass][looks back]",
     .tile = 4096,
     .beats =
         {
             {"07_look_back", "barriers_a_block", 3.0,
              "rounds within a warp need no barrier, and one warp combines the results of the warps",
              "not in the document"},
             {"07_look_back", "shared_passes", 1.5,
              "a thread reads its elements from shared memory once and writes them once",
              "not in the document"},
             // 1.004 times, because the look-back takes most of the time; 1.12 times for 2²⁰ floats.
             {"07_look_back", "milliseconds", 1.02, "there are five barriers instead of 21",
              "not in the document", refuted},
             {"07_look_back", "milliseconds", 1.04, "there are five barriers instead of 21",
              "not in the document", asserted, 20, "sm_90"},
         },
     // Step 08 is about shuffles, so a look-back at one section at a time is accepted.
     .ideas = {looks_past_waiting_sections(4), block_64_loads_little},
     // With blocks of 1024 threads an H100 times 0.83 of step 07, with blocks of 128 0.95.
     .allows = {{"milliseconds", 1.35}},
     .figures = {{"base", "bytes_loaded", 4 * 65536 + 8 * 120},
                 {"base", "bytes_stored", 4 * 65536 + 8 * 32},
                 {"base", "launches", 1},
                 {"base", "bank_conflicts", 0},
                 {"base", "barriers_a_block", 5}}},
    {.name = "09_wide_rows",
     .before = "08_shuffles",
     .entry = "scan_whole",
     .traits = "[whole][single pass][looks back][packs]",
     .tile = 16384,
     .beats =
         {
             {"08_shuffles", "global_requests", 2.5, "a load or a store takes four elements instead of one",
              "not in the document"},
             {"08_shuffles", "shared_passes", 5.0, "no element goes through shared memory",
              "not in the document"},
             {"10_sums_ahead", "shared_passes", 5.0,
              "elements stay in registers, and none is copied to shared memory to wait there",
              "not in the document"},
             // 1.18 times.
             {"08_shuffles", "milliseconds", 1.08,
              "more loads are in flight, and there are fewer sections to look back at",
              "not in the document"},
         },
     .ideas = {looks_past_waiting_sections(1), block_64_loads_little},
     .figures = {{"long", "bytes_loaded", 4 * 262144 + 8 * 120},
                 {"long", "bytes_stored", 4 * 262144 + 8 * 32},
                 {"long", "launches", 1},
                 {"long", "bank_conflicts", 0},
                 {"long", "barriers_a_block", 3}}},
    {.name = "10_sums_ahead",
     .before = "09_wide_rows",
     .entry = "scan_whole",
     .traits = "[whole][single pass][looks back][packs][stays]",
     .tile = 12288,
     .beats =
         {
             // 1.19 times.
             {"09_wide_rows", "milliseconds", 1.06,
              "copies are in flight while a block scans, and sums are published before they are needed",
              "not in the document", asserted, std::nullopt, "sm_90"},
         },
     .ideas = {looks_past_waiting_sections(1), blocks_that_stay_load_little, copies_ahead, publishes_ahead,
               fills_the_gpu},
     // With two tiles ahead (two_ahead) an H100 times 0.94 of step 09, with the next one in registers
     // (next_in_registers) 0.98.
     .allows = {{"milliseconds", 1.2}}},
};

struct How {
    int section = scan::max_section;
    Kind kind = Kind::inclusive;
    kata::Conditions conditions = {};
    bool judged = true;
};

/// Returns the step on n ints.
kata::Shape on(std::string_view name, std::string_view traits, int n, const How& how = {}) {
    return {name,
            [=](const Module& step) {
                return try_on(step, coded(n, how.section, how.kind, 1, step), {how.conditions});
            },
            traits, how.judged};
}

}  // namespace

static const kata::Chapter chapter{
    .name = "scan",
    .problem = "65536 elements; sections of 1024 in steps 01 to 04, the whole from 05 on",
    .timed_problem = "2^28 elements; sections of 1024 in steps 01 to 04, the whole from 05 on",
    .steps = steps,
    .ladder =
        [](const Module& step) {
            return try_on(step, real(1 << 16, scan::max_section, Kind::inclusive, 1, step));
        },
    // The tiles of some steps are so large that 2^16 elements give fewer blocks than a GPU can run.
    .shapes = {on("long", "[packs]", 1 << 18),
               on("base", "", 1 << 16),
               on("exclusive", "", 1 << 16, {.kind = Kind::exclusive}),
               on("ragged", "", (1 << 15) - 4),
               on("short sections", "[sections]", 1 << 14, {.section = 32}),
               {"maps",
                [](const Module& step) {
                    return try_on(step, maps(1 << 16, scan::max_section, Kind::inclusive, 1, step));
                },
                "[packs]"},
               on("two multiprocessors", "[stays]", few_elements, {.conditions = two_multiprocessors}),
               on("one section", "[sections]", 1024, {.judged = false})},
    .sketch = [](const Module& step) -> kata::Sketch {
        if (scans_sections(step)) {
            // A network that can be drawn, and then enough threads for lanes to have bank conflicts.
            auto run = try_on(step, coded(32, 32, Kind::inclusive, 1, step));
            if (!run.fault) run = try_on(step, coded(256, 256, Kind::inclusive, 1, step));
            return {std::move(run), "a section of 32 elements for the network, and one of 256 for all else",
                    "network"};
        }
        constexpr int n = 32768;
        return {try_on(step, coded(n, scan::max_section, Kind::inclusive, 1, step)),
                "32768 elements",
                "blocks",
                {{"in", {n}}, {"out", {n}}}};
    },
    .timed = [](std::optional<int> power_of_two) -> std::unique_ptr<kata::TimedProblem> {
        const std::size_t n = std::size_t{1} << power_of_two.value_or(28);
        return std::make_unique<kata::TimedOn<Problem<float>>>(
            Problem<float>{kata::repeated(kata::reals(kata::prime_period, 1), n)},
            8.0 * static_cast<double>(n));
    },
    .at_scale =
        [](const Module& step, std::optional<int> power_of_two) {
            const int n = 1 << power_of_two.value_or(28);
            Buffer<float> in("in", n, kata::zeros), out("out", n, kata::zeros);
            Buffer<unsigned char> workspace("workspace", scan::workspace_bytes(n), kata::zeros);
            call(step, in.data(), out.data(), n, scan::max_section, Kind::inclusive,
                 {Arithmetic::sum_of_float, nullptr}, workspace.data());
            return kata::AtScale{static_cast<double>(n)};
        },
    .columns = {"bytes_loaded", "bytes_stored", "sectors", "bank_conflicts", "basic_blocks", "barriers",
                "parallelism"},
};
const kata::Chapter& kata::chapter = ::chapter;
