// The suite of the scan chapter: what every step must compute, and what each of them must gain.
#include "scan.hpp"

#include "buffer.hpp"
#include "check/compare.hpp"
#include "check/data.hpp"
#include "error.hpp"
#include "suite/suite.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <type_traits>

using kata::Affine;
using kata::Arithmetic;
using kata::Buffer;
using kata::Module;
using kata::Order;
using scan::Kind;

namespace {

constexpr double float_eps = std::numeric_limits<float>::epsilon() / 2;

/// Steps 01 to 04 scan sections, the others the whole.
bool scans_sections(const Module& step) { return step.name() < "05"; }

template <class T>
struct Problem {
    std::vector<T> in;
    int section = scan::max_section;  ///< for the steps that scan sections
    Kind kind = Kind::inclusive;
    Arithmetic arithmetic = std::is_same_v<T, int>     ? Arithmetic::sum_of_int
                            : std::is_same_v<T, float> ? Arithmetic::sum_of_float
                                                       : Arithmetic::composition;
    int elements() const { return static_cast<int>(in.size()); }
};

/// Small integers: every sum is exact in float, too, whatever the order, and a wrong index shows.
template <class T = int>
Problem<T> coded(int n, int section = scan::max_section, Kind kind = Kind::inclusive, unsigned seed = 1) {
    return {kata::coded<T>(static_cast<std::size_t>(n), seed), section, kind};
}

/// Maps, which do not commute.
Problem<Affine> maps(int n, int section, Kind kind, unsigned seed = 1) {
    const auto size = static_cast<std::size_t>(n);
    const auto a = kata::coded<unsigned>(size, seed), b = kata::coded<unsigned>(size, seed + 1000);
    Problem<Affine> p{std::vector<Affine>(size), section, kind};
    for (std::size_t i = 0; i < size; ++i) p.in[i] = {a[i], b[i]};
    return p;
}

Problem<float> real(int n, int section, Kind kind, unsigned seed = 1) {
    return {kata::reals(static_cast<std::size_t>(n), seed), section, kind};
}

/// The memory of a problem on the device: what steps are called with.
struct Scratch {
    Buffer<unsigned char> workspace;
    Buffer<unsigned long long> applications;

    explicit Scratch(int n, std::byte poison = kata::poison)
        : workspace("workspace", scan::workspace_bytes(n), poison),
          applications("applications", std::vector<unsigned long long>(1)) {}
};

void call(const Module& step, const void* in, void* out, int n, int section, Kind kind, Arithmetic arithmetic,
          Scratch& scratch) {
    const kata::Operation operation{
        arithmetic, arithmetic == Arithmetic::counted_sum ? scratch.applications.data() : nullptr};
    if (scans_sections(step))
        step.function<decltype(scan_sections)>("scan_sections")(in, out, n, section, kind, operation);
    else
        step.function<decltype(scan_whole)>("scan_whole")(in, out, n, kind, scratch.workspace.data(),
                                                          operation);
}

enum class Exactness { exact, rounded };

/// What is wrong with the values, if anything.
template <class T>
std::optional<std::string> compare(const Problem<T>& p, int section, const std::vector<T>& got,
                                   Exactness exactness, std::byte poison) {
    const kata::Layout layout{{p.elements()}, {section}, poison};
    const auto expected = scan::reference(p.in, section, p.kind);
    if constexpr (std::is_same_v<T, Affine>) {
        // as two coefficients for each map
        std::vector<unsigned> mine, theirs;
        for (const auto& map : got) mine.insert(mine.end(), {map.a, map.b});
        for (const auto& map : expected) theirs.insert(theirs.end(), {map.a, map.b});
        return kata::difference<unsigned>(mine, theirs, {{2, p.elements()}, {2, section}, poison});
    } else if constexpr (std::is_same_v<T, int>) {
        return kata::difference<int>(got, expected, layout);
    } else {
        if (exactness == Exactness::exact)
            return kata::difference<float>(got, std::vector<float>(expected.begin(), expected.end()), layout);
        // A sum of n terms in any order is off by at most n · eps · Σ|terms|.
        auto bound = scan::magnitude(p.in, section, p.kind);
        for (auto& b : bound) b *= float_eps;
        return kata::difference<float>(got, expected, bound, layout);
    }
}

struct Outcome : kata::Run {
    unsigned long long additions = 0;
};

template <class T>
Outcome attempt(const Module& step, const Problem<T>& p, const kata::Conditions& conditions = {},
                Exactness exactness = Exactness::exact, std::byte poison = kata::poison) {
    const bool sections = scans_sections(step);
    scan::check({p.elements(), p.section});
    kata::Input<T> in("in", p.in);
    Buffer<T> out("out", p.in.size(), poison);
    Scratch scratch(p.elements(), poison);
    Outcome outcome;
    static_cast<kata::Run&>(outcome) = kata::observed_run(
        conditions,
        [&] { call(step, in.data(), out.data(), p.elements(), p.section, p.kind, p.arithmetic, scratch); },
        [&]() -> std::optional<std::string> {
            if (auto text = in.damage()) return text;
            if (auto text = out.damage()) return text;
            if (auto text = scratch.workspace.damage()) return text;
            outcome.additions = scratch.applications.values()[0];
            return compare(p, sections ? p.section : std::max(1, p.elements()), out.values(), exactness,
                           poison);
        });
    outcome.outputs = outcome.operations = p.elements();
    return outcome;
}

template <class T>
void require_right(const Problem<T>& p, const kata::Conditions& conditions = {},
                   Exactness exactness = Exactness::exact, std::byte poison = kata::poison) {
    const std::string kind = p.kind == Kind::inclusive ? "inclusive" : "exclusive";
    const std::string of = p.arithmetic == Arithmetic::composition ? "maps, which do not commute" : "numbers";
    CAPTURE(p.elements(), p.section, kind, of);
    const auto outcome = attempt(kata::step(), p, conditions, exactness, poison);
    if (outcome.fault) FAIL(*outcome.fault);
}

/// `large` elements for the steps that scan sections, `whole` for the others.
int either(int large, int whole) { return scans_sections(kata::step()) ? large : whole; }

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

TEST_CASE("a step scans sections of every length",
          "[step][01_kogge_stone][02_kogge_stone_double_buffered]"
          "[03_brent_kung][04_coarsened]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    const int section = GENERATE(32, 64, 128, 256, 512, 1024);
    require_right(coded(2 * section + 17, section, kind));
}

TEST_CASE("a step scans every length around the sections of its own",
          "[step][05_hierarchical][06_single_pass]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    const int n = GENERATE(511, 512, 513, 4095, 4096, 4097, 8191, 8193, 12289);
    require_right(coded(n, 1024, kind));
}

TEST_CASE("an operator that does not commute is applied from left to right", "[equivalence]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    require_right(maps(1500, 256, kind));
    require_right(maps(either(70, 9001), 32, kind, 2));
}

TEST_CASE("sums of float are exact where they can be", "[equivalence]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    require_right(coded<float>(1301, 512, kind));
}

TEST_CASE("rounding stays within the bound of the sum", "[equivalence]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    require_right(real(2777, 1024, kind, 7), {}, Exactness::rounded);
}

TEST_CASE("sums of int above 2^24 are exact", "[equivalence]") {
    auto p = coded(1000);
    for (auto& x : p.in) x = (1 << 20) + x;
    require_right(p);
}

TEST_CASE("the order of threads and blocks does not matter", "[equivalence]") {
    const auto order = GENERATE(Order::backwards, Order::shuffled);
    const unsigned seed = order == Order::shuffled ? GENERATE(1u, 2u, 3u) : 1u;
    CAPTURE(order == Order::shuffled, seed);
    require_right(maps(either(600, 9001), 128, Kind::exclusive), {.order = order, .seed = seed});
}

TEST_CASE("whichever block starts first, sums are passed on in order", "[step][06_single_pass]") {
    const unsigned seed = GENERATE(range(4u, 12u));
    CAPTURE(seed);
    require_right(coded(6 * 4096 - 5), {.order = Order::shuffled, .seed = seed});
}

TEST_CASE("a second scan gets an answer of its own", "[equivalence]") {
    require_right(coded(either(700, 9001), 256, Kind::inclusive, 1));
    require_right(coded(either(700, 9001), 256, Kind::inclusive, 2), {}, Exactness::exact, std::byte{0x3C});
    // what an earlier scan may have left behind
    require_right(coded(either(700, 9001), 256, Kind::inclusive, 3), {}, Exactness::exact, std::byte{0x01});
}

TEST_CASE("infinities and NaN reach what lies behind them, and nothing else", "[equivalence]") {
    auto p = coded<float>(300, 128);
    p.in[70] = std::numeric_limits<float>::infinity();
    p.in[201] = std::numeric_limits<float>::quiet_NaN();
    require_right(p);
}

TEST_CASE("many sections", "[equivalence]") {
    // of the whole: as many sums as step 05 scans in three levels
    require_right(coded(either(20011, 70001)));
}

TEST_CASE("a very large number of sections", "[equivalence]") {
    if (std::string_view(kata::backend_name()) != "gpu") SKIP("for a GPU");
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    require_right(coded((1 << 24) + 4099, 1024, kind));
    require_right(maps((1 << 24) - 77, 512, kind));
}

namespace {

/// A few values over and over. Their sum is 0, so that every sum of neighbours is small enough for float.
std::vector<float> pattern() {
    auto values = kata::coded(10007, 3);
    float sum = std::accumulate(values.begin(), values.end(), 0.0f);
    for (auto& v : values) {
        const float change = std::clamp(-sum, -1.0f, 1.0f);
        v += change, sum += change;
    }
    return values;
}

/// Scans n floats of the pattern and compares every one, without a copy of what is expected.
void require_right_for_many(int n, Kind kind) {
    const auto period = pattern();
    Buffer<float> out("out", static_cast<std::size_t>(n));
    Scratch scratch(n);
    const int section = scans_sections(kata::step()) ? scan::max_section : n;
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
            call(kata::step(), in.data(), out.data(), n, section, kind, Arithmetic::sum_of_float, scratch);
        },
        [&]() -> std::optional<std::string> {
            if (auto text = out.damage()) return text;
            if (auto text = scratch.workspace.damage()) return text;
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
    if (std::string_view(kata::backend_name()) != "gpu") SKIP("for a GPU");
    require_right_for_many(1 << 28, GENERATE(Kind::inclusive, Kind::exclusive));
}

TEST_CASE("more elements than 2^32 bytes hold", "[.huge][equivalence]") {
    if (std::string_view(kata::backend_name()) != "gpu") SKIP("for a GPU");
    require_right_for_many((1 << 30) + (1 << 20) + 7, Kind::exclusive);
}

// What each step gains, counted over whole sections of 1024 elements.

namespace {

using enum kata::Quantity;
using kata::Claim;

constexpr Claim claims[] = {
    {"02_kogge_stone_double_buffered", "01_kogge_stone", barriers, 2.0,
     "with two buffers one barrier a round is enough", "PMPP-scan 11.2"},
    {"03_brent_kung", "01_kogge_stone", threads, 2.0,
     "no round of the trees has work for more than half as many threads as there are elements",
     "PMPP-scan 11.4"},
    {"03_brent_kung", "01_kogge_stone", basic_blocks, 1.4,
     "the threads that are active in a round stand side by side, so that the other warps rest",
     "PMPP-scan 11.4"},
    {"04_coarsened", "01_kogge_stone", threads, 4.0, "a thread has a subsection of four elements",
     "PMPP-scan 11.5"},
    {"04_coarsened", "01_kogge_stone", sectors_loaded, 1.0,
     "neighbouring threads load neighbouring elements, although each scans four in a row", "PMPP-scan 11.5"},
    {"04_coarsened", "01_kogge_stone", sectors_stored, 1.0,
     "neighbouring threads store neighbouring elements, although each scans four in a row", "PMPP-scan 11.5"},
    {"04_coarsened", "01_kogge_stone", shared_passes, 1.5,
     "padding keeps lanes out of each other's banks while they walk through their subsections",
     "not in the document"},
    {"04_coarsened", "01_kogge_stone", basic_blocks, 2.5,
     "the parallel scan is over the last elements of the subsections only", "PMPP-scan 11.5"},
    {"06_single_pass", "05_hierarchical", bytes_loaded, 1.9, "an element is read once instead of twice",
     "PMPP-scan 11.7"},
    {"06_single_pass", "05_hierarchical", bytes_stored, 1.9, "an element is written once instead of twice",
     "PMPP-scan 11.7"},
    // Times, of 2^28 elements of float in sections. On an H100 (sm_90):
    // 1.11 times.
    {"02_kogge_stone_double_buffered", "01_kogge_stone", time, 1.03, "half of the barriers are gone",
     "PMPP-scan 11.2", Claim::Standing::asserted, std::nullopt, "sm_90"},
    // 0.92 times: less than a quarter of the additions, which a GPU has in plenty, and twice the rounds, in
    // which most threads have nothing to do and lanes wait for each other's banks.
    {"03_brent_kung", "01_kogge_stone", time, 1.0, "less than a quarter of the additions", "PMPP-scan 11.4",
     Claim::Standing::refuted},
    // 2.72 times.
    {"04_coarsened", "01_kogge_stone", time, 1.5,
     "most of the additions are sequential, without a barrier between them", "PMPP-scan 11.5"},
    // 2.46 times.
    {"04_coarsened", "02_kogge_stone_double_buffered", time, 1.5,
     "most of the additions are sequential, without a barrier between them", "PMPP-scan 11.5"},
    // 0.021 times: the sums of 65536 sections go from block to block, one after the other, at 1.2 µs each.
    {"06_single_pass", "05_hierarchical", time, 1.0, "an element is read once and written once",
     "PMPP-scan 11.7", Claim::Standing::refuted},
    // 2.95 times.
    {"04_coarsened", "03_brent_kung", time, 1.5,
     "most of the additions are sequential, without a barrier between them", "PMPP-scan 11.5"},
};

kata::Counts count(const Module& step) {
    return counts_of(attempt(step, coded(scans_sections(step) ? 4096 : 16384)));
}

/// How often a step adds up a full section of n elements.
unsigned long long additions(const Module& step, int n) {
    auto p = coded(n, n);
    p.arithmetic = Arithmetic::counted_sum;
    const auto outcome = attempt(step, p);
    if (outcome.fault) FAIL(*outcome.fault);
    return outcome.additions;
}

/// log₂N for a power of two.
unsigned long long log2(int n) {
    return static_cast<unsigned long long>(std::countr_zero(static_cast<unsigned>(n)));
}

}  // namespace

TEST_CASE("Brent-Kung adds 2N - 2 - log2 N times", "[step][03_brent_kung]") {
    const int n = GENERATE(32, 64, 256, 1024);
    const auto N = static_cast<unsigned long long>(n);
    const auto most = 2 * N - 2 - log2(n), did = additions(kata::step(), n);
    if (did > most)
        FAIL("right, but without the point of the step: " << did << " additions for a section of " << n
                                                          << " elements, where " << most << " do");
}

// The figures of the documents, to the digit.

TEST_CASE("Kogge–Stone: N·log₂N − (N−1) additions",
          "[figures][01_kogge_stone][02_kogge_stone_double_buffered]") {
    const int n = GENERATE(32, 64, 128, 256, 512, 1024);
    const auto N = static_cast<unsigned long long>(n);
    CHECK(additions(kata::step(), n) == N * log2(n) - (N - 1));
}

TEST_CASE("Brent–Kung: 2N − 2 − log₂N additions, never above twice the sequential N−1",
          "[figures][03_brent_kung]") {
    const int n = GENERATE(32, 64, 128, 256, 512, 1024);
    const auto N = static_cast<unsigned long long>(n);
    const auto did = additions(kata::step(), n);
    CHECK(did == 2 * N - 2 - log2(n));
    CHECK(did < 2 * (N - 1));
    // N − 1 of them in the reduction tree, N − 1 − log₂N in the reverse tree
    CHECK(did - (N - 1) == N - 1 - log2(n));
}

TEST_CASE("additions in a section of 1024: 9217, 2036 and 3326",
          "[figures][01_kogge_stone][03_brent_kung][04_coarsened]") {
    const auto name = kata::step_name();
    const auto expected = name == "01_kogge_stone" ? 9217ull : name == "03_brent_kung" ? 2036ull : 3326ull;
    CHECK(additions(kata::step(), 1024) == expected);
}

TEST_CASE("coarsened: N − T sequential, T·log₂T − (T−1) parallel, 3(T−1) to spread",
          "[figures][04_coarsened]") {
    const int n = GENERATE(32, 64, 128, 256, 512, 1024);
    const auto N = static_cast<unsigned long long>(n), T = N / 4;
    CHECK(additions(kata::step(), n) == N - T + T * log2(n / 4) - (T - 1) + 3 * (T - 1));
}

TEST_CASE("barriers a section of 1024: 20 in place, 10 with two buffers, 20 for two trees, 19 coarsened",
          "[figures][01_kogge_stone][02_kogge_stone_double_buffered][03_brent_kung][04_coarsened]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    const auto c = counts_of(attempt(kata::step(), coded(4096)));
    const auto name = kata::step_name();
    CHECK(c.barriers / c.blocks == (name == "01_kogge_stone"                   ? 20
                                    : name == "02_kogge_stone_double_buffered" ? 10
                                    : name == "03_brent_kung"                  ? 20
                                                                               : 19));
}

TEST_CASE("padded subsections are free of bank conflicts",
          "[figures][04_coarsened][05_hierarchical][06_single_pass]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    CHECK(counts_of(attempt(kata::step(), coded<float>(16384))).bank_conflicts == 0);
}

TEST_CASE("a single pass loads and stores each element once, three kernels twice",
          "[figures][05_hierarchical][06_single_pass]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    const int n = 16384;
    const auto c = counts_of(attempt(kata::step(), coded(n)));
    if (kata::step_name() == "06_single_pass") {
        // and the sums of 4 sections, of which 3 are waited for
        CHECK(c.global_load.accesses == n + 3);
        CHECK(c.global_store.accesses == n + 4);
        CHECK(c.launches == 1);
    } else {
        // 64 sections, whose sums are one; all but the first are loaded and stored again, and each of their
        // 64 threads loads the sum before
        CHECK(c.global_load.accesses == n + 64 + (n - 256) + 63 * 64);
        CHECK(c.global_store.accesses == n + 64 + 64 + 1 + (n - 256));
        CHECK(c.launches == 3);
    }
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

namespace {

constexpr int ladder_elements = 1 << 16;

kata::Run ladder(const Module& step) {
    return attempt(step, real(ladder_elements, 1024, Kind::inclusive), {}, Exactness::rounded);
}

struct Timed final : kata::TimedProblem {
    static constexpr int n = 1 << 28;
    kata::Input<float> in{"in", kata::repeated(kata::reals(kata::prime_period, 1), n)};
    Buffer<float> out{"out", n};
    Scratch scratch{n};

    Timed() {
        useful_bytes = 8.0 * n;
        operations = n;
    }
    void run(const Module& step) override {
        call(step, in.data(), out.data(), n, scan::max_section, Kind::inclusive, Arithmetic::sum_of_float,
             scratch);
    }
};

}  // namespace

static const kata::Chapter chapter{
    .name = "scan",
    .problem = "65536 elements; sections of 1024 in steps 01 to 04, the whole in 05 and 06",
    .timed_problem = "268435456 elements; sections of 1024 in steps 01 to 04, the whole in 05 and 06",
    .claims = claims,
    .ladder = ladder,
    .count = count,
    .timed = [](std::optional<int>) -> std::unique_ptr<kata::TimedProblem> {
        return std::make_unique<Timed>();
    },
    .columns = {"bytes_loaded", "bytes_stored", "sectors", "bank_conflicts", "basic_blocks", "barriers"},
};
const kata::Chapter& kata::chapter = ::chapter;
