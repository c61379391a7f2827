// The stencil chapter as data: the purpose of each step, and the grids on which it is counted.
#include "judge/suite.hpp"
#include "stencil.problem.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

using namespace stencil::problem;

namespace {

constexpr auto refuted = kata::Claim::Standing::refuted;
constexpr auto asserted = kata::Claim::Standing::asserted;

constexpr int ladder_n = 60, timed_n = 1024;

// The solution's blocks have rows of eight cells. The limits of all chapters accept rows of two, which take
// 2.57 times the sectors.
const kata::Idea rows_fill_sectors{
    .lacking = "the cells of a warp lie in many short rows, so that each load reaches many sectors",
    .number_is = "32-byte sectors loaded and stored, divided by those of the solution",
    .number = [](const kata::Counted& counted) -> std::optional<double> {
        constexpr kata::Quantity sectors("sectors");
        return sectors(counted("base")) / sectors(counted.of_solution("base"));
    },
    .most = 2};

/// Stores of all kernels, and those by copies of whole grids.
kata::Idea stores_cells_once(double most) {
    return {.lacking = "cells are stored more than once, by a pass for each axis or by a copy of the grid",
            .number_is = "bytes stored by kernels and copies, divided by those that the solution stores",
            .number = [](const kata::Counted& counted) -> std::optional<double> {
                constexpr kata::Quantity stored("bytes_stored"), beside("bytes_beside");
                return (stored(counted("base")) + beside(counted("base")) / 2) /
                       stored(counted.of_solution("base"));
            },
            .most = most};
}

// Only a few blocks of the large grid are run. Half of its rows do not begin at multiples of 16 bytes.
const kata::Idea launches_once{
    .lacking =
        "it launches more kernels for some grids (large ones, grids of double, or rows of odd length) "
        "than for others, and each launch waits for the one before",
    .number_is = "launches for n = 517 of double, divided by those for n = 16 of float",
    .number = [](const kata::Counted& counted) -> std::optional<double> {
        constexpr kata::Quantity launches("launches");
        const double small =
            launches(counted("small"));  // before the grid, beside which nothing is rehearsed
        Corners<double> grid(517);
        const auto large = kata::glanced_at(grid);
        if (!large) return std::nullopt;
        return launches(*large) / small;
    },
    .most = 1};

// "1.17 times" above a timed claim is what an H100 (sm_90) measured, for 1024³ cells of float.
const kata::Step steps[] = {
    {.name = "01_basic",
     .entry = "sweep_float",
     .traits = "[one sweep][thread each]",
     .tile = 8,
     .ideas = {rows_fill_sectors, stores_cells_once(2.25), launches_once},
     // A warp is four rows of 8 cells, each a sector of its own: one step to the left or right touches two.
     .figures = {{"inside, blocks of 8", "bytes_loaded", 7 * 8 * 8 * 8 * 4},
                 {"inside, blocks of 8", "sectors_loaded", 16 * (5 * 4 + 2 * 4 * 2)},
                 {"inside, blocks of 8", "sectors_stored", 16 * 4}}},
    {.name = "02_shared_tile",
     .before = "01_basic",
     .entry = "sweep_float",
     .traits = "[one sweep][thread each]",
     .tile = 6,
     .beats =
         {
             {"01_basic", "bytes_loaded", 2.5,
              "a block reads its input tile once instead of once for every neighbour", "PMPP-notes 8.3"},
             // 0.53 times, although step 01 loads 2.9 times the bytes. Here a cell takes 2.4 threads, needs
             // more different sectors, and is stored in rows of six, which fill no sector.
             {"01_basic", "milliseconds", 1.0, "repeated reads are served on chip", "PMPP-notes 8.3",
              refuted},
         },
     .ideas = {launches_once},
     // A warp reads four rows of 8 elements, each of which is in two sectors in a grid of 16³.
     .figures = {{"inside, tiles of 8", "bytes_loaded", 8 * 8 * 8 * 4},
                 {"inside, tiles of 8", "bytes_stored", 6 * 6 * 6 * 4},
                 {"inside, tiles of 8", "threads", 8 * 8 * 8},
                 {"inside, tiles of 8", "barriers", 1},
                 {"inside, tiles of 8", "bank_conflicts", 0},
                 {"inside, rows in two sectors", "sectors_loaded", 16 * 4 * 2},
                 {"inside, rows in two sectors", "sectors_stored", 6 * 6 * 2},
                 {"ladder", "threads", 10 * 10 * 10 * 512}}},
    {.name = "03_thread_coarsened",
     .before = "02_shared_tile",
     .entry = "sweep_float",
     .traits = "[one sweep]",
     .tile = 30,
     .beats =
         {
             {"02_shared_tile", "bytes_loaded", 1.5,
              "a tile of 32³ elements has a smaller share of halo than one of 8³", "PMPP-notes 8.4"},
             {"02_shared_tile", "threads", 10.0,
              "a thread computes a column of cells, so that a block has T² threads and not T³",
              "PMPP-notes 8.4"},
             {"02_shared_tile", "sectors_loaded", 1.5,
              "a warp reads a row of 32 elements instead of four rows of 8", "PMPP-notes 8.3, 8.4"},
             // 1.90 times.
             {"02_shared_tile", "milliseconds", 1.4,
              "fewer threads, less halo, and rows that fill their sectors", "PMPP-notes 8.4"},
             // 1.00 times, or 1.33 times with loads a round ahead.
             {"01_basic", "milliseconds", 1.1, "a tile of 32³ elements makes shared memory pay",
              "PMPP-notes 8.4", refuted},
         },
     .ideas = {launches_once},
     // A row of 32 elements is in five sectors. Two planes are loaded before the march. In each of 30 rounds
     // a thread stores to all three planes, reads two of them to move the planes on, and reads seven elements
     // if it has a cell.
     .figures = {{"inside, tiles of 32", "bytes_loaded", 32 * 32 * 32 * 4},
                 {"inside, tiles of 32", "bytes_stored", 30 * 30 * 30 * 4},
                 {"inside, tiles of 32", "sectors_loaded", 32 * 32 * 5},
                 {"inside, tiles of 32", "threads", 32 * 32},
                 {"inside, tiles of 32", "shared_loads", 32 * 32 * 30 * 2 + 30 * 30 * 30 * 7},
                 {"inside, tiles of 32", "shared_accesses",
                  32 * 32 * (2 + 30 * 3) + 32 * 32 * 30 * 2 + 30 * 30 * 30 * 7},
                 {"inside, tiles of 32", "bank_conflicts", 0},
                 {"inside, tiles of 32", "barriers", 2 * 30},
                 {"ladder", "threads", 2 * 2 * 2 * 1024},
                 {"ladder", "shared_passes", 86480}}},
    {.name = "04_register_tiled",
     .before = "03_thread_coarsened",
     .entry = "sweep_float",
     .traits = "[one sweep]",
     .tile = 30,
     .beats =
         {
             {"03_thread_coarsened", "shared_passes", 1.5,
              "the planes before and behind are in registers, and only the middle one in shared memory",
              "PMPP-notes 8.5"},
             {"03_thread_coarsened", "bytes_loaded", 0.6,
              "registers take the place of shared memory, and global memory is read as before",
              "PMPP-notes 8.5"},
             // 1.17 times, and 1.03 times if both load a round ahead (their variants prefetched): most of the
             // gain is time that step 03 waits for its loads, and not the passes.
             {"03_thread_coarsened", "milliseconds", 1.05,
              "registers avoid most of the passes over shared memory", "PMPP-notes 8.5", asserted,
              std::nullopt, "sm_90"},
             // 1.17 times.
             {"01_basic", "milliseconds", 1.03,
              "tiling pays in the end, because it avoids repeated reads and most of shared memory",
              "PMPP-notes 8.5", asserted, std::nullopt, "sm_90"},
         },
     .ideas = {launches_once},
     // A thread stores one element before the march and one in each of its 30 rounds, and reads those of its
     // four neighbours.
     .figures = {{"inside, tiles of 32", "bytes_loaded", 32 * 32 * 32 * 4},
                 {"inside, tiles of 32", "bytes_stored", 30 * 30 * 30 * 4},
                 {"inside, tiles of 32", "shared_loads", 30 * 30 * 30 * 4},
                 {"inside, tiles of 32", "shared_accesses", 32 * 32 * (1 + 30) + 30 * 30 * 30 * 4},
                 {"inside, tiles of 32", "bank_conflicts", 0},
                 {"inside, tiles of 32", "barriers", 2 * 30},
                 {"ladder", "shared_passes", 34848}}},
    {.name = "05_wide_loads",
     .before = "04_register_tiled",
     .entry = "sweep_float",
     .traits = "[one sweep][wide]",
     .beats =
         {
             {"04_register_tiled", "shared_passes", 1000.0,
              "neighbours come from the caches, and not from shared memory", "not in the documents"},
             {"04_register_tiled", "barriers", 1000.0, "no thread needs what another one has loaded",
              "not in the documents"},
             {"01_basic", "global_requests", 2.0, "a load brings four cells instead of one",
              "not in the documents"},
             {"04_register_tiled", "sectors_stored", 0.6,
              "a store takes four cells of a row, and those of a warp fill their sectors",
              "not in the documents"},
             // 3.06 ms, where 04 takes 4.99 and 01 takes 5.82.
             {"04_register_tiled", "milliseconds", 1.4,
              "no thread is on a halo, none waits at a barrier, and loads are few and in flight together",
              "not in the documents"},
             {"01_basic", "milliseconds", 1.5, "a load brings four cells instead of one",
              "not in the documents"},
         },
     .ideas = {stores_cells_once(1.5), launches_once},
     // Marches of 32 planes, which are 0.91 times as fast at 1024³ (05_wide_loads.long_march), give only 16
     // blocks for such a small grid.
     .allows = {{"makespan", 5, "doubles"}, {"makespan", 5, "odd"}},
     // Four cells a load: those of the planes before and here; in each of four planes those behind, above and
     // below; and one cell on either side.
     .figures = {{"block of step 05", "global_requests", 8 * (2 + 4 * 5 + 4)},
                 {"block of step 05", "bytes_loaded", 16 * 60 * 8 * 4},
                 {"block of step 05", "barriers", 0},
                 {"block of step 05", "shared_passes", 0}}},
    {.name = "06_two_sweeps",
     .before = "05_wide_loads",
     .entry = "sweep_twice_float",
     .traits = "[two sweeps][wide]",
     .beats =
         {
             // The counts of both steps are for two sweeps.
             {"05_wide_loads", "sectors_stored", 1.9, "cells are stored after the second sweep only",
              "not in the documents"},
             {"05_wide_loads", "sectors_loaded", 4.0,
              "cells are loaded for the first sweep only, and then neighbours are on chip",
              "not in the documents"},
             {"05_wide_loads", "global_requests", 4.0,
              "a load or a store takes four cells, as before, and neighbours are on chip already",
              "not in the documents"},
             // 1.74 times: 3.52 ms for two sweeps, where step 05 takes 2 · 3.06.
             {"05_wide_loads", "milliseconds", 1.3, "two sweeps read the grid once and write it once",
              "not in the documents"},
         },
     .ideas = {launches_once},
     // 20 rows are loaded for 16 of results, by 15 lanes each. A row is four passes; both planes are stored,
     // and the rows above and below are loaded from each.
     .figures = {{"block of step 06", "global_requests", (20 + 16) * 60},
                 {"block of step 06", "bytes_loaded", 20 * 60 * 15 * 16},
                 {"block of step 06", "bytes_stored", 16 * 60 * 15 * 16},
                 {"block of step 06", "barriers", 60 + 2},
                 {"block of step 06", "shared_passes", 20 * (60 + 2) * 4 * (2 + 4)},
                 {"block of step 06", "bank_conflicts", 0}}},
};

/// Grids that are not judged are counted for figures of the lesson.
constexpr bool judged = true, for_ideas = false;

// For one multiprocessor no grid is small to step 06, so small grids give the counts of large ones.
const kata::Conditions few_blocks{.multiprocessors = 1};

/// The number of sweeps that a call of the step makes.
template <class T = float>
kata::Shape on(std::string_view name, int n, bool is_judged = judged, std::string_view traits = "",
               const kata::Conditions& conditions = few_blocks) {
    return {
        name,
        [n, conditions](const Module& step) { return try_on(step, coded<T>(n, 1, 1, step), {conditions}); },
        traits, is_judged};
}

/// One block of the grid. The others run, too, and take longer than a launch usually may on a busy machine.
kata::Shape one_block(std::string_view name, int n, std::uint64_t block) {
    return on(name, n, for_ideas, "", {.only_block = block, .time_limit = 60, .multiprocessors = 1});
}

/// The block in the middle of 3 x 3 x 3. `n` is such that none of its cells is on the boundary.
kata::Shape inside(std::string_view name, int n) { return one_block(name, n, 13); }

}  // namespace

static const kata::Chapter chapter{
    .name = "stencil",
    .problem = "a grid of 60 x 60 x 60 cells",
    .timed_problem = "a grid of 1024 x 1024 x 1024 cells, a sweep",
    .steps = steps,
    .ladder =
        [](const Module& step) { return try_on(step, real<float>(ladder_n, 1, 1, step), {few_blocks}); },
    // The base is as much work as 15 tiles of 30 outputs along an axis, divided among 27 blocks: about one
    // tile for each multiprocessor of kata::machine. All steps make two sweeps of the base of step 06.
    .shapes = {on("base", 76, judged, "[one sweep]"),
               {"base of two sweeps",
                [](const Module& step) {
                    return try_on(step, coded<float>(116, 1, 2 / sweeps_of(step), step), {few_blocks});
                },
                "[two sweeps]"},
               on("odd", 61),
               on<double>("doubles", 60),
               on("small", 16, judged, "[thread each]"),
               on("ladder", ladder_n, for_ideas),
               inside("inside, blocks of 8", 24),
               inside("inside, tiles of 8", 18),
               inside("inside, rows in two sectors", 16),
               inside("inside, tiles of 32", 64),
               one_block("block of step 05", 60, 7 * 8 + 3),
               one_block("block of step 06", 60, 1)},
    .sketch = [](const Module& step) -> kata::Sketch {
        constexpr int n = 32;
        return {try_on(step, coded<float>(n, 1, 1, step)),
                "a grid of 32 x 32 x 32 cells",
                "planes",
                {{"in", {n, n, n}}, {"out", {n, n, n}}}};
    },
    .timed =
        [](std::optional<int>) {
            return std::make_unique<kata::TimedOn<Problem<float>>>(large_real(timed_n),
                                                                   8.0 * static_cast<double>(cells(timed_n)));
        },
    .at_scale =
        [](const Module& step, std::optional<int>) {
            Buffer<float> in("in", cells(timed_n), kata::zeros), out("out", cells(timed_n), kata::zeros);
            call<float>(step, in.data(), out.data(), timed_n, {});
            return kata::AtScale{stencil::operations(timed_n) * sweeps_of(step), 1.0 / sweeps_of(step)};
        },
    .columns = {"bytes_loaded", "bytes_stored", "sectors", "load_efficiency", "shared_passes", "barriers",
                "intensity"},
};
const kata::Chapter& kata::chapter = ::chapter;
