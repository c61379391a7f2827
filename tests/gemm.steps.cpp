// The gemm chapter as data: the purpose of each step, and the matrices on which it is counted.
#include "gemm.problem.hpp"
#include "judge/suite.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace matrices::problem;
using matrices::Shape;

namespace {

constexpr auto refuted = kata::Claim::Standing::refuted;
constexpr auto asserted = kata::Claim::Standing::asserted;

/// Whole tiles of 32 to 256 elements: with the largest, a block for each multiprocessor of kata::machine.
constexpr Shape base{512, 1024, 32};

double number(std::uint64_t count) { return static_cast<double>(count); }

// A block needs two barriers for each tile, and not one for each place along K. Tiles of half the depth of
// those in steps 03 to 06 are accepted.
const kata::Idea waits_for_whole_tiles{.lacking = "its blocks wait too often",
                                       .number_is = "barriers in a block, for K = 192",
                                       .number = [](const kata::Counted& counted) -> std::optional<double> {
                                           return kata::Quantity("barriers_a_block")(counted("deep"));
                                       },
                                       .most = 2.0 * 192 / 4};

// A block may wait for the first of its tiles: for K = 192 there are twelve, or three of bfloat16. NVIDIA's
// sample for tensor cores has no asynchronous copies. It loads and stores at once, while other blocks
// multiply.
const kata::Idea multiplies_meanwhile{
    .lacking = "nothing is multiplied while the next tiles are in flight",
    .number_is =
        "percent of the bytes loaded or copied for which a warp waits, with nothing read from shared "
        "memory meanwhile",
    .number = [](const kata::Counted& counted) -> std::optional<double> {
        double most = 0;
        for (const auto shape : {"deep", "deep and ragged"}) {
            const auto& c = counted(shape);
            if (c.copy_waits == 0 && kata::step().has("gemm_bf16")) return std::nullopt;
            most = std::max(most, 100 * number(c.waited_for) / number(c.global_load.bytes));
        }
        return most;
    },
    .most = 40};

// A warp with h x w results needs h + w elements for each place along K, which is least if h is w. Strips of
// 32 x 64 or 32 x 128 results need 1.06 and 1.25 times that number, and 64 x 64 results in two halves, one
// after the other, need 1.5 times.
const kata::Idea loads_fragments_once{
    .lacking = "its warps load too many fragments for what they multiply",
    .number_is =
        "elements that a warp loads from shared memory, divided by those that a square of as many "
        "results needs",
    .number = [](const kata::Counted& counted) -> std::optional<double> {
        const auto& c = counted("base");
        const double warps = number(c.threads) / 32, results = number(base.elements_of_c()) / warps;
        return number(c.shared_load.bytes) / sizeof(matrices::Bf16) /
               (2 * std::sqrt(results) * base.k * warps);
    },
    .most = 1.4};

// The number is 1.0 if the tiles that are left over are shared evenly, and up to 1.3 if the last block to
// finish adds up, or if all tiles are cut into slices. It is 1.8 if a tile after a whole wave has one block,
// 2 if half a wave of tiles has a block each, and 3 if a tile has four shares on any GPU, or if the last
// share has everything that rounding down leaves.
const kata::Idea shares_what_is_left{
    .lacking = "tiles that are left over are not shared evenly, and most multiprocessors have nothing to do",
    .number_is =
        "share of the work that the busiest multiprocessor does, divided by that in the solution: the "
        "largest for half a wave of tiles, for one tile, and for a tile more than a wave",
    .number = [](const kata::Counted& counted) -> std::optional<double> {
        constexpr kata::Quantity busiest("busiest_share");
        double most = 0;
        for (const auto shape : {"half a wave", "one tile", "a wave and a tile"})
            most = std::max(most, busiest(counted(shape)) / busiest(counted.of_solution(shape)));
        return most;
    },
    .most = 1.5};

// `tile` is the depth of a tile: the places along K that a block has on chip at a time.
const kata::Step steps[] = {
    {.name = "01_naive",
     .entry = "gemm",
     .traits = "[base][thread each][no tiles]",
     // 2K loads for each result. For them a warp loads one sector of A and four of B.
     .figures = {{"base", "bytes_loaded", 2 * 32 * 4 * 524288},
                 {"base", "bytes_stored", 4 * 524288},
                 {"base", "sectors_loaded", 5 * 32 * 16384}}},
    {.name = "02_shared_memory",
     .before = "01_naive",
     .entry = "gemm",
     .traits = "[base][thread each][phases]",
     .tile = 32,
     .beats =
         {
             {"01_naive", "bytes_loaded", 16.0,
              "a block of 32 x 32 threads loads an element once for a whole row or column of them",
              "SGEMM-1D"},
             // On an H100 (sm_90), for 4096 x 4096 matrices: 1.46 times (6.2 and 9.0 TFLOP/s).
             {"01_naive", "milliseconds", 1.2, "repeated reads are served on chip", "SGEMM-1D"},
         },
     .ideas = {waits_for_whole_tiles},
     // With tiles of a size that the host chooses (dynamic_shared) an H100 times 1.04 of step 01.
     .allows = {{"milliseconds", 1.17}},
     // K / 16 global and 2K shared loads for each result.
     .figures = {{"base", "bytes_loaded", 2 * 4 * 524288},
                 {"base", "shared_loads", 64 * 524288},
                 {"base", "bank_conflicts", 0},
                 {"base", "barriers_a_block", 2},
                 {"base", "threads", 524288}}},
    {.name = "03_thread_tile_1d",
     .before = "02_shared_memory",
     .entry = "gemm",
     .traits = "[base][phases]",
     .tile = 8,
     .beats =
         {
             {"02_shared_memory", "bytes_loaded", 1.8,
              "a tile of C of 64 x 64 needs half as many elements for each of its results as one of 32 x 32",
              "SGEMM-1D"},
             // Loads of a result: 9K/8, where step 02 has 2K. Stores into the tiles: K/32, where step 02 has
             // K/16.
             {"02_shared_memory", "shared_passes", 1.6,
              "an element of B that a thread has read from shared memory serves eight results", "SGEMM-1D"},
             // 1.95 times: 9.0 and 17.6 TFLOP/s.
             {"02_shared_memory", "milliseconds", 1.5,
              "a thread loads less from shared memory for each result", "SGEMM-1D"},
             // The document has 2.2 times, on a GPU that it does not name, at about 8600 GFLOP/s.
             {"02_shared_memory", "milliseconds", 2.2,
              "a thread loads less from shared memory for each result", "SGEMM-1D", refuted},
         },
     .ideas = {waits_for_whole_tiles},
     // A's tile transposed, with a column of padding (block_64x8): an H100 times 1.34 of step 02.
     .allows = {{"milliseconds", 1.2}},
     // K / 32 global and 9K / 8 shared loads for each result.
     .figures = {{"base", "bytes_loaded", 4 * 524288},
                 {"base", "shared_loads", 36 * 524288},
                 {"base", "bank_conflicts", 0},
                 {"base", "barriers_a_block", 8},
                 {"base", "threads", 65536}}},
    {.name = "04_thread_tile_2d",
     .before = "03_thread_tile_1d",
     .entry = "gemm",
     .traits = "[base][phases]",
     .tile = 8,
     .beats =
         {
             {"03_thread_tile_1d", "bytes_loaded", 1.8,
              "a tile of C of 128 x 128 needs half as many elements for each of its results as one of 64 x "
              "64",
              "SGEMM-1D, announced"},
             // K/4, where step 03 has 9K/8: 4.35 times less. Squares of neighbouring results make as many
             // loads but lose most of the gain to bank conflicts, which nvcc avoids with wide loads: 1.51
             // times less. They are accepted, too.
             {"03_thread_tile_1d", "shared_passes", 1.2,
              "in a square of results an element that a thread has read serves a whole row or column",
              "SGEMM-1D, announced"},
             // 1.83 times: 17.6 and 32.3 TFLOP/s; a style with more bank conflicts (boehm) 1.42.
             {"03_thread_tile_1d", "milliseconds", 1.35,
              "a square of results shares more of what a thread has read than a column does",
              "SGEMM-1D, announced"},
         },
     .ideas = {waits_for_whole_tiles},
     // K / 64 global and K / 4 shared loads for each result. In each place along K a warp takes 16 passes;
     // for neighbouring results it would take 8 · 4 + 8 · 2 = 48.
     .figures = {{"base", "bytes_loaded", 4 * 262144},
                 {"base", "shared_loads", 8 * 524288},
                 {"base", "shared_passes", 16 * 32 * 256 + 8 * 4 * 256},
                 {"base", "bank_conflicts", 0},
                 {"base", "barriers_a_block", 8},
                 {"base", "threads", 8192}}},
    {.name = "05_wide_loads",
     .before = "04_thread_tile_2d",
     .entry = "gemm",
     .traits = "[base][phases]",
     .tile = 8,
     .beats =
         {
             // 13 passes in each place along K, with the stores into the tiles, where step 04 has 17. With
             // packs side by side there are 21: the lanes access every other pack, half of the banks.
             {"04_thread_tile_2d", "shared_passes", 1.2,
              "eight elements in a row of a tile take fewer passes as two packs", "not in the documents"},
             {"04_thread_tile_2d", "shared_accesses", 2.5,
              "a load from shared memory brings four elements, even of A, whose tile is transposed for it",
              "not in the documents"},
             {"04_thread_tile_2d", "global_requests", 2.0, "four elements are loaded or stored at a time",
              "not in the documents"},
             // 1.08 times: 34.8 TFLOP/s; with tiles of half the depth 1.03.
             {"04_thread_tile_2d", "milliseconds", 1.02, "loads from shared memory are fewer and wider",
              "not in the documents"},
         },
     .ideas = {waits_for_whole_tiles},
     // A thread loads a pack of A and one of B for each tile, and stores 16 packs of results. At each place
     // along K a warp takes 12 passes: 2 for each of two packs of A, because neighbouring lanes load the same
     // one, and 4 for each of two of B. Stores into the tiles take 1 for each of four elements of A, and 4
     // for a pack of B.
     .figures = {{"base", "global_requests", (2 * 4 + 16) * 256},
                 {"base", "bytes_loaded", 4 * 262144},
                 {"base", "shared_loads", 2 * 524288},
                 {"base", "shared_passes", (12 * 32 + 8 * 4) * 256},
                 {"base", "bank_conflicts", 0},
                 {"base", "barriers_a_block", 8},
                 {"base", "threads", 8192}}},
    {.name = "06_warp_tile",
     .before = "05_wide_loads",
     .entry = "gemm",
     .traits = "[base][phases]",
     .tile = 8,
     .beats =
         {
             // 9 passes in each place along K, with the stores into the tiles, where step 05 has 13. With
             // lanes in rows of four there are 13 as before, although a warp then needs 96 different elements
             // instead of 144.
             {"05_wide_loads", "shared_passes", 1.2,
              "lanes that are neighbours or two apart load the same pack, of A and of B, and a pass serves "
              "half of a warp",
              "not in the documents"},
             {"04_thread_tile_2d", "global_requests", 2.0,
              "four elements are loaded or stored at a time, as in step 05", "not in the documents"},
             // 1.02 times: 35.6 TFLOP/s.
             {"05_wide_loads", "milliseconds", 1.01,
              "lanes that are neighbours or two apart load the same pack, of A and of B, and a pass serves "
              "half of a warp",
              "not in the documents"},
         },
     .ideas = {waits_for_whole_tiles},
     .figures = {{"base", "global_requests", (2 * 4 + 16) * 256},
                 {"base", "shared_loads", 2 * 524288},
                 {"base", "shared_passes", (8 * 32 + 8 * 4) * 256},
                 {"base", "bank_conflicts", 0},
                 {"base", "barriers_a_block", 8},
                 {"base", "threads", 8192}}},
    {.name = "07_async_copies",
     .before = "06_warp_tile",
     .entry = "gemm",
     .traits = "[base][phases]",
     .tile = 8,
     .beats =
         {
             // Half as many barriers, and one more if a block waits once before the first tile.
             {"06_warp_tile", "barriers", 1.5,
              "copies go into tiles that no thread reads, so that a block waits once for each tile and not "
              "twice",
              "not in the documents"},
             {"05_wide_loads", "shared_passes", 1.2, "a warp's lanes are in squares, as in step 06",
              "not in the documents"},
             // A copy of A's tile transfers one element, so there are 5 copies for each tile instead of 2.
             {"04_thread_tile_2d", "global_requests", 2.0,
              "four elements of B are copied at a time, and four of C are stored", "not in the documents"},
             // 1.16 times: 41.4 TFLOP/s.
             {"06_warp_tile", "milliseconds", 1.12, "copies are in flight while the block multiplies",
              "not in the documents"},
         },
     .ideas = {multiplies_meanwhile},
     // A thread copies four elements of A and a pack of B for each tile.
     .figures = {{"base", "global_requests", (5 * 4 + 16) * 256},
                 {"base", "bytes_loaded", 4 * 262144},
                 {"base", "sectors_loaded", 262144 / 8},
                 {"base", "shared_loads", 2 * 524288},
                 {"base", "shared_passes", (8 * 32 + 8 * 4) * 256},
                 {"base", "bank_conflicts", 0},
                 {"base", "barriers_a_block", 4}}},
    {.name = "08_large_tiles",
     .before = "07_async_copies",
     .entry = "gemm",
     .traits = "[base][phases]",
     .tile = 16,
     .beats =
         {
             {"07_async_copies", "bytes_loaded", 1.25,
              "a tile of C of 128 x 256 needs three quarters of the elements for each of its results that "
              "one of 128 x 128 needs",
              "not in the documents"},
             // 6 packs for 128 products in each place along K, where step 07 reads 4 for 64.
             {"07_async_copies", "shared_accesses", 1.2,
              "with 8 x 16 results a thread reads less for each of them than with 8 x 8",
              "not in the documents"},
             {"07_async_copies", "shared_passes", 1.2,
              "with 8 x 16 results a thread reads less for each of them than with 8 x 8",
              "not in the documents"},
             // 1.14 times: 47.5 TFLOP/s.
             {"07_async_copies", "milliseconds", 1.05,
              "more products for each pack that is read, and copies begin after the products of a tile's "
              "first place",
              "not in the documents"},
         },
     .ideas = {multiplies_meanwhile},
     // For each tile of 16 places a thread copies eight elements of A and four packs of B; it stores 32
     // packs. In each place along K it reads two packs of A and four of B, at 2 passes each. A copy of A
     // stores 16 elements of two rows into 16 rows of the tile, 132 elements apart: two to a bank.
     .figures = {{"base", "global_requests", (12 * 2 + 32) * 128},
                 {"base", "bytes_loaded", 4 * 524288 * 3 / 8},
                 {"base", "sectors_loaded", 524288 * 3 / 64},
                 {"base", "shared_requests", (6 * 32 + 12 * 2) * 128},
                 {"base", "shared_passes", (12 * 32 + (8 * 2 + 4 * 4) * 2) * 128},
                 {"base", "bank_conflicts", 8 * 2 * 128},
                 {"base", "barriers_a_block", 2},
                 {"base", "threads", 4096}}},
    {.name = "09_fragments_ahead",
     .before = "08_large_tiles",
     .entry = "gemm",
     .traits = "[base][phases]",
     .tile = 16,
     .beats =
         {
             {"07_async_copies", "bytes_loaded", 1.25, "tiles are as large as in step 08",
              "not in the documents"},
             {"07_async_copies", "shared_passes", 1.2, "a thread has 8 x 16 results, as in step 08",
              "not in the documents"},
             // The same packs, only earlier; but those of a place past the end of K are read, too.
             {"08_large_tiles", "shared_accesses", 1.0, "the same fragments are read, only earlier",
              "not in the documents", refuted},
             // 1.11 times: 53.0 TFLOP/s.
             {"08_large_tiles", "milliseconds", 1.05,
              "a thread multiplies while the next fragments are loaded, and copies do not delay products",
              "CUTLASS, efficient GEMM"},
         },
     .ideas = {multiplies_meanwhile},
     // As in step 08. A place past the end of K is read ahead, too, and a block waits once more, before the
     // first tile is read.
     .figures = {{"base", "global_requests", (12 * 2 + 32) * 128},
                 {"base", "bytes_loaded", 4 * 524288 * 3 / 8},
                 {"base", "shared_requests", (6 * 33 + 12 * 2) * 128},
                 {"base", "shared_passes", (12 * 33 + (8 * 2 + 4 * 4) * 2) * 128},
                 {"base", "barriers_a_block", 3},
                 {"base", "threads", 4096}}},
    {.name = "10_stream_k",
     .before = "09_fragments_ahead",
     .entry = "gemm",
     .traits = "[shares]",
     .beats =
         {
             // A share of one phase, and 16 shares to add up, where step 09 has 16 phases.
             {"09_fragments_ahead", "span", 2.0,
              "where tiles are fewer than multiprocessors, many blocks share the phases of a tile",
              "Stream-K"},
             // On chip, each element serves as many products as before. The price is that the sums of shares
             // are stored and added up.
             {"01_naive", "bytes_loaded", 8.0, "elements are multiplied from tiles in shared memory",
              "SGEMM-1D"},
             // 2.82 times, for 1024 x 1024 matrices, which are 32 tiles.
             {"09_fragments_ahead", "milliseconds", 2.0,
              "where tiles are fewer than multiprocessors, many blocks share the phases of a tile",
              "Stream-K", asserted, 1024},
         },
     .ideas = {multiplies_meanwhile, shares_what_is_left},
     // With slices of the same length for all tiles (split_k) an H100 times 1.88 of step 09.
     .allows = {{"milliseconds", 1.2}},
     // Sixteen blocks share the 16 phases of each of four tiles, and store their sums. 32 blocks for each
     // tile add up the sums of 15 of them. A share has one barrier for its phase, one before it and one after
     // it.
     .figures = {{"few tiles", "launches", 2},
                 {"few tiles", "blocks", 4 * 16 + 4 * 32},
                 {"few tiles", "threads", (4 * 16 + 4 * 32) * 256},
                 {"few tiles", "bytes_loaded", 4 * 131072 * 3 + 16 * 4 * 131072},
                 {"few tiles", "bytes_stored", 17 * 4 * 131072},
                 {"few tiles", "barriers", 4 * 16 * 3},
                 {"few tiles", "atomics", 0}}},
    {.name = "11_tensor_cores",
     .before = "09_fragments_ahead",
     .entry = "gemm_bf16",
     .traits = "[base][phases]",
     .tile = 32,
     .beats =
         {
             {"09_fragments_ahead", "basic_blocks", 4.0,
              "a warp multiplies 16 x 16 by 16 x 16 elements at a time, and no thread multiplies any",
              "not in the documents"},
             {"09_fragments_ahead", "bytes_loaded", 1.25,
              "an element has two bytes, and tiles of 128 x 128 need four thirds as many of them as those of "
              "128 x 256",
              "not in the documents"},
             // 5.2 times: 249 TFLOP/s; with 64 x 32 results a warp 3.9.
             {"09_fragments_ahead", "milliseconds", 3.0,
              "tensor cores multiply, at the precision of bfloat16", "not in the documents"},
         },
     .ideas = {multiplies_meanwhile, loads_fragments_once},
     // With two barriers for each tile, and loads without cp.async (cuda_sample), an H100 takes 2.65 times as
     // long.
     .allows = {{"milliseconds", 2.8}},
     // Both tiles have 128 x 32 elements, 512 packs of 16 bytes: four of each a thread. In 16 places along K
     // a warp loads four fragments of A and four of B, four pairs of elements a lane. It stores 16 fragments
     // of sums in pairs: 4 stores each.
     .figures = {{"base", "global_requests", (8 + 64) * 128},
                 {"base", "bytes_loaded", 2 * 2 * 128 * 32 * 32},
                 {"base", "shared_loads", 8 * 4 * 2 * 32 * 128},
                 {"base", "barriers_a_block", 1}}},
    {.name = "12_copy_engine",
     .before = "11_tensor_cores",
     .entry = "gemm_bf16",
     .traits = "[base]",
     .beats =
         {
             // 1.69 times: 393 TFLOP/s.
             {"11_tensor_cores", "milliseconds", 1.3,
              "a warpgroup multiplies tiles where they lie, and no thread copies or loads an element",
              "not in the documents"},
         }},
    {.name = "13_stages",
     .before = "12_copy_engine",
     .entry = "gemm_bf16",
     .traits = "[base]",
     .beats =
         {
             // 1.53 times: 650 TFLOP/s.
             {"12_copy_engine", "milliseconds", 1.25,
              "three pairs of tiles are in flight, and an element that is fetched serves more products",
              "not in the documents"},
         }},
    {.name = "14_producer",
     .before = "13_stages",
     .entry = "gemm_bf16",
     .traits = "[base][stays]",
     .beats =
         {
             // 1.11 times: 724 TFLOP/s.
             {"13_stages", "milliseconds", 1.05,
              "a warpgroup fetches while two multiply, and tiles of C share what the L2 cache has",
              "not in the documents"},
         }},
    {.name = "15_clusters",
     .before = "14_producer",
     .entry = "gemm_bf16",
     .traits = "[base][stays][clusters]",
     .beats =
         {
             // 1.33 times on an H200, for 5000 x 5000 matrices, whose rows do not begin at whole lines.
             {"14_producer", "milliseconds", 1.1,
              "four blocks fetch a tile of B once, and tiles that do not fill a wave are shared along K",
              "not in the documents", asserted, 5000},
         }},
};

double bytes_of(const Shape& s) {
    return 4.0 * static_cast<double>(s.elements_of_a() + s.elements_of_b() + s.elements_of_c());
}

/// Shapes that are not judged are counted for ideas only.
constexpr bool for_ideas = false;

/// Returns the step on matrices of a shape.
kata::Shape on(std::string_view name, const Shape& s, std::string_view traits = "",
               const kata::Conditions& conditions = {}, bool is_judged = true) {
    return {name,
            [s, conditions](const Module& step) {
                return try_on(step, coded(s, 1, factors_of(step)), {conditions});
            },
            traits, is_judged};
}

}  // namespace

static const kata::Chapter chapter{
    .name = "gemm",
    .problem = "matrices of 128 x 128",
    .timed_problem = "matrices of 4096 x 4096",
    .steps = steps,
    .ladder =
        [](const Module& step) {
            return try_on(step, real({128, 128, 128}, 1, factors_of(step)));
        },
    // The base of step 10 has four tiles of 16 phases.
    .shapes = {on("base", base, "[base]"), on("few tiles", {256, 512, 256}, "[shares]"),
               on("ragged", {197, 261, 99}), on("few rows", {8, 1000, 64}), on("few columns", {384, 4, 320}),
               on("shallow", {200, 200, 15}), on("deep", {128, 256, 192}, "", {.multiprocessors = 1}),
               on("deep and ragged", {70, 75, 187}, "", {.multiprocessors = 1}, for_ideas),
               on("half a wave", {128, 2 * 256, 128}, "[shares]", {.multiprocessors = 4}, for_ideas),
               on("one tile", {128, 256, 368}, "[shares]", {.multiprocessors = 16}, for_ideas),
               on("a wave and a tile", {128, 17 * 256, 128}, "[shares]", {.multiprocessors = 16}, for_ideas)},
    .sketch = [](const Module& step) -> kata::Sketch {
        constexpr int m = 64, n = 128, k = 32;
        return {try_on(step, coded({m, n, k}, 1, factors_of(step))),
                "a product of 64 x 32 and 32 x 128 elements",
                "reuse",
                {{"A", {m, k}}, {"B", {k, n}}, {"C", {m, n}}}};
    },
    .timed =
        [](std::optional<int> variant) {
            const int side = variant.value_or(0) > 0 ? *variant : 4096;
            const Shape s{side, side, side};
            return std::make_unique<kata::TimedOn<Problem>>(real(s, 1, Factors::either), bytes_of(s));
        },
    .at_scale =
        [](const Module& step, std::optional<int>) {
            constexpr Shape s{4096, 4096, 256};  // a sixteenth of the depth
            Buffer<float> c("C", s.elements_of_c(), kata::zeros);
            const auto run = [&]<class T>(std::type_identity<T>) {
                Buffer<T> a("A", s.elements_of_a(), kata::zeros), b("B", s.elements_of_b(), kata::zeros);
                call<T>(step, a.data(), b.data(), c.data(), s);
            };
            if (factors_of(step) == Factors::bf16)
                run(std::type_identity<matrices::Bf16>{});
            else
                run(std::type_identity<float>{});
            return kata::AtScale{matrices::operations(s), 16};
        },
    .columns = {"bytes_loaded", "sectors", "load_efficiency", "shared_loads", "shared_passes", "barriers",
                "intensity"},
};
const kata::Chapter& kata::chapter = ::chapter;
