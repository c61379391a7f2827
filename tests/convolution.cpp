// The suite of the convolution chapter: what every step must compute, and what each of them must gain.
#include "convolution.hpp"

#include "check/data.hpp"
#include "check/picture.hpp"
#include "error.hpp"
#include "suite/trial.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

using convolution::Shape;
using kata::Buffer;
using kata::Module;
using kata::only_on_a_gpu;
using kata::Order;
using kata::require_right;

namespace {

struct Problem {
    Shape shape;
    std::vector<float> in, filter;
    bool exact = true;

    std::string text() const {
        return "width = " + std::to_string(shape.width) + ", height = " + std::to_string(shape.height) +
               ", radius = " + std::to_string(shape.radius);
    }
    double outputs() const { return shape.outputs(); }
    double operations() const { return convolution::operations(shape); }

    kata::Expected expected() const {
        convolution::check(shape);
        kata::Expected e{
            convolution::reference(in, filter, shape), {}, {{shape.width, shape.height}, {32, 32}}};
        if (exact) return e;
        // A sum of n products in any order is off by at most n · eps · Σ|terms|, to first order in eps.
        e.bound = convolution::magnitude(in, filter, shape);
        for (auto& bound : e.bound) bound *= (shape.side() * shape.side() + 1) * kata::rounding<float>;
        return e;
    }

    /// Of which other filter a wrong result is the right one.
    std::optional<std::string> made_of(const Module&, const kata::Conditions&,
                                       const std::vector<float>& result) const {
        const auto side = static_cast<std::size_t>(shape.side()), count = side * side;
        if (!exact || shape.radius == 0 || in.size() * count >= 100 * kata::too_large_to_ask)
            return std::nullopt;
        constexpr std::size_t few = 16;  // of so few elements another cause may make the same
        if (result.size() < few) return std::nullopt;
        auto exchanged = filter, begun = filter;
        for (std::size_t i = 0; i < count; ++i) exchanged[i] = filter[i % side * side + i / side];
        std::fill(begun.begin() + static_cast<std::ptrdiff_t>(count / sizeof(float)), begun.end(), 0.0f);
        const std::vector<float> turned(filter.rbegin(), filter.rend());
        const auto is_of = [&](const std::vector<float>& other) {
            const auto all = convolution::reference(in, other, shape);
            return std::equal(result.begin(), result.end(), all.begin(),
                              [](float a, double b) { return static_cast<double>(a) == b; });
        };
        const std::string right = "it would be right for ";
        for (const auto& earlier : filters_before())
            if (earlier.size() == count && earlier != filter && is_of(earlier))
                return right +
                       "the filter of an earlier call: the weights may be others in each call, whatever the "
                       "size of the image";
        if (is_of(exchanged)) return right + "a filter of which rows and columns are exchanged";
        if (is_of(turned))
            return right + "a filter that is turned round, of which the last weight is the first";
        if (is_of(begun))
            return right + "a filter of which only the first " + std::to_string(count / sizeof(float)) +
                   " of " + std::to_string(count) +
                   " weights are not 0: a copy is told how many bytes there are, not how many elements";
        for (std::size_t row = 1; row <= 2 * convolution::max_radius + 2; ++row) {
            if (row == side || in.size() * count >= 16 * kata::too_large_to_ask) continue;
            auto other = filter;
            for (std::size_t i = 0; i < count; ++i) {
                const auto at = i / side * row + i % side;
                other[i] = at < count ? filter[at] : 0.0f;
            }
            if (is_of(other))
                return right + "a filter of which each row has " + std::to_string(row) +
                       " weights, and it has " + std::to_string(side);
        }
        return std::nullopt;
    }

    /// Of the last calls, the latest in front.
    static std::vector<std::vector<float>>& filters_before() {
        static std::vector<std::vector<float>> filters;
        return filters;
    }

    struct Device {
        Shape shape;
        kata::Input<float> in, filter;
        Buffer<float> out;

        explicit Device(const Problem& p, std::byte poison)
            : shape(p.shape), in("in", p.in), filter("filter", p.filter), out("out", p.in.size(), poison) {
            constexpr std::size_t most = 3;
            auto& filters = filters_before();
            filters.insert(filters.begin(), p.filter);
            if (filters.size() > most) filters.pop_back();
        }
        void run(const Module& step) {
            step.function<decltype(convolve)>("convolve")(in.data(), filter.data(), out.data(), shape.width,
                                                          shape.height, shape.radius);
        }
        auto damage() const { return kata::damage_of(in, filter, out); }
        auto result() const { return out.values(); }
    };
};

std::size_t elements(const Shape& s) { return static_cast<std::size_t>(s.outputs()); }
std::size_t weights(const Shape& s) { return static_cast<std::size_t>(s.side() * s.side()); }

/// Small integers: every sum is exact in float, whatever the order, and a wrong index shows.
Problem coded(const Shape& s, unsigned seed = 1) {
    return {s, kata::coded(elements(s), seed), kata::coded(weights(s), seed + 1000)};
}

Problem real(const Shape& s, unsigned seed = 1) {
    return {s, kata::reals(elements(s), seed), kata::reals(weights(s), seed + 1000), false};
}

/// For images that would take seconds to fill anew.
Problem large(const Shape& s, const std::vector<float>& few, Problem small) {
    small.shape = s;
    small.in = kata::repeated(few, elements(s));
    return small;
}

}  // namespace

// In this order, and before all other calls of the process: what is decided in the first one is wrong then.
TEST_CASE("an image may be of another size in each call", "[step][07_wide_loads]") {
    require_right(coded({76, 70, 2}));
    INFO("in a call after one with an image of 76 x 70: is anything kept from an earlier call?");
    require_right(coded({76, 301, 2}));
}

TEST_CASE("a step filters an image of several blocks and a bit", "[equivalence]") {
    require_right(coded({75, 70, 2}));  // large enough for a mistake to show its pattern
}

TEST_CASE("a step filters images of every size around its block and tile", "[equivalence]") {
    const int radius = GENERATE(2, 0, 7);
    // around the warp, the tile of step 03 at each radius (28, 32, 18), the tile of the others, primes
    const auto [width, height] = GENERATE(table<int, int>({{1, 1},
                                                           {2, 1},
                                                           {1, 2},
                                                           {5, 3},
                                                           {16, 16},
                                                           {28, 28},
                                                           {29, 27},
                                                           {31, 33},
                                                           {32, 32},
                                                           {33, 31},
                                                           {18, 19},
                                                           {64, 17},
                                                           {6, 6},
                                                           {97, 5},
                                                           {3, 101}}));
    require_right(coded({width, height, radius}));
}

TEST_CASE("a step takes every radius from 0 to 7", "[equivalence]") {
    const int radius = GENERATE(range(0, convolution::max_radius + 1));
    require_right(coded({67, 41, radius}));
}

TEST_CASE("strips of any length, and the rows around them", "[step][06_register_window][07_wide_loads]") {
    // 40 and 20 rows at radius 2, 120 and 60 at radius 7; rows that begin at multiples of 16 bytes or do not
    require_right(coded(GENERATE(Shape{5, 101, 2}, Shape{12, 51, 2}, Shape{6, 301, 7}, Shape{8, 151, 7})));
}

TEST_CASE("rows that begin at multiples of 16 bytes, at every radius", "[step][07_wide_loads]") {
    const int radius = GENERATE(range(0, convolution::max_radius + 1));
    require_right(coded({68, 21, radius}));
    require_right(coded({4, 9, radius}));
}

TEST_CASE("images of a multiple of four elements, or of four rows, whose rows are of any length",
          "[step][07_wide_loads]") {
    require_right(coded(GENERATE(Shape{5, 8, 3}, Shape{6, 2, 1}, Shape{10, 6, 2}, Shape{1, 4, 2})));
}

TEST_CASE("rows that begin at multiples of 16 bytes and are longer than a block", "[step][07_wide_loads]") {
    require_right(coded({GENERATE(124, 128, 132, 516, 1028), 7, 3}), kata::unmetered);
}

TEST_CASE("an empty image is no work and no error", "[equivalence]") {
    const auto [width, height] = GENERATE(table<int, int>({{0, 0}, {0, 5}, {5, 0}}));
    require_right(coded({width, height, 2}));
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    const unsigned seed = order == Order::shuffled ? GENERATE(1u, 2u) : 1u;
    CAPTURE(order == Order::shuffled, seed);
    require_right(coded({75, 70, 2}), {{.order = order, .seed = seed}});
}

TEST_CASE("rounding stays within the bound of the sum", "[equivalence]") {
    const int radius = GENERATE(1, 2, 7);
    require_right(real({101, 53, radius}, 7));
}

TEST_CASE("a second image gets an answer of its own", "[equivalence]") {
    require_right(coded({40, 40, 2}, 1));
    require_right(coded({40, 40, 2}, 2), {.poison = std::byte{0x3C}});
}

TEST_CASE("a large image", "[equivalence]") { require_right(coded({257, 193, 2})); }

// Also more than 16 bits count, and more blocks than some grids are cut to.
TEST_CASE("more blocks than a block may have threads: grid and block cannot be exchanged",
          "[step][01_basic][02_constant_memory]") {
    const auto shape = GENERATE(Shape{70001, 1, 1}, Shape{1, convolution::max_height, 1});
    require_right(coded(shape), kata::unmetered);
}

TEST_CASE("more tiles in a row or a column than 1024, of more elements than 15 bits count",
          "[step][03_tiled][04_tiled_by_output][05_cached_halo]") {
    const auto shape = GENERATE(Shape{1025 * 32, 1, 1}, Shape{1, 1025 * 32, 1});
    require_right(coded(shape), kata::unmetered);
}

namespace {

/// An image that is zero but in two of its corners.
struct Corners {
    int width, height;
    Buffer<float> in, filter, out;

    Corners(int w, int h)
        : width(w),
          height(h),
          in("in", elements(), kata::zeros),
          filter("filter", std::vector<float>(9, 2)),
          out("out", elements(), kata::zeros) {
        for (const auto i : {std::size_t{0}, elements() - 1}) in.set(i, 3);
    }
    std::string text() const {
        return "width = " + std::to_string(width) + ", height = " + std::to_string(height);
    }
    std::size_t elements() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    }
    void run(const Module& step) {
        step.function<decltype(convolve)>("convolve")(in.data(), filter.data(), out.data(), width, height, 1);
    }
    std::optional<std::string> fault() const {
        const auto n = elements();
        for (const auto i : {std::size_t{0}, n - 2, n - 1})
            if (out.element(i) != 6)
                return "element " + std::to_string(i) + " of " + std::to_string(height) + " rows of " +
                       std::to_string(width) + ": expected 6, got " + std::to_string(out.element(i));
        return kata::damage_of(in, filter, out);
    }
};

void require_right_in_its_corners(int width, int height) {
    Corners p(width, height);
    kata::require_right_at_ends([&](const Module& step) { p.run(step); }, [&] { return p.fault(); });
}

}  // namespace

TEST_CASE("an image of more elements than a float counts", "[step][01_basic][02_constant_memory]") {
    require_right_in_its_corners(4099, 4111);
}

// Along x a grid has room for 2^31 blocks, along y and z for 65535.
TEST_CASE("a row of more blocks than a grid has along y", "[equivalence]") {
    require_right_in_its_corners(65536 * 32 + 5, 2);
}

TEST_CASE("an image of more bytes than 32 bits count", "[equivalence]") {
    kata::require_right_beyond_32_bits<Corners>([] { return Corners(4099, 4111); },
                                                [] { return Corners(32771, 32803); });
}

TEST_CASE("a very large image", "[equivalence]") {
    only_on_a_gpu();
    // More elements than a float counts, more than 65535 tiles in a row, as many rows as there may be.
    const auto shape =
        GENERATE(Shape{4099, 4111, 2}, Shape{65536 * 32 + 5, 2, 1}, Shape{3, convolution::max_height, 7});
    require_right(coded(shape));
}

TEST_CASE("a huge image", "[.huge][equivalence]") {
    only_on_a_gpu();
    // 2^30 bytes, above 2^32, and the longest row
    const auto shape =
        GENERATE(Shape{16384, 16384, 1}, Shape{32768, 32801, 1}, Shape{convolution::max_width, 1, 1});
    require_right(large(shape, kata::coded(kata::prime_period, 1), coded({1, 1, shape.radius})));
}

TEST_CASE("infinities and NaN reach the elements that see them, and no others", "[equivalence]") {
    auto p = coded({40, 36, 1});
    p.in[5 * 40 + 7] = std::numeric_limits<float>::infinity();
    p.in[33 * 40 + 31] = std::numeric_limits<float>::quiet_NaN();
    require_right(p);
}

TEST_CASE("infinities and NaN on the border are seen from inside, and nothing is made of what lies beyond",
          "[equivalence]") {
    // Whoever reads the nearest element instead of one outside, or that of the next row, and multiplies it by
    // 0, makes NaN of these.
    constexpr float inf = std::numeric_limits<float>::infinity(),
                    nan = std::numeric_limits<float>::quiet_NaN();
    const auto [width, height, radius] =
        GENERATE(table<int, int, int>({{40, 36, 1}, {64, 32, 2}, {30, 29, 7}}));
    auto p = coded({width, height, radius});
    const auto at = [&, width = width](int x, int y) -> float& {
        return p.in[static_cast<std::size_t>(y * width + x)];
    };
    SECTION("corners") {
        at(0, 0) = inf;
        at(width - 1, 0) = -inf;
        at(0, height - 1) = nan;
        at(width - 1, height - 1) = inf;
    }
    SECTION("edges") {
        at(width / 2, 0) = inf;
        at(width - 1, height / 2) = inf;
        at(width / 3, height - 1) = -inf;
        at(0, height / 3) = nan;
    }
    require_right(p);
}

// Who leaves out weights of 0 makes a number of it. Infinite weights are for nobody: steps may multiply them
// by the zeros that they take for what lies outside.
TEST_CASE("an infinity times a weight of zero is no number", "[equivalence]") {
    auto p = coded({45, 37, 2});
    p.in[20 * 45 + 20] = std::numeric_limits<float>::infinity();
    p.filter[0] = p.filter[7] = 0;
    require_right(p);
}

// An element for each weight of 5 x 5, and room for storing the tile.
TEST_CASE("a tile of floats", "[step][03_tiled][04_tiled_by_output][05_cached_halo]") {
    const Shape s{96, 96, 2};
    const auto c = kata::counted(coded(s));
    const double floats = 1.5 * (s.side() * s.side() + 2) * s.outputs();
    kata::require_at_most(floats * sizeof(float),
                          static_cast<double>(c.shared_load.bytes + c.shared_store.bytes),
                          "the result is right, but more bytes go to shared memory and come from there than "
                          "floats need: is the tile double, or an element read twice for a weight?",
                          "bytes loaded from shared memory and stored there");
}

// At radius 3, where the sums are short beside the rounds of loading. Smaller blocks and nested loops have a
// round or two more; one warp alone has 14.
TEST_CASE("all warps of a block load what is left of the tile", "[claims][step][04_tiled_by_output]") {
    const auto p = coded({96, 96, 3});
    const auto mine = kata::counted(p), theirs = counts_of(try_on(kata::rival(kata::step_name()), p));
    kata::require_at_most(
        1.5 * static_cast<double>(theirs.span), static_cast<double>(mine.span),
        "the result is right, but a few threads load much of the tile, one element after the other, while "
        "the rest of the block waits at the barrier: in each round all threads of the block should load",
        "the longest chain of steps at radius 3", ", which is 1.5 times the solution's");
}

// Also if the sum is stored only with each row of weights, which the limits of all chapters let pass.
TEST_CASE("an output is stored once", "[claims]") {
    const Shape s{64, 48, 2};
    kata::require_at_most(
        1.5 * s.outputs() * sizeof(float), static_cast<double>(kata::counted(coded(s)).global_store.bytes),
        "the result is right, but an output is stored more than once: is its sum kept in `out` and not in a "
        "register?",
        "bytes stored to global memory for an image of 64 x 48, which has 12288");
}

TEST_CASE("what is inside the tile comes from there",
          "[step][03_tiled][04_tiled_by_output][05_cached_halo]") {
    // Smaller than any tile: there is no halo.
    const Shape s{8, 8, 2};
    kata::require_at_most(s.outputs(), static_cast<double>(kata::counted(coded(s)).global_load.accesses),
                          "the result is right, but elements of the tile are read from global memory again: "
                          "which places are inside the tile, the first and the last among them?",
                          "loads from global memory for an image of 8 x 8 elements, which is one tile");
}

// Whose halo is in shared memory loads it once, half of what this step loads or less. Tiles of 64 x 64
// outputs, four to a thread, would load 0.7 of it.
TEST_CASE("the halo comes from global memory", "[claims][step][05_cached_halo]") {
    const auto p = coded({128, 96, 2});
    const auto mine = kata::counted(p), theirs = counts_of(try_on(kata::rival(kata::step_name()), p));
    kata::require_at_least(
        0.6 * static_cast<double>(theirs.global_load.bytes), static_cast<double>(mine.global_load.bytes),
        "the result is right, but the halo comes from shared memory: are elements outside of the block's own "
        "tile read from global memory, where the cache has them, whenever a sum needs one?",
        "bytes loaded from global memory for an image of 128 x 96");
}

TEST_CASE("the weights come from constant memory", "[claims][step][02_constant_memory]") {
    // A weight for each element that is loaded; a thread with four outputs may use one for all of them.
    const auto c = kata::counted(coded({64, 48, 2}));
    kata::require_at_least(
        static_cast<double>(c.global_load.bytes) / 4, static_cast<double>(c.constant_load.bytes),
        "the result is right, but the weights do not come from constant memory: is `weights` declared "
        "__constant__, and does the kernel read it where a weight is used?",
        "bytes loaded from constant memory, of a fourth of those from global memory");
}

TEST_CASE("all lanes of a warp want the same weight at a time",
          "[claims][step][02_constant_memory][03_tiled][04_tiled_by_output][05_cached_halo]"
          "[06_register_window][07_wide_loads]") {
    const auto load = kata::counted(coded({64, 48, 2})).constant_load;
    if (load.requests == 0) return;
    const double width = static_cast<double>(load.bytes) / static_cast<double>(load.accesses);
    kata::require_at_most(
        1.5, static_cast<double>(load.distinct) / width / static_cast<double>(load.requests),
        "the result is right, but lanes of a warp read constant memory at different addresses, which it "
        "answers one after the other: does the order of the weights depend on threadIdx?",
        "weights that a warp wants at a time");
}

TEST_CASE("a block is no smaller for a larger filter", "[claims][step][03_tiled]") {
    // The halo leaves few of its threads an output as it is.
    const auto threads = [](int radius) {
        const auto c = kata::counted(coded({64, 64, radius}));
        return static_cast<double>(c.threads) / static_cast<double>(c.blocks);
    };
    kata::require_at_least(
        threads(2), threads(convolution::max_radius),
        "the result is right, but its tiles are smaller where the halo is larger, which is loaded again for "
        "each of them: tiles of one size serve every radius",
        "threads of a block at radius 7, where as many are wanted as at radius 2");
}

TEST_CASE("what a step gains it gains at the largest radius, too",
          "[claims][step][03_tiled][04_tiled_by_output][05_cached_halo][06_register_window]"
          "[07_wide_loads]") {
    // Tiles of 16 x 16 with a cached halo load 0.42 of what step 02 does, a window of registers 0.07.
    const Shape s{128, 150, convolution::max_radius};
    const auto c = kata::counted(coded(s));
    const bool window = kata::step_name() >= "06";
    kata::require_at_most(
        convolution::operations(s) / 2 * sizeof(float) / (window ? 4 : 2),
        static_cast<double>(c.global_load.bytes),
        "the result is right, but with a large filter most elements are loaded again for each weight: is "
        "there another way for some radii?",
        "bytes loaded from global memory at radius 7");
    if (kata::step_name() < "05") {
        // Of a tile of 16 x 16 as large as the block 2 x 2 outputs are left, and 20 times the loads. As large
        // as the outputs, it has 1.7 times.
        const auto theirs = counts_of(try_on(kata::rival(kata::step_name()), coded(s)));
        kata::require_at_most(
            2 * static_cast<double>(theirs.global_load.bytes), static_cast<double>(c.global_load.bytes),
            "the result is right, but with a large filter a tile is nearly all halo, which is loaded again "
            "for each of them: how many outputs does a tile have at radius 7?",
            "bytes loaded from global memory at radius 7", ", which is twice the solution's");
    }
    if (kata::step_name() < "07") return;
    // A warp has 128 columns: five packs of a row, and one to store; element by element it is 15 and one for
    // each 32. There are 15 + 14 rows to a strip at least.
    kata::require_at_most(
        4 * s.height * 16.0 / 4, static_cast<double>(c.global_load.requests + c.global_store.requests),
        "the result is right, but with a large filter loads or stores bring fewer than four elements: are "
        "there packs of four at every radius, and also for the elements beside the thread's own four?",
        "times that a warp loads from or stores to global memory at radius 7");
}

// On one multiprocessor few blocks run at a time, so that there is much for each of them. Step 06 has strips
// of 40 rows, and may have some of 12; step 07 makes them as high as the image lets it.
TEST_CASE("strips of a high image are high, so that few rows come for two of them",
          "[claims][step][06_register_window][07_wide_loads]") {
    kata::only_where_counted();
    const kata::Conditions one{.multiprocessors = 1};
    const auto p = coded({32, 1600, 2});
    const auto mine = kata::counted(p, one),
               theirs = counts_of(try_on(kata::rival(kata::step_name()), p, {one}));
    const bool as_high_as_may_be = kata::step_name() >= "07";
    kata::require_at_most(
        (as_high_as_may_be ? 1.1 : 1.25) * static_cast<double>(theirs.global_load.bytes),
        static_cast<double>(mine.global_load.bytes),
        std::string("the result is right, but in a high image too many rows are loaded for two strips: how "
                    "many rows has a strip, and how many around it are loaded as well?") +
            (as_high_as_may_be ? " How many blocks run at a time, and how many rows are there for each?"
                               : ""),
        "bytes loaded of an image of 32 x 1600, at radius 2, with one multiprocessor");
}

TEST_CASE("weights of 0 are weights like any other", "[equivalence]") {
    const int radius = GENERATE(1, 2);
    auto p = coded({45, 37, radius});
    SECTION("some") {
        for (std::size_t i = 0; i < p.filter.size(); i += 3) p.filter[i] = 0;
    }
    SECTION("all but the last") { std::fill(p.filter.begin(), p.filter.end() - 1, 0.0f); }
    SECTION("all") { std::fill(p.filter.begin(), p.filter.end(), 0.0f); }
    require_right(p, {.poison = kata::nan_poison});
}

// What each step gains, counted on whole tiles of 28 elements as of 32, and for strips of 50 rows.

namespace {

constexpr Shape counted_shape{224, 448, 2}, ladder_shape{320, 240, 2};
using enum kata::Quantity;

constexpr kata::Claim claims[] = {
    {"02_constant_memory", "01_basic", bytes_loaded, 1.8,
     "the weights come from constant memory, so half of the loads are gone", "PMPP-notes 7.3"},
    {"03_tiled", "02_constant_memory", bytes_loaded, 10.0,
     "a block reads its input tile once instead of once for every weight", "PMPP-notes 7.4"},
    {"04_tiled_by_output", "02_constant_memory", bytes_loaded, 10.0,
     "a block reads its input tile once instead of once for every weight", "PMPP-notes 7.4"},
    {"04_tiled_by_output", "03_tiled", threads, 1.2,
     "a block as large as the output tile needs no threads for the halo", "PMPP-notes 7.4"},
    {"04_tiled_by_output", "05_cached_halo", bytes_loaded, 1.5,
     "a halo element in shared memory is loaded once, and not for every weight that meets it",
     "PMPP-notes 7.4"},
    {"05_cached_halo", "02_constant_memory", bytes_loaded, 5.0,
     "the inside of a tile is read once, and only the halo more often", "PMPP-notes 7.5"},
    {"05_cached_halo", "03_tiled", threads, 1.2, "a block as large as the tile needs no threads for the halo",
     "PMPP-notes 7.5"},
    // Of elements and not of passes: who treats the outputs at the edges of the tile apart has more of these.
    {"05_cached_halo", "04_tiled_by_output", shared_accesses, 1.03,
     "the halo is neither stored in shared memory nor read from there", "PMPP-notes 7.5"},
    {"06_register_window", "02_constant_memory", bytes_loaded, 3.0,
     "a row is loaded once for all outputs of a column that see it", "not in the documents"},
    {"06_register_window", "03_tiled", threads, 5.0, "a thread has all outputs of a strip's column",
     "not in the documents"},
    {"06_register_window", "04_tiled_by_output", shared_passes, 1000.0,
     "sums are in registers, and what they are made of comes from the cache", "not in the documents"},
    {"06_register_window", "05_cached_halo", barriers, 1000.0, "no thread needs what another one has loaded",
     "not in the documents"},
    {"07_wide_loads", "06_register_window", global_requests, 4.0,
     "a load brings four elements, which serve four columns, and a store takes four", "not in the documents"},
    {"07_wide_loads", "06_register_window", bytes_loaded, 1.4,
     "columns that are neighbours share the elements between them", "not in the documents"},
    {"07_wide_loads", "04_tiled_by_output", shared_passes, 1000.0,
     "sums are in registers, and so is what they are made of", "not in the documents"},
    // Times, of 16384 x 16384 elements. On an H100 (sm_90):
    // 1.036 times. Half of the loads are gone, and the time hardly changes.
    {"02_constant_memory", "01_basic", kata::Quantity::time, 1.01, "half of the loads are gone",
     "PMPP-notes 7.3", kata::Claim::Standing::asserted, std::nullopt, "sm_90"},
    // 1.66 times at radius 2, where all of it is due to the radius that the compiler knows: step 02 with such
    // a radius (its variant compile_time_radius) is 1.03 times as fast as this step. At radius 4 this step is
    // 1.19 times as fast as that variant, and this is the tile's.
    {"03_tiled", "02_constant_memory", kata::Quantity::time, 1.4,
     "the compiler knows the radius, and the rereading moves on chip", "PMPP-notes 7.4"},
    // 0.91 times at radius 2, 1.16 times at radius 4, 1.78 times at radius 7: the larger the radius, the more
    // threads of step 03 idle on the halo.
    {"04_tiled_by_output", "03_tiled", kata::Quantity::time, 1.0, "no thread idles while the others sum up",
     "PMPP-notes 7.4", kata::Claim::Standing::refuted},
    {"04_tiled_by_output", "03_tiled", kata::Quantity::time, 1.05,
     "at radius 4 step 03 has an output for 576 of its 1024 threads", "PMPP-notes 7.4",
     kata::Claim::Standing::asserted, 4, "sm_90"},
    {"04_tiled_by_output", "03_tiled", kata::Quantity::time, 1.4,
     "at radius 7 step 03 has an output for 324 of its 1024 threads", "PMPP-notes 7.4",
     kata::Claim::Standing::asserted, 7},
    // 0.42 times, with 2.9 times the basic blocks of step 03, for 17 of 32 lanes each, and 2.7 times the
    // sectors. Which of the two costs the time was not measured.
    {"05_cached_halo", "03_tiled", kata::Quantity::time, 1.0, "the halo comes from the cache",
     "PMPP-notes 7.5", kata::Claim::Standing::refuted},
    // 0.46 times.
    {"05_cached_halo", "04_tiled_by_output", kata::Quantity::time, 1.0, "the halo comes from the cache",
     "PMPP-notes 7.5", kata::Claim::Standing::refuted},
    // 1.02 ms against 5.04, 2.12 and 2.34 of another run, at radius 2; 4.09 against 8.81 at radius 7.
    {"06_register_window", "05_cached_halo", kata::Quantity::time, 2.0,
     "there is no shared memory and no test", "not in the documents"},
    {"06_register_window", "03_tiled", kata::Quantity::time, 1.5, "sums are in registers",
     "not in the documents"},
    {"06_register_window", "04_tiled_by_output", kata::Quantity::time, 1.5, "sums are in registers",
     "not in the documents", kata::Claim::Standing::asserted, 7},
    // 1.27 times at radius 2, 1.45 times at radius 7.
    {"07_wide_loads", "06_register_window", kata::Quantity::time, 1.1,
     "four columns share their loads, and a warp has a sixth of the requests", "not in the documents",
     kata::Claim::Standing::asserted, std::nullopt, "sm_90"},
    {"07_wide_loads", "06_register_window", kata::Quantity::time, 1.2,
     "four columns share their loads, and a warp has fewer requests", "not in the documents",
     kata::Claim::Standing::asserted, 7, "sm_90"},
};

}  // namespace

// The figures of the documents, to the digit. Operations are the multiplications and additions of elements
// inside the image, bytes those that threads load from global memory, whether or not a cache has them: the
// documents' own rule.

namespace {

double intensity(const Shape& s, const kata::Counts& c) {
    return convolution::operations(s) / static_cast<double>(c.global_load.bytes);
}

kata::Counts figures(const Shape& s, std::optional<std::uint64_t> only_block = {}) {
    return kata::counted(coded(s), {.only_block = only_block});
}

/// What another step does.
kata::Counts rivals(const char* step, const Shape& s) {
    return counts_of(try_on(kata::rival(step), coded(s)));
}

/// OP/B of a tile inside the image: 2 operations a weight and output, 4 bytes an element loaded.
double tiled_intensity(int out_tile, int in_tile, int radius) {
    const double out = out_tile, in = in_tile, side = 2 * radius + 1;
    return out * out * side * side * 2 / (in * in * 4);
}

/// As a lesson prints it.
double rounded(double value, int decimals) {
    const double scale = std::pow(10, decimals);
    return std::round(value * scale) / scale;
}

}  // namespace

TEST_CASE("01 basic: 0.25 OP/B", "[figures][01_basic]") {
    const Shape s{48, 40, 2};
    const auto c = figures(s);
    CHECK(intensity(s, c) == 0.25);  // borders too: an element outside costs neither
}

TEST_CASE("01 basic: lanes part at the borders, more so in a small image with a wide filter",
          "[figures][01_basic]") {
    const auto lanes = [](const Shape& s) { return figures(s).active_lanes(); };
    // Both images are whole blocks, so that no guard parts lanes.
    const auto of_ladder = lanes(ladder_shape), of_small = lanes({64, 64, 7});
    CAPTURE(of_ladder, of_small);
    CHECK((31.8 < of_ladder && of_ladder < 32));
    CHECK((31.2 < of_small && of_small < 31.6));
}

TEST_CASE("02 constant memory: 0.5 OP/B", "[figures][02_constant_memory]") {
    const Shape s{48, 40, 2};
    const auto c = figures(s);
    CHECK(intensity(s, c) == 0.5);
    CHECK(c.constant_load.accesses == c.global_load.accesses);
}

TEST_CASE("03 tiled: 9.57 OP/B in a block inside the image", "[figures][03_tiled]") {
    const Shape s{84, 84, 2};  // 3 x 3 tiles
    const auto inside = figures(s, 4);
    CHECK(inside.global_load.bytes == 32 * 32 * 4);
    CHECK(tiled_intensity(28, 32, 2) == 9.5703125);  // 9.57
    // With borders the tiles hang over the image by 2 elements on each side: 3 · 32 − 4 loads a row and
    // column.
    const auto whole = figures(s);
    CHECK(whole.global_load.bytes == 92 * 92 * 4);
    CHECK(intensity(s, whole) ==
          2.0 * 414 * 414 / (92 * 92 * 4));  // 10.125: 5 · 84 − 6 elements are met along an axis
}

TEST_CASE("03 tiled: 35.6 OP/B at radius 7, in a block inside the image", "[figures][03_tiled]") {
    kata::only_where_counted();
    CHECK(figures({54, 54, 7}, 4).global_load.bytes == 32 * 32 * 4);
    CHECK(rounded(tiled_intensity(18, 32, 7), 1) == 35.6);
    for (int r = 1; r <= convolution::max_radius; ++r)  // the larger the filter, the more is gained
        CHECK(tiled_intensity(32 - 2 * r, 32, r) > tiled_intensity(32 - 2 * (r - 1), 32, r - 1));
    CHECK(tiled_intensity(16 - 2 * 7, 16, 7) < tiled_intensity(16 - 2 * 4, 16, 4));  // not so at T = 16
}

TEST_CASE("04 tiled by output: 9.88 OP/B in a block inside the image", "[figures][04_tiled_by_output]") {
    const auto inside = figures({96, 96, 2}, 4);
    CHECK(inside.global_load.bytes == 36 * 36 * 4);
    CHECK(rounded(tiled_intensity(32, 36, 2), 2) == 9.88);
    // 1296 elements: 32 warps load in the first round, and nine in the second, of which one half.
    CHECK(inside.global_load.requests == 32 + 9);
    CHECK(36 * 36 - 1024 == 8 * 32 + 16);
}

TEST_CASE("04 tiled by output: step 03 takes 1.31 times the threads", "[figures][04_tiled_by_output]") {
    const auto mine = figures(counted_shape), theirs = rivals("03_tiled", counted_shape);
    CHECK(rounded(static_cast<double>(theirs.threads) / static_cast<double>(mine.threads), 2) == 1.31);
}

TEST_CASE("05 cached halo: the inside of a tile once, the halo for every weight that meets it",
          "[figures][05_cached_halo]") {
    const auto inside = figures({96, 96, 2}, 4);
    // Along one axis a weight at distance d meets 32 − |d| elements of the tile: 5 · 32 − 6 of 5 · 32.
    CHECK(160 * 160 - 154 * 154 == 1884);
    CHECK(inside.global_load.accesses == 32 * 32 + 1884);
    CHECK(rounded((32 * 32 + 1884) / (36.0 * 36), 1) == 2.2);  // of what step 04 loads
}

TEST_CASE("05 cached halo: 2.9 times the basic blocks of step 03, for 17 of 32 lanes",
          "[figures][05_cached_halo]") {
    const auto mine = figures(ladder_shape), theirs = rivals("03_tiled", ladder_shape);
    // Where a basic block ends is the compiler's to say, so there is some room.
    const double times = static_cast<double>(mine.basic_blocks) / static_cast<double>(theirs.basic_blocks);
    CHECK((2.6 < times && times < 3.2));
    CHECK((16 < mine.active_lanes() && mine.active_lanes() < 18));
}

TEST_CASE("06 register window: 22 B an output, 6.5 requests of a warp for 32 of them",
          "[figures][06_register_window]") {
    // A block of 128 x 40 outputs inside the image: 44 rows of five elements for each of 128 columns.
    const auto c = figures({3 * 128, 3 * 40, 2}, 4);
    CHECK(c.global_load.bytes == 128 * 44 * 5 * 4);
    CHECK(c.global_load.bytes == 22 * 128 * 40);
    CHECK(c.global_load.requests + c.global_store.requests == 4 * (44 * 5 + 40));
    CHECK(4 * (44 * 5 + 40) * 32 == static_cast<int>(6.5 * 128 * 40));
    CHECK(value_of(shared_passes, c) == 0);
}

TEST_CASE(
    "07 wide loads: 14 B an output, 1.15 requests of a warp for 32 of them; in strips of 84 rows 13 B, 1.04",
    "[figures][07_wide_loads]") {
    // A block of 1024 x 20 outputs inside the image: 24 rows of three packs for each of 256 threads.
    const auto c = figures({3 * 1024, 3 * 20, 2}, 4);
    CHECK(c.global_load.bytes == 256 * 24 * 3 * 16);
    CHECK(rounded(24 * 3 * 16 / (4.0 * 20), 1) == 14.4);
    CHECK(c.global_load.requests + c.global_store.requests == 8 * (24 * 3 + 20));
    CHECK(rounded((24 * 3 + 20) * 32 / (128.0 * 20), 2) == 1.15);
    CHECK(rounded(88 * 3 * 16 / (4.0 * 84), 1) == 12.6);
    CHECK(rounded((88 * 3 + 84) * 32 / (128.0 * 84), 2) == 1.04);
    CHECK(value_of(shared_passes, c) == 0);
}

// 132 multiprocessors, eight blocks on each, and 15 rows for each of 2112 strips: two waves.
TEST_CASE("07 wide loads: the strips of a high image are whole waves of blocks", "[figures][07_wide_loads]") {
    const auto c = figures({8, 2 * 132 * 8 * 15, 0});
    CHECK(c.blocks == 2 * 132 * 8);
}

TEST_CASE("a tile without bank conflicts, one barrier a block",
          "[figures][03_tiled][04_tiled_by_output][05_cached_halo]") {
    const auto c = figures({96, 96, 2});
    CHECK(c.barriers == c.blocks);
    CHECK(c.shared_store.transactions == c.shared_store.requests);
}

TEST_CASE("sizes and radii outside the limits are refused in one line", "[limits]") {
    const auto shape =
        GENERATE(Shape{8, 8, 8}, Shape{8, 8, -1}, Shape{-1, 8, 2}, Shape{8, -8, 2}, Shape{65536, 32768, 2},
                 Shape{1, convolution::max_height + 1, 2}, Shape{convolution::max_width + 1, 1, 2});
    CAPTURE(shape.width, shape.height, shape.radius);
    CHECK_THROWS_AS(convolution::check(shape), std::invalid_argument);
}

namespace {

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
    .claims = claims,
    .ladder = [](const Module& step) { return try_on(step, ::real(ladder_shape)); },
    .count = [](const Module& step) { return try_on(step, ::coded(counted_shape)); },
    .sketch = [](const Module& step) -> kata::Sketch {
        const std::vector<int> rows{60, 84};  // several tiles, of which some hang over the edges
        return {try_on(step, ::coded({84, 60, 2})),
                "an image of 84 x 60 and a filter of 5 x 5",
                "fetches",
                {{"in", rows}, {"out", rows}}};
    },
    .timed =
        [](std::optional<int> radius) {
            const Shape s{16384, 16384, radius.value_or(2)};
            return std::make_unique<kata::TimedOn<Problem>>(
                large(s, kata::reals(kata::prime_period, 1), ::real({1, 1, s.radius})), 8.0 * s.outputs());
        },
    .at_scale =
        [](const Module& step, std::optional<int> radius) {
            const Shape s{16384, 16384, radius.value_or(2)};
            Buffer<float> in("in", elements(s), kata::zeros), filter("filter", weights(s), kata::zeros),
                out("out", elements(s), kata::zeros);
            step.function<decltype(convolve)>("convolve")(in.data(), filter.data(), out.data(), s.width,
                                                          s.height, s.radius);
            return kata::AtScale{convolution::operations(s)};
        },
    .check_file = [](const std::filesystem::path& file) { kata::read_picture(file); },
    .on_file = on_file,
};
const kata::Chapter& kata::chapter = ::chapter;
