// The suite of the scan chapter: what every step must compute.
#include "judge/trial.hpp"
#include "scan.problem.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

using namespace scan::problem;
using kata::only_on_a_gpu;
using kata::Order;
using kata::require_right;
using scan::Kind;

namespace {

/// Returns `sections` for the steps that scan sections, `whole` for the others.
int either(int sections, int whole) { return scans_sections(kata::step()) ? sections : whole; }

}  // namespace

TEST_CASE("a step scans several sections and a bit", "[equivalence]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    require_right(coded(845, 256, kind));  // large enough for a mistake to show its pattern
}

TEST_CASE("a step scans every length around the warp and the section", "[equivalence]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    const int n = GENERATE(0, 1, 2, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129, 255, 256, 257, 509, 769);
    require_right(coded(n, 64, kind));
}

TEST_CASE("a step scans every length around the largest section", "[equivalence]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    const int n = GENERATE(1, 1023, 1024, 1025, 2003);
    require_right(coded(n, 1024, kind));
}

TEST_CASE("a step scans sections of every length", "[equivalence][sections]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    const int section = GENERATE(32, 64, 128, 256, 512, 1024);
    require_right(coded(2 * section + 17, section, kind));
}

TEST_CASE("a step scans every length around its loads and tiles", "[equivalence][whole]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    const int tile = kata::this_step().tile;
    const int n = GENERATE_COPY(3, 4, 5, 7, 511, 513, tile / 2 - 1, tile / 2 + 1, tile - 2, tile - 1, tile,
                                tile + 1, 2 * tile - 1, 2 * tile + 77, 3 * tile + 1);
    require_right(coded(n, 1024, kind));
    require_right(maps(n / 2, 1024, kind, 3));
}

// Two blocks, each of which takes a dozen tiles: slots of shared memory are reused.
TEST_CASE("a block that takes several tiles scans them one after the other", "[equivalence][stays]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    require_right(coded(25 * 12288 - 5, 1024, kind), {{.multiprocessors = 2}});
}

// One block after the other takes 4 tiles. The last one begins when 164 have been published, more than the
// 160 that a warp adds up at once.
TEST_CASE("a block that starts late adds up the sums of more tiles than a warp adds at once",
          "[equivalence][stays]") {
    require_right(maps(168 * 6144 - 5),
                  {{.time_limit = 4, .metered = false, .resident = 1, .multiprocessors = 42}});
}

TEST_CASE("blocks that take several tiles wait for one another in any order", "[equivalence][stays]") {
    const unsigned seed = GENERATE(range(1u, 5u));
    // Some blocks draw a number past the last tile while others have yet to draw.
    require_right(coded(15 * 12288 - 5), {{.order = Order::shuffled,
                                           .seed = seed + 1,
                                           .metered = false,
                                           .resident = 7,
                                           .first_held_back = true,
                                           .multiprocessors = 7}});
    require_right(maps(45 * 6144 - 5, 1024, Kind::inclusive, seed), {{.order = Order::shuffled,
                                                                      .seed = seed,
                                                                      .metered = false,
                                                                      .resident = 5,
                                                                      .polls_per_turn = 1,
                                                                      .multiprocessors = 5}});
}

TEST_CASE("an operator that does not commute is applied from left to right", "[equivalence]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    require_right(maps(1500, 256, kind));
    require_right(maps(either(70, 9001), 32, kind, 2));
}

TEST_CASE("sums of floats that are whole numbers are exact", "[equivalence]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    require_right(coded<float>(1301, 512, kind));
}

TEST_CASE("numbers that are not whole", "[equivalence]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    require_right(real(2777, 1024, kind, 7));
}

TEST_CASE("sums of int above 2^24 are exact", "[equivalence]") {
    auto p = coded(1000);
    for (auto& x : p.in) x = (1 << 20) + x;
    require_right(p);
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    const unsigned seed = order == Order::shuffled ? GENERATE(1u, 2u, 3u) : 1u;
    require_right(maps(either(600, 9001), 128, Kind::exclusive), {{.order = order, .seed = seed}});
}

TEST_CASE("whichever block starts first, sums are passed on from left to right",
          "[equivalence][single pass]") {
    const unsigned seed = GENERATE(range(4u, 12u));
    require_right(coded(6 * 4096 - 5), {{.order = Order::shuffled, .seed = seed}});
}

TEST_CASE("what several sections have published is combined from left to right",
          "[equivalence][looks back]") {
    const unsigned seed = GENERATE(range(1u, 9u));
    require_right(maps(12 * 4096 - 5, 1024, Kind::inclusive, seed),
                  {{.order = Order::shuffled, .seed = seed, .metered = false, .resident = 6}});
}

TEST_CASE("the published state of a section may change between any two loads", "[equivalence][looks back]") {
    const unsigned seed = GENERATE(range(1u, 9u));
    require_right(
        maps(12 * tile_of_maps() - 5, 1024, Kind::inclusive, seed),
        {{.order = Order::shuffled, .seed = seed, .metered = false, .resident = 12, .polls_per_turn = 1}});
}

TEST_CASE("a section that waits for the first one looks back at all sections between them",
          "[equivalence][looks back]") {
    require_right(maps(sections_held_back * tile_of_maps() - 5), {first_held_back()});
}

TEST_CASE("a second scan gets an answer of its own", "[equivalence]") {
    require_right(coded(either(700, 9001), 256, Kind::inclusive, 1));
    require_right(coded(either(700, 9001), 256, Kind::inclusive, 2), {.poison = std::byte{0x3C}});
    // what an earlier scan may have left behind
    require_right(coded(either(700, 9001), 256, Kind::inclusive, 3), {.poison = std::byte{0x01}});
}

TEST_CASE("infinities and NaN reach exactly the outputs that include them", "[equivalence]") {
    auto p = coded<float>(300, 128);
    p.in[70] = std::numeric_limits<float>::infinity();
    p.in[201] = std::numeric_limits<float>::quiet_NaN();
    require_right(p);
}

TEST_CASE("infinities and NaN at the end of a section reach no other section", "[equivalence]") {
    auto p = coded<float>(450, 128, GENERATE(Kind::inclusive, Kind::exclusive));
    p.in[127] = std::numeric_limits<float>::infinity();
    p.in[256] = -std::numeric_limits<float>::infinity();
    p.in[449] = std::numeric_limits<float>::quiet_NaN();
    require_right(p);
}

TEST_CASE("many sections", "[equivalence]") { require_right(coded(either(20011, 70001))); }

// More blocks than a block may have threads, and more than 32 for each of 132 multiprocessors; more elements
// than 16 bits can count.
TEST_CASE("thousands of small sections", "[equivalence][sections]") {
    require_right(coded(4300 * 32 + 5, 32), kata::unmetered);
}

TEST_CASE("what hundreds of sections publish fits into the workspace", "[equivalence][single pass]") {
    require_right(maps(600'000), kata::unmetered);
}

TEST_CASE("more sums than one block scans are scanned as any array is", "[equivalence][levels]") {
    // Three levels: 1026 sections of 1024 elements, 2 of their sums, and 1.
    require_right(coded(1025 * 1024 + 3), {{.time_limit = 60, .metered = false}});
}

TEST_CASE("a very large number of sections", "[equivalence]") {
    only_on_a_gpu();
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    require_right(coded((1 << 24) + 4099, 1024, kind));
    require_right(maps((1 << 24) - 77, 512, kind));
}

namespace {

/// A few values repeated. Their sum is 0, so every sum of neighbours is small enough for float.
std::vector<float> pattern() {
    auto values = kata::coded(10007, 3);
    float sum = std::accumulate(values.begin(), values.end(), 0.0f);
    for (auto& v : values) {
        const float change = std::clamp(-sum, -1.0f, 1.0f);
        v += change, sum += change;
    }
    return values;
}

/// Scans n floats of the pattern and compares each of them, without an array of expected values.
void require_right_for_many(int n, Kind kind) {
    const auto period = pattern();
    Buffer<float> out("out", static_cast<std::size_t>(n));
    Buffer<unsigned char> workspace("workspace", scan::workspace_bytes(n));
    const int section = either(scan::max_section, n);
    auto in = [&] {
        std::vector<float> values(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < values.size(); i += period.size())
            std::copy_n(period.begin(), std::min(period.size(), values.size() - i),
                        values.begin() + static_cast<std::ptrdiff_t>(i));
        return Buffer<float>("in", std::span<const float>(values));
    }();
    const auto run = kata::observed_run(
        {},
        [&] {
            call(kata::step(), in.data(), out.data(), n, section, kind, {Arithmetic::sum_of_float},
                 workspace.data());
        },
        [&]() -> std::optional<std::string> {
            if (auto text = kata::damage_of(out, workspace)) return text;
            const auto got = out.values();
            float sum = 0;
            std::size_t in_period = 0;
            for (int i = 0, in_section = 0; i < n; ++i) {
                if (in_section == 0) sum = 0;
                const float before = sum;
                sum += period[in_period];
                const float expected = kind == Kind::inclusive ? sum : before;
                if (!(got[static_cast<std::size_t>(i)] == expected))
                    return "element " + std::to_string(i) + " is " +
                           std::to_string(got[static_cast<std::size_t>(i)]) + " and must be " +
                           std::to_string(expected);
                if (++in_section == section) in_section = 0;
                if (++in_period == period.size()) in_period = 0;
            }
            return std::nullopt;
        });
    if (run.fault) FAIL(*run.fault);
}

}  // namespace

TEST_CASE("a GiB of elements", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right_for_many(1 << 28, GENERATE(Kind::inclusive, Kind::exclusive));
}

TEST_CASE("as many elements as the chapter takes, in more than 2^32 bytes", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right_for_many(scan::max_elements, Kind::exclusive);
}

// In a single pass, blocks wait for those before them, so a CPU would have to run all of them.
TEST_CASE("an array of more bytes than 32 bits can count", "[equivalence]") {
    if (has_traits(kata::this_step(), "[single pass]")) only_on_a_gpu();
    kata::require_right_beyond_32_bits<Long>([] { return Long((1 << 20) + 5); },
                                             [] { return Long((1 << 30) + (1 << 16) + 5); });
}

// Four levels with sections of 1024 elements: 1050625 sections, 1027 sections of their sums, 2 of those, and
// 1.
TEST_CASE("more sums of sums than one block scans are scanned as any array is", "[equivalence][levels]") {
    kata::require_right_beyond_32_bits<Long>([] { return Long((1 << 20) + 5); },
                                             [] { return Long((1 << 30) + (1 << 21) + 5); });
}

// The formulas of the document, exactly.

namespace {

/// Returns how often a step applies the operator in a full section of n elements.
unsigned long long additions(int n) {
    auto p = coded(n, n);
    p.arithmetic = Arithmetic::counted_sum;
    Problem<int>::Device device(p, kata::poison);
    const auto run = try_on(kata::step(), p, device);
    if (run.fault) FAIL(*run.fault);
    return device.applications.values()[0];
}

/// Returns log₂n of a power of two.
unsigned long long log2(unsigned long long n) { return static_cast<unsigned>(std::countr_zero(n)); }

}  // namespace

TEST_CASE("Kogge–Stone: N·log₂N − (N−1) additions", "[solution][kogge-stone]") {
    const int n = GENERATE(32, 64, 128, 256, 512, 1024);
    const auto N = static_cast<unsigned long long>(n);
    CHECK(additions(n) == N * log2(N) - (N - 1));
    CHECK((n < 1024 || additions(n) == 9217));
}

// N − 1 of them in the reduction tree, N − 1 − log₂N in the reverse tree
TEST_CASE("Brent–Kung: 2N − 2 − log₂N additions", "[solution][brent-kung]") {
    const int n = GENERATE(32, 64, 128, 256, 512, 1024);
    const auto N = static_cast<unsigned long long>(n);
    CHECK(additions(n) == 2 * N - 2 - log2(N));
    CHECK((n < 1024 || additions(n) == 2036));
}

TEST_CASE("coarsened: N − T sequential, T·log₂T − (T−1) parallel, 3(T−1) to spread",
          "[solution][subsections]") {
    const int n = GENERATE(32, 64, 128, 256, 512, 1024);
    const auto N = static_cast<unsigned long long>(n), T = N / 4;
    CHECK(additions(n) == N - T + T * log2(T) - (T - 1) + 3 * (T - 1));
    CHECK((n < 1024 || additions(n) == 3326));
}

TEST_CASE("lengths and sections outside the limits are refused in one line", "[limits]") {
    const auto shape =
        GENERATE(scan::Shape{-1, 64}, scan::Shape{scan::max_elements + 1, 64}, scan::Shape{64, 16},
                 scan::Shape{64, 48}, scan::Shape{64, 2048}, scan::Shape{64, 0}, scan::Shape{64, -64});
    CAPTURE(shape.elements, shape.section);
    CHECK_THROWS_AS(scan::check(shape), std::invalid_argument);
}

TEST_CASE("a sum that does not fit into an int is refused in one line", "[limits]") {
    const std::vector<int> in{1, std::numeric_limits<int>::max()};
    CHECK_THROWS_AS(scan::reference(in, 2, Kind::inclusive), std::invalid_argument);
    CHECK_NOTHROW(scan::reference(in, 2, Kind::exclusive));
}
