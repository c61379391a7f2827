// The information that an observer gets about a launch.
#include "suite.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>

TEST_CASE("observed requests add up to the counts, in any order of threads and blocks", "[watching]") {
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

TEST_CASE("an observer learns which lane accesses which address, and in which line", "[watching]") {
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
    for (const auto& line : scene.lines_of(codes)) CHECK(line.starts_with("traffic.cu:"));
}

TEST_CASE("an observer learns how many barriers a block has passed", "[watching]") {
    const Watched watched;
    observe({}, [] { kernels::barriers(3, 2, 64); });
    unsigned most = 0;
    for (const auto& r : watched.requests) most = std::max(most, r.barriers);
    CHECK(most == 3);
    CHECK(watched.requests.front().barriers == 0);
}

TEST_CASE("if a single block is counted, only that block is observed", "[watching]") {
    auto in = filled<float>("in", 64 * 3), out = filled<float>("out", 64 * 3);
    const Watched watched;
    observe({.only_block = 1}, [&] { kernels::each_block(in.data(), out.data(), 3); });
    REQUIRE(!watched.requests.empty());
    CHECK(std::all_of(watched.requests.begin(), watched.requests.end(),
                      [](const kata::Request& r) { return r.block == 1; }));
}
