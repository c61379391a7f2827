// Traffic: loads, stores, atomics and fragments of kernels counted by hand. The lanes of a fragment are laid
// out as by nvcc 13 for sm_90.
#include "suite.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

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

TEST_CASE("wide and narrow elements move as many bytes as they have, in one request", "[traffic]") {
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
    // a float3 is only aligned to a float, so it moves in three accesses, each of 32 floats in 12 sectors
    CHECK(copied(float3{}) == traffic(3 * n, 4, 3 * 2, 3 * 2 * 12));
}

TEST_CASE("a vector that is assigned is stored in one piece, however it is made", "[traffic]") {
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
    // wider than a store instruction, or less aligned: stored in pieces
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

TEST_CASE("a naive transpose scatters its stores; one through a tile does not, but needs padding",
          "[traffic]") {
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

TEST_CASE("bank conflicts are attributed to the place that has them", "[traffic]") {
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

TEST_CASE("a place knows how far apart the addresses of neighboring lanes are if they cost more",
          "[traffic]") {
    constexpr unsigned n = 32, requests = n * n / 32;
    auto in = filled<float>("in", n * n);
    Buffer<float> out("out", n * n);
    using Distance = std::tuple<std::uint64_t, std::int64_t, std::uint64_t>;
    const auto distances = [&](kernels::Transpose how, std::uint64_t kata::Place::*cost) {
        std::vector<Distance> found;
        for (const auto& place :
             observe({}, [&] { kernels::transpose(how, in.data(), out.data(), n); }).places)
            if (place.*cost > 0) found.push_back({place.bytes, place.distance, place.requests_with_distance});
        return found;
    };
    CHECK(distances(kernels::Transpose::naive, &kata::Place::lines) ==
          std::vector{Distance{4, 0, 0}, Distance{4, n * 4, requests}});
    CHECK(distances(kernels::Transpose::tiled, &kata::Place::passes) ==
          std::vector{Distance{4, 0, 0}, Distance{4, 32 * 4, requests}});
}

TEST_CASE("a place knows how often a thread accesses the same element again", "[traffic]") {
    constexpr int n = 10;
    auto in = filled<float>("in", n), out = filled<float>("out", 32);
    std::vector<std::uint64_t> stores, loads;
    for (const auto& place : observe({}, [&] { kernels::sum_in_memory(in.data(), out.data(), n); }).places)
        if (place.requests > 0) (place.stores > 0 ? stores : loads).push_back(place.again);
    std::sort(loads.begin(), loads.end());
    CHECK(stores == std::vector<std::uint64_t>{n - 1});
    CHECK(loads == std::vector<std::uint64_t>{0, n - 1});  // for loads of in, and of out
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

TEST_CASE("constant memory is counted separately", "[traffic]") {
    auto out = filled<float>("out", 64);
    const auto one = count([&] { kernels::constant_broadcast(out.data(), 64); });
    CHECK(one.constant_load == Traffic{64, 64 * 4, 2 * 4, 2, 2});
    const auto each = count([&] { kernels::constant_by_lane(out.data(), 64); });
    CHECK(each.constant_load == traffic(64, 4, 2, 2 * 4));
    for (const auto& c : {one, each}) CHECK(c.global_load == Traffic{});
}

TEST_CASE("an access to shared memory takes as many passes as its fullest bank has words", "[traffic]") {
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

TEST_CASE("wide loads that neighbours share take twice as many lanes at a time", "[traffic]") {
    // Passes by Nsight Compute on an H100 (CUDA 13.0) for elements of 4 (by hand), 8 and 16 bytes.
    struct Pattern {
        const char* name;
        std::function<int(int)> index;  // the lane's element; negative if the lane is idle
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

TEST_CASE("atomics on one address are serialized", "[traffic]") {
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

TEST_CASE("efficiency is 1 if nothing was moved", "[traffic]") {
    CHECK(Counts{}.load_efficiency() == 1.0);
    CHECK(Counts{}.store_efficiency() == 1.0);
    CHECK(Counts{}.active_lanes() == 0.0);
}

TEST_CASE("a factor in tf32 is loaded word by word, in eight or four pieces of memory at a time", "[wmma]") {
    const bool of_a = GENERATE(true, false), by_rows = GENERATE(true, false);
    CAPTURE(of_a, by_rows);
    auto in = filled<float>("in", 16 * 48), out = filled<float>("out", 32);
    const auto load = [&](int pitch, bool by_shared) {
        return count([&] { kernels::load_floats(of_a, by_rows, in.data(), pitch, by_shared, out.data()); });
    };
    const bool along_k = of_a == by_rows;  // 16 pieces of 8 floats; otherwise 8 of 16
    for (const int pitch : {16, 40})
        CHECK(load(pitch, false).global_load == traffic(4 * 32, 4, 4, 4 * (along_k ? 8 : 4)));
    // eight lines of four words need a pitch of 4 modulo 8, four lines of eight words one of 8 modulo 16
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

TEST_CASE("copies by the C library are counted, bounds-checked and checked for races", "[traffic]") {
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
        // copied byte by byte, and each of 8 lanes accesses another sector
        if (how == Copy::library) CHECK(c.global_store == traffic(lanes * bytes, 1, bytes, bytes * lanes));
        if (how != Copy::small) CHECK(out.values()[3].values[11] == (how == Copy::set ? 0.0f : 3.0f));
    }
    Buffer<kernels::Large> out("out", lanes), unwritten("unwritten", lanes);
    CHECK(fault([&] { kernels::copies(Copy::library, in.data(), out.data(), bytes + 1, lanes); }) ==
          "out of bounds: thread (7,0,0) of block (0,0,0) reads 1 byte right past the end of \"in\" (384 "
          "bytes), in " +
              line_of("library copies") +
              "\n  its index, counted from the start of \"in\", is 384, and there are 384 elements: is there "
              "a guard before this line that admits only indices below that number?");
    CHECK(found([&] { kernels::copies(Copy::library, unwritten.data(), out.data(), bytes, lanes); }).size() ==
          1);
    auto chars = filled<char>("chars", 1024);
    CHECK(clean([&] { kernels::overlapping_copies(chars.data(), 1); }));
    CHECK(!clean([&] { kernels::overlapping_copies(chars.data(), 2); }));
}
