// The suite of the grids chapter: three kernels, each a step of its own.
#include "grids.hpp"

#include "buffer.hpp"
#include "check/compare.hpp"
#include "check/data.hpp"
#include "check/pnm.hpp"
#include "error.hpp"
#include "suite/suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <map>
#include <stdexcept>
#include <string_view>

using grids::Size;
using kata::Buffer;
using kata::Input;
using kata::Module;
using kata::Order;

namespace {

using Bytes = std::vector<unsigned char>;

/// A byte may hold the poison by right, so that a second run needs another one to show what was never
/// written.
constexpr std::byte another_poison{0x3C};

template <class... Inputs>
std::optional<std::string> damage_of(const Inputs&... buffers) {
    std::optional<std::string> first;
    ((first = first ? first : buffers.damage()), ...);
    return first;
}

kata::Run try_add(const Module& step, const std::vector<float>& a, const std::vector<float>& b,
                  const kata::Conditions& conditions = {}) {
    const auto size = a.size();
    const int n = static_cast<int>(size);
    Input<float> in_a("a", a), in_b("b", b);
    Buffer<float> out("c", size);
    auto run = kata::observed_run(
        conditions,
        [&] { step.function<decltype(vector_add)>("vector_add")(in_a.data(), in_b.data(), out.data(), n); },
        [&]() -> std::optional<std::string> {
            if (auto text = damage_of(in_a, in_b, out)) return text;
            const auto sum = grids::add(a, b);
            return kata::difference<float>(out.values(), std::vector<float>(sum.begin(), sum.end()),
                                           {{n}, {256}, kata::poison});
        });
    run.outputs = run.operations = n;
    return run;
}

kata::Run try_add(const Module& step, int n, const kata::Conditions& conditions = {}) {
    const auto size = static_cast<std::size_t>(n);
    return try_add(step, kata::coded(size, 1), kata::coded(size, 2), conditions);
}

struct PictureRun : kata::Run {
    Bytes result;
};

PictureRun try_grayscale(const Module& step, const Size& s, const Bytes& rgb,
                         const kata::Conditions& conditions = {}, std::byte poison = kata::poison) {
    grids::check(s);
    Input<unsigned char> in("rgb", rgb);
    Buffer<unsigned char> out("gray", rgb.size() / 3, poison);
    PictureRun run;
    static_cast<kata::Run&>(run) = kata::observed_run(
        conditions,
        [&] {
            step.function<decltype(color_to_grayscale)>("color_to_grayscale")(in.data(), out.data(), s.width,
                                                                              s.height);
        },
        [&]() -> std::optional<std::string> {
            if (auto text = damage_of(in, out)) return text;
            run.result = out.values();
            // Cut to a byte: up to 1 below the luminance, which three products in float miss by less than
            // 1e-4.
            auto expected = grids::luminance(rgb);
            for (auto& e : expected) e -= 0.5;
            const std::vector<double> bound(expected.size(), 0.5 + 1e-4);
            return kata::difference<unsigned char>(run.result, expected, bound,
                                                   {{s.width, s.height}, {16, 16}, poison});
        });
    run.outputs = s.pixels();
    run.operations = 5.0 * s.pixels();
    return run;
}

PictureRun try_blur(const Module& step, const Size& s, int blur_size, const Bytes& pixels,
                    const kata::Conditions& conditions = {}, std::byte poison = kata::poison) {
    grids::check(s, blur_size);
    Input<unsigned char> in("in", pixels);
    Buffer<unsigned char> out("out", pixels.size(), poison);
    PictureRun run;
    static_cast<kata::Run&>(run) = kata::observed_run(
        conditions,
        [&] { step.function<decltype(blur)>("blur")(in.data(), out.data(), s.width, s.height, blur_size); },
        [&]() -> std::optional<std::string> {
            if (auto text = damage_of(in, out)) return text;
            run.result = out.values();
            return kata::difference<unsigned char>(run.result, grids::blur(pixels, s, blur_size),
                                                   {{s.width, s.height}, {16, 16}, poison});
        });
    run.outputs = s.pixels();
    run.operations = static_cast<double>(s.pixels()) * (2 * blur_size + 1) * (2 * blur_size + 1);
    return run;
}

Bytes random_bytes(int count, unsigned seed) {
    return kata::coded<unsigned char>(static_cast<std::size_t>(count), seed, 255);
}

/// What a run of the step under test did; for the figures.
kata::Counts counted(const kata::Run& run) {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    return counts_of(run);
}

void require(const kata::Run& run) {
    if (run.fault) FAIL(*run.fault);
}

/// Of a problem that only a GPU is fast enough for.
template <class T>
std::vector<T> huge(std::size_t count, unsigned seed, int largest = 15) {
    if (std::string_view(kata::backend_name()) != "gpu") SKIP("for a GPU");
    return kata::repeated(kata::coded<T>(kata::prime_period, seed, largest), count);
}

}  // namespace

// 01 vector add

TEST_CASE("vectors of every length around the block are added", "[step][01_vector_add]") {
    const int n = GENERATE(1000, 0, 1, 2, 31, 32, 33, 255, 256, 257, 511, 513, 4000, 10007);
    CAPTURE(n);
    require(try_add(kata::step(), n));
}

TEST_CASE("the order of the blocks does not matter to a sum", "[step][01_vector_add]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    require(try_add(kata::step(), 1000, {.order = order}));
}

TEST_CASE("more blocks than a block may have threads: grid and block cannot be exchanged in a row",
          "[step][01_vector_add]") {
    require(try_add(kata::step(), 1025 * 256));
}

TEST_CASE("huge vectors are added", "[.huge][01_vector_add]") {
    const auto n = GENERATE(std::size_t{1} << 28, (std::size_t{1} << 30) + 7);  // 2^30 bytes, above 2^32
    require(try_add(kata::step(), huge<float>(n, 1), huge<float>(n, 2)));
}

TEST_CASE("n = 1000 takes 4 blocks of 256, n = 4000 takes 16", "[figures][01_vector_add]") {
    const auto thousand = counted(try_add(kata::step(), 1000));
    CHECK(thousand.blocks == 4);
    const auto c = counted(try_add(kata::step(), 4000));
    CHECK(c.blocks == 16);
    CHECK(c.threads == 4096);  // 32 blocks of 128 would be as many
    CHECK(c.global_store.accesses == 4000);
}

// 02 color to grayscale

TEST_CASE("pictures of every size around the block turn gray", "[step][02_color_to_grayscale]") {
    const auto [width, height] = GENERATE(table<int, int>({{76, 62},
                                                           {0, 0},
                                                           {0, 3},
                                                           {3, 0},
                                                           {1, 1},
                                                           {2, 1},
                                                           {1, 2},
                                                           {15, 17},
                                                           {16, 16},
                                                           {17, 15},
                                                           {33, 31},
                                                           {97, 5},
                                                           {3, 101}}));
    CAPTURE(width, height);
    const Size s{width, height};
    require(try_grayscale(kata::step(), s, random_bytes(3 * s.pixels(), 1)));
    require(try_grayscale(kata::step(), s, random_bytes(3 * s.pixels(), 2), {}, another_poison));
}

TEST_CASE("black, white and the pure colours turn into their luminance", "[step][02_color_to_grayscale]") {
    const Bytes colours{0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255};
    require(try_grayscale(kata::step(), {5, 1}, colours));
}

TEST_CASE("the order of the blocks does not matter to a picture", "[step][02_color_to_grayscale]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    require(try_grayscale(kata::step(), {76, 62}, random_bytes(3 * 76 * 62, 3), {.order = order}));
}

TEST_CASE("a huge picture turns gray", "[.huge][02_color_to_grayscale]") {
    const Size s{21851, 16381};  // above 2^30 bytes; the limit is 2^31
    require(try_grayscale(kata::step(), s, huge<unsigned char>(3 * std::size_t{21851} * 16381, 1, 255)));
}

TEST_CASE("neighbouring threads touch neighbouring pixels", "[step][02_color_to_grayscale][03_blur]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    const Size s{64, 48};
    const bool gray = kata::step_name().starts_with("02");
    const auto c = counts_of(gray ? try_grayscale(kata::step(), s, random_bytes(3 * s.pixels(), 1))
                                  : try_blur(kata::step(), s, 1, random_bytes(s.pixels(), 1)));
    // With x along columns a warp is two rows of 16 pixels: up to 3 sectors in each for the colours, 2 for a
    // patch's byte, 1 for the result. With x along rows each of 16 rows has a sector of its own.
    const auto reads = static_cast<std::uint64_t>(gray ? 3 * 6 : 9 * 4);
    const auto most = static_cast<std::uint64_t>(s.pixels()) / 32 * (reads + 2);
    const auto did = c.global_load.transactions + c.global_store.transactions;
    if (did > most)
        FAIL("right, but not coalesced: " << did << " sectors where " << most
                                          << " do. Which threads are neighbours?");
}

TEST_CASE("a picture of 62 x 76 takes 4 x 5 blocks, in four classes of active threads",
          "[figures][02_color_to_grayscale]") {
    const Size s{76, 62};
    const auto rgb = random_bytes(3 * s.pixels(), 1);
    const auto whole = counted(try_grayscale(kata::step(), s, rgb));
    CHECK(whole.blocks == 20);
    CHECK(whole.threads == 5120);
    std::map<std::uint64_t, int> blocks_with;  // so many threads that have a pixel
    for (std::uint64_t block = 0; block < 20; ++block)
        ++blocks_with[counted(try_grayscale(kata::step(), s, rgb, {.only_block = block}))
                          .global_store.accesses];
    CHECK(blocks_with == std::map<std::uint64_t, int>{{256, 12}, {192, 3}, {224, 4}, {168, 1}});
}

TEST_CASE("a picture of 1500 x 2000 would take 94 x 125 = 11750 blocks", "[figures][02_color_to_grayscale]") {
    // The arithmetic of the launch, on strips as high and as wide as that picture.
    const auto blocks = [](const Size& s) {
        return counted(try_grayscale(kata::step(), s, random_bytes(3 * s.pixels(), 1))).blocks;
    };
    const auto along_y = blocks({1, 1500}), along_x = blocks({2000, 1});
    CHECK(along_y == 94);
    CHECK(along_x == 125);
    CHECK(94 * 125 == 11750);
}

// 03 blur

TEST_CASE("pictures of every size around the block are blurred", "[step][03_blur]") {
    const int blur_size = GENERATE(1, 0, 3);
    const auto [width, height] = GENERATE(table<int, int>({{76, 62},
                                                           {0, 0},
                                                           {1, 1},
                                                           {2, 1},
                                                           {1, 2},
                                                           {3, 3},
                                                           {15, 17},
                                                           {16, 16},
                                                           {17, 15},
                                                           {33, 31},
                                                           {97, 5},
                                                           {3, 101}}));
    CAPTURE(width, height, blur_size);
    const Size s{width, height};
    require(try_blur(kata::step(), s, blur_size, random_bytes(s.pixels(), 1)));
    require(try_blur(kata::step(), s, blur_size, random_bytes(s.pixels(), 2), {}, another_poison));
}

TEST_CASE("a patch larger than the picture is the mean of the picture", "[step][03_blur]") {
    require(try_blur(kata::step(), {5, 4}, grids::max_blur_size, random_bytes(20, 1)));
}

TEST_CASE("a white picture stays white: 225 pixels of 255 fit in an int, not in a byte", "[step][03_blur]") {
    require(try_blur(kata::step(), {40, 40}, 7, Bytes(1600, 255)));
}

TEST_CASE("the order of the blocks does not matter to a blur", "[step][03_blur]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    require(try_blur(kata::step(), {76, 62}, 1, random_bytes(76 * 62, 3), {.order = order}));
}

TEST_CASE("more blocks than a block may have threads: grid and block cannot be exchanged in a picture",
          "[step][02_color_to_grayscale][03_blur]") {
    const Size s{1025 * 16, 1};
    if (kata::step_name() == "03_blur")
        require(try_blur(kata::step(), s, 1, random_bytes(s.pixels(), 4)));
    else
        require(try_grayscale(kata::step(), s, random_bytes(3 * s.pixels(), 4)));
}

TEST_CASE("a huge picture is blurred", "[.huge][03_blur]") {
    const Size s{21851, 32749};  // above 2^30 bytes, in and out; the limit is of a picture of colour
    require(try_blur(kata::step(), s, 1, huge<unsigned char>(std::size_t{21851} * 32749, 1, 255)));
}

TEST_CASE("a corner averages 4 pixels, an edge 6, the inside 9", "[figures][03_blur]") {
    const int w = 48, h = 32;
    const auto loads = [&](std::uint64_t block) {
        return counted(try_blur(kata::step(), {w, h}, 1, random_bytes(w * h, 1), {.only_block = block}))
            .global_load.accesses;
    };
    // A corner block of 16 x 16: one corner, 2 · 15 on its edges, 15 · 15 inside. The block between: 16 on an
    // edge.
    const auto corner = loads(0), between = loads(1);
    CHECK(corner == 4 + 30 * 6 + 225 * 9);
    CHECK(between == 16 * 6 + 240 * 9);
}

TEST_CASE("row-major: element (2, 1) of a 4 x 4 matrix is element 9", "[figures][03_blur]") {
    Bytes dots(16, 0);
    dots[2 * 4 + 1] = 9;
    CHECK(2 * 4 + 1 == 9);
    CHECK(try_blur(kata::step(), {4, 4}, 0, dots).result[9] == 9);
}

TEST_CASE("sizes outside the limits are refused in one line", "[limits]") {
    const auto size = GENERATE(Size{-1, 4}, Size{4, -1}, Size{32768, 32768});
    CHECK_THROWS_AS(grids::check(size), std::invalid_argument);
    CHECK_THROWS_AS(grids::check({4, 4}, -1), std::invalid_argument);
    CHECK_THROWS_AS(grids::check({4, 4}, grids::max_blur_size + 1), std::invalid_argument);
}

// What each step gains: here only that it does not fetch or store more than its idea needs.

namespace {

kata::Run ladder(const Module& step) {
    const Size s{320, 240};
    if (step.name().starts_with("01")) return try_add(step, s.pixels());
    if (step.name().starts_with("02")) return try_grayscale(step, s, random_bytes(3 * s.pixels(), 1));
    return try_blur(step, s, 1, random_bytes(s.pixels(), 1));
}

/// Gray pictures are blurred, coloured ones made gray by step 02 and blurred channel by channel by step 03.
kata::Run on_file(const Module& step, const std::filesystem::path& in, const std::filesystem::path& out) {
    const auto picture = kata::read_picture(in);
    const Size s{picture.width, picture.height};
    const kata::Conditions patient{.time_limit = 600};
    if (step.name().starts_with("01")) return try_add(step, s.pixels(), patient);
    kata::Picture result = picture;
    if (step.name().starts_with("02")) {
        auto rgb = picture.pixels;
        if (picture.channels == 1) {
            rgb.clear();
            for (const auto p : picture.pixels) rgb.insert(rgb.end(), 3, p);
        }
        auto run = try_grayscale(step, s, rgb, patient);
        if (run.fault) return run;
        result.channels = 1;
        result.pixels = run.result;
        kata::write_picture(out, result);
        return run;
    }
    kata::Run all;
    const auto channels = static_cast<std::size_t>(picture.channels);
    for (std::size_t channel = 0; channel < channels; ++channel) {
        Bytes plane(static_cast<std::size_t>(s.pixels()));
        for (std::size_t i = 0; i < plane.size(); ++i) plane[i] = picture.pixels[i * channels + channel];
        const auto run = try_blur(step, s, 3, plane, patient);
        if (run.fault) return run;
        for (std::size_t i = 0; i < plane.size(); ++i) result.pixels[i * channels + channel] = run.result[i];
        all += run;
    }
    kata::write_picture(out, result);
    return all;
}

/// The three problems are no rungs of one ladder; each has data of its own, of about the same size.
struct Timed final : kata::TimedProblem {
    static constexpr Size s{8192, 8192};
    const Bytes rgb = random_bytes(3 * s.pixels(), 1);
    Input<float> a{"a",
                   kata::repeated(kata::reals(kata::prime_period, 1), static_cast<std::size_t>(s.pixels()))};
    Input<float> b{"b",
                   kata::repeated(kata::reals(kata::prime_period, 2), static_cast<std::size_t>(s.pixels()))};
    Buffer<float> c{"c", static_cast<std::size_t>(s.pixels())};
    Input<unsigned char> in{"in", rgb};
    Buffer<unsigned char> out{"out", static_cast<std::size_t>(s.pixels())};

    void run(const Module& step) override {
        if (step.name().starts_with("01")) {
            useful_bytes = 12.0 * s.pixels();
            operations = s.pixels();
            step.function<decltype(vector_add)>("vector_add")(a.data(), b.data(), c.data(), s.pixels());
        } else if (step.name().starts_with("02")) {
            useful_bytes = 4.0 * s.pixels();
            operations = 5.0 * s.pixels();
            step.function<decltype(color_to_grayscale)>("color_to_grayscale")(in.data(), out.data(), s.width,
                                                                              s.height);
        } else {
            useful_bytes = 2.0 * s.pixels();
            operations = 9.0 * s.pixels();
            step.function<decltype(blur)>("blur")(in.data(), out.data(), s.width, s.height, 1);
        }
    }
};

}  // namespace

static const kata::Chapter chapter{
    .name = "grids",
    .problem = "vectors of 76800 elements and a picture of 320 x 240",
    .timed_problem = "vectors of 8192² elements and a picture of 8192 x 8192",
    .claims = {},
    .ladder = ladder,
    .count = [](const Module& step) { return counts_of(ladder(step)); },
    .timed = [](std::optional<int>) -> std::unique_ptr<kata::TimedProblem> {
        return std::make_unique<Timed>();
    },
    .check_file = [](const std::filesystem::path& file) { kata::read_picture(file); },
    .on_file = on_file,
};
const kata::Chapter& kata::chapter = ::chapter;
