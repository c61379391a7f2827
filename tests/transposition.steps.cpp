// The transposition chapter as data: the purpose of each step, and the matrices on which it is counted.
#include "judge/suite.hpp"
#include "transposition.problem.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace transposition::problem;
using transposition::Shape;
using enum kata::Claim::Standing;

namespace {

constexpr std::string_view blog = "NVIDIA's blog, An Efficient Matrix Transpose in CUDA C/C++";

const kata::Step steps[] = {
    {.name = "01_naive",
     .entry = "transpose",
     // Eight warps with four rounds each. The lanes of a load reach one line of the matrix, and those of a
     // store 32 lines of the result.
     .figures = {{"one tile", "global_requests", 2 * 32},
                 {"one tile", "sectors_loaded", 32 * 4},
                 {"one tile", "sectors_stored", 32 * 32}}},
    {.name = "02_shared_tile",
     .before = "01_naive",
     .entry = "transpose",
     .beats = {{"01_naive", "sectors_stored", 6.0,
                "a warp stores a row of the result, which is one line, and not 32 elements a row apart",
                blog},
               {"01_naive", "milliseconds", 2.5, "both sides are coalesced", blog}},
     // In the tile 32 lanes store a row in one pass, and read a column in 32.
     .figures = {{"one tile", "sectors_loaded", 32 * 4},
                 {"one tile", "sectors_stored", 32 * 4},
                 {"one tile", "shared_passes", 32 + 32 * 32},
                 {"one tile", "bank_conflicts", 32 * 31}}},
    {.name = "03_padded_tile",
     .before = "02_shared_tile",
     .entry = "transpose",
     .beats = {{"02_shared_tile", "shared_passes", 12.0,
                "the elements of a column are in different banks, and a warp reads them in one pass", blog},
               {"02_shared_tile", "milliseconds", 1.5, "there are no bank conflicts", blog}},
     .figures = {{"one tile", "shared_passes", 2 * 32}, {"one tile", "bank_conflicts", 0}}},
    {.name = "04_wide_loads",
     .before = "03_padded_tile",
     .entry = "transpose",
     .beats = {{"03_padded_tile", "global_requests", 3.0,
                "a load or a store moves four elements instead of one", "not in the documents"},
               // 1.005 times on an H100, where step 03 is within a tenth of a copy; 1.033 times on an H200.
               {"03_padded_tile", "milliseconds", 1.02, "there are fewer loads and stores",
                "not in the documents", refuted},
               // Tiles of 64 x 64 (float4), of which a warp covers two rows, have two passes for each store.
               {"02_shared_tile", "shared_passes", 6.0,
                "the padded tile has few bank conflicts, although a warp covers several of its rows",
                "not in the documents"}},
     .figures = {{"one tile", "global_requests", 2 * 8},
                 {"one tile", "shared_requests", 2 * 32},
                 {"one tile", "bank_conflicts", 0}}},
    {.name = "05_swizzle",
     .before = "04_wide_loads",
     .entry = "transpose",
     .beats = {{"04_wide_loads", "shared_requests", 1.4,
                "a pack is stored into the tile at once, and not element by element", "not in the documents"},
               // 1.000 times on an H100, 0.998 on an H200.
               {"04_wide_loads", "milliseconds", 1.02, "there are fewer stores into the tile",
                "not in the documents", refuted},
               {"03_padded_tile", "global_requests", 3.0,
                "a load or a store moves four elements instead of one", "not in the documents"},
               {"02_shared_tile", "shared_passes", 12.0, "the elements of a column are in different banks",
                "not in the documents"}},
     // A store of 16 bytes a lane needs four passes, as do four stores of one word.
     .figures = {{"one tile", "global_requests", 2 * 8},
                 {"one tile", "shared_requests", 8 + 32},
                 {"one tile", "shared_passes", 2 * 32},
                 {"one tile", "bank_conflicts", 0}}},
    {.name = "06_whole_lines",
     .before = "05_swizzle",
     .entry = "transpose",
     .traits = "[lines]",
     .beats = {{"05_swizzle", "sectors_stored", 1.12,
                "the stores of a warp begin where a line begins, although rows of the result do not",
                "not in the documents"},
               {"05_swizzle", "milliseconds", 1.01, "a block has a larger tile", "not in the documents"},
               {"05_swizzle", "milliseconds", 1.3, "stores fill whole lines", "not in the documents",
                asserted, 16383}},
     .figures = {{"odd", "sectors_stored", 10512}}},
    {.name = "07_packs_anywhere",
     .before = "06_whole_lines",
     .entry = "transpose",
     .traits = "[lines]",
     .beats = {{"06_whole_lines", "global_requests", 2.0,
                "a load or a store moves four elements at odd sizes, too", "not in the documents"},
               // 1.16 times on an H200. No H100 has timed it, where step 06 leaves less to gain.
               {"06_whole_lines", "milliseconds", 1.03, "there are fewer loads and stores at odd sizes",
                "not in the documents", asserted, 16383}},
     .figures = {{"odd", "global_requests", 2605}}},
};

/// Matrices that are not judged are counted for figures of the lesson.
constexpr bool judged = true, for_figures = false;

/// Returns the step on a matrix.
kata::Shape on(std::string_view name, const Shape& s, bool is_judged = judged, std::string_view traits = "") {
    return {name, [s](const Module& step) { return try_on(step, coded(s)); }, traits, is_judged};
}

/// The timed matrix is a square of 16384 rows, or of as many as the variant's number.
Shape timed_shape(std::optional<int> rows) { return {rows.value_or(16384), rows.value_or(16384)}; }

}  // namespace

static const kata::Chapter chapter{
    .name = "transposition",
    .problem = "a matrix of 256 x 320",
    .timed_problem = "a matrix of 16384 x 16384",
    .steps = steps,
    .ladder =
        [](const Module& step) {
            return try_on(step, coded({256, 320}));
        },
    .shapes = {on("odd", {255, 321}, judged, "[lines]"), on("base", {256, 320}), on("ragged", {149, 211}),
               on("long rows", {12, 3000}), on("long columns", {3000, 12}),
               on("one tile", {32, 32}, for_figures)},
    .sketch = [](const Module& step) -> kata::Sketch {
        return {try_on(step, coded({32, 64})),
                "a matrix of 32 x 64",
                "owners",
                {{"in", {32, 64}}, {"out", {64, 32}}}};
    },
    .timed =
        [](std::optional<int> rows) {
            const auto s = timed_shape(rows);
            return std::make_unique<kata::TimedOn<Problem>>(large(s), 8.0 * s.elements());
        },
    .at_scale =
        [](const Module& step, std::optional<int> rows) {
            const auto s = timed_shape(rows);
            Buffer<float> in("in", s.elements(), kata::zeros), out("out", s.elements(), kata::zeros);
            call(step, in.data(), out.data(), s);
            return kata::AtScale{};
        },
    .columns = {"sectors_loaded", "sectors_stored", "global_requests", "shared_requests", "bank_conflicts",
                "barriers"},
};
const kata::Chapter& kata::chapter = ::chapter;
