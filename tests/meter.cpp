// Tests the meter: its counts against kernels counted by hand, and its findings against kernels with known
// faults and against an oracle that tries all pairs of accesses of random programs.
#define CATCH_CONFIG_ENABLE_PAIR_STRINGMAKER
#include "buffer.hpp"
#include "error.hpp"
#include "meter/chains.hpp"
#include "meter/locate.hpp"
#include "meter/warp_log.hpp"
#include "observe.hpp"
#include "tools/meter_kernels.hpp"
#include "watch.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace Catch {

template <>
struct StringMaker<kata::Traffic> {
    static std::string convert(const kata::Traffic& t) {
        std::ostringstream text;
        text << "{accesses " << t.accesses << ", bytes " << t.bytes << ", distinct " << t.distinct
             << ", requests " << t.requests << ", transactions " << t.transactions << '}';
        return text.str();
    }
};

template <>
struct StringMaker<kata::Counts> {
    static std::string convert(const kata::Counts& c) {
        std::ostringstream text;
        text << "{basic_blocks " << c.basic_blocks << ", lanes' " << c.lane_basic_blocks << ", work "
             << c.work << ", span " << c.span << ", makespan " << c.makespan << ", contention "
             << c.contention << ", global atomics " << c.global_atomic.requests << ", loads "
             << c.global_load.requests << ", stores " << c.global_store.requests << ", …}";
        return text.str();
    }
};

}  // namespace Catch

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using kata::Buffer;
using kata::Conditions;
using kata::Counts;
using kata::observe;
using kata::Order;
using kata::Traffic;

using Work = std::function<void()>;
using Findings = std::vector<std::string>;

const std::vector<Conditions> all_orders{{},
                                         {.order = Order::backwards},
                                         {.order = Order::shuffled, .seed = 1},
                                         {.order = Order::shuffled, .seed = 2}};

template <class T>
Buffer<T> filled(std::string_view name, std::size_t n, T value = T{}) {
    const std::vector<T> values(n, value);
    return {name, std::span<const T>(values)};
}

/// Returns the counts of the work. Checks that they are the same in every run and every order, and that
/// nothing is found.
Counts count(const Work& work) {
    const auto seen = observe({}, work);
    CHECK(seen.findings == Findings{});
    CHECK(observe({}, work).counts.value() == seen.counts.value());
    for (const auto& conditions : all_orders)
        CHECK(observe(conditions, work).counts.value() == seen.counts.value());
    return seen.counts.value();
}

/// Returns the traffic of `accesses` of `width` bytes each, none of which two lanes of a request share.
Traffic traffic(std::uint64_t accesses, std::uint64_t width, std::uint64_t requests,
                std::uint64_t transactions) {
    return {accesses, accesses * width, accesses * width, requests, transactions};
}

/// Returns "meter_kernels.cu:12" if the file has the comment `mark: …` in line 12.
std::string line_of(const std::string& mark) {
    std::ifstream file(TESTS_DIR "/tools/meter_kernels.cu");
    std::string text;
    for (int line = 1; std::getline(file, text); ++line)
        if (text.ends_with("mark: " + mark)) return "meter_kernels.cu:" + std::to_string(line);
    throw std::logic_error("no line is marked " + mark);
}

}  // namespace

// Traffic

TEST_CASE("a strided copy loads the sectors that its stride spreads it over", "[traffic]") {
    const int stride = GENERATE(1, 2, 8, 32);
    constexpr int threads = 256, warps = threads / 32;
    auto in = filled<float>("in", threads * stride), out = filled<float>("out", threads);
    const auto c = count([&] { kernels::copy(in.data(), out.data(), stride, threads); });
    // 32 floats, `stride` apart, lie in 4 · stride sectors of 8 floats, but in no more than one each
    CHECK(c.global_load == traffic(threads, 4, warps, warps * std::min(4 * stride, 32)));
    CHECK(c.global_store == traffic(threads, 4, warps, warps * 4));
    CHECK(c.load_efficiency() == 1.0 / std::min(stride, 8));
    CHECK(c.store_efficiency() == 1.0);
    CHECK(c.shared_load == Traffic{});
    CHECK(c.constant_load == Traffic{});
    CHECK(std::tuple(c.blocks, c.threads, c.launches, c.barriers) == std::tuple(1u, 256u, 1u, 0u));
}

TEST_CASE("wide and narrow elements move their own bytes, in one request", "[traffic]") {
    constexpr int n = 64;
    const auto copied = [](auto element) {
        using T = decltype(element);
        auto in = filled<T>("in", n), out = filled<T>("out", n);
        const auto c = count([&] { kernels::copy(in.data(), out.data(), 1, n); });
        CHECK(c.global_store == c.global_load);
        return c.global_load;
    };
    CHECK(copied(float4{}) == traffic(n, 16, 2, n * 16 / 32));
    CHECK(copied(double{}) == traffic(n, 8, 2, n * 8 / 32));
    using byte = unsigned char;
    CHECK(copied(byte{}) == traffic(n, 1, 2, n * 1 / 32));
    // three floats with the alignment of one are moved one by one, and each time 32 floats lie in 12 sectors
    CHECK(copied(float3{}) == traffic(3 * n, 4, 3 * 2, 3 * 2 * 12));
}

TEST_CASE("a vector that is assigned is stored as one, however it is made", "[traffic]") {
    using kernels::Made;
    constexpr std::uint64_t lanes = 32;
    const auto stored = [](Made how, auto element, auto vector) {
        auto in = filled<decltype(element)>("in", lanes);
        auto out = filled<decltype(vector)>("out", lanes);
        return count([&] { kernels::make_vectors(how, in.data(), out.data()); }).global_store;
    };
    using byte = unsigned char;
    const auto how = GENERATE(Made::braces, Made::typed_braces, Made::call, Made::either, Made::local);
    CAPTURE(static_cast<int>(how));
    CHECK(stored(how, byte{}, uchar4{}) == traffic(lanes, 4, 1, lanes * 4 / 32));
    CHECK(stored(how, float{}, float2{}) == traffic(lanes, 8, 1, lanes * 8 / 32));
    CHECK(stored(how, float{}, float4{}) == traffic(lanes, 16, 1, lanes * 16 / 32));
    // wider than one instruction can store, or less aligned: in pieces
    CHECK(stored(how, double{}, double4{}) == traffic(2 * lanes, 16, 2, 2 * lanes));
    CHECK(stored(how, float{}, float3{}) == traffic(3 * lanes, 4, 3, 3 * 12));
}

TEST_CASE("components that are assigned one by one are stored one by one", "[traffic]") {
    using kernels::Made;
    constexpr std::uint64_t lanes = 32;
    auto bytes = filled<unsigned char>("in", lanes);
    auto floats = filled<float>("in", lanes);
    auto words = filled<uchar4>("out", lanes);
    auto vectors = filled<float4>("out", lanes);
    const auto of_bytes = [&](Made how) {
        return count([&] { kernels::make_vectors(how, bytes.data(), words.data()); }).global_store;
    };
    const auto of_floats = [&](Made how) {
        return count([&] { kernels::make_vectors(how, floats.data(), vectors.data()); }).global_store;
    };
    CHECK(of_bytes(Made::members) == traffic(2 * lanes, 1, 2, 2 * lanes * 4 / 32));
    CHECK(of_bytes(Made::elements) == traffic(4 * lanes, 1, 4, 4 * lanes * 4 / 32));
    CHECK(of_floats(Made::members) == traffic(2 * lanes, 4, 2, 2 * lanes * 16 / 32));
    CHECK(of_floats(Made::elements) == traffic(4 * lanes, 4, 4, 4 * lanes * 16 / 32));
}

TEST_CASE("the order of addresses in a warp does not matter", "[traffic]") {
    auto in = filled<float>("in", 64), out = filled<float>("out", 64);
    const auto c = count([&] { kernels::reversed(in.data(), out.data(), 64); });
    CHECK(c.global_load == traffic(64, 4, 2, 8));
    CHECK(c.global_store == traffic(64, 4, 2, 8));
}

TEST_CASE("a transpose stores scattered, unless through a tile, which needs padding", "[traffic]") {
    constexpr std::uint64_t n = 64, requests = n * n / 32;
    auto in = filled<float>("in", n * n), out = filled<float>("out", n * n);
    const auto counted = [&](kernels::Transpose how) {
        return count([&] { kernels::transpose(how, in.data(), out.data(), n); });
    };
    const auto naive = counted(kernels::Transpose::naive);
    CHECK(naive.global_load == traffic(n * n, 4, requests, 4 * requests));
    CHECK(naive.global_store == traffic(n * n, 4, requests, 32 * requests));
    CHECK(naive.shared_store == Traffic{});
    CHECK(naive.barriers == 0);

    const auto tiled = counted(kernels::Transpose::tiled), padded = counted(kernels::Transpose::padded);
    for (const auto& c : {tiled, padded}) {
        CHECK(c.global_load == traffic(n * n, 4, requests, 4 * requests));
        CHECK(c.global_store == traffic(n * n, 4, requests, 4 * requests));
        CHECK(c.shared_store == traffic(n * n, 4, requests, requests));
        CHECK(c.barriers == (n / 32) * (n / 32));
    }
    CHECK(tiled.shared_load == traffic(n * n, 4, requests, 32 * requests));
    CHECK(tiled.bank_conflicts == 31 * requests);
    CHECK(padded.shared_load == traffic(n * n, 4, requests, requests));
    CHECK(padded.bank_conflicts == 0);
}

TEST_CASE("bank conflicts are known of the place that has them", "[traffic]") {
    constexpr unsigned n = 32, requests = n * n / 32;
    auto in = filled<float>("in", n * n);
    Buffer<float> out("out", n * n);
    const auto seen =
        observe({}, [&] { kernels::transpose(kernels::Transpose::tiled, in.data(), out.data(), n); });
    std::vector<std::uint64_t> passes, conflicts;
    for (const auto& place : seen.places)
        if (place.passes > 0) passes.push_back(place.passes), conflicts.push_back(place.conflicts);
    CHECK(passes == std::vector<std::uint64_t>{requests, 32 * requests});
    CHECK(conflicts == std::vector<std::uint64_t>{0, 31 * requests});
}

TEST_CASE("a broadcast costs one sector and one pass", "[traffic]") {
    auto in = filled<float>("in", 1), out = filled<float>("out", 64);
    const auto c = count([&] { kernels::broadcast(in.data(), out.data(), 64); });
    CHECK(c.global_load == Traffic{64, 64 * 4, 2 * 4, 2, 2});
    CHECK(c.shared_load == Traffic{64, 64 * 4, 2 * 4, 2, 2});
    CHECK(c.shared_store == traffic(1, 4, 1, 1));
    CHECK(c.bank_conflicts == 0);
}

TEST_CASE("__ldg is a global load", "[traffic]") {
    auto in = filled<float>("in", 64), out = filled<float>("out", 64);
    CHECK(count([&] { kernels::read_only(in.data(), out.data(), 64); }).global_load == traffic(64, 4, 2, 8));
}

TEST_CASE("constant memory is counted apart", "[traffic]") {
    auto out = filled<float>("out", 64);
    const auto one = count([&] { kernels::constant_broadcast(out.data(), 64); });
    CHECK(one.constant_load == Traffic{64, 64 * 4, 2 * 4, 2, 2});
    const auto each = count([&] { kernels::constant_by_lane(out.data(), 64); });
    CHECK(each.constant_load == traffic(64, 4, 2, 2 * 4));
    for (const auto& c : {one, each}) CHECK(c.global_load == Traffic{});
}

TEST_CASE("shared memory is passed over once for each word that its fullest bank is asked for", "[traffic]") {
    const auto [stride, passes] =
        GENERATE(table<int, std::uint64_t>({{1, 1}, {2, 2}, {3, 1}, {8, 8}, {31, 1}, {32, 32}}));
    auto out = filled<float>("out", 32);
    const auto c = count([&, stride = stride] { kernels::copy_in_shared(out.data(), stride, 32); });
    CHECK(c.shared_store == traffic(32, 4, 1, passes));
    CHECK(c.shared_load == traffic(32, 4, 1, passes));
    CHECK(c.bank_conflicts == 2 * (passes - 1));
}

TEST_CASE("wide accesses to shared memory take a half or a quarter of a warp at a time", "[traffic]") {
    const auto loads = [](auto element, int stride) {
        auto out = filled("out", 32, element);
        const auto c = count([&] { kernels::copy_in_shared(out.data(), stride, 32); });
        CHECK(c.shared_store == c.shared_load);
        return std::pair(c.shared_load, c.bank_conflicts);
    };
    CHECK(loads(double{}, 1) == std::pair(traffic(32, 8, 1, 2), std::uint64_t{0}));
    CHECK(loads(double{}, 2) == std::pair(traffic(32, 8, 1, 4), std::uint64_t{2 * 2}));
    CHECK(loads(float4{}, 1) == std::pair(traffic(32, 16, 1, 4), std::uint64_t{0}));
    CHECK(loads(float4{}, 2) == std::pair(traffic(32, 16, 1, 8), std::uint64_t{2 * 4}));
    using byte = unsigned char;
    CHECK(loads(byte{}, 1) == std::pair(traffic(32, 1, 1, 1), std::uint64_t{0}));
    CHECK(loads(byte{}, 4) == std::pair(traffic(32, 1, 1, 1), std::uint64_t{0}));
    CHECK(loads(byte{}, 32) ==
          std::pair(traffic(32, 1, 1, 8), std::uint64_t{2 * 7}));  // words 8 apart, 4 banks
}

TEST_CASE("wide loads of what a neighbour loads too take twice as many lanes at a time", "[traffic]") {
    // passes from Nsight Compute on an H100 (CUDA 13.0), for elements of 4, 8 and 16 bytes; those of 4 by
    // hand
    struct Pattern {
        const char* name;
        std::function<int(int)> index;  // of a lane; negative: inactive
        std::array<std::uint64_t, 3> passes;
    };
    const std::vector<Pattern> patterns{
        {"each its own", [](int l) { return l; }, {1, 2, 4}},
        {"two apart", [](int l) { return 2 * l; }, {2, 4, 8}},
        {"all the same", [](int) { return 0; }, {1, 1, 2}},
        {"pairs the same", [](int l) { return l / 2; }, {1, 1, 2}},
        {"eights the same", [](int l) { return l / 8; }, {1, 1, 2}},
        {"lanes two apart the same", [](int l) { return l / 4 * 2 + l % 2; }, {1, 1, 2}},
        {"lanes four apart the same", [](int l) { return l / 8 * 4 + l % 4; }, {1, 2, 4}},
        {"half-warps the same", [](int l) { return l % 16; }, {1, 2, 4}},
        {"pairs below, two apart above",
         [](int l) { return l < 16 ? l / 2 : l / 4 * 2 + l % 2 + 20; },
         {2, 2, 4}},
        {"pairs below only", [](int l) { return l < 16 ? l / 2 : l + 32; }, {1, 2, 4}},
        {"a row for each half-warp", [](int l) { return l / 16 * 8; }, {1, 1, 2}},
        {"one lane", [](int l) { return l == 7 ? 5 : -1; }, {1, 1, 1}},
        {"the lower half-warp", [](int l) { return l < 16 ? l : -1; }, {1, 1, 2}},
        {"even lanes", [](int l) { return l % 2 == 0 ? l : -1; }, {1, 2, 4}},
        {"every fourth lane, the same", [](int l) { return l % 4 == 0 ? 0 : -1; }, {1, 1, 2}},
        {"lanes 0 and 8", [](int l) { return l % 8 == 0 && l < 16 ? l : -1; }, {1, 1, 2}},
        {"lanes 0 and 16", [](int l) { return l % 16 == 0 ? l : -1; }, {1, 2, 2}},
    };
    for (const auto& [name, index, passes] : patterns) {
        CAPTURE(name);
        std::vector<int> of_lane(32);
        for (int l = 0; l < 32; ++l) of_lane[static_cast<std::size_t>(l)] = index(l);
        Buffer<int> indices("index", std::span<const int>(of_lane));
        const auto loaded = [&](auto element) {
            auto out = filled("out", 32, element);
            return count([&] { kernels::load_from_shared(indices.data(), out.data()); })
                .shared_load.transactions;
        };
        CHECK(std::array{loaded(float{}), loaded(double{}), loaded(float4{})} == passes);
    }
}

TEST_CASE("atomics on one address wait for each other", "[traffic]") {
    const int different = GENERATE(1, 8, 32, 64);
    constexpr int threads = 128, warps = threads / 32;
    auto sums = filled<int>("sums", 64);
    const std::uint64_t in_request = std::min(different, 32), sectors = (in_request + 7) / 8;
    const Traffic expected{threads, threads * 4, warps * in_request * 4, warps, warps * sectors};
    const auto global = count([&] { kernels::atomics(sums.data(), different, threads); });
    CHECK(global.global_atomic == expected);
    CHECK(global.same_address == warps * (32 - in_request));
    CHECK(global.global_load == Traffic{});
    CHECK(global.global_store == Traffic{});

    const auto shared = count([&] { kernels::atomics_in_shared(sums.data(), different, threads); });
    CHECK(shared.shared_atomic == Traffic{threads, threads * 4, warps * in_request * 4, warps, warps});
    CHECK(shared.same_address == warps * (32 - in_request));
    CHECK(shared.bank_conflicts == 0);
    CHECK(sums.values()[0] == threads / different);
}

TEST_CASE("efficiency is 1 where nothing was moved", "[traffic]") {
    CHECK(Counts{}.load_efficiency() == 1.0);
    CHECK(Counts{}.store_efficiency() == 1.0);
    CHECK(Counts{}.active_lanes() == 0.0);
}

// Fragments of tensor cores. Their lanes are laid out as in nvcc 13's code for sm_90, and everything is
// counted by hand.

TEST_CASE("a factor in tf32 is loaded word by word, in eight or four pieces of memory at a time", "[wmma]") {
    const bool of_a = GENERATE(true, false), by_rows = GENERATE(true, false);
    CAPTURE(of_a, by_rows);
    auto in = filled<float>("in", 16 * 48), out = filled<float>("out", 32);
    const auto load = [&](int pitch, bool by_shared) {
        return count([&] { kernels::load_floats(of_a, by_rows, in.data(), pitch, by_shared, out.data()); });
    };
    const bool along_k = of_a == by_rows;  // 16 pieces of 8 floats; else 8 of 16
    for (const int pitch : {16, 40})
        CHECK(load(pitch, false).global_load == traffic(4 * 32, 4, 4, 4 * (along_k ? 8 : 4)));
    // eight lines of four words need pitches of 4 modulo 8, and four lines of eight words pitches of 8 modulo
    // 16
    for (const auto& [pitch, of_eight_lines, of_four_lines] :
         std::vector<std::tuple<int, std::uint64_t, std::uint64_t>>{
             {16, 4, 2}, {20, 1, 2}, {24, 2, 1}, {32, 8, 4}, {36, 1, 2}, {40, 2, 1}}) {
        CAPTURE(pitch);
        const auto c = load(pitch, true);
        const auto passes = along_k ? of_eight_lines : of_four_lines;
        CHECK(c.shared_load == traffic(4 * 32, 4, 4, 4 * passes));
        CHECK(c.bank_conflicts == 4 * (passes - 1));
    }
}

TEST_CASE("a factor in half is loaded in pairs of neighbours in memory, whatever its layout", "[wmma]") {
    const bool of_a = GENERATE(true, false), by_rows = GENERATE(true, false);
    CAPTURE(of_a, by_rows);
    auto in = filled<unsigned short>("in", 16 * 48);
    auto out = filled<float>("out", 32);
    const auto load = [&](int pitch, bool by_shared) {
        return count([&] { kernels::load_halves(of_a, by_rows, in.data(), pitch, by_shared, out.data()); });
    };
    for (const int pitch : {16, 40}) CHECK(load(pitch, false).global_load == traffic(4 * 32, 4, 4, 4 * 8));
    // eight lines of four words
    for (const auto& [pitch, passes] :
         std::vector<std::pair<int, std::uint64_t>>{{16, 2}, {24, 1}, {32, 4}, {40, 1}}) {
        CAPTURE(pitch);
        CHECK(load(pitch, true).shared_load == traffic(4 * 32, 4, 4, 4 * passes));
    }
}

TEST_CASE("sums in float are stored in pairs by rows, and one by one by columns", "[wmma]") {
    auto out = filled<float>("out", 16 * 48);
    const auto store = [&](bool by_rows, int pitch, bool to_shared) {
        const auto c = count([&] { kernels::store_sums(by_rows, out.data(), pitch, to_shared); });
        return to_shared ? c.shared_store : c.global_store;
    };
    CHECK(store(true, 16, false) == traffic(4 * 32, 8, 4, 4 * 8));
    CHECK(store(false, 16, false) == traffic(8 * 32, 4, 8, 8 * 4));
    for (const auto& [pitch, by_rows, by_columns] :
         std::vector<std::tuple<int, std::uint64_t, std::uint64_t>>{{16, 2, 4}, {20, 2, 1}, {24, 1, 2}}) {
        CAPTURE(pitch);
        CHECK(store(true, pitch, true) == traffic(4 * 32, 8, 4, 4 * 2 * by_rows));  // by half-warps
        CHECK(store(false, pitch, true) == traffic(8 * 32, 4, 8, 8 * by_columns));
    }
}

TEST_CASE("a product of fragments takes about as many steps as a shuffle, and no memory", "[wmma][work]") {
    auto out = filled<float>("out", 16 * 16);
    const auto counts = [&](int products, int rounds) {
        return count([&] { kernels::multiply(products, out.data(), rounds); });
    };
    const auto each = (counts(2, 1001).work - counts(1, 1001).work) / 1001;
    CHECK((each >= 1 && each <= 3));
    CHECK(counts(2, 1001).span == counts(1, 1001).span + 1001 * each);
    CHECK(counts(2, 1001).shared_load == Traffic{});
    CHECK(counts(2, 1001).global_load == Traffic{});
}

// Control flow

namespace {

/// Returns the loads and stores of a kernel on arrays that hold `value`.
std::pair<Traffic, Traffic> moved(const std::function<void(const float*, float*)>& kernel, float value = 1.0f,
                                  const std::vector<float>& first = {}) {
    std::vector<float> values(1024, value);
    std::copy(first.begin(), first.end(), values.begin());
    Buffer<float> in("in", std::span<const float>(values)), out("out", 1024);
    const auto c = count([&] { kernel(in.data(), out.data()); });
    return {c.global_load, c.global_store};
}

}  // namespace

TEST_CASE("the halves of a branch are requests of their own", "[control flow]") {
    CHECK(moved(kernels::two_halves) == std::pair(traffic(32, 4, 2, 2 * 2), traffic(32, 4, 2, 2 * 2)));
}

TEST_CASE("lanes join behind nested branches", "[control flow]") {
    // 8 + 8 lanes, the 16 of them together, and the other 16; then all 32
    CHECK(moved(kernels::nested_halves) == std::pair(traffic(48, 4, 4, 1 + 1 + 2 + 2), traffic(32, 4, 1, 4)));
}

TEST_CASE("an iteration is one request for the lanes that do not skip it", "[control flow]") {
    constexpr int rounds = 8;
    // half of the lanes, and three quarters of them, spread over all four sectors
    CHECK(moved([](auto in, auto out) { kernels::skipped_iterations(in, out, rounds); }) ==
          std::pair(traffic(16 * rounds, 4, rounds, 4 * rounds), traffic(32, 4, 1, 4)));
    for (const float value : {1.0f, -1.0f})
        CHECK(moved([](auto in, auto out) { kernels::continued_iterations(in, out, rounds); }, value) ==
              std::pair(traffic(24 * rounds, 4, rounds, 4 * rounds), traffic(32, 4, 1, 4)));
}

TEST_CASE("lanes that leave a loop wait behind it", "[control flow]") {
    // iteration i has the lanes from 4 (i + 1) on
    CHECK(moved(kernels::broken_loop) ==
          std::pair(traffic(28 + 24 + 20 + 16 + 12 + 8 + 4, 4, 7, 4 + 3 + 3 + 2 + 2 + 1 + 1),
                    traffic(32, 4, 1, 4)));
    // iteration i has the 31 - i lanes above i
    CHECK(moved(kernels::trip_counts) ==
          std::pair(traffic(31 * 32 / 2, 4, 31, 7 * 4 + 8 * 3 + 8 * 2 + 8 * 1), traffic(32, 4, 1, 4)));
    // three times 24, 16 and 8 lanes, spread over all four sectors
    CHECK(moved(kernels::nested_trip_counts) ==
          std::pair(traffic(3 * (24 + 16 + 8), 4, 3 * 3, 3 * 3 * 4), traffic(96, 4, 3, 12)));
    // the even ones of 32 … 63, of 16 … 31, of 8 … 15, of 4 … 7 and of 2 … 3
    CHECK(moved(kernels::while_not_done) ==
          std::pair(traffic(16 + 8 + 4 + 2 + 1, 4, 5, 4 + 2 + 1 + 1 + 1), traffic(32, 4, 1, 4)));
}

TEST_CASE("cases, conjunctions and early exits split a request as they should", "[control flow]") {
    // three cases of 8 lanes, and the 16 that reach the last
    CHECK(moved(kernels::switched) == std::pair(traffic(8 + 8 + 8 + 16, 4, 4, 4 * 4), traffic(32, 4, 1, 4)));
    // every second lane, and every second one of these has a positive element
    std::vector<float> first(32, 1.0f);
    for (int i = 0; i < 32; i += 4) first[i] = -1.0f;
    CHECK(moved(kernels::short_circuit, 1.0f, first) ==
          std::pair(traffic(16 + 8 + 8, 4, 3, 3 * 4), traffic(32, 4, 1, 4)));
    // 32 and 8 lanes, every second of which stores
    std::vector<float> alternating(64, 1.0f);
    for (int i = 1; i < 64; i += 2) alternating[i] = -1.0f;
    CHECK(moved([](auto in, auto out) { kernels::early_exit(in, out, 40, 64); }, 1.0f, alternating) ==
          std::pair(traffic(40, 4, 2, 4 + 1), traffic(20, 4, 2, 4 + 1)));
}

TEST_CASE("lanes for which a condition is known early have no copy of what follows", "[control flow]") {
    // all lanes, and the 30 whose left neighbours are elements 0 … 29
    CHECK(moved(kernels::known_condition) == std::pair(traffic(32 + 30, 4, 2, 4 + 4), traffic(32, 4, 1, 4)));
}

TEST_CASE("lanes join again behind the helpers that some of them call", "[control flow]") {
    constexpr int rounds = 5;
    // 16 even lanes and 8 others at three offsets; one of the former touches a fifth sector
    CHECK(moved([](auto in, auto out) { kernels::helpers_in_branches(in, out, rounds); }) ==
          std::pair(traffic(rounds * 3 * (16 + 8), 4, rounds * 6, rounds * (4 + 4 + 5 + 4 + 4 + 4)),
                    traffic(32 * rounds, 4, rounds, 4 * rounds)));
}

TEST_CASE("one instruction that reaches two memories makes two requests", "[control flow]") {
    auto in = filled<float>("in", 32), out = filled<float>("out", 32);
    const auto c = count([&] { kernels::one_pointer(in.data(), out.data()); });
    CHECK(c.global_load == traffic(16, 4, 1, 4));
    CHECK(c.shared_load == traffic(16, 4, 1, 1));
}

TEST_CASE("a lane may do as much as it likes before it waits", "[control flow]") {
    // the log of a lane is read when it is full, at any place
    auto in = filled<float>("in", 64), out = filled<float>("out", 64);
    bool right = true;
    for (int rounds = 100; rounds < 400; ++rounds)
        for (const auto kernel : {kernels::long_until_barrier, kernels::long_until_warp}) {
            const auto c = observe({}, [&] { kernel(in.data(), out.data(), rounds, 64); }).counts.value();
            right = right && c.global_load.requests == 2u * rounds &&
                    c.global_load.accesses == 64u * rounds && c.global_store == traffic(64, 4, 2, 8);
        }
    CHECK(right);
}

TEST_CASE("active lanes are those that the block has and the branch leaves", "[control flow]") {
    auto in = filled<float>("in", 1024), out = filled<float>("out", 1024);
    CHECK(count([&] { kernels::uniform(in.data(), out.data(), 3, 64); }).active_lanes() == 32.0);
    CHECK(count([&] { kernels::uniform(in.data(), out.data(), 2, 20); }).active_lanes() == 20.0);
    CHECK(count([&] { kernels::uniform(in.data(), out.data(), 1, 40); }).active_lanes() == 20.0);  // 32 and 8
    const auto halves = count([&] { kernels::two_halves(in.data(), out.data()); }).active_lanes();
    CHECK(halves > 16.0);
    CHECK(halves < 32.0);
}

TEST_CASE("a Kogge-Stone scan does the work of its formula", "[control flow]") {
    constexpr std::uint64_t n = 1024, log_n = 10, sums = n * log_n - (n - 1);
    auto data = filled<float>("data", n, 1.0f);
    const auto c = observe({}, [&] { kernels::kogge_stone(data.data()); }).counts.value();
    CHECK(data.values()[n - 1] == n);
    CHECK(c.shared_load.accesses == 2 * sums + n);  // plus the result
    CHECK(c.shared_store.accesses == sums + n);     // plus the input
    // strides below 32 keep all warps busy, larger ones idle stride / 32 of them
    std::uint64_t requests = 5 * 32;
    for (std::uint64_t stride = 32; stride < n; stride *= 2) requests += (n - stride) / 32;
    CHECK(c.shared_store.requests == requests + n / 32);
    CHECK(c.shared_load.requests == 2 * requests + n / 32);
    CHECK(c.bank_conflicts == 0);
    CHECK(c.barriers == 2 * log_n);
}

TEST_CASE("barriers are counted once a block", "[control flow]") {
    const auto c = count([] { kernels::barriers(7, 3, 96); });
    CHECK(c.barriers == 21);
    CHECK(c.blocks == 3);
    CHECK(c.threads == 288);
}

TEST_CASE("a single block can be counted", "[control flow]") {
    constexpr int blocks = 6;
    auto in = filled<float>("in", 64 * blocks), out = filled<float>("out", 64 * blocks);
    for (std::uint64_t block = 0; block < blocks; ++block)
        for (const auto& order : all_orders) {
            auto conditions = order;
            conditions.only_block = block;
            const auto c = observe(conditions, [&] {
                               kernels::each_block(in.data(), out.data(), blocks);
                           }).counts.value();
            CHECK(c.global_load == traffic(64 * (block + 1), 4, 2 * (block + 1), 8 * (block + 1)));
            CHECK(std::tuple(c.blocks, c.threads, c.launches) == std::tuple(1u, 64u, 1u));
        }
}

// Watching

namespace {

/// Records the requests and launches while it lives.
struct Watched final : kata::Watcher {
    std::vector<kata::Request> requests;
    std::vector<kata::Scene> launches;
    std::vector<std::size_t> samples_ended_at;  // numbers of requests
    bool seen_enough = false;

    Watched() { kata::watcher = this; }
    ~Watched() override { kata::watcher = nullptr; }
    void launch_begins(const kata::Scene& scene) override { launches.push_back(scene); }
    void request(const kata::Request& r) override { requests.push_back(r); }
    bool has_enough() override { return seen_enough; }
    bool sample_ends() override {
        samples_ended_at.push_back(requests.size());
        return true;
    }

    std::vector<kata::Request> those(std::string_view did, std::string_view memory) const {
        std::vector<kata::Request> found;
        std::copy_if(requests.begin(), requests.end(), std::back_inserter(found),
                     [&](const kata::Request& r) { return r.did == did && r.memory == memory; });
        return found;
    }
};

}  // namespace

TEST_CASE("what is watched adds up to what is counted, in any order of threads and blocks", "[watching]") {
    constexpr int n = 96;
    auto in = filled<float>("in", n * n), out = filled<float>("out", n * n);
    auto data = filled<float>("data", 1024), sums = filled<float>("sums", 256);
    auto hits = filled<int>("hits", 4);
    const Work works[] = {[&] { kernels::transpose(kernels::Transpose::padded, in.data(), out.data(), n); },
                          [&] { kernels::kogge_stone(data.data()); },
                          [&] { kernels::copy_in_shared(sums.data(), 4, 256); },
                          [&] { kernels::atomics(hits.data(), 4, 256); }};
    for (const auto& conditions : all_orders)
        for (const auto& work : works) {
            const Watched watched;
            const auto seen = observe(conditions, work).counts.value();
            Counts sum;
            for (const auto& r : watched.requests) {
                sum += r.counts;
                sum.work += r.steps;
                CHECK(r.ends - r.begins >= r.steps);
                CHECK(r.ends <= seen.span);
            }
            CHECK(sum.global_load == seen.global_load);
            CHECK(sum.global_store == seen.global_store);
            CHECK(sum.global_atomic == seen.global_atomic);
            CHECK(sum.shared_load == seen.shared_load);
            CHECK(sum.shared_store == seen.shared_store);
            CHECK(sum.bank_conflicts == seen.bank_conflicts);
            CHECK(sum.lane_basic_blocks == seen.lane_basic_blocks);
            CHECK(sum.work == seen.work);
            CHECK(watched.launches.size() == seen.launches);
        }
}

TEST_CASE("who watches sees which lane reaches what, and where that stands", "[watching]") {
    constexpr int threads = 80, stride = 3;
    auto in = filled<float>("in", threads * stride), out = filled<float>("out", threads);
    const Watched watched;
    observe({}, [&] { kernels::copy(in.data(), out.data(), stride, threads); });
    const auto loads = watched.those("load", "global");
    REQUIRE(loads.size() == 3);
    const auto& scene = watched.launches.at(0);
    CHECK(scene.grid == std::array{1u, 1u, 1u});
    CHECK(scene.block == std::array{unsigned{threads}, 1u, 1u});
    for (unsigned warp = 0; warp < 3; ++warp) {
        const auto& load = loads[warp];
        CHECK(load.warp == warp);
        CHECK(load.lanes == (warp < 2 ? ~0u : 0xffffu));
        CHECK(load.bytes == sizeof(float));
        for (unsigned lane = 0; lane < 32 && (load.lanes >> lane & 1); ++lane)
            CHECK(load.addresses[lane] ==
                  reinterpret_cast<std::uintptr_t>(in.data() + (warp * 32 + lane) * stride));
        const auto array = scene.array_at(load.addresses[0]);
        CHECK(array.name == "in");
        CHECK(array.begin == reinterpret_cast<std::uintptr_t>(in.data()));
        CHECK(array.bytes == threads * stride * sizeof(float));
    }
    const std::array codes{loads[0].code, watched.those("store", "global").at(0).code};
    for (const auto& line : scene.lines_of(codes)) CHECK(line.starts_with("meter_kernels.cu:"));
}

TEST_CASE("who watches is told how many barriers a block has passed", "[watching]") {
    const Watched watched;
    observe({}, [] { kernels::barriers(3, 2, 64); });
    unsigned most = 0;
    for (const auto& r : watched.requests) most = std::max(most, r.barriers);
    CHECK(most == 3);
    CHECK(watched.requests.front().barriers == 0);
}

TEST_CASE("of a single block that is counted, only that is watched", "[watching]") {
    auto in = filled<float>("in", 64 * 3), out = filled<float>("out", 64 * 3);
    const Watched watched;
    observe({.only_block = 1}, [&] { kernels::each_block(in.data(), out.data(), 3); });
    REQUIRE(!watched.requests.empty());
    CHECK(std::all_of(watched.requests.begin(), watched.requests.end(),
                      [](const kata::Request& r) { return r.block == 1; }));
}

// Work and span. The compiler decides how many basic blocks a kernel has, so they are taken from the counts
// themselves, or cancel out.

TEST_CASE("a step is a basic block, a line, a pass or an address of constant memory", "[work]") {
    auto in = filled<float>("in", 32 * 64), out = filled<float>("out", 64);
    const int stride = GENERATE(1, 2, 16, 32, 64);
    // 32 floats, `stride` apart, lie in `stride` lines of 32 floats, but in no more than one each
    const auto scattered = count([&] { kernels::copy(in.data(), out.data(), stride, 32); });
    CHECK(scattered.lines == std::min(stride, 32) + 1u);
    CHECK(scattered.work == scattered.basic_blocks + scattered.lines);
    const auto in_shared = count([&] { kernels::copy_in_shared(out.data(), std::min(stride, 32), 32); });
    CHECK(in_shared.work == in_shared.basic_blocks + in_shared.shared_load.transactions +
                                in_shared.shared_store.transactions + 1);
    const auto one = count([&] { kernels::constant_broadcast(out.data(), 32); }),
               each = count([&] { kernels::constant_by_lane(out.data(), 32); });
    CHECK(one.work == one.basic_blocks + 1 + 1);
    CHECK(each.work == each.basic_blocks + 32 + 1);
    // in a single warp every step waits for the previous one
    const auto broadcast = count([&] { kernels::broadcast(in.data(), out.data(), 32); });
    CHECK(broadcast.lines == 1);  // of the store
    CHECK(broadcast.work == broadcast.basic_blocks + broadcast.shared_load.transactions +
                                broadcast.shared_store.transactions + 2);
    for (const auto& c : {scattered, in_shared, one, each, broadcast}) {
        CHECK(c.span == c.work);
        CHECK(c.parallelism() == 1.0);
        CHECK(c.makespan == kata::machine::latency * c.span);
        CHECK(c.contention == 0);
    }
}

TEST_CASE("atomics in shared memory take a step for each lane of the fullest word", "[work]") {
    auto sums = filled<int>("sums", 64);
    const auto c = [&](int different) {
        return count([&] { kernels::atomics_in_shared(sums.data(), different, 32); });
    };
    CHECK(c(1).work - c(1).basic_blocks == c(32).work - c(32).basic_blocks + 31);
    CHECK(c(4).work - c(4).basic_blocks == c(32).work - c(32).basic_blocks + 7);
}

TEST_CASE("both sides of a branch are steps of the warp", "[work]") {
    auto in = filled<float>("in", 1024), out = filled<float>("out", 1024);
    const auto c = count([&] { kernels::two_halves(in.data(), out.data()); });
    CHECK(c.lines == 4);
    CHECK(c.work == c.basic_blocks + 4);
    CHECK(c.span == c.work);
}

TEST_CASE("one thread for all takes as long as its loop, whatever the others do", "[work]") {
    auto in = filled<float>("in", 1024), out = filled<float>("out", 1024);
    const auto alone = [&](int n, int threads) {
        return count([&] { kernels::one_lane(in.data(), out.data(), n, threads); });
    };
    const auto round = (alone(1000, 32).span - alone(500, 32).span) / 500;
    CHECK(round >= 3);  // a basic block, a load and a store
    CHECK(alone(1000, 32).span == alone(500, 32).span + 500 * round);
    CHECK(alone(1000, 1024).span == alone(1000, 32).span);
    CHECK(alone(1000, 32).parallelism() == 1.0);
    const auto together = count([&] { kernels::copy(in.data(), out.data(), 1, 1024); });
    CHECK(together.parallelism() == 32.0);
    CHECK(alone(1024, 1024).makespan > 100 * together.makespan);
}

TEST_CASE("behind a barrier all warps go on from the latest", "[work]") {
    auto out = filled<float>("out", 4 * 32);
    const auto run = [&](const std::vector<int>& first, const std::vector<int>& then, bool barrier) {
        Buffer<int> a("first", std::span<const int>(first)), b("then", std::span<const int>(then));
        const int warps = static_cast<int>(first.size());
        return count([&] { kernels::rounds_by_warp(a.data(), b.data(), out.data(), warps, barrier); });
    };
    const auto none = run({0, 0, 0}, {0, 0, 0}, true), free = run({0, 0, 0}, {0, 0, 0}, false);
    const auto round = run({0, 0, 1}, {0, 0, 0}, true).span - none.span;
    CHECK(round > 0);
    // 70 rounds of the latest warp before, 50 after
    const auto joined = run({70, 0, 20}, {10, 50, 0}, true);
    CHECK(joined.span == none.span + (70 + 50) * round);
    CHECK(joined.work == none.work + 150 * round);
    const auto apart = run({70, 0, 20}, {10, 50, 0}, false);
    CHECK(apart.span == free.span + (70 + 10) * round);
    CHECK(apart.work == free.work + 150 * round);
    CHECK(apart.evened == free.work + 3 * 80 * round);  // as if all had the rounds of the first
}

TEST_CASE("blocks that have nothing to do with each other share the multiprocessors", "[work]") {
    auto in = filled<float>("in", 64 * 101), out = filled<float>("out", 64 * 100);
    const auto run = [&](int blocks) {
        return count([&] { kernels::uniform(in.data(), out.data(), blocks, 64); });
    };
    const auto one = run(1);
    CHECK(one.makespan == kata::machine::latency * one.span);
    for (const int blocks : {2, 16, 17, 100}) {
        const auto all = run(blocks);
        CHECK(all.span == one.span);
        CHECK(all.work == blocks * one.work);
        const auto of_busiest =
            (blocks + 15) / 16 * one.work;  // of 16 multiprocessors, with 4 steps at a time
        CHECK(all.busiest == (of_busiest + 3) / 4);
        CHECK(all.makespan == std::max(one.makespan, all.busiest));
    }
}

TEST_CASE("blocks are given to the multiprocessor that has least, the largest first", "[work]") {
    CHECK(meter::busiest({}) == 0);
    CHECK(meter::busiest({7}) == 2);  // 4 at a time
    CHECK(meter::busiest(std::vector<std::uint64_t>(16, 40)) == 10);
    CHECK(meter::busiest(std::vector<std::uint64_t>(17, 40)) == 20);
    // the large block alone, wherever it stands
    auto blocks = std::vector<std::uint64_t>(15 * 10, 40);
    for (const std::size_t place : {0u, 75u, 149u}) {
        auto uneven = blocks;
        uneven[place] = 400;
        CHECK(meter::busiest(uneven) == 100);
    }
}

TEST_CASE("blocks that pass something on are a chain, in whatever order they run", "[work]") {
    const auto scan = [](int blocks) {
        std::vector<int> numbers(blocks, 1);
        Buffer<int> in("in", std::span<const int>(numbers)), out("out", blocks);
        return count([&] {
            auto ticket = filled<unsigned>("ticket", 1);
            auto flags = filled<int>("flags", blocks), sums = filled<int>("sums", 2 * blocks);
            kernels::chained_scan(kernels::Fence::device, kernels::ReadFence::by_asker, in.data(), out.data(),
                                  ticket.data(), flags.data(), sums.data(), blocks);
        });
    };
    const auto five = scan(5), six = scan(6), twenty = scan(20);
    const auto link = six.span - five.span;
    CHECK(link > 2);
    CHECK(twenty.span == five.span + 15 * link);
    CHECK(twenty.contention == 20);  // the ticket
}

// A sample of blocks

namespace {

/// Counts one in this many blocks, while the others run on all cores.
kata::Observation sampled(std::uint64_t one_in, const Work& work) {
    return observe({.one_in = one_in}, work);
}

}  // namespace

TEST_CASE("a sample of equal blocks counts what all of them do, and all of them run", "[sample]") {
    constexpr int n = 256;  // in tiles of 32 x 32
    std::vector<float> values(n * n);
    std::iota(values.begin(), values.end(), 0.0f);
    Buffer<float> in("in", std::span<const float>(values));
    const auto how =
        GENERATE(kernels::Transpose::naive, kernels::Transpose::tiled, kernels::Transpose::padded);
    const auto one_in = GENERATE(std::uint64_t{2}, std::uint64_t{7}, std::uint64_t{50});
    Buffer<float> out("out", n * n), again("again", n * n);
    const auto whole = observe({}, [&] { kernels::transpose(how, in.data(), out.data(), n); });
    const auto part = sampled(one_in, [&] { kernels::transpose(how, in.data(), again.data(), n); });
    CHECK(part.findings == Findings{});
    CHECK(again.values() == out.values());
    auto counts = part.counts.value();
    // In a sample the busiest multiprocessor gets other blocks.
    counts.makespan = whole.counts->makespan, counts.busiest = whole.counts->busiest;
    CHECK(counts == whole.counts.value());
}

TEST_CASE("a sample of unequal blocks is an estimate: what it says is of its blocks", "[sample]") {
    constexpr int blocks = 40;
    auto in = filled<float>("in", 64 * blocks, 1.0f);
    Buffer<float> out("out", 64 * blocks), again("again", 64 * blocks);
    const auto all = count([&] { kernels::each_block(in.data(), out.data(), blocks); });
    const auto c = sampled(8, [&] { kernels::each_block(in.data(), again.data(), blocks); }).counts.value();
    CHECK(again.values() == out.values());
    CHECK(c.blocks == blocks);
    CHECK(c.global_store == all.global_store);
    // Each thread of block b reads b + 1 elements.
    const auto loads = static_cast<double>(c.global_load.accesses) / all.global_load.accesses;
    CHECK(loads != 1.0);
    CHECK(loads > 0.75);
    CHECK(loads < 1.25);
    // A single block represents all if there are fewer than one_in.
    const auto one =
        sampled(1000, [&] { kernels::each_block(in.data(), again.data(), blocks); }).counts.value();
    CHECK(one.global_load.accesses % (64 * blocks) == 0);
}

TEST_CASE("blocks in several processes update the same words, and wait for one another", "[sample]") {
    constexpr int n = 20000, blocks = 300;
    std::vector<int> data(n);
    for (int i = 0; i < n; ++i) data[i] = i % 16;
    Buffer<int> in("in", std::span<const int>(data));
    auto bins = filled<int>("bins", 16);
    const auto right = sampled(10, [&] { kernels::histogram(in.data(), bins.data(), n, true); });
    CHECK(right.findings == Findings{});
    CHECK(bins.values() == std::vector<int>(16, n / 16));
    CHECK(right.counts->global_atomic.accesses / 100 == n / 100);
    const auto wrong = sampled(10, [&] { kernels::histogram(in.data(), bins.data(), n, false); });
    CHECK(wrong.findings.size() == 1);

    auto ones = filled<int>("in", blocks, 1);
    auto ticket = filled<unsigned>("ticket", 1);
    auto flags = filled<int>("flags", blocks);
    Buffer<int> out("out", blocks), sums("sums", 2 * blocks);
    const auto chained = sampled(5, [&] {
        kernels::chained_scan(kernels::Fence::device, kernels::ReadFence::by_asker, ones.data(), out.data(),
                              ticket.data(), flags.data(), sums.data(), blocks);
    });
    CHECK(chained.findings == Findings{});
    CHECK(out.values()[blocks - 1] == blocks);
}

TEST_CASE("what fails in a block that is not counted is told", "[sample]") {
    constexpr int blocks = 100;
    auto ran = filled<int>("ran", 1);
    const auto run = [&](kernels::Failure how, unsigned block) {
        sampled(50, [&] { kernels::one_block_fails(how, block, blocks, ran.data()); });
    };
    run(kernels::Failure::none, 0);
    CHECK(ran.values()[0] == blocks);
    unsigned crashed = 0;
    for (unsigned block = 0; block < 4; ++block) {
        CHECK_THROWS_WITH(run(kernels::Failure::assertion, block), ContainsSubstring("assertion failed"));
        try {
            run(kernels::Failure::crash, block);
        } catch (const kata::Error& error) {
            crashed +=
                std::string(error.what()).find("Segmentation fault; --full counts all") != std::string::npos;
        }
    }
    CHECK(crashed >= 3);  // one of the 50 is counted, and its access is refused
    run(kernels::Failure::none, 0);
    CHECK(ran.values()[0] == blocks);
}

TEST_CASE("what is left to do is told, of a sample and of all", "[sample]") {
    const auto one_in = GENERATE(std::uint64_t{1}, std::uint64_t{10});
    auto in = filled<float>("in", 6400);
    Buffer<float> out("out", 6400);
    std::vector<double> parts;
    observe({.one_in = one_in, .progress = [&](double part) { parts.push_back(part); }},
            [&] { kernels::each_block(in.data(), out.data(), 100); });
    CHECK(std::is_sorted(parts.begin(), parts.end()));
    CHECK(parts.front() < 1);
    CHECK(parts.back() == 1);
}

namespace {

/// Returns the bytes of this process that are in memory.
std::size_t resident_bytes() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;
    return pages * 4096;
}

}  // namespace

TEST_CASE("of what is too large to be run some blocks are, and count for all", "[sample]") {
    constexpr int n = 256;  // in tiles of 32 x 32
    std::vector<float> values(n * n);
    std::iota(values.begin(), values.end(), 1.0f);
    Buffer<float> in("in", std::span<const float>(values));
    Buffer<float> out("out", n * n), again("again", n * n, kata::zeros);
    const auto enough = GENERATE(std::uint64_t{1}, std::uint64_t{20000}, ~std::uint64_t{0} / 2);
    const auto run = [&](Buffer<float>& to) {
        return [&] { kernels::transpose(kernels::Transpose::tiled, in.data(), to.data(), n); };
    };
    const auto whole = observe({}, run(out)), part = observe({.sample = enough}, run(again));
    auto counts = part.counts.value();
    counts.makespan = whole.counts->makespan, counts.busiest = whole.counts->busiest;
    CHECK(counts == whole.counts.value());
    const auto all = again.values();
    const auto written = n * n - std::count(all.begin(), all.end(), 0.0f);
    CHECK(written % 1024 == 0);
    if (enough == 1) CHECK(written == 1024);
    if (enough == 20000) CHECK((written > 1024 && written < n * n));
    if (enough > 20000) CHECK(all == out.values());
}

TEST_CASE("who watches a sample sees the first block and the last beside it, each once", "[sample]") {
    const int blocks = GENERATE(1, 2, 3, 100);
    auto in = filled<float>("in", 6400), out = filled<float>("out", 6400);
    const auto enough = GENERATE(std::uint64_t{1}, ~std::uint64_t{0} / 2);
    const Watched watched;
    observe({.sample = enough}, [&] { kernels::each_block(in.data(), out.data(), blocks); });
    REQUIRE(watched.samples_ended_at.size() == 1);
    std::vector<std::uint64_t> sampled, beside;
    for (std::size_t i = 0; i < watched.requests.size(); ++i) {
        auto& seen = i < watched.samples_ended_at[0] ? sampled : beside;
        if (seen.empty() || seen.back() != watched.requests[i].block)
            seen.push_back(watched.requests[i].block);
    }
    CHECK(sampled.front() == static_cast<std::uint64_t>(blocks) / 2);
    if (enough > 1) {
        CHECK(sampled.size() == static_cast<std::size_t>(blocks));
        CHECK(beside.empty());
        return;
    }
    CHECK(sampled.size() == 1);
    std::vector<std::uint64_t> ends{0, static_cast<std::uint64_t>(blocks) - 1};
    std::erase(ends, sampled.front());
    CHECK(beside == ends);
}

TEST_CASE("a sample has no further block once who watches has seen enough", "[sample]") {
    auto in = filled<float>("in", 6400), out = filled<float>("out", 6400);
    Watched watched;
    watched.seen_enough = GENERATE(true, false);
    observe({.sample = ~std::uint64_t{0} / 2}, [&] { kernels::each_block(in.data(), out.data(), 100); });
    std::set<std::uint64_t> blocks;
    for (const auto& r : watched.requests) blocks.insert(r.block);
    if (watched.seen_enough)
        CHECK(blocks == std::set<std::uint64_t>{0, 50, 99});
    else
        CHECK(blocks.size() == 100);
}

TEST_CASE("what is too large to be run is not looked through for races, and takes no memory", "[sample]") {
    auto word = filled<int>("out", 1);
    const auto race = [&] { kernels::blocks_write_one(word.data(), 100); };
    CHECK(observe({}, race).findings.size() == 1);
    CHECK(observe({.sample = 1000}, race).findings == Findings{});

    constexpr std::size_t n = 16384, mebibyte = 1 << 20;
    Buffer<float> in("in", n * n, kata::zeros), out("out", n * n, kata::zeros);
    const auto grown = [](const Work& work) {
        const auto before = resident_bytes();
        observe({.sample = 100000}, work);
        return static_cast<double>(resident_bytes()) - static_cast<double>(before);
    };
    CHECK(grown([&] { kernels::transpose(kernels::Transpose::naive, in.data(), out.data(), n); }) <
          64 * mebibyte);
    CHECK(grown([&] { kernels::read_only(in.data(), out.data(), 64); }) < 64 * mebibyte);
    CHECK(grown([&] { kernels::copy(in.data(), out.data(), 1, 64); }) < 64 * mebibyte);
}

TEST_CASE("a period of whole pages that is repeated takes no more memory than once", "[sample]") {
    const std::size_t length = 256 * 4096 + GENERATE(0u, 1u), count = 64 << 20;
    const std::vector<std::uint8_t> period(length, 1);
    const auto before = resident_bytes();
    Buffer<std::uint8_t> buffer("buffer", count, kata::zeros);
    kata::device::repeat(buffer.data(), count, std::as_bytes(std::span(period)));
    CHECK((resident_bytes() - before < count / 4) == (length % 4096 == 0));
}

TEST_CASE("atomics on one address wait for one another, in all blocks", "[work]") {
    auto sums = filled<int>("sums", 64);
    const int different = GENERATE(1, 8, 64);
    const auto c = count([&] { kernels::atomics(sums.data(), different, 1024); });
    CHECK(c.contention == 1024u / different);
    CHECK(c.span >= c.contention);
    if (different <= 8) CHECK(c.span == c.contention);
    CHECK(count([&] {
              kernels::copy(filled<float>("in", 32).data(), filled<float>("out", 32).data(), 1, 32);
          }).contention == 0);
}

TEST_CASE("launches follow each other", "[work]") {
    auto in = filled<float>("in", 256), out = filled<float>("out", 256);
    auto sums = filled<int>("sums", 64);
    const auto copies = [&] { kernels::copy(in.data(), out.data(), 1, 256); };
    const auto atomics = [&] { kernels::atomics(sums.data(), 1, 512); };
    auto expected = count(copies);
    expected += count(atomics);
    expected += count(atomics);
    CHECK(count([&] { copies(), atomics(), atomics(); }) == expected);
}

namespace {

using kernels::Act;
using kernels::Deed;

/// The actions of each warp of each block, in an order in which all of them can happen one after the other.
struct Walk {
    struct Event {
        int block, warp;  // a barrier is performed by each warp
        Deed deed;
    };
    int blocks = 1, warps = 1;
    std::vector<Event> events;

    std::vector<std::vector<Deed>> by_warp() const {
        std::vector<std::vector<Deed>> all(blocks * warps);
        for (const auto& e : events) all[e.block * warps + e.warp].push_back(e.deed);
        std::size_t longest = 0;
        for (const auto& deeds : all) longest = std::max(longest, deeds.size());
        for (auto& deeds : all) deeds.resize(longest + 1, {Act::rest, 0});
        return all;
    }
    Counts measure(const Conditions& conditions = {}) const {
        const auto all = by_warp();
        std::vector<Deed> flat;
        for (const auto& deeds : all) flat.insert(flat.end(), deeds.begin(), deeds.end());
        Buffer<Deed> program("program", std::span<const Deed>(flat));
        auto ticket = filled<unsigned>("ticket", 1);
        auto flags = filled<int>("flags", 32 * 1000), counters = filled<int>("counters", 4);
        auto out = filled<float>("out", 32 * all.size());
        const auto seen = observe(conditions, [&] {
            kernels::walk(program.data(), static_cast<int>(all[0].size()), ticket.data(), flags.data(),
                          counters.data(), out.data(), blocks, warps);
        });
        CHECK(seen.findings == Findings{});
        return seen.counts.value();
    }
};

Walk random_walk(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Walk walk;
    const int crowd = below(16);
    walk.blocks = crowd == 0 ? 300 + below(100) : crowd < 5 ? 1 + below(40) : 1 + below(3);
    walk.warps = walk.blocks > 40 ? 8 : 1 + below(4);
    const int counters = 1 + below(4);
    int flags = 0;
    for (int block = 0; block < walk.blocks; ++block)
        for (int events = below(walk.blocks > 40 ? 2 : walk.blocks > 4 ? 4 : 16); events-- > 0;) {
            const int warp = below(walk.warps);
            switch (below(8)) {
                case 0:
                    for (int w = 0; w < walk.warps; ++w)
                        walk.events.push_back({block, w, {Act::all_meet, 0}});
                    break;
                case 1:
                case 2:
                    walk.events.push_back({block, warp, {Act::signal_to, flags++}});
                    break;
                case 3:
                case 4:
                    if (flags > 0) walk.events.push_back({block, warp, {Act::wait_for, below(flags)}});
                    break;
                case 5:
                    walk.events.push_back({block, warp, {Act::count_up, below(counters)}});
                    break;
                default:
                    walk.events.push_back({block, warp, {Act::rounds, 1 + below(60)}});
            }
        }
    return walk;
}

/// The same by readable rules: every action begins where its warp stood, a barrier when the last warp of its
/// block reaches it, and a waiting warp continues no earlier than after the signal. The cost of each action
/// was measured on its own.
struct Model {
    std::uint64_t nothing, round, per_round, meeting, signal, wait, count, resting;
    std::uint64_t hand_over;  // from the beginning of the signal to the end of the wait

    /// With a rest of each warp before, because the start of a loop may cost more than its rounds.
    static std::uint64_t span(int warps, std::vector<Walk::Event> events) {
        for (int w = 0; w < warps; ++w) events.insert(events.begin(), {0, w, {Act::rest, 0}});
        return Walk{1, warps, std::move(events)}.measure().span;
    }
    static std::uint64_t alone(Deed deed) { return span(1, {{0, 0, deed}}) - span(1, {}); }

    Model() {
        const auto rest = span(1, {});
        resting = alone({Act::rest, 0});
        nothing = rest - 2 * resting;  // there is another one at the end
        per_round = (alone({Act::rounds, 11}) - alone({Act::rounds, 1})) / 10;
        round = alone({Act::rounds, 1}) - per_round;
        meeting = alone({Act::all_meet, 0});
        signal = alone({Act::signal_to, 0});
        // 32 atomics take their time unless there is more other work
        count = span(1, {{0, 0, {Act::count_up, 0}}, {0, 0, {Act::rounds, 500}}}) - rest - round -
                500 * per_round;
        wait = span(1, {{0, 0, {Act::signal_to, 0}}, {0, 0, {Act::wait_for, 0}}}) - rest - signal;
        // warp 0 signals late, and warp 1 has much to do after it
        hand_over = span(2, {{0, 0, {Act::rounds, 1000}},
                             {0, 0, {Act::signal_to, 0}},
                             {0, 1, {Act::wait_for, 0}},
                             {0, 1, {Act::rounds, 500}}}) -
                    rest - 2 * round - 1500 * per_round;
    }
    std::uint64_t cost(Deed deed) const {
        switch (deed.act) {
            case Act::rest:
                return resting;
            case Act::rounds:
                return round + deed.value * per_round;
            case Act::all_meet:
                return meeting;
            case Act::signal_to:
                return signal;
            case Act::wait_for:
                return wait;
            case Act::count_up:
                return count;
        }
        return 0;
    }

    /// Returns work, span, makespan, contention, and the steps of the busiest multiprocessor.
    std::array<std::uint64_t, 5> of(const Walk& walk) const {
        const auto deeds = walk.by_warp();
        // the start of each action: raised until nothing changes
        std::vector<std::vector<std::uint64_t>> begin(deeds.size());
        for (auto& times : begin) times.assign(deeds[0].size() + 1, 0);
        std::map<int, std::pair<std::size_t, std::size_t>> signals;
        for (std::size_t w = 0; w < deeds.size(); ++w)
            for (std::size_t i = 0; i < deeds[w].size(); ++i)
                if (deeds[w][i].act == Act::signal_to) signals[deeds[w][i].value] = {w, i};
        const auto meetings = [&](std::size_t w, std::size_t until) {
            return std::count_if(deeds[w].begin(), deeds[w].begin() + static_cast<std::ptrdiff_t>(until),
                                 [](Deed d) { return d.act == Act::all_meet; });
        };
        for (bool changed = true; changed;) {
            changed = false;
            const auto raise = [&](std::uint64_t& time, std::uint64_t least) {
                changed = changed || time < least;
                time = std::max(time, least);
            };
            for (std::size_t w = 0; w < deeds.size(); ++w)
                for (std::size_t i = 0; i < deeds[w].size(); ++i) {
                    const auto deed = deeds[w][i];
                    raise(begin[w][i + 1], begin[w][i] + cost(deed));
                    if (deed.act == Act::wait_for) {
                        const auto [from, at] = signals.at(deed.value);
                        raise(begin[w][i + 1], begin[from][at] + hand_over);
                    }
                    if (deed.act != Act::all_meet) continue;
                    for (std::size_t other = w / walk.warps * walk.warps;
                         other < (w / walk.warps + 1) * walk.warps; ++other)
                        for (std::size_t k = 0; k < deeds[other].size(); ++k)
                            if (deeds[other][k].act == Act::all_meet && meetings(other, k) == meetings(w, i))
                                raise(begin[w][i + 1], begin[other][k] + meeting);
                }
        }
        std::vector<Walk::Event> rests;
        for (int w = 0; w < walk.warps; ++w) rests.push_back({0, w, {Act::rest, 0}});
        const auto idle = Walk{1, walk.warps, rests}.measure();
        std::vector<std::uint64_t> work(walk.blocks, idle.work - 2 * walk.warps * resting);
        std::uint64_t longest = 0;
        std::map<int, std::uint64_t> atomics, waits;
        for (std::size_t w = 0; w < deeds.size(); ++w) {
            longest = std::max(longest, begin[w].back() + nothing);
            for (const auto deed : deeds[w]) {
                work[w / walk.warps] += cost(deed);
                if (deed.act == Act::count_up) atomics[deed.value] += 32;
                if (deed.act == Act::signal_to || deed.act == Act::wait_for) ++waits[deed.value];
            }
        }
        std::uint64_t contention = walk.blocks, sum = 0;  // of the ticket
        for (const auto& [address, n] : atomics) contention = std::max(contention, n);
        for (const auto& [address, n] : waits) contention = std::max(contention, n);
        for (const auto w : work) sum += w;
        // A smaller limit than the default, so that reaching it does not take long.
        std::array<std::uint64_t, 16> given{};
        while (!work.empty()) {
            const auto largest = std::max_element(work.begin(), work.end());
            *std::min_element(given.begin(), given.end()) += *largest;
            work.erase(largest);
        }
        const auto busiest = (*std::max_element(given.begin(), given.end()) + 3) / 4;
        return {sum, std::max(longest, contention), std::max({8 * longest, contention, busiest}), contention,
                busiest};
    }
};

}  // namespace

TEST_CASE("in random programs, in any order, work and span are those of a model that tries all ways",
          "[work]") {
    constexpr unsigned programs = 300;
    const Model model;
    unsigned wrong = 0, waited = 0, contended = 0, busy = 0;
    for (unsigned seed = 0; seed < programs; ++seed) {
        const auto walk = random_walk(seed);
        const auto [work, span, makespan, contention, busiest] = model.of(walk);
        const Conditions conditions{
            .order = std::array{Order::forwards, Order::backwards, Order::shuffled}[seed % 3], .seed = seed};
        const auto c = walk.measure(conditions);
        contended += span == contention;
        busy += makespan == busiest;
        waited += std::any_of(walk.events.begin(), walk.events.end(),
                              [](const auto& e) { return e.deed.act == Act::wait_for; });
        const bool right = std::tuple(c.work, c.span, c.makespan, c.contention, c.busiest) ==
                           std::tuple(work, span, makespan, contention, busiest);
        CAPTURE(seed, walk.blocks, walk.warps, work, span, makespan, contention, c.work, c.span, c.makespan,
                c.contention, busiest, c.busiest);
        if (!right && wrong++ < 5) CHECK(right);
    }
    CHECK(wrong == 0);
    // a model that only ever has one kind of limit would prove nothing
    CHECK(waited > programs / 3);
    CHECK(contended > programs / 50);
    CHECK(busy > programs / 50);
}

// The log and the account by themselves

namespace {

using meter::Event;
using meter::Space;
using meter::WarpLog;
using meter::What;

/// Returns the counts of one request of these lanes, `bytes` each, at address(lane).
Counts request(What what, Space space, int bytes, const std::vector<int>& lanes,
               const std::function<std::uintptr_t(int)>& address) {
    std::vector<Event> events;
    for (const int lane : lanes)
        events.push_back({address(lane), 1, static_cast<std::uint8_t>(bytes), false, what, space,
                          static_cast<std::uint8_t>(lane)});
    std::vector<const Event*> pointers;
    for (const auto& e : events) pointers.push_back(&e);
    Counts c;
    meter::account(pointers, c);
    return c;
}

void read(WarpLog& log, std::uint32_t waiting, Counts& counts) {
    log.read(waiting, [&](meter::Group group) { meter::account(group, counts); });
}

std::vector<int> warp() {
    std::vector<int> lanes(32);
    std::iota(lanes.begin(), lanes.end(), 0);
    return lanes;
}

}  // namespace

TEST_CASE("a request is accounted for by kind, memory, sectors and banks", "[account]") {
    const auto at = [](std::uintptr_t base, int stride) {
        return [=](int lane) { return base + static_cast<std::uintptr_t>(lane * stride); };
    };
    CHECK(request(What::load, Space::global, 4, warp(), at(256, 4)).global_load == traffic(32, 4, 1, 4));
    CHECK(request(What::load, Space::global, 4, warp(), at(260, 4)).global_load == traffic(32, 4, 1, 5));
    CHECK(request(What::store, Space::global, 1, {0}, at(31, 0)).global_store == traffic(1, 1, 1, 1));
    CHECK(request(What::store, Space::global, 8, {0, 1, 2}, at(0, 64)).global_store == traffic(3, 8, 1, 3));
    CHECK(request(What::load, Space::constant, 4, warp(), at(64, 0)).constant_load ==
          Traffic{32, 128, 4, 1, 1});
    CHECK(request(What::load, Space::global, 8, {0, 1}, at(0, 4)).global_load == Traffic{2, 16, 12, 1, 1});
    CHECK(request(What::load, Space::shared, 4, warp(), at(4, 128)).shared_load == traffic(32, 4, 1, 32));
    CHECK(request(What::store, Space::shared, 2, warp(), at(0, 2)).shared_store == traffic(32, 2, 1, 1));
    CHECK(request(What::load, Space::shared, 4, {3, 9}, at(0, 128)).bank_conflicts == 1);
    CHECK(request(What::load, Space::shared, 4, {3, 9}, at(0, 0)).bank_conflicts == 0);
    const auto atomic =
        request(What::atomic, Space::shared, 4, warp(), [](int lane) { return lane % 2 * 128; });
    CHECK(atomic.shared_atomic == Traffic{32, 128, 8, 1, 2});
    CHECK(atomic.same_address == 30);
    CHECK(atomic.bank_conflicts == 1);
    CHECK(request(What::atomic, Space::global, 8, {5}, at(0, 8)).global_atomic == traffic(1, 8, 1, 1));
    const auto step = request(What::basic_block, Space::none, 0, {1, 2, 3}, at(0, 0));
    CHECK(std::pair(step.lane_basic_blocks, step.basic_blocks) ==
          std::pair(std::uint64_t{3}, std::uint64_t{1}));
}

TEST_CASE("the log takes the lowest code address first, of all lanes that can go on", "[account]") {
    const auto load = [](std::uint32_t code, std::uintptr_t address) {
        return Event{address, code, 4, false, What::load, Space::global};
    };
    constexpr auto all = 0xffffffffu;
    WarpLog log;
    Counts c;
    read(log, all, c);
    CHECK(c == Counts{});

    // lane 0 goes through 10, 20, 10, 30, lane 1 through 10, 30
    for (const std::uint32_t code : {10, 20, 10, 30}) log.add(0, load(code, 0));
    log.add(1, load(10, 4));
    read(log, ~0b11u, c);
    CHECK(c.global_load.requests == 1);  // the next event of lane 1 is not known yet: it could be before 20
    log.add(1, load(30, 4));
    read(log, ~0b11u, c);
    CHECK(c.global_load.requests == 4);
    CHECK(c.global_load.accesses == 6);
    read(log, all, c);
    CHECK(c.global_load.requests == 4);  // nothing is counted twice

    // a waiting lane is not waited for, and joins when it arrives
    log.add(0, load(50, 0));
    read(log, ~0b01u, c);
    CHECK(c.global_load.requests == 5);
    log.add(0, load(60, 0));
    log.add(1, load(60, 0));
    read(log, all, c);
    CHECK(c.global_load.requests == 6);

    // one instruction that accesses two memories
    c = {};
    log.add(0, {0, 70, 4, false, What::store, Space::shared});
    log.add(1, {0, 70, 4, false, What::store, Space::global});
    log.add(2, {4, 70, 4, false, What::store, Space::shared});
    read(log, all, c);
    CHECK(c.shared_store == traffic(2, 4, 1, 1));
    CHECK(c.global_store == traffic(1, 4, 1, 1));
}

TEST_CASE("the log says when a lane is full, and has room again once it was read", "[account]") {
    WarpLog log;
    Counts c;
    std::uint64_t added = 0;
    for (int round = 0; round < 3; ++round) {
        for (; !log.full(7); ++added) log.add(7, {0, 1, 4, false, What::load, Space::global});
        CHECK(!log.full(6));
        CHECK(!log.full(8));
        read(log, 0xffffffff, c);
        CHECK(!log.full(7));
        CHECK(c.global_load.requests == added);
    }
    log.clear();
    read(log, 0xffffffff, c);
    CHECK(c.global_load.requests == added);
}

// Races

namespace {

Findings found(const Work& work, const Conditions& conditions = {}) {
    return observe(conditions, work).findings;
}

/// True if nothing is found, which must not depend on the order.
bool clean(const Work& work) {
    const bool nothing = found(work).empty();
    for (const auto& conditions : all_orders) {
        const auto findings = found(work, conditions);
        CAPTURE(findings);
        CHECK(findings.empty() == nothing);
    }
    return nothing;
}

std::string race_between(const std::string& one, const std::string& other, const std::string& advice) {
    return ": nothing orders\n  " + one + "\n  " + other + "\n  " + advice;
}

const std::string barrier_missing = "is a __syncthreads() missing between them, or must it be an atomic?";
const std::string warp_missing =
    "is a __syncthreads() missing between them (__syncwarp(), if only the warp shares it), or must it be an "
    "atomic?";
const std::string any_order =
    "blocks run in any order: what must be done before all of them belongs in front of the launch; else use "
    "an atomic, or one as a flag with a __threadfence() on both of its sides";

}  // namespace

TEST_CASE("a race is told with file, line, block and thread of both sides", "[races]") {
    auto out = filled<int>("out", 1);
    const auto one = " of block (0,0,0) writes in " + line_of("the first writes"),
               other = " of block (0,0,0) writes in " + line_of("the second writes");
    CHECK(found([&] { kernels::two_write_one(out.data(), 3, 70); }) ==
          Findings{"race in shared memory \"word\", element 1" +
                   race_between("thread (3,0,0)" + one, "thread (70,0,0)" + other, barrier_missing)});
    CHECK(found([&] { kernels::two_write_one(out.data(), 3, 4); }) ==
          Findings{"race in shared memory \"word\", element 1" +
                   race_between("thread (3,0,0)" + one, "thread (4,0,0)" + other, warp_missing)});
    CHECK(found([&] { kernels::two_write_one(out.data(), 3, 70); }, {.order = Order::backwards}) ==
          Findings{"race in shared memory \"word\", element 1" +
                   race_between("thread (70,0,0)" + other, "thread (3,0,0)" + one, barrier_missing)});
    CHECK(clean([&] { kernels::two_write_one(out.data(), 3, 3); }));
}

TEST_CASE("writes of one word by many threads are a race", "[races]") {
    auto out = filled<int>("out", 1);
    const int threads = GENERATE(2, 32, 33, 64, 256);
    CHECK(!clean([&] { kernels::all_write_one(out.data(), threads); }));
    CHECK(clean([&] { kernels::all_write_one(out.data(), 1); }));
}

TEST_CASE("without the meter there are neither counts nor findings, and the next observation has its own",
          "[races]") {
    auto out = filled<int>("out", 1);
    const auto racy = [&] { kernels::all_write_one(out.data(), 64); };
    const auto metered = observe({}, racy);
    CHECK_THROWS_AS(observe({}, [] { throw kata::Error("the observation before ends in a fault"); }),
                    kata::Error);
    const auto seen = observe({.metered = false}, racy);
    CHECK(!seen.counts);
    CHECK(seen.findings == Findings{});
    CHECK(seen.launches == 1);
    const auto after = observe({}, racy);
    CHECK(after.counts == metered.counts);
    CHECK(after.findings == metered.findings);
    CHECK(!after.findings.empty());
}

TEST_CASE("a read of what a neighbour writes needs a barrier, in a warp and across warps", "[races]") {
    const int threads = GENERATE(2, 32, 64, 1024);
    Buffer<int> out("out", 1024);
    CHECK(clean([&] { kernels::neighbour(out.data(), threads, true); }));
    CHECK(!clean([&] { kernels::neighbour(out.data(), threads, false); }));
    CHECK(clean([&] { kernels::dynamic_neighbour(out.data(), threads, true); }));
    CHECK(!clean([&] { kernels::dynamic_neighbour(out.data(), threads, false); }));
    CHECK(clean([&] { kernels::neighbour_in_warp(out.data(), true); }));
    CHECK(!clean([&] { kernels::neighbour_in_warp(out.data(), false); }));
}

TEST_CASE("a race is told once for a pair of lines, and eight findings are enough", "[races]") {
    Buffer<int> out("out", 1024);
    const auto races = [&](const Work& work) {
        const auto findings = found(work);
        return std::count_if(findings.begin(), findings.end(),
                             [](const auto& text) { return text.starts_with("race in shared memory \""); });
    };
    CHECK(races([&] { kernels::neighbour(out.data(), 1024, false); }) == 1);
    CHECK(races([&] { kernels::two_lines(out.data()); }) == 2);
    CHECK(found([&] { kernels::many_lines(out.data()); }).size() == 8);
}

TEST_CASE("scans without one of their barriers are reported", "[races]") {
    auto data = filled<float>("data", 1024, 1.0f);
    CHECK(clean([&] { kernels::kogge_stone(data.data()); }));
    CHECK(clean([&] { kernels::double_buffer(data.data(), true); }));
    CHECK(!clean([&] { kernels::double_buffer(data.data(), false); }));
    CHECK(!clean([&] { kernels::kogge_stone_single_barrier(data.data()); }));
    const auto findings = found([&] { kernels::kogge_stone_single_barrier(data.data()); });
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0], StartsWith("race in shared memory \"x\", element ") &&
                                ContainsSubstring(" writes in " + line_of("Kogge-Stone writes") + "\n") &&
                                ContainsSubstring(" reads in " + line_of("Kogge-Stone reads") + "\n"));
}

TEST_CASE("volatile does not order the lanes of a warp", "[races]") {
    auto data = filled<float>("data", 64, 1.0f);
    const auto tail = [&](kernels::Tail how) {
        return [&, how] { kernels::reduction_tail(how, data.data()); };
    };
    CHECK(!clean(tail(kernels::Tail::volatile_shared)));
    CHECK(!clean(tail(kernels::Tail::volatile_global)));
    CHECK(clean(tail(kernels::Tail::synchronised_shared)));
    CHECK(clean(tail(kernels::Tail::synchronised_global)));
    CHECK_THAT(found(tail(kernels::Tail::volatile_global))[0],
               StartsWith("race in global memory \"data\", element ") &&
                   ContainsSubstring("in " + line_of("volatile tail")) && EndsWith(warp_missing));
}

TEST_CASE("histograms need atomics, zeros and barriers", "[races]") {
    std::vector<int> values(500);
    for (int i = 0; i < 500; ++i) values[i] = i % 16;
    Buffer<int> in("in", std::span<const int>(values));
    auto bins = filled<int>("bins", 16);
    CHECK(clean([&] { kernels::histogram(in.data(), bins.data(), 500, true); }));
    CHECK(!clean([&] { kernels::histogram(in.data(), bins.data(), 500, false); }));
    CHECK(!clean([&] { kernels::histogram(in.data(), bins.data(), 64, false); }));  // within one block
    const auto privately = [&](bool zeroed, bool atomic, bool barrier) {
        return [&, zeroed, atomic, barrier] {
            kernels::private_histogram(in.data(), bins.data(), 500, zeroed, atomic, barrier);
        };
    };
    CHECK(clean(privately(true, true, true)));
    CHECK(!clean(privately(true, false, true)));
    CHECK(!clean(privately(true, true, false)));
    CHECK(!clean(privately(false, true, true)));
    CHECK(found(privately(false, true, true)) == Findings{"read of what nobody has written: thread (127,0,0) "
                                                          "of block (0,0,0) reads shared memory \"mine\", "
                                                          "element 15 in " +
                                                          line_of("private histogram counts")});
    const auto unordered = found(privately(true, true, false));
    REQUIRE(!unordered.empty());
    CHECK_THAT(unordered[0],
               ContainsSubstring(" updates atomically in " + line_of("private histogram counts")) &&
                   ContainsSubstring(" reads in " + line_of("private histogram adds")));
}

TEST_CASE("bytes of one word are words of their own", "[races]") {
    auto out = filled<unsigned char>("out", 256);
    CHECK(clean([&] { kernels::bytes_of_words(out.data(), 64, 4); }));   // a byte each
    CHECK(!clean([&] { kernels::bytes_of_words(out.data(), 64, 2); }));  // two lanes write one byte
    CHECK(clean([&] { kernels::byte_read_by_other(out.data(), 32); }));
    CHECK(!clean([&] { kernels::byte_read_by_other(out.data(), 64); }));
}

TEST_CASE("blocks are not ordered", "[races]") {
    auto data = filled<int>("data", 64);
    CHECK(clean([&] { kernels::blocks_write_one(data.data(), 1); }));
    CHECK(!clean([&] { kernels::blocks_write_one(data.data(), 5); }));
    CHECK_THAT(
        found([&] { kernels::blocks_write_one(data.data(), 5); })[0],
        StartsWith("race in global memory \"out\", element 0: nothing orders\n"
                   "  thread (0,0,0) of block (0,0,0) writes in meter_kernels.cu:") &&
            ContainsSubstring("  thread (0,0,0) of block (1,0,0) writes in ") &&
            EndsWith("\n  two threads store to index 0: is blockIdx missing from the index, or blockDim that "
                     "multiplies it, or should only one block store?"));
    auto many = filled<int>("data", 200);
    using enum kernels::Index;
    CHECK(clean([&] { kernels::indexed(of_its_own, many.data()); }));
    CHECK_THAT(
        found([&] { kernels::indexed(added, many.data()); })[0],
        StartsWith("race in global memory \"data\", element 1: ") &&
            EndsWith("\n  two threads store to index 1: is blockIdx missing from the index, or blockDim "
                     "that multiplies it, or should only one block store?"));
    CHECK_THAT(
        found([&] { kernels::indexed(of_warps, many.data()); })[0],
        StartsWith("race in global memory \"data\", element 0: ") &&
            EndsWith("\n  two threads store to index 0: is threadIdx missing from the index, or should "
                     "only one of them store?"));
    CHECK_THAT(found([&] { kernels::indexed(updated, many.data()); })[0],
               EndsWith("\n  threads of two blocks reach index 1 in the same line: if each should have its "
                        "own, is blockIdx in the index, multiplied by the number of elements that a block "
                        "works on? If they share it, use an atomic"));
    CHECK(clean([&] { kernels::pixels(many.data(), 12, 10, true); }));
    CHECK_THAT(
        found([&] { kernels::pixels(many.data(), 12, 10, false); })[0],
        EndsWith("\n  two threads store to index 12, at x = 12, y = 0 and at x = 0, y = 1, which is one "
                 "place where a row has 12 elements, as \"width\" says. If a row has more of them, another "
                 "number belongs in the index. If it has not, the guard must compare x and y each with its "
                 "own limit, not the index with the number of elements"));
    CHECK(clean([&] { kernels::stretches(many.data(), 4); }));
    for (const auto order : {kata::Order::forwards, kata::Order::backwards})
        CHECK_THAT(found([&] { kernels::stretches(many.data(), 3); }, {.order = order})[0],
                   ContainsSubstring(", and each stores to several in this line: their ranges overlap."));
    CHECK_THAT(found([&] { kernels::stretches(many.data(), 0); })[0],
               ContainsSubstring("is threadIdx missing from the index"));
    // An element of two words is one place, not a range.
    auto wide = filled<double>("data", 4);
    CHECK_THAT(found([&] { kernels::one_double(wide.data()); })[0],
               ContainsSubstring("two threads store to index 0: is threadIdx missing"));
    CHECK(clean([&] { kernels::block_reads_other(data.data(), 1); }));
    CHECK(!clean([&] { kernels::block_reads_other(data.data(), 4); }));
    using enum kernels::Count;
    const auto counts = [&](kernels::Count how, int blocks) {
        return [&, how, blocks] { kernels::block_counts_down(data.data(), blocks, how); };
    };
    CHECK(clean(counts(of_device, 8)));
    CHECK(clean(counts(of_system, 8)));
    CHECK(!clean(counts(plain, 8)));
    CHECK(!clean(counts(of_block, 8)));
    CHECK(clean(counts(of_block, 1)));
    CHECK_THAT(
        found(counts(of_block, 8))[0],
        StartsWith("race in global memory \"count\", element 0: nothing orders\n"
                   "  thread (0,0,0) of block (0,0,0) updates atomically in " +
                   line_of("block's own atomic")) &&
            EndsWith("\n  an atomic of the block is one to its own threads alone: give it the scope of the "
                     "device, or drop _block from its name"));
}

TEST_CASE("an update of a volatile or of an atomic in two parts by several blocks is lost", "[races]") {
    using enum kernels::Impatient;
    const auto how =
        GENERATE(adds, loads_and_stores, adds_behind_a_lock, adds_behind_a_flag, passes_on, sets_once);
    const bool loses = how == adds || how == loads_and_stores;
    for (unsigned seed = 1; seed <= 8; ++seed) {
        auto words = filled<int>("words", 2);
        const auto findings = found([&] { kernels::volatile_between_blocks(how, words.data(), 8); },
                                    {.order = Order::shuffled, .seed = seed});
        CHECK(words.values()[0] == (how == sets_once ? 1 : 8) - (loses ? 8 - words.values()[0] : 0));
        if (!loses) {
            CHECK(findings == Findings{});
            continue;
        }
        REQUIRE(findings.size() == 1);
        CHECK_THAT(
            findings[0],
            StartsWith("lost update of global memory \"words\", element 0: thread (0,0,0) of "
                       "block (") &&
                ContainsSubstring(" writes in " +
                                  line_of(how == adds ? "volatile adds" : "loads and stores") +
                                  " a value computed from an older one") &&
                EndsWith(how == adds ? ": use an atomic" : ": use one atomic update, such as fetch_add"));
    }
}

TEST_CASE("between two atomics of a thread others come in", "[races]") {
    using enum kernels::Impatient;
    const auto sum = [](kernels::Impatient how, unsigned seed) {
        auto words = filled<int>("words", 2);
        const auto findings = found([&] { kernels::volatile_between_blocks(how, words.data(), 8); },
                                    {.order = Order::shuffled, .seed = seed});
        CHECK(findings == Findings{});
        return words.values()[0];
    };
    for (unsigned seed = 1; seed <= 8; ++seed) {
        CHECK(sum(tries_once, seed) < 8);
        CHECK(sum(tries_again, seed) == 8);
    }
}

TEST_CASE("of compare-and-swaps those count that store", "[races]") {
    using enum kernels::Impatient;
    auto words = filled<int>("words", 2);
    const auto swaps = [&](kernels::Impatient how, const Conditions& conditions) {
        return observe(conditions, [&] { kernels::volatile_between_blocks(how, words.data(), 8); })
            .counts->swaps;
    };
    for (const auto& conditions : {Conditions{}, Conditions{.order = Order::shuffled}}) {
        CHECK(swaps(tries_again, conditions) == 8);
        CHECK(swaps(adds_behind_a_lock, conditions) == 8);
        CHECK(swaps(sets_once, conditions) == 0);
    }
}

TEST_CASE("__ldg reads what nobody writes in the same launch", "[races]") {
    using enum kernels::ReadOnly;
    auto in = filled<int>("in", 64), out = filled<int>("out", 128);
    const auto reads = [&](kernels::ReadOnly how) {
        return [&, how] { kernels::read_only_while_written(how, in.data(), out.data()); };
    };
    CHECK(clean(reads(of_input)));
    CHECK(clean(reads(in_two_launches)));
    CHECK(!clean(reads(of_output_before)));
    CHECK(!clean(reads(of_output)));
    CHECK_THAT(found(reads(of_output)).at(0),
               StartsWith("__ldg() of what the same launch writes: it reads \"out\", element ") &&
                   EndsWith(" in " + line_of("__ldg of output") + ", which is written in " +
                            line_of("written before __ldg") +
                            "\n  its cache may answer with what was there before: read it without __ldg()"));
}

TEST_CASE("launches are ordered", "[races]") {
    Buffer<int> data("data", 128);
    CHECK(clean([&] { kernels::two_launches(data.data(), 64); }));
}

TEST_CASE("a flag must not overtake the data, nor a cache answer for it", "[races]") {
    using enum kernels::ReadFence;
    using kernels::Fence;
    const auto [fence, read_fence, silent] = GENERATE(
        table<Fence, kernels::ReadFence, bool>({{Fence::none, by_asker, false},
                                                {Fence::block, by_asker, false},
                                                {Fence::device, by_asker, true},
                                                {Fence::by_all, by_asker, true},
                                                {Fence::by_some, by_asker, false},
                                                {Fence::device, none, false},
                                                {Fence::device, by_another_before_the_barrier, false},
                                                {Fence::device, by_another, false},
                                                {Fence::device, by_readers, true},
                                                {Fence::device, reads_volatile, true},
                                                {Fence::none, reads_volatile, false}}));
    const auto reads = read_fence == reads_volatile ? "chained scan reads volatile" : "chained scan reads";
    constexpr int blocks = 12;
    auto in = filled<int>("in", blocks, 1);
    for (const auto& conditions : all_orders) {
        auto out = filled<int>("out", blocks), flags = filled<int>("flags", blocks);
        auto ticket = filled<unsigned>("ticket", 1);
        Buffer<int> sums("sums", 2 * blocks);
        const auto findings = found(
            [&, fence = fence, read_fence = read_fence] {
                kernels::chained_scan(fence, read_fence, in.data(), out.data(), ticket.data(), flags.data(),
                                      sums.data(), blocks);
            },
            conditions);
        CAPTURE(findings);
        CHECK(findings.empty() == silent);
        CHECK(out.values()[blocks - 1] == blocks);
        if (silent || findings.empty()) continue;
        CHECK_THAT(findings[0], StartsWith("race in global memory \"sums\", element ") &&
                                    ContainsSubstring(" writes in " + line_of("chained scan writes")) &&
                                    ContainsSubstring(" reads in " + line_of(reads)) && EndsWith(any_order));
    }
}

TEST_CASE("who was told by somebody who was told has been told", "[races]") {
    using enum kernels::Relay;
    const auto [second, silent] =
        GENERATE(table<kernels::Relay, bool>({{asks, true},
                                              {does_not_ask, false},
                                              {another_thread_asks, false},
                                              {another_thread_asks_before_a_barrier, true}}));
    for (const auto& conditions : all_orders) {
        Buffer<int> data("data", 1), out("out", 1);
        auto flags = filled<int>("flags", 2);
        auto ticket = filled<unsigned>("ticket", 1);
        const auto findings = found(
            [&, second = second] {
                kernels::relay(second, data.data(), flags.data(), ticket.data(), out.data());
            },
            conditions);
        CAPTURE(findings);
        REQUIRE(findings.empty() == silent);
        if (silent) CHECK(out.values()[0] == 1);
        if (silent) continue;
        CHECK_THAT(findings[0], StartsWith("race in global memory \"data\", element 0") &&
                                    ContainsSubstring(line_of("relay writes")) &&
                                    ContainsSubstring(line_of("relay reads")) && EndsWith(any_order));
    }
}

TEST_CASE("who has counted last may set the count back by a plain write, and nobody else", "[races]") {
    using kernels::SetBack;
    const auto [by, silent] = GENERATE(table<SetBack, bool>(
        {{SetBack::last_block, true}, {SetBack::another_thread, false}, {SetBack::first_block, false}}));
    CAPTURE(static_cast<int>(by));
    for (const auto& conditions : all_orders) {
        auto count = filled<unsigned>("count", 1);
        const auto findings = found([&, by = by] { kernels::set_back(by, count.data()); }, conditions);
        REQUIRE(findings.size() == (silent ? 0 : 1));
        if (silent) CHECK(count.values()[0] == 0);
        if (silent) continue;
        CHECK_THAT(findings[0], StartsWith("race in global memory \"count\", element 0") &&
                                    ContainsSubstring(line_of("set back writes")) &&
                                    ContainsSubstring(line_of("set back counts")) && EndsWith(any_order));
    }
}

TEST_CASE("a flag that carries the data needs no fence", "[races]") {
    constexpr int blocks = 20;
    auto in = filled<int>("in", blocks, 1);
    for (const auto& conditions : all_orders) {
        auto out = filled<int>("out", blocks);
        auto ticket = filled<unsigned>("ticket", 1);
        auto states = filled<unsigned long long>("states", blocks);
        CHECK(
            found(
                [&] { kernels::look_back_scan(in.data(), out.data(), ticket.data(), states.data(), blocks); },
                conditions) == Findings{});
        CHECK(out.values()[blocks - 1] == blocks);
    }
}

TEST_CASE("who polls sees what was written while it had given way", "[races]") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        Buffer<int> data("data", 1), out("out", 2);
        auto flag = filled<int>("flag", 1);
        CHECK(found([&] { kernels::polled_late(data.data(), flag.data(), out.data()); },
                    {.order = Order::shuffled, .seed = seed}) == Findings{});
        CHECK(out.values()[1] == 1);
    }
}

TEST_CASE("the host must not reach into device memory", "[host]") {
    auto data = filled<int>("data", 4, 7);
    CHECK(found([&] { kernels::host_writes(data.data()); }) ==
          Findings{"the host writes to \"data\", which is device memory, in " + line_of("host writes") +
                   ": on a GPU the program ends there; let a kernel do it, or one of the cudaMemcpy and "
                   "cudaMemset calls"});
    CHECK_THAT(found([&] { kernels::host_reads(data.data()); }).at(0),
               StartsWith("the host reads \"data\", which is device memory, in " + line_of("host reads")));
    CHECK_THAT(found(kernels::host_writes_constant).at(0),
               StartsWith("the host writes to a constant, which is in device memory, in " +
                          line_of("host writes constant")));
    CHECK(found([&] { kernels::host_copies(data.data()); }) == Findings{});
    CHECK(data.values() == std::vector<int>{4, 4, 4, 4});
}

TEST_CASE("the host must not reach into device memory through the C++ library either", "[host]") {
    using enum kernels::Library;
    const auto [how, does, mark] = GENERATE(table<kernels::Library, std::string, std::string>({
        {memcpy_from, "reads", "host memcpy from"},
        {memcpy_to, "writes to", "host memcpy to"},
        {copy, "reads", "host copy"},
        {vector, "reads", "host vector"},
        {sort, "reads", "host sort"},
        {after_launch, "reads", "host memcpy after launch"},
    }));
    auto data = filled<int>("data", 4, 7);
    const auto findings = found([&, how = how] { kernels::host_library_reaches(how, data.data()); });
    CAPTURE(findings);
    REQUIRE(!findings.empty());
    CHECK_THAT(findings[0], StartsWith("the host " + does + " \"data\", which is device memory, in " +
                                       line_of(mark) + ": on a GPU"));
    CHECK(data.values().size() == 4);  // outside a step the test may read it
}

TEST_CASE("what a step allocates it must free", "[host]") {
    using enum kernels::Leak;
    const auto leaked = [](kernels::Leak leak) { return found([=] { kernels::host_leaks(leak); }); };
    CHECK(leaked(none) == Findings{});
    CHECK(leaked(device) ==
          Findings{"never freed: 4096 bytes that cudaMalloc has allocated in " + line_of("host allocates") +
                   ": what a step allocates it gives back with cudaFree"});
    CHECK(leaked(on_stream) == Findings{"never freed: 4096 bytes that cudaMalloc has allocated in " +
                                        line_of("host allocates on a stream") +
                                        ": what a step allocates it gives back with cudaFree"});
    CHECK(leaked(host) ==
          Findings{"never freed: 4096 bytes of the host that cudaMallocHost has allocated in " +
                   line_of("host allocates of its own") +
                   ": what a step allocates it gives back with cudaFreeHost"});
    CHECK(observe({.metered = false}, [] { kernels::host_leaks(host); }).findings.size() == 1);
}

TEST_CASE("what the host copies is counted", "[host]") {
    auto data = filled<int>("data", 100);
    const auto seen = observe({}, [&] { kernels::host_copies_much(data.data(), 100); });
    CHECK(seen.findings == Findings{});
    CHECK(seen.counts->bytes_to_host == 400);
    CHECK(seen.counts->bytes_to_device == 400 + 8);
    CHECK(seen.counts->bytes_beside == 8 + 8);
    const auto none = observe({}, [&] { kernels::host_leaks(kernels::Leak::none); });
    CHECK(std::tuple(none.counts->bytes_to_host, none.counts->bytes_to_device) == std::tuple(0u, 0u));
    CHECK(none.counts->bytes_beside == 0);
    const auto cleared = observe({}, [&] { kernels::host_clears(data.data(), 10, 20); });
    CHECK(cleared.counts->bytes_beside == 80);
}

TEST_CASE("host code may have static variables, shared pointers and atomics", "[host]") {
    CHECK(kernels::host_library(3) == 3 + 3);
    CHECK(kernels::host_library(4) == 3 + 4);
}

TEST_CASE("a read of what nobody has written is told", "[races]") {
    Buffer<int> out("out", 32), unwritten("in", 32);
    CHECK(found([&] { kernels::unwritten_shared(out.data()); }) ==
          Findings{"read of what nobody has written: thread (31,0,0) of block (0,0,0) reads shared memory "
                   "\"tile\", element 0 in " +
                   line_of("unwritten shared")});
    CHECK(!clean([&] { kernels::unwritten_dynamic(out.data()); }));
    const auto findings = found([&] { kernels::unwritten_global(unwritten.data(), out.data()); });
    REQUIRE(findings.size() == 1);
    CHECK_THAT(
        findings[0],
        StartsWith(
            "read of what nobody has written: thread (0,0,0) of block (0,0,0) reads \"in\", element 0 in "));
    CHECK(clean([&] { kernels::unwritten_global(filled<int>("in", 32).data(), out.data()); }));
}

TEST_CASE("what the host has written in part is written there, and not elsewhere", "[races]") {
    using Parts = std::vector<std::pair<int, int>>;  // first element and number of elements
    const auto [parts, unwritten] = GENERATE(table<Parts, int>({{{{0, 32}}, -1},
                                                                {{{0, 16}, {16, 16}}, -1},
                                                                {{{16, 16}, {0, 16}}, -1},
                                                                {{{0, 10}, {20, 12}, {5, 20}}, -1},
                                                                {{{1, 31}}, 0},
                                                                {{{0, 31}}, 31},
                                                                {{{0, 8}, {9, 23}}, 8},
                                                                {{{30, 2}, {0, 30}, {32, 8}}, -1}}));
    Buffer<int> in("in", 64), out("out", 32);
    const auto findings = found([&, parts = parts] {
        for (const auto& [first, number] : parts) kernels::host_clears(in.data(), first, number);
        kernels::unwritten_global(in.data(), out.data());
    });
    CAPTURE(findings, unwritten);
    REQUIRE(findings.empty() == (unwritten < 0));
    if (unwritten >= 0)
        CHECK_THAT(findings[0],
                   ContainsSubstring("reads \"in\", element " + std::to_string(unwritten) + " in "));
}

TEST_CASE("an atomic may write what the host has left unwritten, and not ask for it", "[races]") {
    const auto after_clearing = [](int first, bool exchange) {
        Buffer<int> data("data", 8);
        return found([&] {
            kernels::host_clears(data.data(), first, 4);
            kernels::exchange_or_ask(data.data(), exchange);
        });
    };
    CHECK(after_clearing(4, true) == Findings{});
    const auto findings = after_clearing(4, false);
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0], StartsWith("read of what nobody has written"));
    CHECK_THAT(findings[0], ContainsSubstring(line_of("asks atomically")));
    CHECK(after_clearing(0, false) == Findings{});
}

TEST_CASE("a warp begins to load once, and again behind each barrier", "[span]") {
    auto in = filled<int>("in", 256);
    Buffer<int> out("out", 128);
    const auto c = count([&] { kernels::loads_behind_barrier(in.data(), out.data(), 128); });
    CHECK(c.load_phases == 4 + 1);
}

TEST_CASE("a warp begins to load again behind an exchange, whatever others do", "[span]") {
    auto in = filled<int>("in", 256);
    Buffer<int> out("out", 64);
    const auto c = count([&] { kernels::load_phases(in.data(), out.data()); });
    CHECK(c.load_phases == 2 + 3);
}

// On the CPU back end they run one after the other.
TEST_CASE("tiles of a warp that exchange among themselves load and exchange together", "[span]") {
    auto in = filled<int>("in", 64);
    Buffer<int> out("out", 32);
    const auto order = GENERATE(Order::forwards, Order::backwards);
    const auto counted = [&](int rounds, int more) {
        return observe({.order = order},
                       [&] { kernels::phases_of_tiles(in.data(), out.data(), rounds, more); })
            .counts.value();
    };
    CHECK(counted(0, 0).load_phases == 1);
    CHECK(counted(3, 0).load_phases == 1 + 3);
    CHECK(counted(3, 0).exchanges == 3);
    CHECK(counted(0, 1).load_phases == 1 + 3);  // the last tile does so often, and the first one never
    CHECK(counted(0, 1).exchanges == 3);
}

TEST_CASE("a warp waits for what it loads and stores to shared memory before it reads there", "[span]") {
    auto in = filled<int>("in", 128);
    Buffer<int> out("out", 64);
    const auto waited_for = [&](kernels::Way way) {
        return count([&] { kernels::second_tile(way, in.data(), out.data()); }).waited_for;
    };
    // The first tile always counts, the second one only if it is stored at once.
    CHECK(waited_for(kernels::Way::at_once) == 4 * 2 * 64);
    CHECK(waited_for(kernels::Way::in_structures) == 4 * 2 * 64);
    CHECK(waited_for(kernels::Way::copied_at_once) == 4 * 2 * 64);
    CHECK(waited_for(kernels::Way::ahead) == 4 * 64);
    CHECK(waited_for(kernels::Way::ahead_beside_copy) == 4 * 64);
    CHECK(waited_for(kernels::Way::structures_ahead) == 4 * 64);
    CHECK(waited_for(kernels::Way::copied) == 4 * 64);
}

// A copying warp waits for nothing else while the other warps have work.
TEST_CASE("a block with warps that only copy does not wait for what they copy", "[span]") {
    constexpr int tiles = 4;
    auto in = filled<int>("in", 64 * tiles);
    Buffer<int> out("out", 128);
    const auto order = GENERATE(Order::forwards, Order::backwards, Order::shuffled);
    const auto waited_for = [&](kernels::Copiers how) {
        return observe({.order = order}, [&] { kernels::copy_tiles(how, in.data(), out.data(), tiles); })
            .counts.value()
            .waited_for;
    };
    CHECK(waited_for(kernels::Copiers::own_warps) == 4 * 64);  // of the first tile
    CHECK(waited_for(kernels::Copiers::own_warps_at_once) == 4 * 64 * tiles);
    CHECK(waited_for(kernels::Copiers::all_at_once) == 4 * 64 * tiles);
    // Nothing reads the first tile meanwhile. The copying warps read the others before they copy.
    CHECK(waited_for(kernels::Copiers::half_at_once) == 4 * 64 * tiles);
}

TEST_CASE("tiles that exchange by different instructions count once for each of these", "[span]") {
    Buffer<int> out("out", 32);
    const auto exchanges = [&](int threads, int rounds, bool in_two_lines, bool together) {
        return count(
                   [&] { kernels::exchanges_of_tiles(out.data(), threads, rounds, in_two_lines, together); })
            .exchanges;
    };
    CHECK(exchanges(32, 3, false, false) == 3);
    CHECK(exchanges(32, 3, true, false) == 2 * 3);
    CHECK(exchanges(24, 3, true, false) == 2 * 3);
    CHECK(exchanges(24, 3, true, true) == 2 * 3 + 1);
}

TEST_CASE("shuffles and votes count once for each warp, and __syncwarp() does not", "[span]") {
    Buffer<int> out("out", 64);
    const int rounds = GENERATE(0, 3);
    CHECK(count([&] { kernels::exchanges(out.data(), rounds); }).exchanges ==
          2 * static_cast<unsigned>(rounds) + 1);
}

TEST_CASE("a read of what nobody has written is harmless where nothing comes of it", "[races]") {
    using enum kernels::Use;
    auto in = filled<int>("in", 32, -5);
    std::vector<int> before(32, 3);
    for (const auto use : {none, sum, choice, maximum}) {
        Buffer<int> out("out", std::span<const int>(before));
        CHECK(clean([&] { kernels::unwritten_used(use, in.data(), out.data()); }) == (use == none));
        const auto seen = observe({}, [&] { kernels::unwritten_used(use, in.data(), out.data()); });
        CHECK(seen.launches == 1);
        CHECK(seen.counts->launches == 1);
        CHECK(seen.counts->global_store.accesses == 32);
        std::uint64_t steps = 0;
        for (const auto& place : seen.places) steps += place.steps;
        CHECK(steps == seen.counts->work);
        CHECK(out.values()[31] == (use == sum ? -10 : -5));
        if (use == none) continue;
        CHECK(seen.findings ==
              Findings{"read of what nobody has written: thread (0,0,0) of block (0,0,0) reads shared memory "
                       "\"before\" in " +
                       line_of("unwritten used")});
    }
}

// Out of bounds

namespace {

std::string fault(const Work& work) {
    try {
        observe({}, work);
    } catch (const kata::Error& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("an access out of bounds is told with its distance from the buffer", "[bounds]") {
    auto in = filled<float>("in", 100), out = filled<float>("out", 100);
    const auto read = [&](long offset) {
        return fault([&] { kernels::read_at(in.data(), out.data(), offset); });
    };
    const auto write = [&](long offset) { return fault([&] { kernels::write_at(out.data(), offset); }); };
    const std::string in_read = ", in " + line_of("read at"), in_write = ", in " + line_of("write at");
    CHECK(read(0) == "");
    CHECK(read(68) == "");
    CHECK(read(69) ==
          "out of bounds: thread (31,0,0) of block (0,0,0) reads 4 bytes right past the end of \"in\" "
          "(400 bytes)" +
              in_read);
    CHECK(read(110) ==
          "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes beginning 40 bytes past the end of "
          "\"in\" (400 bytes)" +
              in_read);
    CHECK(
        read(-1) ==
        "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes beginning 4 bytes before the start of "
        "\"in\" (400 bytes)" +
            in_read);
    CHECK_THAT(read(1l << 40),
               StartsWith("out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes that are "
                          "not device memory"));
    CHECK(write(69) ==
          "out of bounds: thread (31,0,0) of block (0,0,0) writes 4 bytes right past the end of "
          "\"out\" (400 bytes)" +
              in_write);
    CHECK_THAT(write(-3), ContainsSubstring("writes 4 bytes beginning 12 bytes before the start of \"out\""));
    CHECK(out.damage() == std::nullopt);  // the write has not happened
    CHECK(write(68) == "");

    Buffer<float> empty("nothing", 0);
    CHECK_THAT(fault([&] { kernels::read_at(empty.data(), out.data(), 0); }),
               ContainsSubstring("reads 4 bytes right past the end of \"in\" (0 bytes)"));
}

TEST_CASE("an access out of bounds is one of the array that its instruction has reached before", "[bounds]") {
    auto one = filled<float>("one", 4), other = filled<float>("other", 4), out = filled<float>("out", 2);
    const auto [in, next] = std::minmax({one.data(), other.data()});
    const long distance = next - in;  // just before the next buffer counts as past the first
    CHECK_THAT(fault([&] { kernels::read_two(in, out.data(), 0, distance - 1); }),
               ContainsSubstring(" bytes past the end of \"in\" (16 bytes), in " + line_of("read two")));
    CHECK_THAT(fault([&] { kernels::read_two(in, out.data(), distance - 1, 0); }),
               ContainsSubstring("reads 4 bytes beginning 4 bytes before the start of \""));
}

TEST_CASE("a kernel reaches variables of the device, and none of the host", "[bounds]") {
    using enum kernels::Table;
    Buffer<float> out("out", 32);
    const auto reached = [&](kernels::Table table) {
        return fault([&] { kernels::read_table(table, out.data()); });
    };
    const std::string first = "host memory: thread (0,0,0) of block (0,0,0) ",
                      why =
                          ", a variable of the host, which no kernel can reach: declare it __constant__ or "
                          "__device__, or copy it to memory of the device, in ";
    CHECK(reached(host) == first + "reads 4 bytes of \"host_weights\"" + why + line_of("table"));
    CHECK(reached(host_constant) == first + "reads 4 bytes of \"host_constants\"" + why + line_of("table"));
    CHECK(reached(host_function) == first + "reads 4 bytes of \"within\"" + why + line_of("table"));
    CHECK(reached(host_written) ==
          first + "writes 4 bytes of \"host_weights\"" + why + line_of("write table"));
    CHECK(reached(host_heap) ==
          "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes of host memory, where \"weights\" "
          "points: on a GPU the kernel ends there, in " +
              line_of("table"));
    for (const auto table : {device, device_constant, constant, own}) CHECK(reached(table) == "");
}

TEST_CASE("the parameters of a kernel have the names that its source gives them", "[bounds]") {
    const std::string file = TESTS_DIR "/tools/meter_kernels.cu";
    const auto names = [&](const char* kernel) { return meter::parameters_of({}, file, kernel); };
    using Names = std::vector<std::string>;
    CHECK(names("copy_kernel<T>") == Names{"in", "out", "stride"});
    CHECK(names("kernels::read_two_kernel") == Names{"in", "out", "first", "second"});
    CHECK(names("read_two") == Names{});  // not a kernel
    CHECK(names("kernel") == Names{});    // the end of many names
    CHECK(meter::parameters_of({}, "no file", "copy_kernel") == Names{});
}

TEST_CASE("a launch that leaves memory as it was is told", "[launches]") {
    using enum kernels::Superfluous;
    auto in = filled<int>("in", 64, 3);
    const auto idle = [&](kernels::Superfluous how) {
        Buffer<int> out("out", 64);
        return observe({}, [&] { kernels::launch_twice(how, in.data(), out.data()); }).idle;
    };
    CHECK(idle(none) == Findings{});
    CHECK(idle(clears_again) == Findings{});
    CHECK(idle(once_more) == Findings{"the 2nd launch, doubled_kernel<<<…>>> in " + line_of("once more") +
                                      ", changes nothing: device memory holds the same as before it"});
    CHECK(idle(all_once_more) ==
          Findings{"the 4th launch, doubled_kernel<<<…>>> in " + line_of("all once more") +
                   ", leaves device memory as it was after the 2nd: what came in between had no effect"});
    CHECK(idle(only_reads).size() == 1);
}

TEST_CASE("a wrong result of threads that share a local array is explained", "[launches]") {
    auto in = filled<float>("in", 64), out = filled<float>("out", 64);
    const auto hints = [&](bool shared) {
        return observe({}, [&] { kernels::reversed_in_array(shared, in.data(), out.data()); }).hints;
    };
    CHECK(hints(true) == Findings{});
    CHECK(
        hints(false) ==
        Findings{"reversed_in_local_kernel declares no __shared__ memory that it uses, although its threads "
                 "wait for each other: \"values\" is a local array, of which each thread has its own; is "
                 "__shared__ missing in front of it?"});
}

TEST_CASE("a wrong result of an array that lacks __shared__ or values is explained", "[launches]") {
    auto in = filled<float>("in", 64), out = filled<float>("out", 64);
    const auto causes = [&](const std::function<void()>& work) { return observe({}, work).causes; };
    using enum kernels::Lacks;
    CHECK(causes([&] { kernels::reversed_in_both(nothing, in.data(), out.data()); }) == Findings{});
    CHECK(causes([&] { kernels::reversed_in_both(shared, in.data(), out.data()); }) ==
          Findings{"\"mine\" is a local array of reversed_in_one_shared_kernel, of which each thread has its "
                   "own, and its index is made of threadIdx: is __shared__ missing in front of it?"});
    CHECK(causes([&] { kernels::weighed(4, in.data(), out.data()); }) == Findings{});
    CHECK(causes([&] { kernels::weighed(3, in.data(), out.data()); }) ==
          Findings{"\"tail_weights\" is read in " + line_of("weighed") +
                   ", at element 3, where the host has put nothing since the step was called: is there a "
                   "cudaMemcpyToSymbol in front of the launch, and does it copy all bytes?"});
}

TEST_CASE("a read of what nobody has written says in which of several launches", "[launches]") {
    auto in = Buffer<int>("in", 128);
    auto out = filled<int>("out", 64);
    const auto told = found([&] {
        kernels::launch_twice(kernels::Superfluous::none, out.data(), out.data());
        kernels::launch_twice(kernels::Superfluous::none, in.data(), out.data());
    });
    REQUIRE(!told.empty());
    CHECK_THAT(told[0], StartsWith("read of what nobody has written") &&
                            ContainsSubstring("\n  in the 2nd launch, in ") &&
                            ContainsSubstring(": doubled_kernel<<<1, 64>>>"));
    const auto first =
        found([&] { kernels::launch_twice(kernels::Superfluous::none, in.data(), out.data()); });
    REQUIRE(!first.empty());
    CHECK(first[0].find("launch") == std::string::npos);
}

TEST_CASE("what a header of this repository does is done in the line that calls it", "[launches]") {
    auto sum = filled<int>("sum", 1);
    const auto seen = observe({}, [&] { kernels::combined(sum.data()); });
    std::vector<std::string> lines;
    for (const auto& place : seen.places)
        if (place.atomics > 0) lines.push_back(seen.line_of(place));
    CHECK(lines == Findings{line_of("combined")});
}

TEST_CASE("a copy that does not fit on either side is refused", "[bounds]") {
    using enum kernels::TooMuch;
    const auto [what, text] = GENERATE(table<kernels::TooMuch, std::string>({
        {source, "copy refused: 16 bytes at offset 4 are not all in \"data\" of 16 bytes"},
        {target, "copy refused: 16 bytes at offset 4 do not fit into \"data\" of 16 bytes"},
        {behind, "copy refused: 4 bytes at offset 16 are not all in \"data\" of 16 bytes"},
        {host_array, "copy refused: 17 bytes, and the host's array has room for 16"},
        {host_source, "copy refused: 17 bytes, and the host's array has room for 16"},
        {symbol, "copy refused: 16 bytes at offset 8 are not all in \"data\" of 16 bytes"},
        {host_memset, "cudaMemset refused: that is memory of the host; use std::memset or std::fill"},
    }));
    auto data = filled<int>("data", 4);
    CHECK(fault([&, what = what] { kernels::host_copies_too_much(what, data.data()); }) == text);
}

TEST_CASE("an access that reaches over the end is told, too", "[bounds]") {
    auto in = filled<float>("in", 6);
    Buffer<float4> out("out", 1);
    const auto* vectors = reinterpret_cast<const float4*>(in.data());
    CHECK(fault([&] { kernels::read_vector_at(vectors, out.data(), 0); }) == "");
    CHECK_THAT(fault([&] { kernels::read_vector_at(vectors, out.data(), 1); }),
               ContainsSubstring("reads 16 bytes of which the last 8 lie past the end of \"in\" (24 bytes)"));
}

TEST_CASE("shared and constant memory have bounds", "[bounds]") {
    Buffer<float> out("out", 32);
    CHECK(fault([&] { kernels::dynamic_at(out.data(), 0); }) == "");
    CHECK_THAT(
        fault([&] { kernels::dynamic_at(out.data(), 1); }),
        StartsWith("out of bounds: thread (31,0,0)") &&
            ContainsSubstring("reads 4 bytes right past the end of dynamic shared memory (128 bytes)"));
    CHECK_THAT(
        fault([&] { kernels::dynamic_at(out.data(), -1); }),
        StartsWith("out of bounds: thread (0,0,0)") &&
            ContainsSubstring("reads 4 bytes beginning 4 bytes before the start of dynamic shared memory"));
    CHECK(fault([&] { kernels::shared_at(out.data(), 0); }) == "");
    CHECK_THAT(fault([&] { kernels::shared_at(out.data(), 1 << 20); }),
               StartsWith("out of bounds: thread (") && ContainsSubstring(" bytes past the end of "));
    CHECK(fault(kernels::write_constant) ==
          "out of bounds: thread (0,0,0) of block (0,0,0) writes 4 bytes of constant "
          "memory, which a kernel cannot, in " +
              line_of("write constant"));
}

TEST_CASE("an index that an array does not have is told, of local and of neighbouring arrays, too",
          "[bounds]") {
    auto out = filled<float>("out", 32);
    // The array is named if its line indexes no other one.
    const auto at = [](const std::string& index, const std::string& type, const std::string& mark,
                       const std::string& name = "") {
        return EndsWith(" of block (0,0,0) uses index " + index + " of an array of type '" + type + "'" +
                        (name.empty() ? "" : ", \"" + name + '"') + ", in " + line_of(mark));
    };
    CHECK(fault([&] { kernels::local_at(out.data(), 7); }) == "");
    CHECK_THAT(fault([&] { kernels::local_at(out.data(), 8); }), at("8", "float [8]", "local at", "local"));
    CHECK_THAT(fault([&] { kernels::local_at(out.data(), -1); }), at("-1", "float [8]", "local at", "local"));
    CHECK(fault([&] { kernels::neighbour_at(out.data(), 31); }) == "");
    CHECK_THAT(fault([&] { kernels::neighbour_at(out.data(), 32); }), at("32", "float [32]", "neighbour at"));
    CHECK(fault([&] { kernels::rows_at(out.data(), 3, 7); }) == "");
    CHECK_THAT(fault([&] { kernels::rows_at(out.data(), 1, 8); }), at("8", "float [8]", "rows at", "rows"));
    CHECK_THAT(fault([&] { kernels::rows_at(out.data(), 4, 0); }),
               at("4", "float [4][8]", "rows at", "rows"));
    CHECK(fault([&] { kernels::flat_rows_at(out.data(), 31); }) == "");
    CHECK(found([&] { kernels::host_local_at(7); }) == Findings{});
    CHECK(found([&] { kernels::host_local_at(8); }) ==
          Findings{"out of bounds: the host code uses index 8 of an array of type 'int [8]', in " +
                   line_of("host local at")});
}

TEST_CASE("a local variable that nobody has set is wrong every time", "[races]") {
    auto floats = filled<float>("floats", 4, 1);
    auto ints = filled<int>("ints", 4, 1);
    auto doubles = filled<double>("doubles", 4, 1);
    observe({}, [&] { kernels::uninitialised(floats.data(), ints.data(), doubles.data(), 2); });
    const auto pattern = []<class T>(const std::vector<T>& values) {
        const auto bytes = std::as_bytes(std::span(values).subspan(2));
        CHECK(values[1] == 1);
        return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0xFE}; });
    };
    CHECK(pattern(floats.values()));
    CHECK(pattern(ints.values()));
    CHECK(pattern(doubles.values()));
}

TEST_CASE("what the C library copies is counted, bounded and checked for races", "[traffic]") {
    using kernels::Copy;
    constexpr int lanes = 8, bytes = sizeof(kernels::Large);
    std::vector<kernels::Large> values(lanes);
    for (int i = 0; i < lanes; ++i) values[i].values[11] = static_cast<float>(i);
    Buffer<kernels::Large> in("in", std::span<const kernels::Large>(values));
    for (const auto how : {Copy::library, Copy::moved, Copy::set, Copy::structure, Copy::small}) {
        Buffer<kernels::Large> out("out", lanes);
        const auto c = count([&] { kernels::copies(how, in.data(), out.data(), bytes, lanes); });
        const int each = how == Copy::small ? 16 : bytes;
        CHECK(c.global_store.bytes == static_cast<std::uint64_t>(lanes * each));
        CHECK(c.global_load.bytes == (how == Copy::set ? 0u : c.global_store.bytes));
        // byte by byte, each of 8 lanes accesses another sector
        if (how == Copy::library) CHECK(c.global_store == traffic(lanes * bytes, 1, bytes, bytes * lanes));
        if (how != Copy::small) CHECK(out.values()[3].values[11] == (how == Copy::set ? 0.0f : 3.0f));
    }
    Buffer<kernels::Large> out("out", lanes), unwritten("unwritten", lanes);
    CHECK(fault([&] { kernels::copies(Copy::library, in.data(), out.data(), bytes + 1, lanes); }) ==
          "out of bounds: thread (7,0,0) of block (0,0,0) reads 1 byte right past the end of \"in\" (384 "
          "bytes), in " +
              line_of("library copies"));
    CHECK(found([&] { kernels::copies(Copy::library, unwritten.data(), out.data(), bytes, lanes); }).size() ==
          1);
    auto chars = filled<char>("chars", 1024);
    CHECK(clean([&] { kernels::overlapping_copies(chars.data(), 1); }));
    CHECK(!clean([&] { kernels::overlapping_copies(chars.data(), 2); }));
}

// Random programs

namespace {

using kernels::Operation;
using kernels::Verb;

struct Access {
    int block, phase, warp, lane;
    int position;  // synchronizations of the warp in this phase before the access
    Verb verb;
    int begin, end;  // bytes
    bool shared;
};

struct Program {
    int blocks = 0, threads = 0, length = 0;
    std::vector<std::vector<Operation>> operations;  // of each thread
    std::vector<Access> accesses;
    std::map<std::tuple<int, int, int>, std::vector<unsigned>> masks;  // by block, phase and warp
};

bool is_atomic(Verb v) { return v >= Verb::update && v <= Verb::atomic_write_in_block; }

Program random_program(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Program p;
    p.blocks = below(3) == 0 ? 2 + below(2) : 1;
    p.threads = std::array{64, 64, 64, 72, 96, 128, 256}[below(7)];
    p.operations.resize(p.blocks * p.threads);
    // A few threads, mostly of one warp, and few places, so that they meet; or many threads of all warps that
    // mostly agree.
    const bool crowd = below(3) == 0;
    const int first_warp = below(p.threads / 32);
    std::vector<int> actors;
    for (int i = crowd ? 4 + below(12) : 2 + below(6); i-- > 0;)
        actors.push_back(crowd || below(4) == 0 ? below(p.threads)
                                                : std::min(first_warp * 32 + below(8), p.threads - 1));
    const int places = 1 + below(crowd ? 2 : 4), phases = 1 + below(3);
    const bool narrow = below(3) == 0, partial = below(2) == 0;
    // Blocks may clash by any access, or not at all if they only signal to each other.
    const auto verbs = p.blocks > 1 && below(2) == 0
                           ? std::vector{Verb::update,         Verb::update,      Verb::volatile_read,
                                         Verb::volatile_write, Verb::atomic_read, Verb::atomic_write}
                           : std::vector{Verb::read,
                                         Verb::read,
                                         Verb::update,
                                         Verb::write,
                                         Verb::volatile_read,
                                         Verb::volatile_write,
                                         Verb::atomic_read,
                                         Verb::atomic_write,
                                         Verb::update_in_block,
                                         Verb::atomic_read_in_block,
                                         Verb::atomic_write_in_block};
    const auto usual = verbs[below(3)];
    for (int phase = 0; phase < phases; ++phase) {
        for (int event = below(crowd ? 16 : 10); event-- > 0;) {
            const int block = below(p.blocks), actor = actors[below(static_cast<int>(actors.size()))];
            const int warp = actor / 32, lanes = std::min(32, p.threads - warp * 32);
            auto& masks = p.masks[{block, phase, warp}];
            if (below(3) == 0) {
                unsigned mask = ~0u >> (32 - lanes);
                if (partial) mask &= static_cast<unsigned>(random()) | 1u << actor % 32;
                for (int l = 0; l < lanes; ++l)
                    if (mask >> l & 1)
                        p.operations[block * p.threads + warp * 32 + l].push_back({Verb::warp, 0, 0, mask});
                masks.push_back(mask);
                continue;
            }
            const auto verb = crowd && below(12) != 0 ? usual : verbs[below(static_cast<int>(verbs.size()))];
            const int size = is_atomic(verb) || !narrow ? 4 : 1 << below(4);
            const int offset = below(places) * 4 + (size < 4 ? below(4 / size) * size : 0);
            const int begin = offset / size * size;
            const bool shared = below(2) == 0;
            p.operations[block * p.threads + actor].push_back(
                {verb, size, begin + (shared ? kernels::shared_place : 0), 0});
            p.accesses.push_back({block, phase, warp, actor % 32, static_cast<int>(masks.size()), verb, begin,
                                  begin + size, shared});
        }
        for (auto& thread : p.operations) thread.push_back({Verb::barrier, 0, 0, 0});
    }
    for (const auto& thread : p.operations) p.length = std::max(p.length, static_cast<int>(thread.size()));
    for (auto& thread : p.operations) thread.resize(p.length, {Verb::nothing, 0, 0, 0});
    return p;
}

/// True if `a` happens before `b` by the rules of CUDA alone: barriers, and chains of the warp's
/// synchronizations.
bool before(const Program& p, const Access& a, const Access& b) {
    if (a.block != b.block) return false;
    if (a.phase != b.phase) return a.phase < b.phase;
    if (a.warp != b.warp) return false;
    const auto& masks = p.masks.at({a.block, a.phase, a.warp});
    unsigned reached = 1u << a.lane;  // the lanes that know about a
    for (int i = a.position; i < b.position; ++i)
        if (masks[i] & reached) reached |= masks[i];
    return reached >> b.lane & 1;
}

bool conflicting(const Access& a, const Access& b) {
    const auto writes = [](Verb v) {
        return v == Verb::write || v == Verb::volatile_write || v == Verb::update ||
               v == Verb::atomic_write || v == Verb::update_in_block || v == Verb::atomic_write_in_block;
    };
    const auto signals = [](Verb v) {
        return v != Verb::read && v != Verb::write && v != Verb::update_in_block &&
               v != Verb::atomic_read_in_block && v != Verb::atomic_write_in_block;
    };
    if (a.shared != b.shared || a.begin >= b.end || b.begin >= a.end) return false;
    if (a.shared && a.block != b.block) return false;
    if (a.block == b.block && a.warp == b.warp && a.lane == b.lane) return false;
    if (!writes(a.verb) && !writes(b.verb)) return false;
    if (a.block == b.block) return !is_atomic(a.verb) || !is_atomic(b.verb);
    return !signals(a.verb) || !signals(b.verb);
}

bool races(const Program& p) {
    for (std::size_t i = 0; i < p.accesses.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) {
            const auto &a = p.accesses[i], &b = p.accesses[k];
            if (conflicting(a, b) && !before(p, a, b) && !before(p, b, a)) return true;
        }
    return false;
}

}  // namespace

TEST_CASE("no reader is forgotten, whoever else reads", "[races]") {
    auto global = filled<char>("global", kernels::place_bytes);
    Buffer<int> out("out", 64);
    using Script = std::vector<std::pair<int, Operation>>;  // thread, operation
    const auto runs_clean = [&](const Script& script) {
        std::vector<std::vector<Operation>> of_thread(64);
        for (const auto& [thread, operation] : script) of_thread[thread].push_back(operation);
        const int length = static_cast<int>(script.size());
        std::vector<Operation> flat;
        for (auto& operations : of_thread) {
            operations.resize(length, {Verb::nothing, 0, 0, 0});
            flat.insert(flat.end(), operations.begin(), operations.end());
        }
        Buffer<Operation> program("program", std::span<const Operation>(flat));
        return clean([&] { kernels::interpret(program.data(), length, global.data(), out.data(), 1, 64); });
    };
    const auto reads = [](int thread, int place = 0, int size = 4) {
        return std::pair(thread, Operation{Verb::read, size, place, 0});
    };
    const auto writes = [](int thread, int place = 0, int size = 4) {
        return std::pair(thread, Operation{Verb::write, size, place, 0});
    };
    const auto meet = [](const std::vector<int>& lanes, Script script, const Script& then) {
        unsigned mask = 0;
        for (const int lane : lanes) mask |= 1u << lane;
        for (const int lane : lanes) script.push_back({lane, {Verb::warp, 0, 0, mask}});
        script.insert(script.end(), then.begin(), then.end());
        return script;
    };
    CHECK(runs_clean(meet({0, 1, 2, 3}, {reads(1), reads(2), reads(3)}, {writes(0)})));
    CHECK(!runs_clean(meet({0, 2, 3}, {reads(1), reads(2), reads(3)}, {writes(0)})));
    CHECK(!runs_clean(meet({0, 1, 3}, {reads(1), reads(2), reads(3)}, {writes(0)})));
    CHECK(!runs_clean(meet({0, 1, 2}, {reads(1), reads(2), reads(3)}, {writes(0)})));
    CHECK(runs_clean({reads(0, 0, 1), reads(32, 0, 1), reads(33, 1, 1), writes(1, 3, 1)}));
    CHECK(!runs_clean({reads(0, 0, 1), reads(32, 0, 1), reads(33, 0, 4), writes(1, 3, 1)}));
    CHECK(!runs_clean({reads(40, 0, 4), reads(40, 0, 1), writes(1, 3, 1)}));
    CHECK(!runs_clean({reads(40, 0, 8), writes(1, 4, 2)}));
    CHECK(runs_clean({reads(40, 0, 8), writes(1, 8, 2)}));
}

TEST_CASE("in random programs a race is found if and only if there is one", "[races]") {
    constexpr unsigned programs = 2000;
    auto global = filled<char>("global", kernels::place_bytes);
    Buffer<int> out("out", 3 * 256);
    unsigned racy = 0, wrong = 0;
    for (unsigned seed = 0; seed < programs; ++seed) {
        const auto p = random_program(seed);
        std::vector<Operation> flat;
        for (const auto& thread : p.operations) flat.insert(flat.end(), thread.begin(), thread.end());
        Buffer<Operation> operations("operations", std::span<const Operation>(flat));
        const Conditions conditions{
            .order = std::array{Order::forwards, Order::backwards, Order::shuffled}[seed % 3], .seed = seed};
        auto findings = found(
            [&] {
                kernels::interpret(operations.data(), p.length, global.data(), out.data(), p.blocks,
                                   p.threads);
            },
            conditions);
        std::erase_if(findings, [](const auto& text) {
            return !text.starts_with("race");
        });  // it does not know about values
        const bool expected = races(p);
        racy += expected;
        if (findings.empty() != expected) continue;
        CAPTURE(seed, expected, findings);
        if (wrong++ < 5) CHECK(findings.empty() == !expected);
    }
    CHECK(wrong == 0);
    // an oracle that always gives the same answer would prove nothing
    CHECK(racy > programs / 4);
    CHECK(racy < programs * 3 / 4);
}

// If nothing is counted, addresses are not checked until an access faults.
TEST_CASE("an access out of bounds ends the launch with its line where nothing is counted, too", "[bounds]") {
    auto in = filled<float>("in", 100), out = filled<float>("out", 100);
    const auto fault = [&](const auto& work) -> std::string {
        try {
            observe({.metered = false}, work);
        } catch (const kata::Error& e) {
            return e.what();
        }
        return "";
    };
    CHECK_THAT(fault([&] { kernels::read_at(in.data(), out.data(), -(1l << 40)); }),
               Equals("out of bounds: thread (0,0,0) of block (0,0,0) reads memory that is no device memory, "
                      "in " +
                      line_of("read at")));
    CHECK_THAT(fault([&] { kernels::write_at(out.data(), -(1l << 40)); }),
               Equals("out of bounds: thread (0,0,0) of block (0,0,0) writes to memory that is no device "
                      "memory, in " +
                      line_of("write at")));
    CHECK(fault([&] { kernels::read_at(in.data(), out.data(), 0); }) == "");
}

// Its buffer is allocated last, because allocating and freeing 2 GiB moves later buffers far away.
TEST_CASE("where an offset has lost its upper bits is told, and why", "[bounds]") {
    constexpr long elements = (1l << 29) + 32;  // of 2^31 bytes and some
    Buffer<float> in("in", elements, kata::zeros), out("out", 32);
    const auto reads = [&](long offset) {
        return fault([&] { kernels::read_at(in.data(), out.data(), offset); });
    };
    constexpr long lost = 1l << 30;  // 2^32 bytes
    CHECK_THAT(reads(elements - 32 - lost),
               ContainsSubstring(" 2147483648 bytes before the start of \"in\" (2147483776 bytes), in " +
                                 line_of("read at") + "\n  the usual cause: an int that overflows"));
    CHECK_THAT(reads(-4), !ContainsSubstring("overflows"));
}
