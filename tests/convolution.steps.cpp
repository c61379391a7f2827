// The convolution chapter as data: the purpose of each step, and the images on which it is counted.
#include "check/picture.hpp"
#include "convolution.problem.hpp"
#include "judge/suite.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace convolution::problem;
using convolution::Shape;

namespace {

constexpr auto refuted = kata::Claim::Standing::refuted;
constexpr auto asserted = kata::Claim::Standing::asserted;

constexpr Shape ladder_shape{320, 240, 2};

double number(std::uint64_t count) { return static_cast<double>(count); }

/// Returns a quantity of the step on a shape, divided by that of its solution.
auto beside_solution(kata::Quantity quantity, std::string_view shape) {
    return [=](const kata::Counted& counted) -> std::optional<double> {
        return quantity(counted(shape)) / quantity(counted.of_solution(shape));
    };
}

// The limits of all chapters accept a store for each row of weights.
const kata::Idea stores_once{.lacking = "an output is stored more than once",
                             .number_is = "bytes stored to global memory, divided by those of the solution",
                             .number = beside_solution("bytes_stored", "base"),
                             .most = 1.5};

// An image of 8 x 8 is smaller than any tile, and has no halo.
const kata::Idea loads_the_tile_once{
    .lacking = "elements of the tile are read from global memory again",
    .number_is = "bytes loaded from global memory for an image of 8 x 8, divided by those of the solution",
    .number = beside_solution("bytes_loaded", "one tile"),
    .most = 1};

// The step is about the weights, and no comparison shows where they are loaded from.
const kata::Idea weights_are_constant{
    .lacking = "the weights do not come from constant memory",
    .number_is = "bytes loaded from constant memory, for each byte loaded from global memory",
    .number = [](const kata::Counted& counted) -> std::optional<double> {
        const auto& c = counted("ragged");
        return number(c.constant_load.bytes) / number(c.global_load.bytes);
    },
    // A thread with several outputs may load a weight once for all of them.
    .least = 1.0 / 64};

// At radius 3, where the sums are short compared with the loading. A single warp needs 14 rounds, and the
// whole block needs one.
const kata::Idea all_warps_load{
    .lacking = "the longest thread takes too long",
    .number_is = "the longest chain of steps at radius 3, divided by that of the solution",
    .number = beside_solution("span", "radius 3"),
    .most = 1.5,
    .of_chain = true};

// With one multiprocessor few blocks run at a time, so each has many rows.
const kata::Idea strips_are_high{
    .lacking = "too much of a high image is loaded",
    .number_is =
        "bytes loaded of an image of 76 x 700 on one multiprocessor, divided by those of the solution",
    .number = beside_solution("bytes_loaded", "high"),
    .most = 1.25};

const kata::Idea packs_at_every_radius{
    .lacking = "with a large filter its warps load or store too often",
    .number_is =
        "times that a warp loads from or stores to global memory at radius 7, divided by those of "
        "the solution",
    .number = beside_solution("global_requests", "radius 7"),
    .most = 3};

const kata::Step steps[] = {
    {.name = "01_basic",
     .entry = "convolve",
     .ideas = {stores_once},
     // In an image of 224 x 448 there are 1114 · 2234 pairs of a weight and an element inside, 8 B each.
     .figures = {{"base", "bytes_loaded", 19909408},
                 {"ladder", "active_lanes", 31.95, 0.02},
                 {"small", "active_lanes", 31.40, 0.05}}},
    {.name = "02_constant_memory",
     .before = "01_basic",
     .entry = "convolve",
     .beats =
         {
             {"01_basic", "bytes_loaded", 1.8,
              "the weights come from constant memory, so half of the loads are gone", "PMPP-notes 7.3"},
             // On an H100 (sm_90), for 16384 x 16384 elements: 1.036 times. Half of the loads are gone, and
             // the time hardly changes.
             {"01_basic", "milliseconds", 1.01, "half of the loads are gone", "PMPP-notes 7.3", asserted,
              std::nullopt, "sm_90"},
         },
     .ideas = {weights_are_constant, stores_once},
     // An H100 times symbol_address, whose outer loop is over the columns, at 0.73 of step 01.
     .allows = {{"milliseconds", 1.5}},
     .figures = {{"base", "bytes_loaded", 9954704}}},
    {.name = "03_tiled",
     .before = "02_constant_memory",
     .entry = "convolve",
     .beats =
         {
             {"02_constant_memory", "bytes_loaded", 10.0,
              "a block reads its input tile once instead of once for every weight", "PMPP-notes 7.4"},
             // 1.66 times at radius 2, all of it because the compiler knows the radius: step 02 with such a
             // radius (its variant compile_time_radius) is 1.03 times as fast as this step. At radius 4 this
             // step is 1.19 times as fast as that variant, which is due to the tile.
             {"02_constant_memory", "milliseconds", 1.4,
              "the compiler knows the radius, and repeated reads are served on chip", "PMPP-notes 7.4"},
         },
     .ideas = {loads_the_tile_once},
     .figures = {{"inside, tiles of 28", "bytes_loaded", 32 * 32 * 4},
                 {"inside, tiles of 18", "bytes_loaded", 32 * 32 * 4},
                 {"9 tiles of 28", "bytes_loaded", 92 * 92 * 4},
                 {"base", "threads", 8 * 16 * 1024},
                 {"ladder", "basic_blocks", 158184, 8000}}},
    {.name = "04_tiled_by_output",
     .before = "03_tiled",
     .entry = "convolve",
     .beats =
         {
             {"02_constant_memory", "bytes_loaded", 10.0,
              "a block reads its input tile once instead of once for every weight", "PMPP-notes 7.4"},
             {"03_tiled", "threads", 1.2, "a block as large as the output tile needs no threads for the halo",
              "PMPP-notes 7.4"},
             {"05_cached_halo", "bytes_loaded", 1.5,
              "a halo element in shared memory is loaded once, and not for each of its weights",
              "PMPP-notes 7.4"},
             // 0.91 times at radius 2, 1.16 times at radius 4, 1.78 times at radius 7: the larger the radius,
             // the more threads of step 03 are idle on the halo.
             {"03_tiled", "milliseconds", 1.0, "no thread is idle while the others add", "PMPP-notes 7.4",
              refuted},
             {"03_tiled", "milliseconds", 1.05,
              "at radius 4 step 03 has an output for 576 of its 1024 threads", "PMPP-notes 7.4", asserted, 4,
              "sm_90"},
             {"03_tiled", "milliseconds", 1.4,
              "at radius 7 step 03 has an output for 324 of its 1024 threads", "PMPP-notes 7.4", asserted, 7},
         },
     .ideas = {loads_the_tile_once, all_warps_load},
     // Tiles of 16 x 16 (nested_loading): an H100 times 0.75 of step 03 at radius 4, and 1.00 at radius 7.
     .allows = {{"milliseconds", 1.5}},
     // 32 warps load the 36² elements of a tile in the first round and 9 in the second; 32 warps store.
     .figures = {{"inside, tiles of 32", "bytes_loaded", 36 * 36 * 4},
                 {"inside, tiles of 32", "global_requests", 32 + 9 + 32},
                 {"base", "threads", 7 * 14 * 1024}}},
    {.name = "05_cached_halo",
     .before = "04_tiled_by_output",
     .entry = "convolve",
     .beats =
         {
             {"02_constant_memory", "bytes_loaded", 5.0,
              "the inside of a tile is read once, and only the halo more often", "PMPP-notes 7.5"},
             {"03_tiled", "threads", 1.2, "a block as large as the tile needs no threads for the halo",
              "PMPP-notes 7.5"},
             // Counted in elements and not in passes: a step that handles the outputs at the edges of the
             // tile separately has more passes.
             {"04_tiled_by_output", "shared_accesses", 1.03,
              "the halo is neither stored in shared memory nor read from there", "PMPP-notes 7.5"},
             // 0.42 times, with 2.9 times the basic blocks of step 03, for 17 of 32 lanes each, and 2.7 times
             // the sectors. It was not measured which of the two costs the time.
             {"03_tiled", "milliseconds", 1.0, "the halo comes from the cache", "PMPP-notes 7.5", refuted},
             // 0.46 times.
             {"04_tiled_by_output", "milliseconds", 1.0, "the halo comes from the cache", "PMPP-notes 7.5",
              refuted},
         },
     .ideas = {loads_the_tile_once},
     .figures = {{"inside, tiles of 32", "bytes_loaded", (32 * 32 + 1884) * 4},
                 {"ladder", "basic_blocks", 463968, 23000},
                 {"ladder", "active_lanes", 17, 1}}},
    {.name = "06_register_window",
     .before = "05_cached_halo",
     .entry = "convolve",
     .beats =
         {
             {"02_constant_memory", "bytes_loaded", 3.0,
              "a row is loaded once for all outputs of a column that use it", "not in the documents"},
             {"03_tiled", "threads", 5.0, "a thread computes all outputs of a strip's column",
              "not in the documents"},
             {"04_tiled_by_output", "shared_passes", 1000.0,
              "sums are in registers, and their operands come from the cache", "not in the documents"},
             {"05_cached_halo", "barriers", 1000.0, "no thread needs what another one has loaded",
              "not in the documents"},
             // In another run, at radius 2: 1.02 ms, where 05, 03 and 04 take 5.04, 2.12 and 2.34. At radius
             // 7: 4.09, where 04 takes 8.81.
             {"05_cached_halo", "milliseconds", 2.0, "there is no shared memory and no test",
              "not in the documents"},
             {"03_tiled", "milliseconds", 1.5, "sums are in registers", "not in the documents"},
             {"04_tiled_by_output", "milliseconds", 1.5, "sums are in registers", "not in the documents",
              asserted, 7},
         },
     .ideas = {strips_are_high},
     // Strips of 32 rows (strips_2d): an H100 times 1.33 of step 04 at radius 7.
     .allows = {{"milliseconds", 1.2, "7"}},
     // 44 rows of five elements for each of 128 columns, and 40 outputs; four warps.
     .figures = {{"inside, strips of 40", "bytes_loaded", 128 * 44 * 5 * 4},
                 {"inside, strips of 40", "global_requests", 4 * (44 * 5 + 40)}}},
    {.name = "07_wide_loads",
     .before = "06_register_window",
     .entry = "convolve",
     .beats =
         {
             {"06_register_window", "global_requests", 4.0,
              "a load brings four elements, which serve four columns, and a store takes four",
              "not in the documents"},
             {"06_register_window", "bytes_loaded", 1.4,
              "columns that are neighbours share the elements between them", "not in the documents"},
             {"04_tiled_by_output", "shared_passes", 1000.0, "sums and their operands are in registers",
              "not in the documents"},
             // 1.27 times at radius 2, 1.45 times at radius 7.
             {"06_register_window", "milliseconds", 1.1,
              "four columns share their loads, and a warp has a sixth of the requests",
              "not in the documents", asserted, std::nullopt, "sm_90"},
             {"06_register_window", "milliseconds", 1.2,
              "four columns share their loads, and a warp has fewer requests", "not in the documents",
              asserted, 7, "sm_90"},
         },
     .ideas = {packs_at_every_radius, strips_are_high},
     // 24 rows of three packs for each of 256 threads, and 20 outputs; eight warps.
     .figures = {{"inside, strips of 20", "bytes_loaded", 256 * 24 * 3 * 16},
                 {"inside, strips of 20", "global_requests", 8 * (24 * 3 + 20)},
                 // 132 multiprocessors, eight blocks on each, and 15 rows for each of 2112 strips.
                 {"two waves", "blocks", 2 * 132 * 8}}},
};

/// Images that are not judged are counted for ideas and for figures of the lesson.
constexpr bool judged = true, for_ideas = false;

/// Returns the step on an image.
kata::Shape on(std::string_view name, const Shape& s, bool is_judged = judged,
               const kata::Conditions& conditions = {}) {
    return {name, [s, conditions](const Module& step) { return try_on(step, coded(s), {conditions}); }, "",
            is_judged};
}

/// The block in the middle of 3 x 3, whose halo is entirely inside the image.
kata::Shape inside(std::string_view name, const Shape& s) {
    return on(name, s, for_ideas, {.only_block = 4});
}

/// Filters a picture, channel by channel, with a bell-shaped filter of radius 3.
kata::Run on_file(const Module& step, const kata::Brought& file) {
    auto picture = kata::read_picture(file.in);
    const Shape s{picture.width, picture.height, 3};
    const std::vector<float> bell{1, 6, 15, 20, 15, 6, 1};  // binomial coefficients
    kata::Run all;
    const auto channels = static_cast<std::size_t>(picture.channels);
    for (std::size_t channel = 0; channel < channels; ++channel) {
        Problem p{s, std::vector<float>(elements(s)), {}, false};
        for (std::size_t i = 0; i < p.in.size(); ++i) p.in[i] = picture.pixels[i * channels + channel];
        for (const float a : bell)
            for (const float b : bell) p.filter.push_back(a * b / 4096);
        Problem::Device device(p, kata::poison);
        const auto one = try_on(
            step, p, device,
            {file.conditions(s.outputs() * picture.channels, static_cast<int>(channel), picture.channels)});
        if (one.fault) return one;
        const auto result = device.result();
        for (std::size_t i = 0; i < p.in.size(); ++i)
            picture.pixels[i * channels + channel] =
                static_cast<unsigned char>(std::lround(std::clamp(result[i], 0.0f, 255.0f)));
        all += one;
    }
    kata::write_picture(file.out, picture);
    return all;
}

}  // namespace

static const kata::Chapter chapter{
    .name = "convolution",
    .problem = "an image of 320 x 240 and a filter of 5 x 5 weights",
    .timed_problem = "an image of 16384 x 16384 and a filter of 5 x 5 weights",
    .steps = steps,
    .ladder = [](const Module& step) { return try_on(step, real(ladder_shape)); },
    // The base has whole tiles of 28 and 32, and several strips.
    .shapes = {on("base", {224, 448, 2}), on("ragged", {211, 149, 2}), on("radius 7", {128, 150, 7}),
               on("long", {3000, 13, 2}), on("high", {76, 700, 2}, judged, {.multiprocessors = 1}),
               on("radius 3", {96, 96, 3}, for_ideas), on("one tile", {8, 8, 2}, for_ideas),
               on("small", {64, 64, 7}, for_ideas), on("ladder", ladder_shape, for_ideas),
               on("9 tiles of 28", {84, 84, 2}, for_ideas), on("two waves", {8, 31680, 0}, for_ideas),
               inside("inside, tiles of 28", {84, 84, 2}), inside("inside, tiles of 18", {54, 54, 7}),
               inside("inside, tiles of 32", {96, 96, 2}),
               inside("inside, strips of 40", {3 * 128, 3 * 40, 2}),
               inside("inside, strips of 20", {3 * 1024, 3 * 20, 2})},
    .sketch = [](const Module& step) -> kata::Sketch {
        const std::vector<int> rows{60, 84};  // several tiles, some of which reach over the edges
        return {try_on(step, coded({84, 60, 2})),
                "an image of 84 x 60 and a filter of 5 x 5",
                "fetches",
                {{"in", rows}, {"out", rows}}};
    },
    .timed =
        [](std::optional<int> radius) {
            const Shape s{16384, 16384, radius.value_or(2)};
            return std::make_unique<kata::TimedOn<Problem>>(
                large(s, kata::reals(kata::prime_period, 1), real({1, 1, s.radius})), 8.0 * s.outputs());
        },
    .at_scale =
        [](const Module& step, std::optional<int> radius) {
            const Shape s{16384, 16384, radius.value_or(2)};
            Buffer<float> in("in", elements(s), kata::zeros), filter("filter", weights(s), kata::zeros),
                out("out", elements(s), kata::zeros);
            call(step, in.data(), filter.data(), out.data(), s);
            return kata::AtScale{convolution::operations(s)};
        },
    .check_file = [](const std::filesystem::path& file) { kata::read_picture(file); },
    .on_file = on_file,
};
const kata::Chapter& kata::chapter = ::chapter;
