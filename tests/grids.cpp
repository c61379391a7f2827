// The suite of the grids chapter: three kernels, each a step of its own.
#include "grids.hpp"

#include "check/data.hpp"
#include "check/picture.hpp"
#include "error.hpp"
#include "judge/trial.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <limits>
#include <map>
#include <stdexcept>

using grids::Size;
using kata::Buffer;
using kata::counted;
using kata::Input;
using kata::Module;
using kata::only_on_a_gpu;
using kata::Order;
using kata::require_right;

namespace {

using Bytes = std::vector<unsigned char>;

/// A byte may hold the poison by right, so that a second run needs another one to show what was never
/// written.
constexpr std::byte another_poison{0x3C};

std::string text_of(const Size& s) {
    return "width = " + std::to_string(s.width) + ", height = " + std::to_string(s.height);
}

struct VectorAdd {
    std::vector<float> a, b;

    std::string text() const { return "n = " + std::to_string(a.size()); }
    double outputs() const { return static_cast<double>(a.size()); }
    double operations() const { return outputs(); }
    kata::Expected expected() const { return {grids::add(a, b), {}, {{static_cast<int>(a.size())}, {256}}}; }

    struct Device {
        Input<float> a, b;
        Buffer<float> c;

        Device(const VectorAdd& p, std::byte poison) : a("a", p.a), b("b", p.b), c("c", p.a.size(), poison) {}
        void run(const Module& step) {
            step.function<decltype(vector_add)>("vector_add")(a.data(), b.data(), c.data(),
                                                              static_cast<int>(c.size()));
        }
        auto damage() const { return kata::damage_of(a, b, c); }
        auto result() const { return c.values(); }
    };
};

struct Grayscale {
    Size size;
    Bytes rgb;
    Bytes* seen = nullptr;  ///< where the result goes, if anybody wants it

    std::string text() const { return text_of(size); }
    double outputs() const { return size.pixels(); }
    double operations() const { return 5 * outputs(); }
    kata::Expected expected() const {
        grids::check(size);
        // Cut to a byte: up to 1 below the luminance, which three products in float miss by less than 1e-4.
        kata::Expected e{grids::luminance(rgb), {}, {{size.width, size.height}, {16, 16}}};
        for (auto& value : e.values) value -= 0.5;
        e.bound.assign(e.values.size(), 0.5 + 1e-4);
        return e;
    }

    struct Device {
        Size size;
        Bytes* seen;
        Input<unsigned char> in;
        Buffer<unsigned char> out;

        Device(const Grayscale& p, std::byte poison)
            : size(p.size), seen(p.seen), in("rgb", p.rgb), out("gray", p.rgb.size() / 3, poison) {}
        void run(const Module& step) {
            step.function<decltype(color_to_grayscale)>("color_to_grayscale")(in.data(), out.data(),
                                                                              size.width, size.height);
        }
        auto damage() const { return kata::damage_of(in, out); }
        Bytes result() const {
            auto values = out.values();
            if (seen) *seen = values;
            return values;
        }
    };
};

struct Blur {
    Size size;
    int blur_size;
    Bytes pixels;
    Bytes* seen = nullptr;

    std::string text() const { return text_of(size) + ", blur_size = " + std::to_string(blur_size); }
    double outputs() const { return size.pixels(); }
    double operations() const { return outputs() * (2 * blur_size + 1) * (2 * blur_size + 1); }
    kata::Expected expected() const {
        grids::check(size, blur_size);
        const auto blurred = grids::blur(pixels, size, blur_size);
        return {{blurred.begin(), blurred.end()}, {}, {{size.width, size.height}, {16, 16}}};
    }

    struct Device {
        Size size;
        int blur_size;
        Bytes* seen;
        Input<unsigned char> in;
        Buffer<unsigned char> out;

        Device(const Blur& p, std::byte poison)
            : size(p.size),
              blur_size(p.blur_size),
              seen(p.seen),
              in("in", p.pixels),
              out("out", p.pixels.size(), poison) {}
        void run(const Module& step) {
            step.function<decltype(blur)>("blur")(in.data(), out.data(), size.width, size.height, blur_size);
        }
        auto damage() const { return kata::damage_of(in, out); }
        Bytes result() const {
            auto values = out.values();
            if (seen) *seen = values;
            return values;
        }
    };
};

Bytes random_bytes(int count, unsigned seed) {
    return kata::coded<unsigned char>(static_cast<std::size_t>(count), seed, 255);
}

VectorAdd random_vectors(int n) {
    const auto size = static_cast<std::size_t>(n);
    return {kata::coded(size, 1), kata::coded(size, 2)};
}
Grayscale random_colours(const Size& s, unsigned seed = 1) { return {s, random_bytes(3 * s.pixels(), seed)}; }
Blur random_gray(const Size& s, int blur_size = 1, unsigned seed = 1) {
    return {s, blur_size, random_bytes(s.pixels(), seed)};
}

/// Of a problem that only a GPU is fast enough for.
template <class T>
std::vector<T> huge(std::size_t count, unsigned seed, int largest = 15) {
    only_on_a_gpu();
    return kata::repeated(kata::coded<T>(kata::prime_period, seed, largest), count);
}

}  // namespace

// 01 vector add

TEST_CASE("vectors of every length around the block are added", "[step][01_vector_add][07_wide_vector_add]") {
    const int n = GENERATE(1000, 0, 1, 2, 31, 32, 33, 255, 256, 257, 511, 513, 4000, 10007);
    require_right(random_vectors(n));
}

TEST_CASE("vectors of every length around a load of four and a block of such loads are added",
          "[step][07_wide_vector_add]") {
    const int n = GENERATE(3, 4, 5, 6, 7, 8, 9, 1023, 1024, 1025, 1026, 1027, 1028, 2047);
    require_right(random_vectors(n));
}

TEST_CASE("numbers that are not whole are added, and the smallest there are",
          "[step][01_vector_add][07_wide_vector_add]") {
    VectorAdd p{kata::reals(1000, 1), kata::reals(1000, 2)};
    p.a[3] = p.a[700] = 0x1p-149f;
    p.b[3] = 0, p.b[700] = 0x1p-130f;
    require_right(p);
}

TEST_CASE("the order of the blocks does not matter to a sum", "[step][01_vector_add][07_wide_vector_add]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    require_right(random_vectors(1000), {{.order = order}});
}

// Also more than the 32 blocks for each of 132 multiprocessors that some grids are cut to, and more elements
// than 16 bits count.
TEST_CASE("a vector of more blocks than a block may have threads is added",
          "[step][01_vector_add][07_wide_vector_add]") {
    require_right(random_vectors(4300 * 256), kata::unmetered);
}

namespace {

/// A vector that is zero but at its ends, of which a CPU has only those pages that somebody writes to, and is
/// added to itself.
struct Long {
    Buffer<float> a, c;

    explicit Long(std::size_t n) : a("a", n, kata::zeros), c("c", n, kata::zeros) {
        for (const auto i : {std::size_t{0}, n - 2, n - 1}) a.set(i, value_at(i));
    }
    std::string text() const { return "n = " + std::to_string(elements()); }
    std::size_t elements() const { return c.size(); }
    void run(const Module& step) {
        step.function<decltype(vector_add)>("vector_add")(a.data(), a.data(), c.data(),
                                                          static_cast<int>(c.size()));
    }
    std::optional<std::string> fault() const {
        const auto n = c.size();
        for (const auto i : {std::size_t{0}, n - 2, n - 1})
            if (c.element(i) != 2 * value_at(i))
                return "c[" + std::to_string(i) + "] of " + std::to_string(n) + " elements: expected " +
                       std::to_string(2 * value_at(i)) + ", got " + std::to_string(c.element(i));
        return kata::damage_of(a, c);
    }
    bool is_right_at_ends() {
        return kata::is_right_at_ends([&](const Module& step) { run(step); }, [&] { return fault(); });
    }
    void require_right_at_ends(const std::function<bool()>& is_right) {
        kata::require_right_at_ends([&](const Module& step) { run(step); }, [&] { return fault(); },
                                    {.metered = false, .only_ends = true}, is_right);
    }

  private:
    /// Whoever reads the first ones for the last has another sum.
    static float value_at(std::size_t i) { return static_cast<float>(3 + i % 5); }
};

/// More elements than a float counts, and more blocks than a grid has rows.
constexpr int long_vector = (5 << 24) + 1;

}  // namespace

TEST_CASE("a long vector: more elements than a float counts, more blocks than a grid has rows",
          "[step][01_vector_add][07_wide_vector_add]") {
    constexpr int few = 1 << 16;
    if (kata::counts_available() && !kata::shares_out(counted(random_vectors(few)), few)) return;
    // As many blocks and some more, of elements that a float counts.
    Long(long_vector).require_right_at_ends([] {
        return Long(long_vector - 1 + (1 << 17)).is_right_at_ends();
    });
}

// A grid may hang over the end by 2^16 elements, and still counts in an int.
TEST_CASE("a vector of more bytes than 32 bits count, and of nearly as many elements as an int counts",
          "[step][01_vector_add][07_wide_vector_add]") {
    kata::require_right_beyond_32_bits<Long>([] { return Long(long_vector); },
                                             [] { return Long(0x7fff0000); });
}

// The last threads of a grid of whole blocks end where an int does, and what they ask must not go beyond.
// Who rounds up by (n + 1023) / 1024 has less than no block for these: that is an error, and told as such.
TEST_CASE("vectors of as many elements as an int counts: nothing beyond their end is reached",
          "[step][07_wide_vector_add]") {
    const std::size_t n = std::numeric_limits<int>::max() - GENERATE(std::size_t{0}, 1u, 2u);
    const auto make = [n] { return Long(n); };
    if (std::string_view(kata::backend_name()) == "cpu") kata::only_where_counted();
    if (auto p = kata::if_there_is_room(make)) {
        const auto glance = kata::observed_run(
            {.sample = 1}, [&] { p->run(kata::step()); },
            []() -> std::optional<std::string> { return std::nullopt; });
        if (glance.fault && glance.fault->find("launch refused") != std::string::npos) {
            SUCCEED("the step says that it failed");
            return;
        }
    }
    kata::require_right_beyond_32_bits<Long>([] { return Long(long_vector); }, make);
}

TEST_CASE("a thread takes several elements, and no thread is there for nothing",
          "[claims][step][07_wide_vector_add]") {
    kata::only_where_counted();
    constexpr int n = 1 << 16;
    kata::require_at_most(n / 2.0, static_cast<double>(counted(random_vectors(n)).threads),
                          "a thread takes fewer than two elements on average: how many elements does "
                          "a block take, and how many blocks do the vectors need?",
                          "threads of vectors of 65536 elements");
}

TEST_CASE("huge vectors are added", "[.huge][01_vector_add][07_wide_vector_add]") {
    const auto n = GENERATE(std::size_t{1} << 28, (std::size_t{1} << 30) + 7);  // 2^30 bytes, above 2^32
    require_right(VectorAdd{huge<float>(n, 1), huge<float>(n, 2)});
}

TEST_CASE("n = 1000 takes 4 blocks of 256, n = 4000 takes 16", "[figures][01_vector_add]") {
    const auto thousand = counted(random_vectors(1000));
    CHECK(thousand.blocks == 4);
    const auto c = counted(random_vectors(4000));
    CHECK(c.blocks == 16);
    CHECK(c.threads == 4096);  // 32 blocks of 128 would be as many
    CHECK(c.global_store.accesses == 4000);
}

// 02 color to grayscale

TEST_CASE("pictures of every size around the block turn gray",
          "[step][02_color_to_grayscale][04_wide_grayscale]") {
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
    require_right(random_colours({width, height}, 1));
    require_right(random_colours({width, height}, 2), {.poison = another_poison});
}

TEST_CASE("pictures of any number of pixels around a load, a thread and a block turn gray",
          "[step][04_wide_grayscale]") {
    const int pixels =
        GENERATE(1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 511, 513, 515, 2047, 2048, 2049, 2063);
    require_right(random_colours({pixels, 1}, 5));
    require_right(random_colours({1, pixels}, 6), {.poison = another_poison});
}

TEST_CASE("black, white and the pure colours turn into their luminance",
          "[step][02_color_to_grayscale][04_wide_grayscale]") {
    const Bytes colours{0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255};
    require_right(Grayscale{{5, 1}, colours});
}

// Of these 4919 colours floats are just below the whole number in up to 155, doubles in 982, depending on the
// order of the terms, and weights that are rounded down to 65536ths in 2455.
TEST_CASE("a luminance that is a whole number is mostly kept",
          "[step][02_color_to_grayscale][04_wide_grayscale]") {
    Bytes colours, whole;
    for (int r = 0; r < 256; r += 7)
        for (int g = 0; g < 256; g += 5)
            for (int b = 0; b < 256; ++b)
                if (const int hundredths = 21 * r + 72 * g + 7 * b; hundredths % 100 == 0) {
                    for (const int channel : {r, g, b})
                        colours.push_back(static_cast<unsigned char>(channel));
                    whole.push_back(static_cast<unsigned char>(hundredths / 100));
                }
    const auto pixels = whole.size();
    Bytes seen(pixels);
    require_right(Grayscale{{static_cast<int>(pixels), 1}, colours, &seen});
    std::size_t too_dark = 0;
    for (std::size_t i = 0; i < pixels; ++i) too_dark += seen[i] < whole[i];
    if (3 * too_dark > pixels)
        FAIL(too_dark << " of " << pixels
                      << " pixels whose luminance is a whole number are one too dark, which is more than "
                         "rounding explains: are the weights exactly 0.21, 0.72 and 0.07?");
}

TEST_CASE("the order of the blocks does not matter to a picture",
          "[step][02_color_to_grayscale][04_wide_grayscale]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    require_right(random_colours({76, 62}, 3), {{.order = order}});
}

TEST_CASE("a thread takes several pixels, and no thread is there for nothing",
          "[claims][step][04_wide_grayscale]") {
    kata::only_where_counted();
    const Size s{256, 256};
    kata::require_at_most(s.pixels() / 2.0, static_cast<double>(counted(random_colours(s)).threads),
                          "a thread takes fewer than two pixels on average: how many pixels does a "
                          "block take, and how many blocks does the picture need?",
                          "threads of a picture of 256 x 256");
}

TEST_CASE("a picture of more pixels than a float counts turns gray",
          "[step][02_color_to_grayscale][04_wide_grayscale]") {
    require_right(Grayscale{{4099, 4111}, huge<unsigned char>(3 * std::size_t{4099} * 4111, 1, 255)});
}

TEST_CASE("a huge picture turns gray", "[.huge][02_color_to_grayscale][04_wide_grayscale]") {
    const Size s{21851, 16381};  // above 2^30 bytes; the limit is 2^31
    require_right(Grayscale{s, huge<unsigned char>(3 * std::size_t{21851} * 16381, 1, 255)});
}

TEST_CASE("neighbouring threads touch neighbouring pixels",
          "[step][02_color_to_grayscale][03_blur][04_wide_grayscale]") {
    const Size s{64, 48};
    const bool gray = kata::step().has("color_to_grayscale");
    const auto c = gray ? counted(random_colours(s)) : counted(random_gray(s));
    // With x along columns a warp is two rows of 16 pixels: up to 3 sectors in each for the colours, 2 for a
    // patch's byte, 1 for the result. With x along rows each of 16 rows has a sector of its own.
    const auto reads = static_cast<std::uint64_t>(gray ? 3 * 6 : 9 * 4);
    const auto most = static_cast<std::uint64_t>(s.pixels()) / 32 * (reads + 2);
    const auto did = c.global_load.transactions + c.global_store.transactions;
    // Through a reference g++ reads a member at a time; nvcc makes one load of them, which nothing here can
    // tell.
    const std::string apart =
        kata::step_name() == "04_wide_grayscale"
            ? " Does each load bring 16 bytes, or as many as the thread's pixels have? Or are members read "
              "through a reference? Take a copy: const Bytes a = from[0]"
            : "";
    kata::require_at_most(static_cast<double>(most), static_cast<double>(did),
                          "its accesses are not coalesced: which threads are "
                          "neighbours, and which pixels?" +
                              apart,
                          "32-byte sectors loaded and stored");
}

TEST_CASE("pictures of any width are loaded several pixels at a time", "[claims][step][04_wide_grayscale]") {
    // Four requests for 128 pixels, where one by one it would be four for 32.
    const Size s{255, 61};
    const auto c = counted(random_colours(s));
    kata::require_at_most(
        2 * s.pixels() / 32.0, static_cast<double>(c.global_load.requests + c.global_store.requests),
        "pixels are loaded or stored one by one in a picture whose width, or whose "
        "number of pixels, is no multiple of what a thread takes: rows make no difference to a pixel, and "
        "only the last few of the picture fill no load",
        "times that a warp loads from or stores to global memory, for a picture of 255 x 61");
}

TEST_CASE("a picture of 62 x 76 takes 4 x 5 blocks, in four classes of active threads",
          "[figures][02_color_to_grayscale]") {
    const auto picture = random_colours({76, 62});
    const auto whole = counted(picture);
    CHECK(whole.blocks == 20);
    CHECK(whole.threads == 5120);
    std::map<std::uint64_t, int> blocks_with;  // so many threads that have a pixel
    for (std::uint64_t block = 0; block < 20; ++block)
        ++blocks_with[counted(picture, {.only_block = block}).global_store.accesses];
    CHECK(blocks_with == std::map<std::uint64_t, int>{{256, 12}, {192, 3}, {224, 4}, {168, 1}});
}

TEST_CASE("a picture of 1500 x 2000 would take 94 x 125 = 11750 blocks", "[figures][02_color_to_grayscale]") {
    // The arithmetic of the launch, on strips as high and as wide as that picture.
    const auto blocks = [](const Size& s) { return counted(random_colours(s)).blocks; };
    const auto along_y = blocks({1, 1500}), along_x = blocks({2000, 1});
    CHECK(along_y == 94);
    CHECK(along_x == 125);
    CHECK(94 * 125 == 11750);
}

// 03 blur

// In this order, and before all other calls of the process: what is decided in the first one is wrong then.
TEST_CASE("a picture may be of another size in each call", "[step][05_running_blur][06_row_ring]") {
    require_right(random_gray({76, 62}));
    INFO("in a call after one with a picture of 76 x 62: is anything kept from an earlier call?");
    require_right(random_gray({76, 301}));
}

TEST_CASE("pictures of every size around the block are blurred",
          "[step][03_blur][05_running_blur][06_row_ring]") {
    const int blur_size = GENERATE(1, 0, 3);
    const auto [width, height] = GENERATE(table<int, int>({{76, 62},
                                                           {0, 0},
                                                           {0, 3},
                                                           {3, 0},
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
    require_right(random_gray({width, height}, blur_size, 1));
    require_right(random_gray({width, height}, blur_size, 2), {.poison = another_poison});
}

TEST_CASE("a patch larger than the picture is the mean of the picture",
          "[step][03_blur][05_running_blur][06_row_ring]") {
    require_right(random_gray({5, 4}, grids::max_blur_size));
}

TEST_CASE("a white picture stays white: 961 pixels of 255 fit in an int, not in a byte, nor in two",
          "[step][03_blur][05_running_blur][06_row_ring]") {
    // At the edges every number of rows and columns from 16 to 31.
    require_right(Blur{{33, 33}, grids::max_blur_size, Bytes(33 * 33, 255)});
}

TEST_CASE("rows that begin at multiples of 16 bytes, strips and blocks in a row",
          "[step][05_running_blur][06_row_ring]") {
    const int blur_size = GENERATE(0, 1, 7, 15);
    require_right(random_gray({16, 133}, blur_size, 5));
    require_right(random_gray({48, 31}, blur_size, 6), {.poison = another_poison});
    require_right(random_gray({528, 3}, blur_size, 7));
    require_right(Blur{{64, 40}, blur_size, Bytes(64 * 40, 255)});  // white stays white
}

TEST_CASE("pictures of a multiple of 16 pixels, or of 16 rows, whose rows are of any length",
          "[step][05_running_blur][06_row_ring]") {
    const auto [width, height] =
        GENERATE(table<int, int>({{24, 2}, {8, 6}, {40, 34}, {1, 16}, {20, 4}, {5, 32}}));
    require_right(random_gray({width, height}, 1, 11));
}

TEST_CASE("every size of a patch", "[step][05_running_blur][06_row_ring]") {
    const int blur_size = GENERATE(range(0, grids::max_blur_size + 1));
    require_right(random_gray({35, 34}, blur_size, 8));
    require_right(random_gray({32, 35}, blur_size, 9));
}

TEST_CASE("a mean that is just a whole number, or just less than one",
          "[step][03_blur][05_running_blur][06_row_ring]") {
    // All pixels are bright, but for the one in the middle of every patch's worth. So whole patches sum up to
    // one less than a multiple of what they hold, and many of those at the edges to a multiple.
    const int blur_size = GENERATE(2, 7, 15);
    const int bright = GENERATE(255, 128, 1), side = 2 * blur_size + 1;
    const Size s{48, 3 * side};
    Bytes pixels(static_cast<std::size_t>(s.pixels()), static_cast<unsigned char>(bright));
    for (int y = blur_size; y < s.height; y += side)
        for (int x = blur_size; x < s.width; x += side) --pixels[static_cast<std::size_t>(y * s.width + x)];
    require_right(Blur{s, blur_size, pixels});
}

TEST_CASE("what a pixel costs does not depend on the size of its patch",
          "[claims][step][05_running_blur][06_row_ring]") {
    kata::only_where_counted();
    const auto loads = [](int blur_size) {
        return static_cast<double>(counted(random_gray({32, 64}, blur_size)).global_load.requests);
    };
    // At a size of 7 a patch has 15 rows instead of three. The rows around a strip are more, too.
    kata::require_at_most(3 * loads(1), loads(7),
                          "what a pixel costs grows with its patch: which row enters "
                          "the patch of the pixel below, and which one leaves it?",
                          "loads of the warps at a blur size of 7, where three times those of 1 are allowed");
}

TEST_CASE("a pixel of the largest patch costs about what it costs in the solution",
          "[claims][step][05_running_blur][06_row_ring]") {
    const auto p = random_gray({64, 256}, grids::max_blur_size);
    const auto mine = counted(p), theirs = kata::counted_of(kata::step_name(), p);
    kata::require_at_most(
        2 * static_cast<double>(theirs.global_load.requests), static_cast<double>(mine.global_load.requests),
        "a large patch is loaded more often than it needs: is there another way for "
        "some sizes, or are pixels loaded one by one?",
        "loads of the warps at a blur size of 15, where twice those of the solution are allowed");
    kata::require_at_most(
        2 * static_cast<double>(theirs.work), static_cast<double>(mine.work),
        "its warps do more for a large patch than they need: from one pixel to the "
        "next, what enters a patch, and what leaves it?",
        "steps of the warps at a blur size of 15, where twice those of the solution are allowed");
}

TEST_CASE("rows of any multiple of 16 pixels are loaded 16 at a time",
          "[claims][step][05_running_blur][06_row_ring]") {
    // By the byte it would be 16 times as many; step 05 as 06 has thrice as many at any width.
    const auto p = random_gray({48, 128});
    const auto requests = [](const kata::Counts& c) {
        return static_cast<double>(c.global_load.requests + c.global_store.requests);
    };
    const auto mine = counted(p);
    kata::require_at_most(
        6 * requests(kata::counted_of(kata::step_name(), p)), requests(mine),
        "pixels are loaded or stored one by one, though each row begins at a "
        "multiple of 16 bytes: which widths are aligned?",
        "times that a warp loads from or stores to global memory, for a picture of 48 x 128");
}

// With one multiprocessor blocks for a few strips of the picture fit, and there are rows left for low ones.
TEST_CASE("strips of two heights, each row in one of them", "[step][06_row_ring]") {
    const auto [blur_size, height] = GENERATE(table<int, int>({{5, 331}, {7, 500}, {15, 260}}));
    require_right(random_gray({32, height}, blur_size, 10), {{.metered = false, .multiprocessors = 1}});
}

// Rows of a picture that are wider than all blocks that run at a time.
TEST_CASE("a picture wider than the GPU is blurred, too", "[step][06_row_ring]") {
    require_right(random_gray({14336, 1}, 15), {{.metered = false, .multiprocessors = 1}});
}

// 64 with the solution; as many as there are strips where their height is fixed.
TEST_CASE("a small picture is shared by many blocks", "[claims][step][06_row_ring]") {
    kata::only_where_counted();
    const auto c = counted(random_gray({448, 512}, 15), {.multiprocessors = 132});
    kata::require_at_least(
        4, static_cast<double>(c.blocks),
        "a picture has so few strips that most multiprocessors have nothing to do: "
        "how many blocks run at a time is what the multiprocessors, times those that fit on each, say",
        "blocks for a picture of 448 x 512 on 132 multiprocessors");
}

TEST_CASE("rows are on their way while others are worked on", "[claims][step][06_row_ring]") {
    // A step that copies in another way, as by plain loads, passes. Grading takes a test that is skipped for
    // one that is not passed. The first row of a strip may be waited for.
    const auto c = counted(random_gray({448, 64}));
    SUCCEED();
    if (c.copy_waits == 0) return;
    kata::require_at_most(
        50, 100 * static_cast<double>(c.waited_for) / static_cast<double>(c.global_load.bytes),
        "a thread mostly waits for rows that it has just begun to load, so that "
        "none is on its way while it works: how many of the last groups may be, when the oldest one is "
        "needed?",
        "% of the bytes loaded or copied are waited for at once, with nothing read from shared memory "
        "meanwhile");
}

TEST_CASE("strips are high where patches are, so that few rows come for two of them",
          "[claims][step][06_row_ring]") {
    kata::only_where_counted();
    const Size s{512, 1536};
    const auto c = counted(random_gray(s, 7), {.multiprocessors = 2});
    kata::require_at_most(
        2.0 * s.pixels(), static_cast<double>(c.global_load.bytes),
        "most rows are loaded more than once: how many rows does a strip have, how "
        "many rows around it are loaded as well, and does the row that leaves come from the ring?",
        "bytes loaded of a picture of 512 x 1536, at a blur size of 7, with two multiprocessors");
}

TEST_CASE("05 running blur: each row comes three times 16 bytes a thread, once to enter and once to leave",
          "[figures][05_running_blur]") {
    // Of a strip of 128 rows inside a column of strips, s = 1: 130 rows enter and 127 leave. 32 threads.
    const auto c = counted(random_gray({3 * 512, 3 * 128}), {.only_block = 4});
    CHECK(c.global_load.requests == (130 + 127) * 3);
    CHECK(c.global_load.bytes == (130 + 127) * 3 * 32 * 16);
    CHECK(c.global_store.requests == 128);
}

TEST_CASE("06 row ring: each row comes once, 16 bytes a thread", "[figures][06_row_ring]") {
    // Of a small picture a strip has 8 rows, s = 1: 10 rows for each of two warps, and 28 lanes of 32 have
    // results.
    const auto c = counted(random_gray({3 * 2 * 448, 3 * 8}), {.only_block = 4});
    CHECK(c.global_load.requests == 2 * 10);
    CHECK(c.global_load.bytes == 2 * 10 * 32 * 16);
    CHECK(c.global_store.requests == 2 * 8);
    CHECK(c.global_store.bytes == 2 * 8 * 28 * 16);
}

TEST_CASE("the order of the blocks does not matter to a blur",
          "[step][03_blur][05_running_blur][06_row_ring]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    require_right(random_gray({76, 62}, 1, 3), {{.order = order}});
}

// Also more columns than 16 bits count, more rows than 15 bits do, and more blocks than some grids are cut
// to. All rows that there may be are for steps that could have a block for each.
TEST_CASE("more blocks than a block may have threads: grid and block cannot be exchanged in a picture",
          "[step][02_color_to_grayscale][03_blur][04_wide_grayscale][05_running_blur][06_row_ring]") {
    const int rows = kata::step_name() == "06_row_ring" ? (1 << 15) + 3 : grids::max_height;
    const Size s = GENERATE_COPY(Size{70001, 1}, Size{1, rows});
    if (kata::step().has("blur"))
        require_right(random_gray(s, 1, 4), kata::unmetered);
    else
        require_right(random_colours(s, 4), kata::unmetered);
}

namespace {

/// A row of pixels that are black but at its ends.
struct Row {
    Buffer<unsigned char> in, out;
    int width;

    static bool in_colour() { return kata::step().has("color_to_grayscale"); }
    explicit Row(int w)
        : in("in", bytes_of(w), kata::zeros), out("out", static_cast<std::size_t>(w), kata::zeros), width(w) {
        for (const int x : {0, w - 1})
            for (int channel = 0; channel < (in_colour() ? 3 : 1); ++channel)
                in.set(bytes_of(x) + static_cast<std::size_t>(channel), 240);
    }
    static std::size_t bytes_of(int pixels) {
        return static_cast<std::size_t>(pixels) * (in_colour() ? 3 : 1);
    }
    void run(const Module& step) {
        if (in_colour())
            step.function<decltype(color_to_grayscale)>("color_to_grayscale")(in.data(), out.data(), width,
                                                                              1);
        else
            step.function<decltype(blur)>("blur")(in.data(), out.data(), width, 1, 1);
    }
    std::optional<std::string> fault() const {
        // White is 240, to a float's rounding; a blur has a mean of two pixels, and of three beside them.
        const auto expected = [&](int x) {
            const bool end = x == 0 || x == width - 1;
            return in_colour() ? (end ? 240 : 0) : (end ? 120 : 80);
        };
        const auto right = [&](int x, int got) {
            return got == expected(x) || (in_colour() && expected(x) == 240 && got == 239);
        };
        for (const int x : {0, 1, width - 2, width - 1})
            if (const int got = out.element(static_cast<std::size_t>(x)); !right(x, got))
                return "pixel " + std::to_string(x) + " of a row of " + std::to_string(width) +
                       ": expected " + std::to_string(expected(x)) + ", got " + std::to_string(got);
        return kata::damage_of(in, out);
    }
};

}  // namespace

// Along x a grid has room for 2^31 blocks, along y and z for 65535. The row is also longer than arrays that
// some keep in the step.
TEST_CASE("a row of more blocks than a grid has along y",
          "[step][02_color_to_grayscale][03_blur][04_wide_grayscale][05_running_blur][06_row_ring]") {
    Row p(65536 * 32 + 5);
    kata::require_right_at_ends([&](const Module& step) { p.run(step); }, [&] { return p.fault(); });
}

TEST_CASE("a picture of more pixels than a float counts is blurred",
          "[step][03_blur][05_running_blur][06_row_ring]") {
    require_right(Blur{{4099, 4111}, 1, huge<unsigned char>(std::size_t{4099} * 4111, 1, 255)});
}

TEST_CASE("a huge picture is blurred", "[.huge][03_blur][05_running_blur][06_row_ring]") {
    const Size s{21851, 32749};  // above 2^30 bytes, in and out; the limit is of a picture of colour
    require_right(Blur{s, 1, huge<unsigned char>(std::size_t{21851} * 32749, 1, 255)});
}

TEST_CASE("a corner averages 4 pixels, an edge 6, the inside 9", "[figures][03_blur]") {
    const auto loads = [](std::uint64_t block) {
        return counted(random_gray({48, 32}), {.only_block = block}).global_load.accesses;
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
    const Blur p{{4, 4}, 0, dots};
    CHECK(p.expected().values[9] == 9);
    require_right(p);
}

TEST_CASE("sizes outside the limits are refused in one line", "[limits]") {
    const auto size = GENERATE(Size{-1, 4}, Size{4, -1}, Size{32768, 32768}, Size{1, grids::max_height + 1});
    CHECK_THROWS_AS(grids::check(size), std::invalid_argument);
    CHECK_THROWS_AS(grids::check({4, 4}, -1), std::invalid_argument);
    CHECK_THROWS_AS(grids::check({4, 4}, grids::max_blur_size + 1), std::invalid_argument);
}

// What each step gains. Steps 01 to 03 are three problems, and only must not fetch or store more than their
// idea needs; those behind them better one of these.

namespace {

const kata::Step steps[] = {
    {.name = "01_vector_add"},
    {.name = "02_color_to_grayscale"},
    {.name = "03_blur"},
    {.name = "04_wide_grayscale",
     .before = "02_color_to_grayscale",
     .beats =
         {
             {"02_color_to_grayscale", "global_requests", 3.0,
              "a load or a store brings 16 bytes instead of one", "not in the documents"},
             {"02_color_to_grayscale", "sectors_loaded", 1.2,
              "a warp reaches one long stretch of the picture, and not two short ones",
              "not in the documents"},
             // Times. On an H100 (sm_90): 2.32 times.
             {"02_color_to_grayscale", "milliseconds", 1.6,
              "a load or a store brings 16 bytes instead of one", "not in the documents"},
         }},
    {.name = "05_running_blur",
     .before = "03_blur",
     .beats =
         {
             {"03_blur", "global_requests", 2.0, "each row is loaded twice, and not for each row of a patch",
              "not in the documents"},
             {"03_blur", "sectors_loaded", 2.0, "each row is loaded twice, and not for each row of a patch",
              "not in the documents"},
             // 3.95 times.
             {"03_blur", "milliseconds", 3.0, "a patch gains a row and loses one, and is not summed up anew",
              "not in the documents"},
         }},
    {.name = "06_row_ring",
     .before = "05_running_blur",
     .beats =
         {
             {"05_running_blur", "sectors_loaded", 4.0,
              "each row is loaded once, by the thread whose columns it holds", "not in the documents"},
             // 2.32 times.
             {"05_running_blur", "milliseconds", 1.8,
              "each row is loaded once, and a thread sums up its own columns only", "not in the documents"},
         }},
    {.name = "07_wide_vector_add",
     .before = "01_vector_add",
     .beats =
         {
             {"01_vector_add", "global_requests", 3.0, "a load or a store brings four floats instead of one",
              "not in the documents"},
             // 1.11 times.
             {"01_vector_add", "milliseconds", 1.05, "a thread has four times as many bytes under way",
              "not in the documents"},
         }},
};

kata::Run ladder(const Module& step) {
    const Size s{320, 240};
    if (step.has("vector_add")) return try_on(step, random_vectors(s.pixels()));
    if (step.has("color_to_grayscale")) return try_on(step, random_colours(s));
    return try_on(step, random_gray(s));
}

/// As the ladder; but a blur of a high picture, so that there are several strips of rows.
kata::Run count(const Module& step) {
    return step.has("blur") ? try_on(step, random_gray({128, 16 * 128})) : ladder(step);
}

/// Gray pictures are blurred, coloured ones made gray by step 02 and blurred channel by channel by step 03.
kata::Run on_file(const Module& step, const kata::Brought& file) {
    const auto picture = kata::read_picture(file.in);
    const Size s{picture.width, picture.height};
    const kata::Trial once{file.conditions(s.pixels())};
    if (step.has("vector_add")) return try_on(step, random_vectors(s.pixels()), once);
    kata::Picture result = picture;
    if (step.has("color_to_grayscale")) {
        Grayscale p{s, picture.pixels, &result.pixels};
        if (picture.channels == 1) {
            p.rgb.clear();
            for (const auto pixel : picture.pixels) p.rgb.insert(p.rgb.end(), 3, pixel);
        }
        result.channels = 1;
        auto run = try_on(step, p, once);
        if (!run.fault) kata::write_picture(file.out, result);
        return run;
    }
    kata::Run all;
    const auto channels = static_cast<std::size_t>(picture.channels);
    for (std::size_t channel = 0; channel < channels; ++channel) {
        Bytes plane(static_cast<std::size_t>(s.pixels())), blurred;
        for (std::size_t i = 0; i < plane.size(); ++i) plane[i] = picture.pixels[i * channels + channel];
        const auto run = try_on(
            step, Blur{s, 3, plane, &blurred},
            {file.conditions(s.pixels() * picture.channels, static_cast<int>(channel), picture.channels)});
        if (run.fault) return run;
        for (std::size_t i = 0; i < plane.size(); ++i) result.pixels[i * channels + channel] = blurred[i];
        all += run;
    }
    kata::write_picture(file.out, result);
    return all;
}

/// The three problems are no rungs of one ladder; each has data of its own, of about the same size.
struct Timed final : kata::TimedProblem {
    static constexpr Size s{8192, 8192};
    static std::vector<float> reals(unsigned seed) {
        return kata::repeated(kata::reals(kata::prime_period, seed), static_cast<std::size_t>(s.pixels()));
    }
    kata::TimedOn<VectorAdd> add{{reals(1), reals(2)}, 12.0 * s.pixels()};
    kata::TimedOn<Grayscale> grayscale{random_colours(s), 4.0 * s.pixels()};
    kata::TimedOn<Blur> blur{random_gray(s), 2.0 * s.pixels()};

    void run(const Module& step) override {
        kata::TimedProblem& problem = step.has("vector_add")           ? static_cast<TimedProblem&>(add)
                                      : step.has("color_to_grayscale") ? static_cast<TimedProblem&>(grayscale)
                                                                       : blur;
        useful_bytes = problem.useful_bytes;
        operations = problem.operations;
        problem.run(step);
    }
};

}  // namespace

/// Of blocks of 16 x 16, six for a coloured picture, of which four hang over its edges. Only in rows of a
/// multiple of 16 pixels does the running blur load and store 16 at once.
static kata::Sketch sketch(const Module& step) {
    if (step.has("vector_add"))
        return {try_on(step, random_vectors(500)), "vectors of 500 elements", "owners", {{"c", {500}}}};
    if (step.has("color_to_grayscale")) {
        const Size s{40, 24};
        return {try_on(step, random_colours(s)),
                "a picture of 40 x 24",
                "owners",
                {{"rgb", {3 * s.pixels()}}, {"gray", {s.height, s.width}}}};
    }
    const Size s{64, 24};
    const std::vector<int> rows{s.height, s.width};
    return {try_on(step, random_gray(s)), "a picture of 64 x 24", "fetches", {{"in", rows}, {"out", rows}}};
}

static const kata::Chapter chapter{
    .name = "grids",
    .problem = "vectors of 76800 elements and a picture of 320 x 240",
    .timed_problem = "vectors of 8192² elements and a picture of 8192 x 8192",
    .steps = steps,
    .ladder = ladder,
    .shapes = {{"base", count}},
    .sketch = sketch,
    .timed = [](std::optional<int>) -> std::unique_ptr<kata::TimedProblem> {
        return std::make_unique<Timed>();
    },
    .at_scale =
        [](const Module& step, std::optional<int>) {
            constexpr Size s = Timed::s;
            const auto n = static_cast<std::size_t>(s.pixels());
            if (step.has("vector_add")) {
                Buffer<float> a("a", n, kata::zeros), b("b", n, kata::zeros), c("c", n, kata::zeros);
                step.function<decltype(vector_add)>("vector_add")(a.data(), b.data(), c.data(),
                                                                  static_cast<int>(n));
                return kata::AtScale{1.0 * s.pixels()};
            }
            Buffer<unsigned char> in("in", 3 * n, kata::zeros), out("out", n, kata::zeros);
            if (step.has("color_to_grayscale")) {
                step.function<decltype(color_to_grayscale)>("color_to_grayscale")(in.data(), out.data(),
                                                                                  s.width, s.height);
                return kata::AtScale{5.0 * s.pixels()};
            }
            constexpr int blur_size = 1;
            step.function<decltype(blur)>("blur")(in.data(), out.data(), s.width, s.height, blur_size);
            return kata::AtScale{9.0 * s.pixels()};
        },
    .check_file = [](const std::filesystem::path& file) { kata::read_picture(file); },
    .on_file = on_file,
};
const kata::Chapter& kata::chapter = ::chapter;
