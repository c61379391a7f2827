// Built-in types and variables, and the order of threads and blocks.
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>
#include <vector>

TEST_CASE("vector types have the sizes and alignments of CUDA's", "[types]") {
    STATIC_REQUIRE((sizeof(char1) == 1 && alignof(char1) == 1));
    STATIC_REQUIRE((sizeof(uchar2) == 2 && alignof(uchar2) == 2));
    STATIC_REQUIRE((sizeof(char3) == 3 && alignof(char3) == 1));
    STATIC_REQUIRE((sizeof(uchar4) == 4 && alignof(uchar4) == 4));
    STATIC_REQUIRE((sizeof(short2) == 4 && alignof(short2) == 4));
    STATIC_REQUIRE((sizeof(ushort3) == 6 && alignof(ushort3) == 2));
    STATIC_REQUIRE((sizeof(short4) == 8 && alignof(short4) == 8));
    STATIC_REQUIRE((sizeof(int1) == 4 && alignof(int1) == 4));
    STATIC_REQUIRE((sizeof(int2) == 8 && alignof(int2) == 8));
    STATIC_REQUIRE((sizeof(uint3) == 12 && alignof(uint3) == 4));
    STATIC_REQUIRE((sizeof(uint4) == 16 && alignof(uint4) == 16));
    STATIC_REQUIRE((sizeof(float2) == 8 && alignof(float2) == 8));
    STATIC_REQUIRE((sizeof(float3) == 12 && alignof(float3) == 4));
    STATIC_REQUIRE((sizeof(float4) == 16 && alignof(float4) == 16));
    STATIC_REQUIRE((sizeof(double2) == 16 && alignof(double2) == 16));
    STATIC_REQUIRE((sizeof(double3) == 24 && alignof(double3) == 8));
    STATIC_REQUIRE((sizeof(double4) == 32 && alignof(double4) == 16));
    STATIC_REQUIRE((sizeof(longlong2) == 16 && alignof(ulonglong2) == 16));
    STATIC_REQUIRE((sizeof(longlong4) == 32 && alignof(ulonglong4) == 16));
    STATIC_REQUIRE((sizeof(dim3) == 12 && alignof(dim3) == 4));
}

TEST_CASE("a dim3 defaults to 1 and converts to and from uint3", "[types]") {
    constexpr dim3 none, two(7, 2);
    STATIC_REQUIRE((none.x == 1 && none.y == 1 && none.z == 1));
    STATIC_REQUIRE((two.x == 7 && two.y == 2 && two.z == 1));
    constexpr dim3 back = uint3{2, 3, 4};
    constexpr uint3 forth = back;
    STATIC_REQUIRE((forth.x == 2 && forth.y == 3 && forth.z == 4));
}

TEST_CASE("threads know their place in blocks and grids of one to three dimensions", "[indices]") {
    const auto [grid, block] = GENERATE(table<dim3, dim3>({{{1}, {1}},
                                                           {{3}, {33}},
                                                           {{2, 3}, {5, 7}},
                                                           {{2, 3, 2}, {3, 4, 5}},
                                                           {{1, 1, 2}, {1, 1, 64}},
                                                           {{1}, {1024}}}));
    const Order order = any_order();
    const std::size_t blocks = grid.x * grid.y * grid.z, threads = block.x * block.y * block.z;
    Buffer<unsigned> out("out", 12 * blocks * threads);
    observe({.order = order}, [&, grid = grid, block = block] { kernels::places(out.data(), grid, block); });
    std::vector<unsigned> expected;
    for (unsigned bz = 0; bz < grid.z; ++bz)
        for (unsigned by = 0; by < grid.y; ++by)
            for (unsigned bx = 0; bx < grid.x; ++bx)
                for (unsigned z = 0; z < block.z; ++z)
                    for (unsigned y = 0; y < block.y; ++y)
                        for (unsigned x = 0; x < block.x; ++x)
                            expected.insert(expected.end(), {x, y, z, bx, by, bz, block.x, block.y, block.z,
                                                             grid.x, grid.y, grid.z});
    CHECK(out.values() == expected);
}

TEST_CASE("built-in variables may be passed by reference", "[indices]") {
    Buffer<unsigned> out("out", 3 * 40);
    observe({}, [&] { kernels::places_by_reference(out.data(), 3, 40); });
    std::vector<unsigned> expected;
    for (unsigned i = 0; i < 3 * 40; ++i) expected.push_back(i / 40 * 32 + i % 40);
    CHECK(out.values() == expected);
}

namespace {

std::vector<unsigned> arrivals(const Conditions& conditions, unsigned blocks, unsigned threads) {
    auto ticket = zeros<unsigned>("ticket");
    Buffer<unsigned> out("out", blocks * threads);
    observe(conditions, [&] { kernels::order_of_arrival(ticket.data(), out.data(), blocks, threads); });
    return out.values();
}

}  // namespace

TEST_CASE("threads and blocks run in the order that the conditions specify", "[order]") {
    constexpr unsigned blocks = 5, threads = 70;
    const auto ascending = counted<unsigned>(static_cast<int>(blocks * threads));
    CHECK(arrivals({}, blocks, threads) == ascending);
    CHECK(arrivals({.order = Order::backwards}, blocks, threads) ==
          std::vector<unsigned>(ascending.rbegin(), ascending.rend()));
    const auto shuffled = arrivals({.order = Order::shuffled, .seed = 7}, blocks, threads);
    CHECK(shuffled != ascending);
    CHECK_THAT(shuffled, Catch::Matchers::UnorderedEquals(ascending));
    CHECK(arrivals({.order = Order::shuffled, .seed = 7}, blocks, threads) == shuffled);
    CHECK(arrivals({.order = Order::shuffled, .seed = 8}, blocks, threads) != shuffled);
}
