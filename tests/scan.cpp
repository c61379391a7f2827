// The suite of the scan chapter: what every step must compute, and what each of them must gain.
#include "scan.hpp"

#include "check/data.hpp"
#include "error.hpp"
#include "judge/accesses.hpp"
#include "judge/trial.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using kata::Affine;
using kata::Arithmetic;
using kata::Buffer;
using kata::Module;
using kata::only_on_a_gpu;
using kata::Order;
using kata::require_right;
using scan::Kind;

namespace {

/// Some steps scan sections, the others the whole.
bool scans_sections(const Module& step) { return step.has("scan_sections"); }

void call(const Module& step, const void* in, void* out, int n, int section, Kind kind,
          kata::Operation operation, void* workspace) {
    if (scans_sections(step))
        step.function<decltype(scan_sections)>("scan_sections")(in, out, n, section, kind, operation);
    else
        step.function<decltype(scan_whole)>("scan_whole")(in, out, n, kind, workspace, operation);
}

/// Maps as their two coefficients each.
std::vector<unsigned> coefficients(const std::vector<Affine>& maps) {
    std::vector<unsigned> all;
    for (const auto& map : maps) all.insert(all.end(), {map.a, map.b});
    return all;
}

template <class T>
struct Problem {
    std::vector<T> in;
    int section = scan::max_section;  ///< all of the elements, where a step scans the whole
    Kind kind = Kind::inclusive;
    bool exact = true;
    Arithmetic arithmetic = std::is_same_v<T, int>     ? Arithmetic::sum_of_int
                            : std::is_same_v<T, float> ? Arithmetic::sum_of_float
                                                       : Arithmetic::composition;

    int elements() const { return static_cast<int>(in.size()); }
    std::string text() const {
        return "n = " + std::to_string(elements()) +
               (section < elements() ? ", in sections of " + std::to_string(section) : "") +
               (kind == Kind::inclusive ? ", inclusive, " : ", exclusive, ") + kata::text_of(arithmetic);
    }
    double outputs() const { return elements(); }
    double operations() const { return elements(); }

    kata::Expected expected() const {
        const auto values = scan::reference(in, section, kind);
        const kata::Layout layout{{elements()}, {section}};
        if constexpr (std::is_same_v<T, Affine>) {
            const auto both = coefficients(values);
            return {{both.begin(), both.end()}, {}, {{2, elements()}, {2, section}}};
        } else if constexpr (std::is_same_v<T, float>) {
            if (exact) return {values, {}, layout};
            // A sum of n terms in any order is off by at most n · eps · Σ|terms|.
            auto bound = scan::magnitude(in, section, kind);
            for (auto& b : bound) b *= kata::rounding<float>;
            return {values, bound, layout};
        } else {
            return {{values.begin(), values.end()}, {}, layout};
        }
    }

    /// About the first wrong output, which is a sum of the inputs of its section up to there.
    std::optional<std::string> made_of(const Module& step, const kata::Conditions& conditions,
                                       const auto& result) const {
        if constexpr (std::is_same_v<T, Affine>) {
            return std::nullopt;
        } else {
            if (!exact || in.size() >= kata::too_large_to_ask) return std::nullopt;
            const auto right = scan::reference(in, section, kind);
            const auto wrong = static_cast<std::size_t>(
                std::mismatch(result.begin(), result.end(), right.begin()).first - result.begin());
            if (wrong == in.size()) return std::nullopt;
            const auto sum_of = [&](const std::vector<int>& few) {
                auto other = *this;
                other.in.assign(few.begin(), few.end());
                return kata::asked(step, other, conditions,
                                   [&](const auto& out) { return kata::if_written(out[wrong]); });
            };
            const auto first = wrong - wrong % static_cast<std::size_t>(section);
            if (const auto text =
                    kata::miscount(in.size(), first, wrong + (kind == Kind::inclusive ? 1 : 0), sum_of))
                return "what output " + std::to_string(wrong) + " is made of: " + *text;
            return std::nullopt;
        }
    }

    struct Device {
        int section;
        Kind kind;
        Arithmetic arithmetic;
        kata::Input<T> in;
        Buffer<T> out;
        Buffer<unsigned char> workspace;
        Buffer<unsigned long long> applications{"applications", std::vector<unsigned long long>(1)};

        explicit Device(const Problem& p, std::byte poison)
            : section(p.section),
              kind(p.kind),
              arithmetic(p.arithmetic),
              in("in", p.in),
              out("out", p.in.size(), poison),
              workspace("workspace", scan::workspace_bytes(p.elements()), poison) {}
        void run(const Module& step) {
            call(step, in.data(), out.data(), static_cast<int>(in.size()), section, kind,
                 {arithmetic, arithmetic == Arithmetic::counted_sum ? applications.data() : nullptr},
                 workspace.data());
        }
        auto damage() const { return kata::damage_of(in, out, workspace); }
        auto result() const {
            if constexpr (std::is_same_v<T, Affine>)
                return coefficients(out.values());
            else
                return out.values();
        }
    };
};

/// As the step sees it: the section of a step that scans the whole is all there is.
template <class T>
Problem<T> for_step(const Module& step, Problem<T> p) {
    scan::check({p.elements(), p.section});
    if (!scans_sections(step)) p.section = std::max(1, p.elements());
    return p;
}

/// Small integers: every sum is exact in float, too, whatever the order, and a wrong index shows.
template <class T = int>
Problem<T> coded(int n, int section = scan::max_section, Kind kind = Kind::inclusive, unsigned seed = 1,
                 const Module& step = kata::step()) {
    return for_step<T>(step, {kata::coded<T>(static_cast<std::size_t>(n), seed), section, kind});
}

/// Maps, which do not commute. Their factors are odd: 32 even ones would make 0, and nothing of what stands
/// left of them would be seen.
Problem<Affine> maps(int n, int section, Kind kind, unsigned seed = 1) {
    const auto size = static_cast<std::size_t>(n);
    const auto a = kata::coded<unsigned>(size, seed), b = kata::coded<unsigned>(size, seed + 1000);
    Problem<Affine> p{std::vector<Affine>(size), section, kind};
    for (std::size_t i = 0; i < size; ++i) p.in[i] = {2 * a[i] + 1, b[i]};
    return for_step(kata::step(), p);
}

Problem<float> real(int n, int section, Kind kind, unsigned seed = 1, const Module& step = kata::step()) {
    return for_step<float>(step, {kata::reals(static_cast<std::size_t>(n), seed), section, kind, false});
}

/// `large` elements for the steps that scan sections, `whole` for the others.
int either(int large, int whole) { return scans_sections(kata::step()) ? large : whole; }

}  // namespace

TEST_CASE("steps 01 to 04 scan sections, those behind them the whole", "[equivalence]") {
    const bool sections = kata::step_name() < "05";
    const char* wanted = sections ? "scan_sections" : "scan_whole";
    if (scans_sections(kata::step()) != sections)
        FAIL("the step defines no " << wanted << "(): " << (sections ? "sections" : "whole")
                                    << ".cuh says what it defines");
    SUCCEED();
}

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
          "[step][05_hierarchical][06_single_pass][07_look_back][08_shuffles]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    const int n = GENERATE(511, 512, 513, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8193, 12289);
    require_right(coded(n, 1024, kind));
}

TEST_CASE("a step scans every length around its loads, rows and sections", "[step][09_wide_rows]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    const int n = GENERATE(3, 4, 5, 7, 1023, 1025, 16382, 16383, 16384, 16385, 2 * 16384 + 77);
    require_right(coded(n, 1024, kind));
    require_right(maps(n / 2, 1024, kind, 3));
}

TEST_CASE("a step scans every length around its packs and tiles", "[step][10_sums_ahead]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    const int n = GENERATE(3, 4, 5, 7, 1023, 1025, 8190, 8191, 8192, 8193, 2 * 8192 + 77);
    require_right(coded(n, 1024, kind));
    require_right(maps(n / 2, 1024, kind, 3));
}

// Two blocks, of which each takes a dozen: slots of shared memory are used again.
TEST_CASE("a block that stays scans one tile after the other", "[step][10_sums_ahead]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    require_right(coded(25 * 8192 - 5, 1024, kind), {{.multiprocessors = 2}});
}

// One block after the other takes 4 tiles; the last one begins when 164 have been told, more than the 160
// that a warp adds up at once.
TEST_CASE("a block that starts late adds up more tiles than its warp does at once", "[step][10_sums_ahead]") {
    require_right(maps(168 * 4096 - 5, 1024, Kind::inclusive),
                  {{.time_limit = 4, .metered = false, .resident = 1, .multiprocessors = 42}});
}

TEST_CASE("blocks that stay wait for one another in any order", "[step][10_sums_ahead]") {
    const unsigned seed = GENERATE(range(1u, 5u));
    CAPTURE(seed);
    // Some blocks draw a number behind the last tile while others have yet to draw.
    require_right(coded(11 * 8192 - 5),
                  {{.order = Order::shuffled, .seed = seed + 1, .metered = false, .multiprocessors = 7}});
    require_right(maps(45 * 4096 - 5, 1024, Kind::inclusive, seed), {{.order = Order::shuffled,
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

TEST_CASE("sums of float are exact where they can be", "[equivalence]") {
    const auto kind = GENERATE(Kind::inclusive, Kind::exclusive);
    require_right(coded<float>(1301, 512, kind));
}

TEST_CASE("rounding stays within the bound of the sum", "[equivalence]") {
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
    CAPTURE(order == Order::shuffled, seed);
    require_right(maps(either(600, 9001), 128, Kind::exclusive), {{.order = order, .seed = seed}});
}

TEST_CASE("whichever block starts first, sums are passed on in order",
          "[step][06_single_pass][07_look_back][08_shuffles][09_wide_rows][10_sums_ahead]") {
    const unsigned seed = GENERATE(range(4u, 12u));
    CAPTURE(seed);
    require_right(coded(6 * 4096 - 5), {{.order = Order::shuffled, .seed = seed}});
}

TEST_CASE("what several sections have said of themselves is combined from left to right",
          "[step][07_look_back][08_shuffles][09_wide_rows][10_sums_ahead]") {
    const unsigned seed = GENERATE(range(1u, 9u));
    CAPTURE(seed);
    require_right(maps(12 * 4096 - 5, 1024, Kind::inclusive, seed),
                  {{.order = Order::shuffled, .seed = seed, .metered = false, .resident = 6}});
}

TEST_CASE("what a section has told may change between any two looks at it",
          "[step][07_look_back][08_shuffles][09_wide_rows][10_sums_ahead]") {
    const unsigned seed = GENERATE(range(1u, 9u));
    CAPTURE(seed);
    const int section = kata::step_name() == "09_wide_rows" ? 8192 : 4096;
    require_right(
        maps(12 * section - 5, 1024, Kind::inclusive, seed),
        {{.order = Order::shuffled, .seed = seed, .metered = false, .resident = 12, .polls_per_turn = 1}});
}

// The first section tells nothing until the 38 behind it have all told their own sums and wait for it. The
// last one starts when the first is done: what it needs is there, in 39 places.
TEST_CASE("whoever waits for the first section looks back at all between them",
          "[step][07_look_back][08_shuffles][09_wide_rows][10_sums_ahead]") {
    const int section = kata::step_name() == "09_wide_rows" ? 8192 : 4096;  // of maps
    const auto p = maps(40 * section - 5, 1024, Kind::inclusive);
    INFO(p.text());
    const auto run = try_on(kata::step(), p,
                            {{.order = Order::shuffled,
                              .metered = false,
                              .resident = 39,
                              .first_held_back = true,
                              .latest_first = true,
                              .polls_per_turn = 4}});
    if (run.fault) FAIL(*run.fault);
    // Step 08 is about shuffles: who looks at one section after the other has its point.
    kata::require_at_most(kata::step_name() == "08_shuffles" ? 4 : 1,
                          1 + static_cast<double>(run.seen.next.not_overtaken),
                          "the step does not gain what it is for: a section waits "
                          "until those before it have the sum of all, where what each has told of its own is "
                          "enough, or looks at them one after the other",
                          "sections that are done before the last of 40, which starts when the first is done "
                          "and all others have told their own sums");
}

TEST_CASE("a second scan gets an answer of its own", "[equivalence]") {
    require_right(coded(either(700, 9001), 256, Kind::inclusive, 1));
    require_right(coded(either(700, 9001), 256, Kind::inclusive, 2), {.poison = std::byte{0x3C}});
    // what an earlier scan may have left behind
    require_right(coded(either(700, 9001), 256, Kind::inclusive, 3), {.poison = std::byte{0x01}});
}

TEST_CASE("infinities and NaN reach what lies behind them, and nothing else", "[equivalence]") {
    auto p = coded<float>(300, 128);
    p.in[70] = std::numeric_limits<float>::infinity();
    p.in[201] = std::numeric_limits<float>::quiet_NaN();
    require_right(p);
}

TEST_CASE("infinities and NaN at the ends of sections stay in them", "[equivalence]") {
    auto p = coded<float>(450, 128, GENERATE(Kind::inclusive, Kind::exclusive));
    p.in[127] = std::numeric_limits<float>::infinity();
    p.in[256] = -std::numeric_limits<float>::infinity();
    p.in[449] = std::numeric_limits<float>::quiet_NaN();
    require_right(p);
}

TEST_CASE("many sections", "[equivalence]") { require_right(coded(either(20011, 70001))); }

// More blocks than a block may have threads, or than 32 for each of 132 multiprocessors; more elements than
// 16 bits count.
TEST_CASE("thousands of small sections",
          "[step][01_kogge_stone][02_kogge_stone_double_buffered][03_brent_kung][04_coarsened]") {
    require_right(coded(4300 * 32 + 5, 32), kata::unmetered);
}

TEST_CASE("what hundreds of sections tell fits into the workspace",
          "[step][06_single_pass][07_look_back][08_shuffles][09_wide_rows][10_sums_ahead]") {
    require_right(maps(600'000, 1024, Kind::inclusive), kata::unmetered);
}

TEST_CASE("more sums than one block scans are scanned as any array is", "[step][05_hierarchical]") {
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
    Buffer<unsigned char> workspace("workspace", scan::workspace_bytes(n));
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

TEST_CASE("as many elements as the chapter takes, more than 2^32 bytes hold", "[.huge][equivalence]") {
    only_on_a_gpu();
    require_right_for_many(scan::max_elements, Kind::exclusive);
}

namespace {

/// Ints that are zero but at their ends.
struct Long {
    Buffer<int> in, out;
    Buffer<unsigned char> workspace;

    explicit Long(int n)
        : in("in", static_cast<std::size_t>(n), kata::zeros),
          out("out", static_cast<std::size_t>(n), kata::zeros),
          workspace("workspace", scan::workspace_bytes(n), kata::zeros) {
        in.set(0, 3);
        in.set(elements() - 2, 4);
        in.set(elements() - 1, 5);
    }
    std::string text() const { return "n = " + std::to_string(elements()); }
    std::size_t elements() const { return in.size(); }
    void run(const Module& step) {
        const int n = static_cast<int>(elements());
        call(step, in.data(), out.data(), n, scans_sections(step) ? scan::max_section : n, Kind::inclusive,
             {Arithmetic::sum_of_int}, workspace.data());
    }
    std::optional<std::string> fault() const {
        const int first = scans_sections(kata::step()) ? 0 : 3;  // in the last section
        const auto n = elements();
        for (const auto& [i, expected] :
             {std::pair(std::size_t{0}, 3), std::pair(n - 2, first + 4), std::pair(n - 1, first + 9)})
            if (out.element(i) != expected)
                return "element " + std::to_string(i) + " of " + std::to_string(n) + ": expected " +
                       std::to_string(expected) + ", got " + std::to_string(out.element(i));
        return kata::damage_of(in, out, workspace);
    }
};

}  // namespace

// From step 06 on blocks wait for those before them, so that a CPU would have to run them all.
TEST_CASE("an array of more bytes than 32 bits count", "[equivalence]") {
    if (kata::step_name() >= "06") only_on_a_gpu();
    kata::require_right_beyond_32_bits<Long>([] { return Long((1 << 20) + 5); },
                                             [] { return Long((1 << 30) + (1 << 16) + 5); });
}

// With sections of 1024 elements four levels: 1050625 sections, 1027 of their sums, 2 of these, and 1.
TEST_CASE("more sums of sums than one block scans are scanned as any array is", "[step][05_hierarchical]") {
    kata::require_right_beyond_32_bits<Long>([] { return Long((1 << 20) + 5); },
                                             [] { return Long((1 << 30) + (1 << 21) + 5); });
}

// What each step gains, counted over whole sections of 1024 elements.

namespace {

using kata::Claim;

constexpr auto refuted = Claim::Standing::refuted;
constexpr auto asserted = Claim::Standing::asserted;

const kata::Step steps[] = {
    {.name = "01_kogge_stone",
     .traits = "[base]",
     .beats =
         {
             {"03_brent_kung", "span", 1.8, "there are 10 rounds instead of 19", "PMPP-scan 11.4"},
             // The document has twice the time for Brent-Kung where there are units enough: 1.08 times.
             {"03_brent_kung", "milliseconds", 2.0, "there are 10 rounds instead of 19", "PMPP-scan 11.4",
              refuted},
         }},
    {.name = "02_kogge_stone_double_buffered",
     .before = "01_kogge_stone",
     .traits = "[base]",
     .beats =
         {
             {"01_kogge_stone", "barriers", 1.6, "with two buffers one barrier a round is enough",
              "PMPP-scan 11.2"},
             // Times, of 2^28 elements of float; in sections up to 04. On an H100 (sm_90):
             // 1.11 times.
             {"01_kogge_stone", "milliseconds", 1.03, "half of the barriers are gone", "PMPP-scan 11.2",
              asserted, std::nullopt, "sm_90"},
             // 1.20 times.
             {"03_brent_kung", "milliseconds", 1.05,
              "there are 10 rounds instead of 19, and no bank conflicts", "PMPP-scan 11.4", asserted,
              std::nullopt, "sm_90"},
         }},
    {.name = "03_brent_kung",
     .before = "02_kogge_stone_double_buffered",
     .traits = "[base]",
     .beats =
         {
             // 0.87 times: of a warp that has one addition left, all lanes wait, and strides meet in the same
             // banks.
             {"02_kogge_stone_double_buffered", "work", 1.0, "less than a quarter of the additions",
              "not in the document", refuted},
             {"01_kogge_stone", "basic_blocks", 1.4,
              "the threads that are active in a round stand side by side, so that the other warps rest",
              "PMPP-scan 11.4"},
             {"01_kogge_stone", "sectors_loaded", 0.8,
              "neighbouring threads load neighbouring elements, although each loads two", "PMPP-scan 11.4"},
             {"01_kogge_stone", "sectors_stored", 0.8,
              "neighbouring threads store neighbouring elements, although each stores two", "PMPP-scan 11.4"},
             // 0.92 times, although there are less than a quarter of the additions.
             {"01_kogge_stone", "milliseconds", 1.0, "less than a quarter of the additions",
              "not in the document", refuted},
         }},
    {.name = "04_coarsened",
     .before = "03_brent_kung",
     .traits = "[base]",
     .beats =
         {
             {"01_kogge_stone", "sectors_loaded", 0.8,
              "neighbouring threads load neighbouring elements, although each scans four in a row",
              "PMPP-scan 11.5"},
             {"01_kogge_stone", "sectors_stored", 0.8,
              "neighbouring threads store neighbouring elements, although each scans four in a row",
              "PMPP-scan 11.5"},
             {"01_kogge_stone", "span", 0.5,
              "the last elements of the subsections are scanned by all threads together, and not one after "
              "the other",
              "PMPP-scan 11.5"},
             {"01_kogge_stone", "shared_passes", 1.5,
              "padding keeps lanes out of each other's banks while they walk through their subsections",
              "not in the document"},
             {"01_kogge_stone", "basic_blocks", 2.5,
              "the parallel scan is over the last elements of the subsections only", "PMPP-scan 11.5"},
             {"03_brent_kung", "shared_passes", 3.0,
              "subsections are padded, and the strides of the trees make lanes meet in the same banks",
              "not in the document"},
             {"03_brent_kung", "basic_blocks", 1.5,
              "the parallel scan is over the last elements of the subsections only", "PMPP-scan 11.5"},
             {"05_hierarchical", "bytes_loaded", 1.5,
              "sections by themselves are read once, and a scan of the whole reads them again to add the "
              "sums",
              "PMPP-scan 11.6"},
             // 2.72 times. Which of the things that step 04 does less often it is, nobody has measured.
             {"01_kogge_stone", "milliseconds", 1.5,
              "a quarter of the threads do most additions sequentially", "PMPP-scan 11.5"},
             // 2.46 times.
             {"02_kogge_stone_double_buffered", "milliseconds", 1.5,
              "a quarter of the threads do most additions sequentially", "PMPP-scan 11.5"},
             // 2.95 times.
             {"03_brent_kung", "milliseconds", 1.5, "half of the threads do most additions sequentially",
              "PMPP-scan 11.5"},
             // 1.86 times.
             {"05_hierarchical", "milliseconds", 1.4,
              "sections by themselves take one kernel, and a scan of the whole takes another one over all "
              "elements",
              "PMPP-scan 11.6"},
         }},
    {.name = "05_hierarchical",
     .before = "04_coarsened",
     .traits = "[base]",
     .beats =
         {
             {"01_kogge_stone", "basic_blocks", 2.0,
              "sections are scanned as in step 04, and adding the sums is little work for many threads",
              "PMPP-scan 11.6"},
             {"06_single_pass", "span", 1.2,
              "the sums of the sections are scanned in parallel, and not passed on one after the other",
              "not in the document"},
             {"01_kogge_stone", "shared_passes", 1.1,
              "sections are scanned as in step 04, by all threads of a block in shared memory",
              "PMPP-scan 11.6"},
             // 53 times.
             {"06_single_pass", "milliseconds", 20.0,
              "the sums of the sections are scanned in parallel, and not passed on one after the other",
              "not in the document"},
         }},
    {.name = "06_single_pass",
     .before = "05_hierarchical",
     .traits = "[base]",
     .beats =
         {
             {"05_hierarchical", "bytes_loaded", 1.9, "an element is read once instead of twice",
              "PMPP-scan 11.7"},
             {"05_hierarchical", "bytes_stored", 1.9, "an element is written once instead of twice",
              "PMPP-scan 11.7"},
             {"05_hierarchical", "shared_passes", 1.2,
              "sections are scanned by all threads of a block in shared memory, and their sums are not "
              "scanned",
              "PMPP-scan 11.7"},
             {"07_look_back", "span", 1.4,
              "where blocks run one after the other, as they do here, the sum of all before is there when it "
              "is asked "
              "for, and one thread has it sooner than a warp that looks back",
              "not in the document"},
             // 0.019 times: the sums of 65536 sections go from block to block, one after the other, at 1.2 µs
             // each.
             {"05_hierarchical", "milliseconds", 1.0, "an element is read once and written once",
              "PMPP-scan 11.7", refuted},
         }},
    {.name = "07_look_back",
     .before = "06_single_pass",
     .traits = "[base]",
     .beats =
         {
             {"05_hierarchical", "bytes_loaded", 1.8, "an element is read once instead of twice",
              "not in the document"},
             // 76 times, of two runs.
             {"06_single_pass", "milliseconds", 20.0,
              "who waits adds up what the sections before it have said of themselves", "not in the document"},
         }},
    {.name = "08_shuffles",
     .before = "07_look_back",
     .traits = "[base]",
     .beats =
         {
             {"07_look_back", "barriers_a_block", 3.0,
              "rounds within a warp need no barrier, and what the warps leave is for one warp",
              "not in the document"},
             {"07_look_back", "shared_passes", 1.5,
              "a thread reads its elements from shared memory once and writes them once",
              "not in the document"},
             // 1.004 times, for what takes time is the look-back; of 2²⁰ floats 1.12 times.
             {"07_look_back", "milliseconds", 1.02, "there are five barriers instead of 21",
              "not in the document", refuted},
             {"07_look_back", "milliseconds", 1.04, "there are five barriers instead of 21",
              "not in the document", asserted, 20, "sm_90"},
         }},
    {.name = "09_wide_rows",
     .before = "08_shuffles",
     .traits = "[long]",
     .beats =
         {
             {"08_shuffles", "global_requests", 2.5, "a load or a store is for four elements instead of one",
              "not in the document"},
             {"08_shuffles", "shared_passes", 5.0, "no element goes through shared memory",
              "not in the document"},
             {"10_sums_ahead", "shared_passes", 5.0,
              "elements stay in registers, and none is copied to shared memory to wait there",
              "not in the document"},
             // 1.18 times.
             {"08_shuffles", "milliseconds", 1.08,
              "more loads are under way, and there are fewer sections to look back at",
              "not in the document"},
         }},
    {.name = "10_sums_ahead",
     .before = "09_wide_rows",
     .traits = "[long]",
     .beats =
         {
             // 1.17 times.
             {"09_wide_rows", "milliseconds", 1.06,
              "copies are under way while a block scans, and sums are told before they are asked for",
              "not in the document", asserted, std::nullopt, "sm_90"},
         }},
};

/// The sections of some steps are so long that 2^16 elements would be for fewer blocks than a GPU runs.
int counted_length() { return kata::base_shape().name == "long" ? 1 << 18 : 1 << 16; }

kata::Run count(const Module& step) {
    return try_on(step, coded(1 << 16, scan::max_section, Kind::inclusive, 1, step));
}
kata::Run count_long(const Module& step) {
    return try_on(step, coded(1 << 18, scan::max_section, Kind::inclusive, 1, step));
}

/// How often a step adds up a full section of n elements.
unsigned long long additions(const Module& step, int n) {
    auto p = coded(n, n);
    p.arithmetic = Arithmetic::counted_sum;
    Problem<int>::Device device(p, kata::poison);
    const auto run = try_on(step, p, device);
    if (run.fault) FAIL(*run.fault);
    return device.applications.values()[0];
}

/// What the steps that scan sections need for one of 1024 elements.
struct Needed {
    unsigned long long additions, barriers;
};
const std::map<std::string, Needed> for_a_section{
    {"01_kogge_stone", {9217, 20}},
    {"02_kogge_stone_double_buffered", {9217, 10}},
    {"03_brent_kung", {2036, 20}},
    {"04_coarsened", {3326, 19}},
};

/// log₂N for a power of two.
unsigned long long log2(int n) {
    return static_cast<unsigned long long>(std::countr_zero(static_cast<unsigned>(n)));
}

}  // namespace

// The two scans differ by one place: a row that begins there reaches one line more, and one sector.
TEST_CASE("the exclusive scan costs about what the inclusive one does", "[claims]") {
    kata::only_where_counted();
    const int n = either(1 << 14, kata::step_name() >= "09" ? 1 << 17 : 1 << 15);
    const auto inclusive = kata::counted(coded(n)),
               exclusive = kata::counted(coded(n, scan::max_section, Kind::exclusive));
    const auto compare = [&](double factor, std::uint64_t more, std::uint64_t base, const std::string& what) {
        kata::require_at_most(factor * static_cast<double>(base), static_cast<double>(more),
                              "what the step gains for the inclusive scan it does not gain for the "
                              "exclusive one",
                              what, ", where the inclusive scan has " + std::to_string(base));
    };
    compare(1.5, exclusive.global_load.transactions, inclusive.global_load.transactions,
            "32-byte sectors loaded");
    compare(1.5, exclusive.global_store.transactions, inclusive.global_store.transactions,
            "32-byte sectors stored");
    compare(1.5, exclusive.global_load.requests, inclusive.global_load.requests,
            "times that a warp loads from global memory");
    compare(1.5, exclusive.global_store.requests, inclusive.global_store.requests,
            "times that a warp stores to global memory");
    compare(1.5, exclusive.work, inclusive.work, "steps of all warps");
}

// Maps have eight bytes.
TEST_CASE("elements of eight bytes cost no more than as many bytes of ints",
          "[claims][step][09_wide_rows][10_sums_ahead]") {
    kata::only_where_counted();
    constexpr int n = 1 << 17;
    const auto requests = [](const kata::Counts& c) {
        return static_cast<double>(c.global_load.requests + c.global_store.requests);
    };
    const double ints = requests(kata::counted(coded(n)));
    kata::require_at_most(
        1.4 * ints, requests(kata::counted(maps(n / 2, scan::max_section, Kind::inclusive))),
        "elements of eight bytes are not loaded or stored 16 bytes at a time",
        "times that a warp loads from or stores to global memory, for as many bytes of maps");
}

// Two tiles of step 10. A solution needs about as many requests for them as for whole ones.
TEST_CASE("a section that is not whole is loaded and stored 16 bytes at a time, too",
          "[claims][step][09_wide_rows][10_sums_ahead]") {
    kata::only_where_counted();
    constexpr int whole = 16384;
    const auto requests = [](int n) {
        const auto c = kata::counted(coded(n));
        return static_cast<double>(c.global_load.requests + c.global_store.requests);
    };
    kata::require_at_most(
        1.5 * requests(whole) + 16, requests(whole - 4),
        "where a section is not whole its elements are loaded or stored one by one",
        "times that a warp loads from or stores to global memory, for 16380 elements",
        "\n  the usual cause: one condition for the whole section, where each load of 16 bytes could have "
        "its own; only the last one of the input can be incomplete");
}

// Two barriers for each doubling of the stride, and some around them.
TEST_CASE("a short section has fewer rounds than a long one",
          "[claims][step][01_kogge_stone][02_kogge_stone_double_buffered][03_brent_kung][04_coarsened]") {
    const int section = GENERATE(32, 64, 256);
    const auto c = kata::counted(coded(2 * section, section));
    kata::require_at_most(
        2 * static_cast<double>(log2(section)) + 3,
        static_cast<double>(c.barriers) / static_cast<double>(c.blocks),
        "blocks go through rounds in which no thread has work",
        "barriers of a block, for a section of " + std::to_string(section) + " elements",
        "\n  the usual cause: the first or the last stride is that of a section of 1024, whatever is asked");
}

// Each element goes into shared memory and out of it twice: 0.125 passes, without conflicts. Beside these a
// warp has up to five for the sums of warps and the number of the section, however few elements its threads
// have.
TEST_CASE("a thread reads its elements from shared memory once", "[claims][step][08_shuffles]") {
    kata::only_where_counted();
    const auto& c = kata::counts_of(kata::counted_run(kata::base_shape()));
    const auto conflicts = static_cast<double>(c.bank_conflicts);
    kata::require_at_most(
        0.02, conflicts / counted_length(),
        "the step does not gain what it is for: the lanes of a warp meet in the "
        "same banks of shared memory, where padding could keep them apart",
        "passes over shared memory because of bank conflicts, for each element",
        "\n  the usual cause: elements are not padded on the way in, or not on the way back");
    const double beside_elements = 5.5 * static_cast<double>(c.threads) / 32;
    kata::require_at_most(
        0.127 + beside_elements / counted_length(),
        (static_cast<double>(c.shared_load.transactions + c.shared_store.transactions) - conflicts) /
            counted_length(),
        "the step does not gain what it is for: elements are read from shared "
        "memory more than once, where a thread could keep its own in registers, or sums of threads go "
        "through it, where shuffles would do",
        "passes over the banks of shared memory, for each element, not counting bank conflicts");
}

// A shuffle between two rows waits for the first of them, and so does the load of the second.
TEST_CASE("the rows of a warp are loaded together", "[claims][step][09_wide_rows]") {
    kata::only_where_counted();
    const auto& c = kata::counts_of(kata::counted_run(kata::base_shape()));
    kata::require_at_most(
        3, 32 * static_cast<double>(c.load_phases) / static_cast<double>(c.threads),
        "the step does not gain what it is for: loads that could be under way "
        "together wait for shuffles of what was loaded before",
        "times that a warp begins to load, at first and behind a barrier or a shuffle",
        "\n  the usual cause: a row is loaded, added up and scanned before the next one is loaded; load all "
        "of them into registers first");
}

// Where blocks run one after the other each finds that the one before it has told the sum of all. Who looks
// further back has the more to look at the more sections there are.
TEST_CASE("who finds the sum of all looks no further back",
          "[claims][step][07_look_back][08_shuffles][09_wide_rows]") {
    kata::only_where_counted();
    const int section = kata::step_name() == "09_wide_rows" ? 16384 : 4096;
    const auto looked_at = [&](unsigned sections) {
        const auto c =
            kata::counted(coded(static_cast<int>(sections) * section), {.only_block = sections - 1});
        return static_cast<double>(c.global_load.bytes) - 4.0 * section;
    };
    const double few = looked_at(40), many = looked_at(120);
    kata::require_at_most(
        few + 0.5 * std::max(few, 0.0) + 64, many,
        "the last section looks at the more others the more there are: a section "
        "that knows the sum of all up to its end is to tell it, and nobody has to look behind it",
        "bytes that the 120th section looks at",
        ", where the 40th looks at " + std::to_string(static_cast<int>(few)));
}

namespace {

/// What warps have loaded of the input before they store results, by the barriers that their block had
/// passed.
class Ahead {
  public:
    void see(const kata::Request& r, const std::string& array) {
        auto& round = blocks_[r.block][r.barriers];
        const double bytes = r.bytes * std::popcount(r.lanes);
        if (array == "in") (round.storing.contains(r.warp) ? round.loaded_behind : round.loaded) += bytes;
        if (array != "out") return;
        round.storing.insert(r.warp);
        round.stored += bytes;
    }

    /// Of what is stored, the share for which as much of what follows has been loaded before.
    double share() const {
        double ahead = 0, all = 0;
        for (const auto& [index, rounds] : blocks_) {
            double there = 0;  // loaded and not yet stored
            for (const auto& [barriers, round] : rounds) {
                there += round.loaded - round.stored;
                ahead += std::clamp(there, 0.0, round.stored);
                there += round.loaded_behind;
                all += round.stored;
            }
        }
        return ahead / std::max(all, 1.0);
    }

  private:
    struct Round {
        std::set<unsigned> storing;  // warps that have begun to store
        double loaded = 0, loaded_behind = 0, stored = 0;
    };
    std::map<std::uint64_t, std::map<unsigned, Round>> blocks_;
};

}  // namespace

TEST_CASE("tiles that are loaded before others are stored are told from those that are not", "[claims]") {
    if (!kata::subject().is_solution) SKIP("for who maintains it");
    // Two warps of a block with eight tiles: in each round a barrier, and what comes of a tile before the
    // next one is loaded, or behind that. The second warp comes first, as where warps run in another order.
    const auto share = [](bool ahead) {
        Ahead loaded;
        const auto reach = [&](const char* array, unsigned round) {
            for (const unsigned warp : {1u, 0u})
                loaded.see({.warp = warp, .barriers = round, .bytes = 4, .lanes = ~0u}, array);
        };
        reach("in", 0);
        for (unsigned round = 1; round <= 8; ++round) {
            if (ahead && round < 8) reach("in", round);
            reach("workspace", round);
            reach("out", round);
            if (!ahead && round < 8) reach("in", round);
        }
        return loaded.share();
    };
    CHECK(share(false) == 0);
    CHECK(share(true) == 7.0 / 8);
}

// One warp's window is 32 words of eight bytes, and none of the 16 sections has so many before it: 60 bytes
// on average. Where all 16 warps of step 09 look back, 960.
TEST_CASE("one warp of a block looks back", "[claims][step][07_look_back][08_shuffles][09_wide_rows]") {
    kata::only_where_counted();
    double told = 0;  // bytes
    const auto blocks = [&] {
        const kata::Accesses accesses([&](const kata::Request& r, const std::string& array) {
            if (array != "in" && std::string_view(r.did) != "store") told += r.bytes * std::popcount(r.lanes);
        });
        return static_cast<double>(kata::counted(coded(counted_length())).blocks);
    }();
    kata::require_at_most(512, told / blocks,
                          "several warps of a block look at what the sections before it have told, "
                          "where one could, and leave in shared memory what stands before the section",
                          "bytes of what sections have told, loaded by a block on average");
}

// Two blocks with a dozen tiles each. A solution's block looks at each tile once, and two tiles are on their
// way whenever it comes to a barrier. Who loads the next tile into registers before this one is stored, has
// as much on its way, where a barrier knows nothing of it.
TEST_CASE("a block that stays copies ahead, and looks at each tile once", "[claims][step][10_sums_ahead]") {
    kata::only_where_counted();
    constexpr int tiles = 25, n = tiles * 8192;
    Ahead loaded;
    const auto c = [&] {
        const kata::Accesses accesses(
            [&](const kata::Request& r, const std::string& array) { loaded.see(r, array); });
        return kata::counted(coded(n), {.multiprocessors = 2});
    }();
    kata::require_at_least(2, static_cast<double>(c.blocks),
                           "the step does not gain what it is for: fewer blocks are "
                           "launched than run at a time, so that part of the GPU has nothing to do. As many "
                           "run as a multiprocessor takes, times the multiprocessors",
                           "blocks for 25 tiles, on two multiprocessors that take one block each");
    kata::require_at_most(
        4 * 8 * tiles, static_cast<double>(c.global_load.bytes) - 4.0 * n,
        "blocks look again and again at tiles that they have added up before: a "
        "block that stays knows what stands before its last tile, and no more blocks are wanted than run at "
        "a time",
        "bytes of what 25 tiles have told, loaded by two blocks that run at a time");
    const std::string idle =
        "the step does not gain what it is for: no copies are on their way while a "
        "tile is added up, so that the memory is idle";
    if (c.copy_waits > 0) {
        kata::require_at_least(0.5, static_cast<double>(c.bytes_ahead) / (4.0 * n), idle,
                               "bytes that asynchronous copies are still to bring when a block comes to a "
                               "barrier, for each byte of the input");
    } else {
        kata::require_at_least(0.5, loaded.share(), idle,
                               "bytes of the next tile that are loaded before a tile is stored, for each "
                               "byte of that");
        kata::require_at_most(0.5, static_cast<double>(c.waited_for) / (4.0 * n), idle,
                              "bytes that are loaded and stored to shared memory at once, for each byte of "
                              "the input");
    }
}

namespace {

/// When each block has told the sums of its tiles, and when it has stored them: by the barriers that it had
/// passed.
class Told {
  public:
    void store(const kata::Request& r, const std::string& array) {
        auto& block = blocks_[r.block];
        for (unsigned lane = 0; lane < 32; ++lane) {
            if (!(r.lanes >> lane & 1)) continue;
            if (array == "out") block.stored[r.barriers] += r.bytes;
            if (array == "workspace" && places_.insert(r.addresses[lane]).second)
                block.told.push_back(r.barriers);
        }
    }

    /// How many tiles a block has told and not stored when it comes to the barrier behind the telling of one;
    /// on average, and nothing where no block tells anything.
    std::optional<double> ahead() const {
        double sum = 0;
        std::size_t tiles = 0;
        for (const auto& [index, block] : blocks_) {
            if (block.stored.empty()) continue;  // others store what it has told
            double all = 0;
            for (const auto& [barriers, bytes] : block.stored) all += bytes;
            for (std::size_t k = 0; k < block.told.size(); ++k) {
                double stored = 0;
                for (const auto& [barriers, bytes] : block.stored)
                    if (barriers <= block.told[k]) stored += bytes;
                sum += static_cast<double>(k + 1) - static_cast<double>(block.told.size()) * stored / all;
            }
            tiles += block.told.size();
        }
        return tiles == 0 ? std::nullopt : std::optional(sum / static_cast<double>(tiles));
    }

  private:
    struct Block {
        std::vector<unsigned> told;         // of each tile
        std::map<unsigned, double> stored;  // bytes of results
    };
    std::map<std::uint64_t, Block> blocks_;
    std::set<std::uintptr_t> places_;  // where something has been told
};

}  // namespace

// Two blocks with a dozen tiles each. A solution's block has told three tiles that it has not stored, but for
// its first two; where sums are told two tiles ahead, two (styles/scan/10_sums_ahead.two_ahead).
TEST_CASE("a block tells the sum of a tile long before it scans it", "[claims][step][10_sums_ahead]") {
    kata::only_where_counted();
    Told told;
    {
        const kata::Accesses accesses([&](const kata::Request& r, const std::string& array) {
            if (std::string_view(r.did) == "store") told.store(r, array);
        });
        (void)kata::counted(coded(25 * 8192), {.multiprocessors = 2});
    }
    if (const auto ahead = told.ahead())
        kata::require_at_least(1.5, *ahead,
                               "the step does not gain what it is for: the sum of a "
                               "tile is told when its block is about to scan it, and the blocks that need it "
                               "wait; tell it as soon as the tile is added up, some tiles ahead",
                               "tiles that a block has told and not yet stored, on average");
    SUCCEED();
}

TEST_CASE("Brent-Kung adds 2N - 2 - log2 N times", "[step][03_brent_kung]") {
    const int n = GENERATE(32, 64, 256, 1024);
    const auto N = static_cast<unsigned long long>(n);
    kata::require_at_most(static_cast<double>(2 * N - 2 - log2(n)),
                          static_cast<double>(additions(kata::step(), n)),
                          "the step does not gain what it is for: its tree needs few additions",
                          "additions for a section of " + std::to_string(n) + " elements");
}

// A solution's warps reach shared memory 232 times for a section: in a round three times, where they have
// work. Where those of one of the two trees are spread, 490 times.
TEST_CASE("in both trees the threads with work stand side by side", "[claims][step][03_brent_kung]") {
    const auto c = kata::counted(coded(4 * 1024));
    const auto requests = c.shared_load.requests + c.shared_store.requests;
    kata::require_at_most(
        360, static_cast<double>(requests) / 4,
        "the step does not gain what it is for: warps whose threads could all rest "
        "have one or a few at work",
        "times that a warp reaches shared memory, for a section of 1024 elements",
        "\n  the usual cause: a condition like (t + 1) % stride == 0 in one of the two trees, where thread t "
        "could take the t-th place of the round");
}

// A block that adds up the sums of all sections before its own has next to nothing to do where they are 64.
TEST_CASE("four times the sections are no longer chain of additions", "[step][05_hierarchical]") {
    kata::only_where_counted();
    const auto few = kata::counted(coded(1 << 16)).span;
    const auto many = kata::counted(coded(4 << 16)).span;
    // Chains of right kernels do not grow; one of additions, of two steps each, more than doubles.
    kata::require_at_most(1.5 * static_cast<double>(few), static_cast<double>(many),
                          "the step does not gain what it is for: the sums of the "
                          "sections are scanned in parallel, and not added up one after the other",
                          "steps one after the other, in the longest chain, for 262144 elements",
                          ", which is half more than those for 65536");
}

// Of a long array, where the chain takes the time. A solution's link has 9 steps, with as many asking atomics
// a section whatever its number is.
TEST_CASE("the links of the chain are short, and each asks one flag", "[claims][step][06_single_pass]") {
    kata::only_where_counted();
    const auto& few = kata::counts_of(kata::counted_run(kata::base_shape()));
    const auto many = kata::counted(coded(4 << 16));
    kata::require_at_most(
        30, static_cast<double>(many.span - few.span) / (3 * 65536.0 / 4096),
        "each block keeps the next one waiting for too long: the sum up to the end "
        "of a section is to be passed on as soon as it is known, and before the section is stored",
        "steps in the longest chain, for each 4096 elements more");
    kata::require_at_most(
        8, static_cast<double>(many.global_atomic.accesses) / static_cast<double>(few.global_atomic.accesses),
        "a block asks for more flags the more sections lie before it: the one "
        "before has the sum of all",
        "times as many atomics, for four times the elements");
}

// The figures of the documents, to the digit.

TEST_CASE("Kogge–Stone: N·log₂N − (N−1) additions",
          "[figures][01_kogge_stone][02_kogge_stone_double_buffered]") {
    const int n = GENERATE(32, 64, 128, 256, 512, 1024);
    const auto N = static_cast<unsigned long long>(n);
    CHECK(additions(kata::step(), n) == N * log2(n) - (N - 1));
}

TEST_CASE("Kogge–Stone: warps with something to add have 9248 lanes for N = 1024, not N·log₂N",
          "[figures][01_kogge_stone]") {
    kata::only_where_counted();
    CHECK(32 * kata::counted(coded(1024)).shared_load.requests == 9248);
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
          "[figures][01_kogge_stone][02_kogge_stone_double_buffered][03_brent_kung][04_coarsened]") {
    CHECK(additions(kata::step(), 1024) == for_a_section.at(kata::step_name()).additions);
}

TEST_CASE("coarsened: N − T sequential, T·log₂T − (T−1) parallel, 3(T−1) to spread",
          "[figures][04_coarsened]") {
    const int n = GENERATE(32, 64, 128, 256, 512, 1024);
    const auto N = static_cast<unsigned long long>(n), T = N / 4;
    CHECK(additions(kata::step(), n) == N - T + T * log2(n / 4) - (T - 1) + 3 * (T - 1));
}

TEST_CASE("barriers a section of 1024: 20 in place, 10 with two buffers, 20 for two trees, 19 coarsened",
          "[figures][01_kogge_stone][02_kogge_stone_double_buffered][03_brent_kung][04_coarsened]") {
    const auto c = kata::counted(coded(4096));
    CHECK(c.barriers / c.blocks == for_a_section.at(kata::step_name()).barriers);
}

TEST_CASE("padded subsections are free of bank conflicts",
          "[figures][04_coarsened][05_hierarchical][06_single_pass][07_look_back][08_shuffles]") {
    kata::only_where_counted();
    CHECK(kata::counted(coded<float>(16384)).bank_conflicts == 0);
}

TEST_CASE("a single pass loads and stores each element once, three kernels twice",
          "[figures][05_hierarchical][06_single_pass]") {
    const int n = 16384;
    const auto c = kata::counted(coded(n));
    if (kata::step_name() == "06_single_pass") {
        // and the sums of 4 sections of 4096 elements, of which 3 are waited for
        CHECK(c.global_load.accesses == n + 3);
        CHECK(c.global_store.accesses == n + 4);
        CHECK(c.launches == 1);
    } else {
        // 16 sections of 1024 elements, whose sums are one; all but the first are loaded and stored again,
        // and each of their 256 threads loads the sum before
        CHECK(c.global_load.accesses == n + 16 + (n - 1024) + 15 * 256);
        CHECK(c.global_store.accesses == n + 16 + 16 + 1 + (n - 1024));
        CHECK(c.launches == 3);
    }
}

TEST_CASE("with look-back, too, each element is loaded once and stored once, in one launch",
          "[figures][07_look_back][08_shuffles][09_wide_rows]") {
    const unsigned n = 32768, sections = n / (kata::step_name() == "09_wide_rows" ? 16384 : 4096);
    const auto c = kata::counted(coded(n));
    // and what sections say of themselves, twice, a word each: up to 32 of those before are looked at
    CHECK(c.global_load.bytes == 4 * n + 8 * sections * (sections - 1) / 2);
    CHECK(c.global_store.bytes == 4 * n + 8 * 2 * sections);
    CHECK(c.launches == 1);
}

TEST_CASE("with shuffles a block has five barriers, with wide rows three",
          "[figures][08_shuffles][09_wide_rows]") {
    const auto c = kata::counted(coded(32768));
    CHECK(c.barriers == (kata::step_name() == "08_shuffles" ? 5 : 3) * c.blocks);
    CHECK(c.bank_conflicts == 0);
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

kata::Run ladder(const Module& step) { return try_on(step, real(1 << 16, 1024, Kind::inclusive, 1, step)); }

}  // namespace

static const kata::Chapter chapter{
    .name = "scan",
    .problem = "65536 elements; sections of 1024 in steps 01 to 04, the whole from 05 on",
    .timed_problem = "2^28 elements; sections of 1024 in steps 01 to 04, the whole from 05 on",
    .steps = steps,
    .ladder = ladder,
    .shapes = {{"base", count, "[base]"}, {"long", count_long, "[long]"}},
    .sketch = [](const Module& step) -> kata::Sketch {
        if (scans_sections(step)) {
            // A network that can be drawn, and then so many threads that their lanes can meet in banks.
            auto run = try_on(step, coded(32, 32, Kind::inclusive, 1, step));
            if (!run.fault) run = try_on(step, coded(256, 256, Kind::inclusive, 1, step));
            return {std::move(run), "a section of 32 elements for the network, and one of 256 for all else",
                    "network"};
        }
        constexpr int n = 32768;
        return {try_on(step, coded(n, 1024, Kind::inclusive, 1, step)),
                "32768 elements",
                "blocks",
                {{"in", {n}}, {"out", {n}}}};
    },
    .timed = [](std::optional<int> power_of_two) -> std::unique_ptr<kata::TimedProblem> {
        const std::size_t n = std::size_t{1} << power_of_two.value_or(28);
        return std::make_unique<kata::TimedOn<Problem<float>>>(
            Problem<float>{kata::repeated(kata::reals(kata::prime_period, 1), n)},
            8.0 * static_cast<double>(n));
    },
    .at_scale =
        [](const Module& step, std::optional<int> power_of_two) {
            const int n = 1 << power_of_two.value_or(28);
            Buffer<float> in("in", n, kata::zeros), out("out", n, kata::zeros);
            Buffer<unsigned char> workspace("workspace", scan::workspace_bytes(n), kata::zeros);
            call(step, in.data(), out.data(), n, scan::max_section, Kind::inclusive,
                 {Arithmetic::sum_of_float, nullptr}, workspace.data());
            return kata::AtScale{static_cast<double>(n)};
        },
    .columns = {"bytes_loaded", "bytes_stored", "sectors", "bank_conflicts", "basic_blocks", "barriers",
                "parallelism"},
};
const kata::Chapter& kata::chapter = ::chapter;
