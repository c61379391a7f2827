// The reduction chapter as data: the purpose of each step, and the inputs on which it is counted.
#include "judge/suite.hpp"
#include "reduction.problem.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace reduction::problem;
using enum kata::Arithmetic;

namespace {

constexpr auto asserted = kata::Claim::Standing::asserted;
constexpr auto refuted = kata::Claim::Standing::refuted;

double number(std::uint64_t count) { return static_cast<double>(count); }

// One block for every 300000 elements keeps few multiprocessors of a large GPU busy. NVIDIA's sample has 64
// blocks, whatever the number of elements.
const kata::Idea shares_a_long_input{
    .lacking =
        "few blocks do it all, however long the input is, and most multiprocessors of a large GPU, which "
        "has more than 100, have no work",
    .number_is = "blocks for 16777216 elements",
    .number = [](const kata::Counted&) -> std::optional<double> {
        Long input(1 << 24);
        const auto c = kata::glanced_at(input);
        return c ? std::optional(number(c->blocks)) : std::nullopt;
    },
    .least = 48};

// The solution has one block for each segment. With four segments for each block there would be nine.
const kata::Idea shares_a_short_input{
    .lacking =
        "a block takes several segments of an input that is too short for it, and multiprocessors are "
        "left without a block",
    .number_is = "blocks for 33 segments of 16384 elements, on 132 multiprocessors",
    .number = [](const kata::Counted& counted) { return number(counted("33 segments").blocks); },
    .least = 14};

// A thread that combines the results alone takes two steps for each. With 64 blocks for any length, each
// thread has 0.6 steps more for each of the solution's blocks, because it reads more elements
// (styles/reduction/17_last_block.sample).
const kata::Idea combines_with_all_threads{
    .lacking = "the results of the blocks are combined by too few threads, one after the other",
    .number_is = "steps that each further block adds to the longest chain",
    .number = [](const kata::Counted& counted) -> std::optional<double> {
        return (number(counted("33 segments").span) - number(counted("4 segments").span)) / (33 - 4);
    },
    .most = 1};

const kata::Claim has_eight_elements{"10_unroll4", "threads", 1.7,
                                     "a thread has eight elements instead of four, and every thread has work",
                                     "REDUCE-vi 7"};
// The trees, which are in global memory, issue loads in each of their rounds.
const kata::Claim loads_eight_together{
    "10_unroll4", "load_phases", 1.8,
    "all eight loads of a thread are in flight together, without a barrier between them", "REDUCE-vi 7"};

using Figures = std::vector<kata::Figure>;

/// The blocks of a step for 65536 doubles, in all launches, with the threads and the barriers of each.
Figures with_blocks(double blocks, double threads, double barriers, Figures others = {}) {
    others.insert(others.end(), {{"doubles", "blocks", blocks},
                                 {"doubles", "threads", blocks * threads},
                                 {"doubles", "barriers", blocks * barriers}});
    return others;
}

/// A block that runs this number of rounds of a warp: two loads and a store each.
Figures in_rounds(double times, double sectors_loaded) {
    return {{"second block", "global_requests", 3 * times + 2},
            {"second block", "stores", times + 1},
            {"second block", "bytes_loaded", 4 * (2 * 2047 + 1)},
            {"second block", "bytes_stored", 4 * 2048},
            {"second block", "sectors_loaded", sectors_loaded}};
}

/// A block that loads each element once, by this number of requests, and leaves one result.
Figures loads_once(double elements, double requests, double stores, double atomics) {
    return {{"second block", "bytes_loaded", 4 * elements},
            {"second block", "load_efficiency", 100},
            {"second block", "bank_conflicts", 0},
            {"second block", "global_requests", requests + stores},
            {"second block of doubles", "global_requests", requests + stores},
            {"second block", "stores", stores},
            {"second block", "atomics", atomics}};
}

/// A row of REDUCE-vi, table 3-6: the efficiencies of a block of doubles are bytes divided by sectors.
Figures table_3_6(double loads, double sectors_loaded, double stores, double sectors_stored) {
    return {{"second block of doubles", "bytes_loaded", 8 * loads},
            {"second block of doubles", "sectors_loaded", sectors_loaded},
            {"second block of doubles", "bytes_stored", 8 * stores},
            {"second block of doubles", "sectors_stored", sectors_stored}};
}

// In the trees 511 pairs are loaded and their results stored; thread 0 loads and stores once more. In the
// first round a sector of four doubles gives two operands of a kind, and in all others one, whether the lanes
// are 2 · stride apart, as in 06, or the elements, as in 07. In 08 it gives four. From 09 on, the loads of
// the elements come before the tree.
const Figures of_neighbors = table_3_6(1023, 767, 512, 384);
const Figures of_halves = table_3_6(1023, 259, 512, 130);
const Figures of_unrolled = table_3_6(1023 + 8 * 512, 259 + 8 * 128, 512 + 512, 130 + 128);

// "1.17 times" above a timed claim is what an H100 (sm_90) measured, for 2^28 floats.
const kata::Step steps[] = {
    {.name = "01_simple",
     .entry = "reduce",
     .traits = "[rounds]",
     .tile = 2048,
     // All 32 warps in the rounds with strides 1 to 32, then 16, 8, 4, 2, 1. An operand takes 8 sectors with
     // strides 1, 2 and 4, then 4, 2, 1; and those of the rounds with fewer warps.
     .figures = with_blocks(32 + 1, 1024, 11, in_rounds(223, 2 * (32 * (8 + 8 + 8 + 4 + 2 + 1) + 31) + 1))},
    {.name = "02_convergent",
     .before = "01_simple",
     .entry = "reduce",
     .traits = "[rounds]",
     .tile = 2048,
     .beats =
         {{"01_simple", "global_requests", 2.5,
           "a warp without work skips the round, instead of taking one lane through it", "PMPP-notes 10.4"},
          {"01_simple", "sectors_loaded", 3.0,
           "the elements that a warp reads lie next to each other and fill their sectors", "PMPP-notes 10.5"},
          // 2.33 times. With a constant size, 01 is 1.59 times as fast, because it does not divide
          // (01_simple.compile_time_block).
          {"01_simple", "milliseconds", 1.3,
           "warps without work skip the round, and the others fill their sectors", "PMPP-notes 10.4, 10.5"}},
     // 32, 16, 8, 4, 2, 1 warps, and then 1 in each of five more rounds.
     .figures = with_blocks(32 + 1, 1024, 11, in_rounds(68, 2 * (63 * 4 + 2 + 1 + 1 + 1 + 1) + 1))},
    {.name = "03_shared_memory",
     .before = "02_convergent",
     .entry = "reduce",
     .traits = "[rounds][keeps input]",
     .tile = 2048,
     .beats = {{"02_convergent", "sectors_loaded", 1.8,
                "an element is read from global memory once, and partial results from shared memory",
                "PMPP-notes 10.6"},
               {"02_convergent", "bytes_stored", 100.0,
                "only the last of a block's partial results goes to global memory", "PMPP-notes 10.6"},
               // 1.17 times.
               {"02_convergent", "milliseconds", 1.05, "the tree moves on chip", "PMPP-notes 10.6"}},
     .figures = with_blocks(32 + 1, 1024, 10, loads_once(2048, 2048 / 32, 1, 0))},
    {.name = "04_hierarchical",
     .before = "03_shared_memory",
     .entry = "reduce",
     .traits = "[atomics][keeps input]",
     .tile = 2048,
     .beats = {{"03_shared_memory", "bytes_stored", 4.0,
                "blocks leave no partial results for a second launch", "PMPP-notes 10.7"},
               // 1.01 times: the second launch, over few partial results, takes almost no time.
               {"03_shared_memory", "milliseconds", 1.05, "there is one launch", "PMPP-notes 10.7", refuted}},
     .ideas = {shares_a_long_input},
     .figures = with_blocks(32, 1024, 10, loads_once(2048, 2048 / 32, 0, 1))},
    {.name = "05_coarsened",
     .before = "04_hierarchical",
     .entry = "reduce",
     .traits = "[atomics][keeps input]",
     .tile = 8192,
     .beats = {{"04_hierarchical", "load_phases", 3.0, "a thread has eight loads in flight instead of two",
                "PMPP-notes 10.8"},
               // 4 times. Blocks of 256 threads with 16 elements each are accepted, too. They take half as
               // many elements, in trees of eight rounds instead of ten: 2.5 times, and half of the atomics.
               {"04_hierarchical", "barriers", 2.4, "fewer blocks have fewer trees", "PMPP-notes 10.8"},
               {"04_hierarchical", "shared_passes", 3.0, "fewer blocks have fewer trees", "PMPP-notes 10.8"},
               {"04_hierarchical", "atomics", 2.0, "fewer blocks have fewer results to combine",
                "PMPP-notes 10.8"},
               {"06_neighbored", "sectors_loaded", 4.0,
                "an element is read from global memory once, and not again in every round of the tree",
                "not in the documents"},
               // 2.60 times; 1.59 times with the loads one after the other (05_coarsened.one_load_at_a_time).
               {"04_hierarchical", "milliseconds", 1.5, "there are fewer trees, and more loads in flight",
                "PMPP-notes 10.8"},
               // 11.2 times: the second ladder begins where the first one did.
               {"06_neighbored", "milliseconds", 5.0,
                "trees are in shared memory, there are fewer of them, and no thread divides",
                "not in the documents"}},
     .ideas = {shares_a_long_input},
     .figures = with_blocks(8, 1024, 10, loads_once(8192, 8192 / 32, 0, 1))},
    {.name = "06_neighbored",
     .before = "05_coarsened",
     .entry = "reduce",
     .traits = "[rounds][thread each]",
     .tile = 512,
     .figures = with_blocks(128 + 1, 512, 9, of_neighbors)},
    {.name = "07_neighbored_less",
     .before = "06_neighbored",
     .entry = "reduce",
     .traits = "[rounds][thread each]",
     .tile = 512,
     .beats = {{"06_neighbored", "global_requests", 2.5,
                "whole warps are without work, instead of most lanes of every warp", "REDUCE-vi 3"},
               // 2.06 times; the document has 1.26 in its table 3-5 and 1.79 in the listing of a run. The
               // cause is the division in 06 and hardly divergence: with a mask there, it is 1.03 times
               // (06_neighbored.mask).
               {"06_neighbored", "milliseconds", 1.26, "no thread divides, and whole warps are without work",
                "REDUCE-vi 3"}},
     .figures = with_blocks(128 + 1, 512, 9, of_neighbors)},
    {.name = "08_interleaved",
     .before = "07_neighbored_less",
     .entry = "reduce",
     .traits = "[rounds][thread each]",
     .tile = 512,
     .beats = {{"07_neighbored_less", "sectors_loaded", 3.0,
                "the elements that a warp reads lie next to each other and fill their sectors",
                "REDUCE-vi 4"},
               // 1.14 times; the document has 1.34 and 1.19. A guess: the sectors that 07 wastes in one
               // round are in the cache in the next one.
               {"07_neighbored_less", "milliseconds", 1.05, "a warp's elements fill their sectors",
                "REDUCE-vi 4"}},
     // With blocks of 1024 threads an H200 times 1.01 of step 07.
     .allows = {{"milliseconds", 1.1}},
     .figures = with_blocks(128 + 1, 512, 9, of_halves)},
    {.name = "09_unroll2",
     .before = "08_interleaved",
     .entry = "reduce",
     .traits = "[rounds]",
     .tile = 1024,
     .beats = {{"08_interleaved", "threads", 1.9, "a thread has two elements instead of one", "REDUCE-vi 5"},
               {"08_interleaved", "work", 1.6, "there are half as many trees for the same number of elements",
                "REDUCE-vi 5"},
               // 1.73 times; the document has 1.55 in the listing of a run.
               {"08_interleaved", "milliseconds", 1.4, "there are half as many trees", "REDUCE-vi 5"}},
     .figures = with_blocks(64 + 1, 512, 10)},
    {.name = "10_unroll4",
     .before = "09_unroll2",
     .entry = "reduce",
     .traits = "[rounds]",
     .tile = 2048,
     .beats = {{"09_unroll2", "threads", 1.8, "a thread has four elements instead of two", "REDUCE-vi 6"},
               {"09_unroll2", "bytes_stored", 1.9,
                "a thread combines all of its elements in a register first", "REDUCE-vi 6"},
               {"09_unroll2", "load_phases", 1.8,
                "all four loads of a thread are in flight together, without a barrier between them",
                "REDUCE-vi 6"},
               // 1.75 times; the document has 1.62.
               {"09_unroll2", "milliseconds", 1.3, "there are half as many trees, and more loads in flight",
                "REDUCE-vi 6"}},
     .figures = with_blocks(32 + 1, 512, 10)},
    {.name = "11_unroll8",
     .before = "10_unroll4",
     .entry = "reduce",
     .traits = "[rounds]",
     .tile = 4096,
     .beats = {{"10_unroll4", "threads", 1.7, "a thread has eight elements instead of four", "REDUCE-vi 7"},
               {"10_unroll4", "bytes_stored", 1.9,
                "a thread combines all of its elements in a register first", "REDUCE-vi 7"},
               loads_eight_together,
               // 1.34 times; the document has 1.20.
               {"10_unroll4", "milliseconds", 1.1, "there are half as many trees, and more loads in flight",
                "REDUCE-vi 7"}},
     .figures = with_blocks(16 + 1, 512, 10, of_unrolled)},
    {.name = "12_unroll_last_warp",
     .before = "11_unroll8",
     .entry = "reduce",
     .traits = "[rounds]",
     .tile = 4096,
     .beats = {{"11_unroll8", "barriers_a_block", 2.0, "one warp does the last six rounds alone",
                "REDUCE-vi 8"},
               has_eight_elements,
               loads_eight_together,
               // 1.00 times; the document has 1.05 and 1.04.
               {"11_unroll8", "milliseconds", 1.04, "six barriers of ten are gone", "REDUCE-vi 8", refuted}},
     .figures = with_blocks(16 + 1, 512, 4, of_unrolled)},
    {.name = "13_complete_unroll",
     .before = "12_unroll_last_warp",
     .entry = "reduce",
     .traits = "[rounds]",
     .tile = 4096,
     .beats =
         {{"11_unroll8", "barriers_a_block", 1.8,
           "one warp does the last six rounds alone, and one of the others is not necessary", "REDUCE-vi 9"},
          has_eight_elements,
          loads_eight_together,
          // 0.96 times: four tests of the block size replace the four of the loop, and one of
          // them is for a round that the block does not have.
          {"12_unroll_last_warp", "basic_blocks", 1.0, "there is no loop counter", "REDUCE-vi 9", refuted},
          // 1.00 times; the document has 1.06 and 1.00.
          {"12_unroll_last_warp", "milliseconds", 1.06, "there is no loop counter", "REDUCE-vi 9", refuted}},
     .figures = with_blocks(16 + 1, 512, 5, of_unrolled)},
    {.name = "14_template_unroll",
     .before = "13_complete_unroll",
     .entry = "reduce",
     .traits = "[rounds]",
     .tile = 4096,
     .beats =
         {{"13_complete_unroll", "barriers_a_block", 1.1,
           "the compiler knows the size of the block, and leaves out each round that it does not have, with "
           "its barrier",
           "REDUCE-vi 10"},
          has_eight_elements,
          loads_eight_together,
          // 1.00 times, like step 13 with a constant size (13_complete_unroll.compile_time_block); the
          // document has 1.02 and 1.00.
          {"13_complete_unroll", "milliseconds", 1.02,
           "rounds that the block does not have cost neither a barrier nor a test", "REDUCE-vi 10", refuted}},
     .figures = with_blocks(16 + 1, 512, 4, of_unrolled)},
    {.name = "15_warp_shuffles",
     .before = "14_template_unroll",
     .entry = "reduce",
     .traits = "[atomics][shuffles][keeps input]",
     .tile = 8192,
     .beats = {{"14_template_unroll", "barriers_a_block", 2.0,
                "rounds within a warp need no barrier, and one warp combines the results of the warps",
                "NVIDIA's samples"},
               {"14_template_unroll", "sectors_loaded", 1.15,
                "partial results are in registers, and not in global memory", "NVIDIA's samples"},
               {"05_coarsened", "shared_passes", 4.0, "only one value a warp goes through shared memory",
                "NVIDIA's samples"},
               {"04_hierarchical", "atomics", 1.9, "fewer blocks have fewer results to combine",
                "PMPP-notes 10.8"},
               // In another run: 0.3495 ms, where 14 takes 0.406. 05, which waits for memory as well, takes
               // 0.3493.
               {"14_template_unroll", "milliseconds", 1.1, "no round works in global memory",
                "not in the documents"}},
     .ideas = {shares_a_long_input},
     // With cooperative groups (cooperative_groups) an H200 times 1.05 of step 14, with shuffles in all lanes
     // (xor_in_all_lanes) 1.09.
     .allows = {{"milliseconds", 1.1}},
     .figures = with_blocks(8, 512, 1, loads_once(8192, 8192 / 32, 0, 1))},
    {.name = "16_wide_loads",
     .before = "15_warp_shuffles",
     .entry = "reduce",
     .traits = "[atomics][shuffles][wide loads][keeps input]",
     .tile = 16384,
     .beats = {{"15_warp_shuffles", "global_requests", 3.0, "a load brings four floats instead of one",
                "not in the documents"},
               {"17_last_block", "bytes_stored", 4.0,
                "blocks combine their results in the output and leave none in memory",
                "not in the documents"},
               // 1.005 times, because both wait for memory; 1.07 times for 2^20 floats.
               {"15_warp_shuffles", "milliseconds", 1.02, "a load brings four floats", "not in the documents",
                refuted},
               {"15_warp_shuffles", "milliseconds", 1.02, "a load brings four floats", "not in the documents",
                asserted, 20, "sm_90"},
               // 1.10 times compared with the earlier form of 17; for 2^28 floats 1.015 times compared with
               // the present one.
               {"17_last_block", "milliseconds",
                1.03, "no block needs a fence, and none works alone after all others have finished",
                "not in the documents", asserted, 20, "sm_90"}},
     .ideas = {shares_a_long_input},
     .figures = with_blocks(8, 1024, 1, loads_once(16384, 16384 / 4 / 32, 0, 1))},
    {.name = "17_last_block",
     .before = "16_wide_loads",
     .entry = "reduce",
     .traits = "[last block][shuffles][wide loads][keeps input]",
     .tile = 16384,
     .beats = {{"14_template_unroll", "barriers_a_block", 1.3,
                "rounds within a warp need no barrier, and there is one launch", "not in the documents"},
               {"14_template_unroll", "launches", 1.5, "the last block does what a second launch would",
                "not in the documents"},
               {"15_warp_shuffles", "global_requests", 3.0, "a load brings four floats instead of one",
                "not in the documents"},
               {"16_wide_loads", "bytes_to_device", 1.5,
                "the host sets neither the output nor a counter before the launch", "not in the documents"}},
     .ideas = {shares_a_long_input, shares_a_short_input, combines_with_all_threads},
     // An H200 times NVIDIA's sample (sample) 2.03 times as long.
     .allows = {{"milliseconds", 2.3}},
     // A block leaves a result and has two barriers; the last one reads all results and has three.
     .figures = {{"4 segments", "launches", 1},
                 {"4 segments", "barriers", 4 * 2 + 1},
                 {"4 segments", "stores", 4 + 1},
                 {"4 segments", "atomics", 4},
                 {"4 segments", "bytes_to_device", 0},
                 {"last of 4 segments", "barriers", 3},
                 {"last of 4 segments", "bytes_loaded", 4 * (16384 + 4)},
                 {"33 segments", "blocks", 33},
                 {"9 segments, one multiprocessor", "blocks", 3},
                 {"5 segments, one multiprocessor", "blocks", 2}}},
};

/// Inputs that are not judged are counted for ideas and for figures of the lesson.
constexpr bool judged = true, for_ideas = false;

/// Returns the step on a sum of floats.
kata::Shape on(std::string_view name, int n, bool is_judged = judged,
               const kata::Conditions& conditions = {}) {
    return {name, [=](const Module& step) { return try_on(step, coded_sum(n), {conditions}); }, "",
            is_judged};
}

/// The second of two or more blocks in the first launch; a second launch has only one.
template <class T>
kata::Shape second_block(std::string_view name, Arithmetic arithmetic) {
    return {name,
            [arithmetic](const Module& step) {
                return try_on(step, coded_sum<T>(2 * row_of(step).tile, 1, arithmetic), {{.only_block = 1}});
            },
            "", for_ideas};
}

}  // namespace

static const kata::Chapter chapter{
    .name = "reduction",
    .problem = "the sum of 65536 floats (an output: an element that was summed up)",
    .timed_problem = "the sum of 2^28 floats",
    .steps = steps,
    .ladder =
        [](const Module& step) { return try_on(step, problem(kata::reals(65536, 1), sum_of_float, false)); },
    // The base has whole segments: sixteen of the largest.
    .shapes = {on("base", 16 * 16384),
               on("ragged", 2 * 16384 + 4095),
               {"doubles",
                [](const Module& step) { return try_on(step, coded_sum<double>(65536, 1, sum_of_double)); }},
               {"maxima",
                [](const Module& step) {
                    return try_on(step, problem(below_zero<float>(65537, 7), max_of_float));
                }},
               {"large", [](const Module& step) { return try_on(step, coded_sum(320 * 16384)); }, "[atomics]",
                judged, true},
               on("4 segments", 4 * 16384, for_ideas),
               on("last of 4 segments", 4 * 16384, for_ideas, {.only_block = 3}),
               on("33 segments", 33 * 16384, for_ideas),
               on("5 segments, one multiprocessor", 5 * 16384, for_ideas, {.multiprocessors = 1}),
               on("9 segments, one multiprocessor", 9 * 16384, for_ideas, {.multiprocessors = 1}),
               second_block<float>("second block", sum_of_float),
               second_block<double>("second block of doubles", sum_of_double)},
    .sketch = [](const Module& step) -> kata::Sketch {
        return {try_on(step, coded_sum(8192)), "the sum of 8192 floats", "rounds", {{"in", {8192}}}};
    },
    .timed =
        [](std::optional<int> power_of_two) {
            const std::size_t n = std::size_t{1} << power_of_two.value_or(28);
            return std::make_unique<kata::TimedOn<Problem<float>>>(
                problem(kata::repeated(kata::reals(kata::prime_period, 1), n), sum_of_float, false),
                4.0 * static_cast<double>(n));
        },
    .at_scale =
        [](const Module& step, std::optional<int> power_of_two) {
            const int n = 1 << power_of_two.value_or(28);
            Buffer<float> in("in", static_cast<std::size_t>(n), kata::zeros), out("out", 1, kata::zeros),
                workspace("workspace", reduction::workspace_elements(n), kata::zeros);
            step.function<decltype(reduce)>("reduce")(in.data(), out.data(), n, workspace.data(),
                                                      {sum_of_float, nullptr});
            return kata::AtScale{static_cast<double>(n)};
        },
    .columns = {"bytes_loaded", "bytes_stored", "sectors", "load_efficiency", "store_efficiency", "atomics",
                "basic_blocks", "barriers", "parallelism"},
};
const kata::Chapter& kata::chapter = ::chapter;
