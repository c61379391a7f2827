// Tests the CPU back end: kernels compute what CUDA specifies, and errors that would hang, crash or give
// nonsense on a GPU are reported with file, line, block and thread.
#include "buffer.hpp"
#include "error.hpp"
#include "observe.hpp"
#include "simt/search.hpp"
#include "tools/simt_kernels.hpp"

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using kata::Buffer;
using kata::Conditions;
using kata::observe;
using kata::Order;
using kata::Search;

/// Returns value(0), value(1), …
template <class T, class Value>
std::vector<T> listed(int n, const Value& value) {
    std::vector<T> values;
    for (int i = 0; i < n; ++i) values.push_back(static_cast<T>(value(i)));
    return values;
}

template <class T>
std::vector<T> counted(int n, int first = 0) {
    return listed<T>(n, [=](int i) { return first + i; });
}

template <class T>
Buffer<T> upload(std::string_view name, const std::vector<T>& values) {
    return {name, std::span<const T>(values)};
}

template <class T>
Buffer<T> zeros(std::string_view name, std::size_t n = 1) {
    return upload(name, std::vector<T>(n));
}

Order any_order() { return GENERATE(Order::forwards, Order::backwards, Order::shuffled); }

/// Returns the error that ended the work; empty if there was none. The back end must still work afterwards.
std::string fault(const std::function<void()>& work, const Conditions& conditions = {.time_limit = 0.1}) {
    std::string message;
    try {
        observe(conditions, work);
    } catch (const kata::Error& e) {
        message = e.what();
    }
    auto in = upload("in", counted<int>(64)), out = zeros<int>("out", 64);
    observe({}, [&] { kernels::reverse_static(in.data(), out.data()); });
    auto expected = counted<int>(64);
    std::reverse(expected.begin(), expected.end());
    CHECK(out.values() == expected);
    return message;
}

/// Returns "simt_kernels.cu:12" if the file has the comment `mark: …` in line 12.
std::string line_of(const std::string& mark) {
    std::ifstream file(TESTS_DIR "/tools/simt_kernels.cu");
    std::string text;
    for (int line = 1; std::getline(file, text); ++line)
        if (text.ends_with("mark: " + mark)) return "simt_kernels.cu:" + std::to_string(line);
    throw std::logic_error("no line is marked " + mark);
}

/// As in simt/cuda.hpp: under AddressSanitizer shared memory is in plain statics, whose sizes are not in any
/// symbol.
void need_sizes_of_shared_memory() {
#if defined(__SANITIZE_ADDRESS__)
    SKIP("under AddressSanitizer nobody knows how much static shared memory a kernel has");
#endif
}

void need_meter() {
    if (!kata::counts_available()) SKIP("only instrumented kernels come back to the scheduler by themselves");
}

}  // namespace

// Types

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

TEST_CASE("a dim3 is 1 where nothing is said, and converts to and from uint3", "[types]") {
    constexpr dim3 none, two(7, 2);
    STATIC_REQUIRE((none.x == 1 && none.y == 1 && none.z == 1));
    STATIC_REQUIRE((two.x == 7 && two.y == 2 && two.z == 1));
    constexpr dim3 back = uint3{2, 3, 4};
    constexpr uint3 forth = back;
    STATIC_REQUIRE((forth.x == 2 && forth.y == 3 && forth.z == 4));
}

// The identity of a thread

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

TEST_CASE("built-in variables may be passed on by reference", "[indices]") {
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

TEST_CASE("threads and blocks run in the order that the conditions say", "[order]") {
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

// Launches

TEST_CASE("launches are counted", "[launch]") {
    CHECK(observe({}, [] { kernels::nothing({2, 3}, 32, 0); }).launches == 1);
    CHECK(observe({}, [] {}).launches == 0);
}

TEST_CASE("a launch that no device takes is refused", "[launch]") {
    const auto fault_of = [](dim3 grid, dim3 block, std::size_t bytes = 0) {
        return fault([=] { kernels::nothing(grid, block, bytes); }, {});
    };
    CHECK(fault_of(70'000, 1) == "");
    CHECK(fault_of(1, {32, 32}) == "");
    CHECK(fault_of(1, 1, 48 * 1024) == "");
    CHECK_THAT(fault_of(1, 1025),
               Equals("launch refused: grid (1, 1, 1), block (1025, 1, 1) = 1025 threads, 0 bytes of dynamic "
                      "shared memory: a block has room for 1024 threads"));
    CHECK_THAT(fault_of(1, {32, 33}), ContainsSubstring("block (32, 33, 1) = 1056 threads"));
    CHECK_THAT(fault_of(1, {1, 1, 65}), EndsWith(": a block may have (1024, 1024, 64) threads at most"));
    CHECK_THAT(fault_of(1, {65536, 65536}), EndsWith(": a block has room for 1024 threads"));
    CHECK_THAT(fault_of(1, {0, 4}), EndsWith(": a block needs at least one thread in x, y and z"));
    for (const dim3 grid : {dim3(1, 65536), dim3(1, 1, 65536), dim3(0x80000000)})
        CHECK_THAT(fault_of(grid, 1),
                   ContainsSubstring(": a grid may have (2147483647, 65535, 65535) blocks"));
    CHECK_THAT(fault_of(1, 1, 48 * 1024 + 1),
               ContainsSubstring(" 49153 bytes of dynamic shared memory: a block gets 49152 bytes"));
}

TEST_CASE("chevrons launch, and an empty grid is as wrong as on a GPU", "[launch]") {
    constexpr int n = 75;
    auto in = upload("in", counted<int>(n)), out = zeros<int>("out", n);
    const auto seen = observe({}, [&] { kernels::chevrons(in.data(), out.data(), n); });
    CHECK(seen.launches == 2);
    CHECK(out.values() == listed<int>(n, [](int i) { return 3 * i; }));
    CHECK_THAT(
        fault([] {
            kernels::nothing({0, 1, 1}, 32, 0);
        }),
        StartsWith("launch refused: grid (0, 1, 1), ") &&
            EndsWith(": the grid has no blocks: where there is nothing to do, launch nothing; and where "
                     "there is less than a block has room for, round up, as ceil_div(n, threads) does"));
    CHECK_THAT(fault([] { kernels::nothing(1, 2048, 0); }), StartsWith("launch refused: grid"));
}

TEST_CASE("a launch outside of an observation is refused", "[launch]") {
    CHECK_THROWS_WITH(kernels::nothing(1, 1, 0), "launch outside of observe()");
    CHECK_THROWS_WITH(observe({}, [] { observe({}, [] {}); }), "observe() inside of observe()");
    CHECK(fault([] { kernels::nothing(1, 1, 0); }) == "");
}

TEST_CASE("a kernel that launches a kernel is refused", "[launch]") {
    CHECK_THAT(fault([] { kernels::launch_in_kernel(); }), ContainsSubstring("a kernel launches a kernel"));
}

TEST_CASE("an open kata is told from a failure, in a kernel and on the host", "[launch]") {
    CHECK_THROWS_AS(observe({}, kernels::open_in_kernel), kata::OpenKata);
    CHECK_THROWS_AS(observe({}, kernels::open_on_host), kata::OpenKata);
    CHECK(fault([] { kernels::nothing(1, 1, 0); }) == "");
}

TEST_CASE("of a long launch the blocks are found that reach the ends of its buffers", "[launch]") {
    constexpr int threads = 64, n = (1 << 14) * threads + 1, enough = n / threads + 1;
    Buffer<int> in("in", n, kata::zeros), out("out", n, kata::zeros);
    const auto ends = [&](int blocks, kernels::Elements elements, Search search) {
        const auto seen = observe({.metered = false, .only_ends = true, .search = search}, [&] {
            kernels::add_one(in.data(), out.data(), n, blocks, threads, elements);
        });
        CHECK(seen.in_part);
        CHECK(out.element(n / 2) == 0);  // that block was not run, and the search left no trace
        REQUIRE(seen.hints.size() == (search != Search::none));
        if (search != Search::none)
            CHECK_THAT(seen.hints[0],
                       StartsWith("of the " + std::to_string(blocks) + " blocks of add_one_kernel<<<" +
                                  std::to_string(blocks) + ", 64>>> "));
        return std::pair(out.element(0), out.element(n - 1));
    };
    using enum kernels::Elements;
    SECTION("they are the first and the last ones") {
        CHECK(ends(enough, in_order, Search::none) == std::pair(1, 1));
        CHECK(ends(enough, in_order, Search::all_threads) == std::pair(1, 1));
    }
    SECTION("behind them are blocks that do nothing") {
        const int blocks = GENERATE(enough + 2, 2 * enough);
        CHECK(ends(blocks, in_order, Search::none) == std::pair(1, 0));
        CHECK(ends(blocks, in_order, Search::some_threads) == std::pair(1, 1));
    }
    SECTION("they have elements from everywhere") {
        CHECK(ends(enough, far_apart, Search::some_threads) == std::pair(1, 0));
        CHECK(ends(enough, far_apart, Search::all_threads) == std::pair(1, 1));
    }
    SECTION("in a launch of more threads than there is time for, they are near the ends of the grid") {
        constexpr int blocks = (1 << 30) / threads + 1;
        CHECK(ends(blocks, of_middle_threads, Search::some_threads) == std::pair(0, 0));
        CHECK(ends(blocks, of_last_threads, Search::none) == std::pair(0, 1));
        CHECK(ends(blocks, of_last_threads, Search::some_threads) == std::pair(1, 1));
    }
    SECTION("not those that reach them only after they have waited") {
        CHECK(ends(2 * enough, behind_a_barrier, Search::all_threads) == std::pair(1, 0));
    }
}

TEST_CASE("who looks for these blocks ends with the process that asked", "[launch]") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t asks = fork();
    if (asks == 0) {
        close(ends[0]);
        simt::search_blocks(1 << 20, [&](const simt::NextBlock&) {
            if (write(ends[1], "", 1) == 1)
                for (;;) pause();
        });
        _exit(0);
    }
    close(ends[1]);
    char begun = 0;
    REQUIRE(read(ends[0], &begun, 1) == 1);
    kill(asks, SIGKILL);
    waitpid(asks, nullptr, 0);
    // Any process still alive holds the pipe open.
    pollfd pipe_end{ends[0], POLLIN, 0};
    bool ended = false;
    while (!ended && poll(&pipe_end, 1, 5000) == 1) ended = read(ends[0], &begun, 1) == 0;
    CHECK(ended);
    close(ends[0]);
}

TEST_CASE("a launch of fewer threads is run whole", "[launch]") {
    constexpr int n = 1 << 22;
    Buffer<int> in("in", n, kata::zeros), out("out", n, kata::zeros);
    const auto seen = observe({.metered = false, .only_ends = true}, [&] {
        kernels::add_one(in.data(), out.data(), n, n / 256, 256, kernels::Elements::in_order);
    });
    CHECK(!seen.in_part);
    CHECK(out.element(n / 2) == 1);
}

TEST_CASE("a variable that counts blocks is put back where some of them are left out", "[launch]") {
    const auto [blocks, conditions] = GENERATE(table<int, kata::Conditions>({
        {9, {.metered = false, .only_ends = true, .even_of_few = true}},
        {(1 << 14) + 1, {.metered = false, .only_ends = true}},
    }));
    auto out = zeros<int>("out");
    const int launched = blocks;
    CHECK(observe(conditions, [&] { kernels::number_last_block(out.data(), launched); }).in_part);
    CHECK(out.element(0) == 0);
    observe({.metered = false}, [&] { kernels::number_last_block(out.data(), 3); });
    CHECK(out.element(0) == 3);
}

TEST_CASE("what the host keeps of its own is not put back with the variables of the device", "[launch]") {
    auto out = zeros<int>("out");
    int remembered = 0;
    for (const int expected : {1, 2, 3}) {
        observe({.metered = false, .only_ends = true, .even_of_few = true},
                [&] { remembered = kernels::launches_remembered(out.data(), 9); });
        CHECK(remembered == expected);
    }
}

TEST_CASE("a launch of few blocks is run at its ends, too, where that is asked for", "[launch]") {
    constexpr int threads = 64, blocks = 9, n = threads * blocks;
    Buffer<int> in("in", n, kata::zeros), out("out", n, kata::zeros);
    const auto seen = observe({.metered = false, .only_ends = true, .even_of_few = true}, [&] {
        kernels::add_one(in.data(), out.data(), n, blocks, threads, kernels::Elements::in_order);
    });
    CHECK(seen.in_part);
    for (int block = 0; block < blocks; ++block)
        CHECK(out.element(static_cast<std::size_t>(block * threads)) == (block < 2 || block >= blocks - 2));
}

// Memory

TEST_CASE("shared memory is the block's own, however it is declared", "[memory]") {
    const Order order = any_order();
    constexpr int n = 64;
    auto in = upload("in", counted<int>(n, 100)), out = zeros<int>("out", n);
    auto expected = counted<int>(n, 100);
    std::reverse(expected.begin(), expected.end());
    const auto reversed = [&](const auto& kernel) {
        const auto seen = observe({.order = order}, [&] { kernel(in.data(), out.data()); });
        CHECK(seen.findings == std::vector<std::string>{});
        return out.values();
    };
    const auto sized = [](const auto& kernel) { return [&](const int* a, int* b) { kernel(a, b, n); }; };
    CHECK(reversed(kernels::reverse_static) == expected);
    CHECK(reversed(kernels::reverse_static_volume) == expected);
    CHECK(reversed(kernels::reverse_in_namespace) == expected);
    CHECK(reversed(sized(kernels::reverse_dynamic)) == expected);
    CHECK(reversed(sized(kernels::reverse_dynamic_volatile)) == expected);
    CHECK(reversed(sized(kernels::reverse_dynamic_in_namespace)) == expected);
    CHECK(reversed(sized(kernels::reverse_dynamic_rows)) == expected);

    std::vector<double> halves(n), products(n);
    for (int i = 0; i < n; ++i) halves[i] = i + 0.5, products[n - 1 - i] = (i + 0.5) * (100 + i);
    auto weights = upload("weights", halves), doubles = zeros<double>("doubles", n);
    observe({.order = order}, [&] { kernels::reverse_dynamic_template(weights.data(), doubles.data(), n); });
    CHECK(doubles.values() == std::vector<double>(halves.rbegin(), halves.rend()));
    observe({.order = order},
            [&] { kernels::reverse_cut_by_hand(in.data(), weights.data(), doubles.data(), n); });
    CHECK(doubles.values() == products);
}

TEST_CASE("shared memory and structures are aligned as they ask for", "[memory]") {
    Buffer<unsigned> misfit("misfit", 1);
    observe({}, [&] { kernels::aligned_shared(misfit.data()); });
    CHECK(misfit.values()[0] == 0);
}

TEST_CASE("a block has more than 48 KiB of dynamic shared memory where it was asked for", "[memory]") {
    constexpr int unasked = 12 * 1024, most = 227 * 256;  // elements of 4 bytes
    const int n = GENERATE_COPY(unasked, unasked + 1, most);
    auto in = upload("in", counted<int>(n)), out = zeros<int>("out", static_cast<std::size_t>(n));
    CHECK(fault([&] { kernels::reverse_large(in.data(), out.data(), n, 4 * n); }, {}) == "");
    CHECK(out.values() == listed<int>(n, [=](int i) { return n - 1 - i; }));
    CHECK_THAT(
        fault([&] { kernels::reverse_large(in.data(), out.data(), n, 4 * most + 1); }),
        Equals("cudaFuncSetAttribute refused: 232449 bytes of dynamic shared memory; a block has room "
               "for 232448 bytes of shared memory, and 0 of them are this kernel's __shared__ variables"));
    const auto unasked_for = fault([&] { kernels::reverse_large(in.data(), out.data(), n, 0); }, {});
    if (n == unasked)
        CHECK(unasked_for == "");
    else
        CHECK_THAT(unasked_for,
                   ContainsSubstring("a block gets 49152 bytes of shared memory, and more only"));
}

TEST_CASE(
    "static shared memory counts, too, and a kernel that the arguments choose has what its module asked for",
    "[memory]") {
    need_sizes_of_shared_memory();
    constexpr int rest = 10 * 1024, large = 12 * 1024;
    const bool named = GENERATE(true, false);
    CAPTURE(named);
    Buffer<int> out("out", 256);
    const auto fault_of = [&](int n, int asked) {
        return fault([&] { kernels::beside_static(out.data(), n, asked, named); }, {});
    };
    CHECK(fault_of(rest, 0) == "");
    if (named)
        CHECK_THAT(fault_of(rest + 1, 0), ContainsSubstring("a block gets 49152 bytes of shared memory"));
    else if (kata::counts_available())
        CHECK_THAT(fault_of(rest + 1, 0),
                   StartsWith("shared memory over the limit: a block uses more than the 49152"));
    CHECK(fault_of(large, 4 * large) == "");
    CHECK(out.values() == listed<int>(256, [](int) { return large - 1; }));
    CHECK_THAT(fault_of(large, 220 * 1024),
               EndsWith("and 8192 of them are this kernel's __shared__ variables"));
}

TEST_CASE("constants are copied to their symbol, in whole and in part", "[memory]") {
    Buffer<float> out("out", 8);
    const auto eight = counted<float>(8, 1), two = std::vector<float>{-1, -2};
    observe({}, [&] { kernels::constants(eight.data(), 8, 0, out.data()); });
    CHECK(out.values() == std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16});
    observe({}, [&] { kernels::constants(two.data(), 2, 6, out.data()); });
    CHECK(out.values() == std::vector<float>{2, 4, 6, 8, 10, 12, -2, -4});
    std::vector<float> back(8);
    kernels::constants_read_back(back.data(), 8);
    CHECK(back == std::vector<float>{1, 2, 3, 4, 5, 6, -1, -2});
}

TEST_CASE("the address of a symbol is one of device memory", "[memory]") {
    const auto values = counted<float>(9, 1);
    std::vector<float> back(8, -1);
    CHECK(fault([&] { kernels::constants_by_address(values.data(), 3, back.data()); }) == "");
    CHECK(back == std::vector<float>{1, 2, 3, 0, 0, 0, 0, 0});
    CHECK_THAT(fault([&] { kernels::constants_by_address(values.data(), 9, back.data()); }),
               Equals("copy refused: 36 bytes at offset 0 do not fit into a symbol of 32 bytes"));
}

TEST_CASE("a copy that does not fit is refused", "[memory]") {
    Buffer<float> out("out", 8);
    auto nine = counted<float>(9);
    CHECK_THAT(fault([&] { kernels::constants(nine.data(), 9, 0, out.data()); }),
               Equals("copy refused: 36 bytes at offset 0 do not fit into a symbol of 32 bytes"));
    CHECK_THAT(fault([&] { kernels::constants(nine.data(), 2, 7, out.data()); }),
               Equals("copy refused: 8 bytes at offset 28 do not fit into a symbol of 32 bytes"));
    CHECK_THAT(fault([&] { kernels::constants_read_back(nine.data(), 9); }),
               StartsWith("copy refused: 36 bytes"));
    Buffer<float> others("others", std::span<const float>(nine));
    CHECK_THAT(fault([&] { kernels::copy_within(out.data() + 2, others.data(), 7 * sizeof(float)); }),
               Equals("copy refused: 28 bytes at offset 8 do not fit into \"out\" of 32 bytes"));
    CHECK_THAT(fault([&] { kernels::copy_within(others.data(), out.data(), 9 * sizeof(float)); }),
               Equals("copy refused: 36 bytes are more than \"out\" has, from which they are to come: 32"));
    CHECK(fault([&] { kernels::copy_within(out.data() + 2, others.data(), 6 * sizeof(float)); }) == "");
}

TEST_CASE("check() names the line and what CUDA says of the error", "[memory]") {
    CHECK(fault([] { kernels::check_errors(false); }) == "");
    CHECK(fault([] { kernels::check_errors(true); }) == line_of("check") + ": invalid argument");
}

TEST_CASE("a copy in another direction than it says is refused", "[memory]") {
    Buffer<float> out("out", 8);
    std::vector<float> host(8);
    CHECK(fault([&] { kernels::copy_within(out.data(), host.data(), 4); }) ==
          "copy refused: cudaMemcpy is told to copy from the device, and that is memory of the host");
    CHECK(fault([&] { kernels::copy_within(host.data(), out.data(), 4); }) ==
          "copy refused: cudaMemcpy is told to copy to the device, and that is memory of the host");
    CHECK(fault([&] { kernels::copy_to_host(out.data(), host.data(), 4); }) ==
          "copy refused: cudaMemcpy is told to copy to the host, and that is memory of the device");
    CHECK(fault([&] { kernels::copy_to_host(host.data(), out.data(), 4); }) == "");
    CHECK(fault([&] { kernels::copy_to_host(out.data(), host.data(), 0); }) == "");
}

TEST_CASE("a copy to a symbol as to an address says which function takes one", "[memory]") {
    const std::vector<float> host(8);
    const auto message = fault([&] { kernels::to_symbol_as_to_an_address(host.data()); });
    CHECK(message ==
          "copy refused: cudaMemcpy is given \"unasked\", which is no address in memory of the "
          "device: where it is declared __constant__ or __device__, use cudaMemcpyToSymbol");
}

TEST_CASE("of a launch that takes too long it is said whether blocks were meant for threads", "[launch]") {
    need_meter();
    constexpr int many = 1 << 20;
    const Conditions short_of_time{.time_limit = 0.05};
    const std::string blocks = "idle_blocks_kernel<<<1048576, 32>>> has 32 times as many threads as n = ";
    CHECK_THAT(fault([] { kernels::idle_blocks(many, 32, many); }, short_of_time),
               StartsWith("launch too long: it has come to block (") &&
                   ContainsSubstring(blocks + "1048576 says: in front of the comma of <<<"));
    CHECK_THAT(fault([] { kernels::idle_blocks(many, 32, 32 * many); }, short_of_time),
               StartsWith("launch too long: it has come to block (") && !ContainsSubstring(blocks));
}

TEST_CASE("a copy to or from a symbol in another direction than it says is refused", "[memory]") {
    Buffer<float> out("out", 8);
    std::vector<float> host(8);
    const std::string of_device =
        "host, and that is memory of the device: its fifth argument says so, and is cudaMemcpy";
    using kernels::Direction;
    const auto to_symbol = [](const float* from, Direction kind) {
        return fault([=] { kernels::to_symbol(from, kind); });
    };
    CHECK(to_symbol(host.data(), Direction::host_to_device) == "");
    CHECK(to_symbol(out.data(), Direction::device_to_device) == "");
    CHECK(to_symbol(host.data(), Direction::automatic) == "");
    CHECK(to_symbol(out.data(), Direction::automatic) == "");
    CHECK(to_symbol(out.data(), Direction::host_to_device) ==
          "copy refused: cudaMemcpyToSymbol is told to copy from the " + of_device +
              "HostToDevice where it is left out. CUDA leaves undefined what such a copy does");
    CHECK_THAT(to_symbol(host.data(), Direction::device_to_device),
               StartsWith("copy refused: cudaMemcpyToSymbol is told to copy from the device, and that is"));
    CHECK_THAT(to_symbol(host.data(), Direction::host_to_host),
               StartsWith("copy refused: cudaMemcpyToSymbol is told to copy to the host"));
    const auto from_symbol = [](float* to, Direction kind) {
        return fault([=] { kernels::from_symbol(to, kind); });
    };
    CHECK(from_symbol(host.data(), Direction::device_to_host) == "");
    CHECK(from_symbol(out.data(), Direction::device_to_device) == "");
    CHECK(from_symbol(out.data(), Direction::device_to_host) ==
          "copy refused: cudaMemcpyFromSymbol is told to copy to the " + of_device +
              "DeviceToHost where it is left out. CUDA leaves undefined what such a copy does");
    CHECK_THAT(from_symbol(host.data(), Direction::host_to_device),
               StartsWith("copy refused: cudaMemcpyFromSymbol is told to copy from the host"));
}

TEST_CASE("of launches it is known whether somebody has asked if they failed", "[launch]") {
    using enum kernels::Asks;
    const auto unchecked = [](kernels::Asks when) {
        return kata::observe({}, [=] { kernels::asks(when); }).unchecked;
    };
    CHECK(unchecked(behind_each) == 0);
    CHECK(unchecked(at_the_end) == 0);
    CHECK(unchecked(in_between) == 1);
    for (const auto when : {compared, kept, by_lambda}) CHECK(unchecked(when) == 0);
    for (const auto when : {never, dropped, dropped_in_branch}) CHECK(unchecked(when) == 2);
}

TEST_CASE("what goes wrong in one of several launches says in which", "[launch]") {
    CHECK(fault([] { kernels::asks(kernels::Asks::fails); }) ==
          "__trap() in " + line_of("second fails") +
              ": thread (0,0,0) of block (0,0,0) ends the launch\n  in the 2nd launch, in " +
              line_of("second launch") + ": may_trap_kernel<<<2, (8,4,1)>>>" +
              (kata::counts_available() ? " with number = 2" : ""));
}

TEST_CASE("what was not allocated cannot be freed, nor what is not one's own, nor twice", "[memory]") {
    Buffer<float> out("out", 8);
    CHECK(fault([] { kernels::free_twice(); }) ==
          "cudaFree refused: that is no pointer from cudaMalloc, or has been freed already");
    CHECK(fault([&] { kernels::free_it(out.data()); }) ==
          "cudaFree refused: \"out\" belongs to the caller of the step");
    CHECK(fault([] { kernels::free_it(nullptr); }) == "");
}

void launch_small_beside_large(int* out, bool too);  // tools/large_shared.cu

TEST_CASE("a module with more shared memory in a kernel than a block has is refused", "[launch]") {
    need_meter();
    Buffer<int> out("out", 32);
    CHECK(fault([&] { launch_small_beside_large(out.data(), false); }) ==
          "launch refused: large(int*) has 53248 bytes of shared memory; a block has 49152");
}

TEST_CASE("a launch of a template or an overloaded kernel is that of its arguments", "[launch]") {
    Buffer<int> ints("ints", 4);
    Buffer<double> doubles("doubles", 4);
    observe({}, [&] { kernels::chosen_by_arguments(ints.data(), doubles.data()); });
    CHECK(ints.values() == std::vector<int>{1, 2, 3, 4});
    CHECK(doubles.values() == std::vector<double>{0.5, 1.5, 2.5, 3.5});
}

TEST_CASE("variables and buffers of the device outlive a launch", "[memory]") {
    Buffer<int> out("out", 50);
    observe({}, [&] { kernels::count_on_the_device(out.data(), 100); });
    CHECK(out.values()[0] == 100);
    const auto seen = observe({}, [&] { kernels::two_kernels(out.data(), 50); });
    CHECK(seen.findings == std::vector<std::string>{});
    CHECK(out.values() == listed<int>(50, [](int i) { return i * i; }));
}

TEST_CASE("a buffer has the size, alignment, poison and canaries that it promises", "[memory]") {
    Buffer<unsigned char> a("a", 5, std::byte{0x11}), empty("empty", 0);
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 256 == 0);
    CHECK(a.values() == std::vector<unsigned char>(5, 0x11));
    CHECK(a.damage() == std::nullopt);
    CHECK(empty.values().empty());
    a.data()[7] = 1;
    CHECK(a.damage() == "out of bounds: something was written 2 bytes past the end of \"a\" of 5 bytes");
    a.data()[7] = 0xC5, a.data()[-3] = 1;
    CHECK(a.damage() == "out of bounds: something was written 3 bytes before \"a\" of 5 bytes");
}

TEST_CASE("a period fills a buffer, and takes memory once where it is of whole pages", "[memory]") {
    const std::size_t length = 4096 * GENERATE(1u, 3u) + GENERATE(0u, 1u), count = 500'000;
    std::vector<std::uint8_t> period(length), expected(count);
    for (std::size_t i = 0; i < length; ++i) period[i] = static_cast<std::uint8_t>(i * 37 >> 3);
    for (std::size_t i = 0; i < count; ++i) expected[i] = period[i % length];
    Buffer<std::uint8_t> all("all", count, kata::zeros), few("few", 100), none("none", 0);
    for (auto* buffer : {&all, &few, &none})
        kata::device::repeat(buffer->data(), buffer->size(), std::as_bytes(std::span(period)));
    CHECK(all.values() == expected);
    CHECK(few.values() == std::vector(expected.begin(), expected.begin() + 100));
    for (const auto* buffer : {&all, &few, &none}) CHECK(buffer->damage() == std::nullopt);
    // A write to one place does not show in any other.
    all.set(5 * length + 1, 200), expected[5 * length + 1] = 200;
    CHECK(all.values() == expected);
    const auto shared = all.data() + 100 * 4096;
    const auto* const elsewhere = shared + length;
    const auto before = *elsewhere;
    *shared = static_cast<std::uint8_t>(before + 1);
    CHECK(*elsewhere == before);
}

// Barriers

TEST_CASE("counting barriers give every thread the count, the conjunction and the disjunction", "[barrier]") {
    const Order order = any_order();
    const int threads = GENERATE(1, 31, 32, 100);
    const int ones = GENERATE(0, 1, 30, 100);
    std::vector<int> predicate(threads);
    for (int i = 0; i < std::min(ones, threads); ++i) predicate[i] = 4 + i;  // any number but 0 is true
    auto in = upload("predicate", predicate);
    Buffer<int> out("out", 3 * threads);
    observe({.order = order}, [&] { kernels::counting_barriers(in.data(), out.data(), threads); });
    const int count = std::min(ones, threads);
    CHECK(out.values() == listed<int>(3 * threads, [=](int i) {
              return i % 3 == 0 ? count : i % 3 == 1 ? count == threads : count > 0;
          }));
}

TEST_CASE("a barrier that not all threads come to is diagnosed", "[barrier]") {
    const Order order = any_order();
    const auto message = fault([] { kernels::divergent_barrier(64, 10); }, {.order = order});
    CHECK_THAT(message, StartsWith("divergent barrier: the threads of block (" +
                                   std::string(order == Order::forwards ? "0,0,0" : "")));
    CHECK_THAT(message, ContainsSubstring("54 threads, first (10,0,0), left the kernel"));
    CHECK_THAT(message, ContainsSubstring("10 threads, first (0,0,0), wait at __syncthreads in " +
                                          line_of("divergent barrier")));
    CHECK_THAT(message, ContainsSubstring("in place of a return before the barrier, put the work in an if") &&
                            ContainsSubstring("one that stands in an if itself belongs after that if") &&
                            ContainsSubstring("GPUs since Volta go on without threads that have left"));
    const std::string rounds = "the loop that it stands in must have as many rounds for each thread";
    CHECK(message.find(rounds) == std::string::npos);
    CHECK_THAT(fault([] { kernels::barrier_in_loop(100); }), ContainsSubstring(rounds));
    CHECK(fault([] { kernels::barrier_in_loop(128); }) == "");
    CHECK(fault([] { kernels::divergent_barrier(64, 64); }) == "");
    CHECK(fault([] { kernels::divergent_barrier(64, 0); }) == "");
}

TEST_CASE("two barriers are not one", "[barrier]") {
    const auto message = fault([] { kernels::two_barriers(40, 39); });
    CHECK_THAT(message, StartsWith("divergent barrier: the threads of block (0,0,0)"));
    CHECK_THAT(message, ContainsSubstring("39 threads, first (0,0,0), wait at __syncthreads in " +
                                          line_of("first of two barriers")));
    CHECK_THAT(message, ContainsSubstring("1 thread, first (39,0,0), wait at __syncthreads in " +
                                          line_of("second of two barriers")));
    CHECK(fault([] { kernels::two_barriers(40, 40); }) == "");
}

TEST_CASE("two barriers in one line or in one helper are not one", "[barrier]") {
    need_meter();
    const auto text = [](const std::string& one, const std::string& other) {
        return "divergent barrier: the threads of block (0,0,0) do not all come to the same __syncthreads\n"
               "  20 threads, first (0,0,0), wait at __syncthreads in " +
               one + "\n  44 threads, first (20,0,0), wait at __syncthreads in " + other +
               "\n  all threads of a block must come to the same barrier: put the work in the if, and one "
               "barrier after it";
    };
    const auto line = line_of("two in a line"), helper = line_of("helper's barrier");
    CHECK(fault([] { kernels::two_barriers_in_a_line(64, 20); }) == text(line, line + ", at another call"));
    CHECK(fault([] { kernels::two_barriers_in_a_line(64, 64); }) == "");
    CHECK(fault([] { kernels::barriers_in_a_helper(64, 20); }) ==
          text(helper + ", called in " + line_of("first call of the helper"),
               helper + ", called in " + line_of("second call of the helper")));
    for (const int n : {0, 64}) CHECK(fault([n] { kernels::barriers_in_a_helper(64, n); }) == "");
}

TEST_CASE("local arrays that the registers of a thread cannot hold are told, once", "[launch]") {
    using enum kernels::Apart;
    Buffer<float> out("out", std::vector<float>(2048));
    const auto told = [&](kernels::Apart how) {
        return observe({}, [&] { kernels::summed_apart(how, out.data()); }).spilled;
    };
    for (const auto how : {sums_of_248, in_960_threads, promised_15}) CHECK(told(how).empty());
    for (const auto how : {sums_of_256, doubles, in_1024_threads, promised_16})
        REQUIRE(told(how).size() == 1);
    CHECK_THAT(
        told(sums_of_256)[0],
        StartsWith("the local array \"sums\" in simt_kernels.cu:") &&
            EndsWith(" does not fit into the registers of a thread: it has 256 words of 4 bytes, and a "
                     "thread has 255 registers at most"));
    CHECK_THAT(told(doubles)[0], ContainsSubstring("it has 256 words"));
    CHECK_THAT(
        told(in_1024_threads)[0],
        EndsWith("it has 64 words of 4 bytes, and a thread has 64 registers at most, where a block has "
                 "1024 threads"));
    CHECK_THAT(told(promised_16)[0],
               EndsWith("a thread has 64 registers at most, where 16 blocks are promised, of 64 threads"));
}

TEST_CASE("a block has no more threads than __launch_bounds__ say", "[launch]") {
    auto out = zeros<int>("out", 64);
    CHECK(fault([&] { kernels::bounded(out.data(), 64); }) == "");
    CHECK(fault([&] { kernels::bounded(out.data(), 66); }) ==
          "launch refused: grid (1, 1, 1), block (33, 2, 1) = 66 threads, 0 bytes of dynamic shared memory: "
          "__launch_bounds__ promise the kernel no more than 64 threads in a block");
}

TEST_CASE("a barrier is no partner for a warp's synchronisation", "[barrier]") {
    const auto message = fault([] { kernels::barrier_against_shuffle(64); });
    CHECK_THAT(message,
               StartsWith("deadlock: the threads of block (0,0,0) do not all come to the same place"));
    CHECK_THAT(message, ContainsSubstring("32 threads, first (0,0,0), wait at __syncthreads in " +
                                          line_of("barrier against shuffle")));
    CHECK_THAT(message, ContainsSubstring("32 threads, first (16,0,0), wait at __syncwarp in " +
                                          line_of("shuffle against barrier")));
    CHECK_THAT(message,
               ContainsSubstring("the mask 0xffffffff of __syncwarp names 16 lanes that did not come: "
                                 "0, 1, 2, 3, 4, 5, 6, 7, …"));
}

// Warps

namespace {

/// Returns the lane whose value `lane` receives, by PTX's definition of shfl.sync.
int source_of(kernels::Shuffle kind, int lane, int argument, int width) {
    const int first = lane / width * width, last = first + width - 1;
    int source = lane;
    switch (kind) {
        case kernels::Shuffle::index:
            source = first + (argument % width + width) % width;
            break;
        case kernels::Shuffle::up:
            source = lane - argument >= first ? lane - argument : lane;
            break;
        case kernels::Shuffle::down:
            source = lane + argument <= last ? lane + argument : lane;
            break;
        case kernels::Shuffle::exclusive_or:
            source = (lane ^ argument) <= last ? lane ^ argument : lane;
            break;
    }
    return source;
}

}  // namespace

TEST_CASE("shuffles give the value of the lane that CUDA says", "[warp]") {
    using enum kernels::Shuffle;
    const auto kind = GENERATE(index, up, down, exclusive_or);
    const int width = GENERATE(1, 2, 4, 8, 16, 32);
    const int argument = GENERATE(0, 1, 3, 8, 31);
    constexpr int threads = 64;
    const auto order = argument % 2 ? Order::backwards : Order::shuffled;
    auto in = upload("in", counted<int>(threads, 1000));
    Buffer<int> out("out", threads);
    observe({.order = order},
            [&] { kernels::shuffle(kind, 0xffffffff, argument, width, in.data(), out.data(), threads); });
    CHECK(out.values() == listed<int>(threads, [=](int i) {
              return 1000 + i / 32 * 32 + source_of(kind, i % 32, argument, width);
          }));
}

TEST_CASE("shuffles work among the lanes of a mask and in a warp that is not full", "[warp]") {
    const auto [mask, threads] = GENERATE(
        table<unsigned, int>({{0x0000ffffu, 32}, {0xffff0000u, 32}, {0x55555555u, 32}, {0xffffffffu, 20}}));
    auto in = upload("in", counted<int>(threads, 1000));
    auto out = zeros<int>("out", threads);
    observe({}, [&, mask = mask, threads = threads] {
        kernels::shuffle(kernels::Shuffle::exclusive_or, mask, 2, 32, in.data(), out.data(), threads);
    });
    CHECK(out.values() == listed<int>(threads, [mask = mask, threads = threads](int i) {
              const int partner = (i ^ 2) < threads ? i ^ 2 : i;
              return mask >> i & 1 ? 1000 + partner : 0;
          }));
}

TEST_CASE("shuffles carry values of up to eight bytes", "[warp]") {
    Buffer<double> doubles("doubles", 32);
    Buffer<long long> longs("longs", 32);
    Buffer<unsigned> halves("halves", 32);
    observe({}, [&] { kernels::shuffle_types(doubles.data(), longs.data(), halves.data()); });
    CHECK(doubles.values() == listed<double>(32, [](int i) { return 0.5 + (i ^ 1); }));
    CHECK(longs.values() == listed<long long>(32, [](int i) { return (1ll << 40) + 31 - i; }));
    CHECK(halves.values() == listed<unsigned>(32, [](int i) { return std::min(i + 1, 31); }));
}

TEST_CASE("votes count the lanes of the mask and no others", "[warp]") {
    const auto [mask, threads] = GENERATE(
        table<unsigned, int>({{0xffffffffu, 64}, {0x0ff00001u, 64}, {0xffffffffu, 40}, {0x000000ffu, 8}}));
    const unsigned yes = GENERATE(0u, 0xffffffffu, 0x00010001u, 0x0ff00001u);
    std::vector<int> predicate(threads);
    for (int i = 0; i < threads; ++i) predicate[i] = (yes >> i % 32 & 1) * (i + 5);
    auto in = upload("predicate", predicate);
    auto out = zeros<unsigned>("out", 3 * threads);
    observe({},
            [&, mask = mask, threads = threads] { kernels::votes(mask, in.data(), out.data(), threads); });
    std::vector<unsigned> expected(3 * threads);
    for (int i = 0; i < threads; ++i) {
        if (!(mask >> i % 32 & 1)) continue;
        const int lanes = std::min(32, threads - i / 32 * 32);
        const unsigned present = mask & (lanes == 32 ? ~0u : (1u << lanes) - 1);
        expected[3 * i] = yes & present;
        expected[3 * i + 1] = (yes & present) != 0;
        expected[3 * i + 2] = (yes & present) == present;
    }
    CHECK(out.values() == expected);
}

TEST_CASE("matches find the lanes with the same value, in a warp that is not full, too", "[warp]") {
    const int threads = GENERATE(32, 20), kinds = GENERATE(1, 3, 32);
    std::vector<int> values(threads);
    for (int i = 0; i < threads; ++i) values[i] = i % kinds - 1;
    auto in = upload("values", values);
    Buffer<unsigned> out("out", 3 * threads);
    observe({}, [&] { kernels::matches(0xffffffff, in.data(), out.data(), threads); });
    std::vector<unsigned> expected;
    for (int i = 0; i < threads; ++i) {
        unsigned same = 0;
        for (int k = 0; k < threads; ++k) same |= (values[k] == values[i] ? 1u : 0u) << k;
        expected.insert(expected.end(), {same, kinds == 1 ? 0xffffffff : 0, kinds == 1 ? 1u : 0u});
    }
    CHECK(out.values() == expected);
}

TEST_CASE("a warp sums up over the lanes of the mask that the block has", "[warp]") {
    const auto [mask, threads] =
        GENERATE(table<unsigned, int>({{0xffffffffu, 32}, {0x80000001u, 32}, {0xffffffffu, 5}}));
    auto in = upload("values", counted<int>(threads, -3));
    auto out = zeros<int>("out", threads);
    observe({}, [&, mask = mask, threads = threads] { kernels::sums(mask, in.data(), out.data(), threads); });
    int sum = 0;
    for (int i = 0; i < threads; ++i) sum += mask >> i & 1 ? i - 3 : 0;
    CHECK(out.values() == listed<int>(threads, [&, mask = mask](int i) { return mask >> i & 1 ? sum : 0; }));
}

TEST_CASE("__syncwarp orders the lanes of its mask, at two places at a time", "[warp]") {
    const Order order = any_order();
    auto in = upload("in", counted<int>(32));
    Buffer<int> out("out", 32);
    const auto seen = observe({.order = order}, [&] { kernels::swap_in_halves(in.data(), out.data()); });
    CHECK(out.values() == listed<int>(32, [](int i) { return i < 16 ? i ^ 1 : i ^ 3; }));
    CHECK(seen.findings == std::vector<std::string>{});
}

TEST_CASE("__activemask names the lanes that are at the same place", "[warp]") {
    const Order order = any_order();
    Buffer<unsigned> out("out", 40);
    std::vector<int> rounds(40);
    for (int i = 0; i < 40; ++i) rounds[i] = i % 7 * 50;
    auto in = upload("rounds", rounds);
    observe({.order = order}, [&] { kernels::active_lanes(in.data(), out.data(), 40); });
    // after a loop, too, CUDA does not promise that all lanes are together, and in mixed order they are not
    const auto together = listed<unsigned>(40, [](int i) { return i < 32 ? 0xffffffff : 0xff; });
    const auto behind_loop = out.values();
    for (int i = 0; i < 40; ++i) {
        CHECK((behind_loop[i] & ~together[i]) == 0);
        CHECK((behind_loop[i] >> i % 32 & 1) == 1);
    }
    CHECK((behind_loop == together) == (order != Order::shuffled));
    auto halves = zeros<unsigned>("halves", 32);
    observe({.order = order}, [&] { kernels::active_halves(halves.data()); });
    const auto masks = halves.values();
    bool whole = true;
    for (int i = 0; i < 32; ++i) {
        const unsigned branch = i % 2 == 0 ? 0x55555555 : i < 24 ? 0x00aaaaaa : 0;
        CHECK((masks[i] & ~branch) == 0);
        CHECK((branch == 0 || (masks[i] >> i & 1) == 1));
        whole = whole && masks[i] == branch;
    }
    // CUDA does not promise that the lanes of a branch are together, and in mixed order they are not
    CHECK(whole == (order != Order::shuffled));
}

TEST_CASE("nobody promises that the lanes are together that others have left behind", "[warp]") {
    const Order order = any_order();
    auto out = zeros<unsigned>("out", 16);
    observe({.order = order}, [&] { kernels::active_rest(out.data()); });
    const auto masks = out.values();
    bool whole = true;
    for (int i = 0; i < 16; ++i) {
        CHECK((masks[i] & ~0xffffu) == 0);
        CHECK((masks[i] >> i & 1) == 1);
        whole = whole && masks[i] == 0xffff;
    }
    CHECK(whole == (order != Order::shuffled));
}

TEST_CASE("a mask that names lanes which do not come is diagnosed", "[warp]") {
    Buffer<int> out("out", 32);
    const auto message = fault([&] { kernels::absent_lanes(out.data()); });
    CHECK_THAT(message, StartsWith("deadlock: the threads of block (0,0,0)"));
    CHECK_THAT(message, ContainsSubstring("16 threads, first (0,0,0), wait at __shfl_down_sync in " +
                                          line_of("absent lanes")));
    CHECK_THAT(message,
               ContainsSubstring("the mask 0xffffffff of __shfl_down_sync names 16 lanes that did not "
                                 "come: 16, 17, 18, 19, 20, 21, 22, 23, …"));
}

TEST_CASE("lanes that have left the kernel are not waited for, even where the mask names them", "[warp]") {
    const Order order = any_order();
    const int n = GENERATE(1, 5, 31, 32);
    auto in = upload("in", counted<int>(32, 1)), out = zeros<int>("out", 64);
    CHECK(fault([&] { kernels::early_return(in.data(), out.data(), n); }, {.order = order}) == "");
    CHECK(out.values()[0] == n * (n + 1) / 2);
    for (int l = 0; l < 32; ++l) CHECK(out.values()[32 + l] == (l < n ? n : 0));
}

TEST_CASE("what a shuffle brings from a lane that takes no part is seen in any result", "[warp]") {
    const auto [n, mask] = GENERATE(table<int, unsigned>({{5, 0xffffffffu}, {5, 0x1fu}}));
    auto ints = zeros<int>("ints", 32);
    auto floats = zeros<float>("floats", 32);
    auto doubles = zeros<double>("doubles", 32);
    observe({}, [&, n = n, mask = mask] {
        kernels::from_absent_lane(ints.data(), n, mask);
        kernels::from_absent_lane(floats.data(), n, mask);
        kernels::from_absent_lane(doubles.data(), n, mask);
    });
    CHECK(ints.values()[n - 2] == 1);
    CHECK(floats.values()[n - 2] == 1);
    CHECK(doubles.values()[n - 2] == 1);
    CHECK(ints.values()[n - 1] < -1000);
    CHECK(std::isnan(floats.values()[n - 1]));
    CHECK(std::isnan(doubles.values()[n - 1]));
}

TEST_CASE("a mask without the caller's own lane is diagnosed", "[warp]") {
    Buffer<int> out("out", 32);
    CHECK_THAT(
        fault([&] { kernels::foreign_mask(out.data()); }),
        Equals(
            "__ballot_sync in " + line_of("foreign mask") +
            ": thread (16,0,0) of block (0,0,0) calls it with the mask 0x0000ffff, which does not name its "
            "own lane 16\n  bit i of the mask stands for lane i: it names all lanes that make the call, "
            "0xffffffff the whole warp"));
}

TEST_CASE("lanes that do not agree on the mask are diagnosed", "[warp]") {
    need_meter();
    Buffer<int> out("out", 32);
    const auto message = fault([&] { kernels::unlike_masks(out.data()); });
    CHECK_THAT(message, StartsWith("deadlock: "));
    CHECK_THAT(message, ContainsSubstring(line_of("unlike masks")));
    CHECK_THAT(message,
               ContainsSubstring("the mask 0xffffffff of __any_sync names 16 lanes that did not come: 16"));
}

// Atomics

TEMPLATE_TEST_CASE("atomic sums lose nothing and give every intermediate value once", "[atomics]", int,
                   unsigned, unsigned long long, float, double) {
    constexpr int threads = 300;
    auto sum = upload<TestType>("sum", {TestType{5}});
    Buffer<TestType> before("before", threads);
    const Order order = any_order();
    observe({.order = order}, [&] { kernels::add_up(sum.data(), before.data(), TestType{3}, threads); });
    CHECK(sum.values()[0] == 5 + 3 * threads);
    auto seen = before.values();
    std::sort(seen.begin(), seen.end());
    CHECK(seen == listed<TestType>(threads, [](int i) { return 5 + 3 * i; }));
}

TEST_CASE("64-bit atomics carry beyond 32 bits", "[atomics]") {
    auto sum = upload<unsigned long long>("sum", {0xffffffff});
    Buffer<unsigned long long> before("before", 4);
    observe({}, [&] { kernels::add_up(sum.data(), before.data(), 1ull << 40, 4); });
    CHECK(sum.values()[0] == 0xffffffff + (4ull << 40));
}

TEST_CASE("every other atomic does what its name says and returns the old value", "[atomics]") {
    const Order order = any_order();
    constexpr int threads = 64;
    Buffer<int> before("before", threads);

    auto word = upload<int>("word", {-1});
    observe({.order = order}, [&] { kernels::exchange_all(word.data(), before.data(), threads); });
    auto chain = before.values();
    chain.push_back(word.values()[0]);
    CHECK_THAT(chain, Catch::Matchers::UnorderedEquals(counted<int>(threads + 1, -1)));

    auto least = upload<int>("least", {100}), most = upload<int>("most", {-100});
    auto long_least = upload<long long>("long_least", {0});
    auto long_most = upload<unsigned long long>("long_most", {1});
    observe({.order = order}, [&] {
        kernels::extremes(least.data(), most.data(), long_least.data(), long_most.data(), threads);
    });
    CHECK(least.values()[0] == -20);
    CHECK(most.values()[0] == 43);
    CHECK(long_least.values()[0] == -20'000'000'000'000);
    CHECK(long_most.values()[0] == 64ull << 40);

    auto all = upload<unsigned>("all", {0xffffffff}), any = zeros<unsigned>("any"),
         odd = zeros<unsigned>("odd");
    observe({.order = order}, [&] { kernels::bits(all.data(), any.data(), odd.data(), 20); });
    CHECK(all.values()[0] == 0xfff00000);
    CHECK(any.values()[0] == 0x000fffff);
    CHECK(odd.values()[0] == 0x000fffff);
    observe({.order = order}, [&] { kernels::bits(all.data(), any.data(), odd.data(), 20); });
    CHECK(odd.values()[0] == 0);

    auto balance = upload<int>("balance", {10});
    observe({.order = order}, [&] { kernels::subtract(balance.data(), before.data(), threads); });
    CHECK(balance.values()[0] == 10 - 2 * threads);
    auto balances = before.values();
    std::sort(balances.begin(), balances.end());
    CHECK(balances == listed<int>(threads, [](int i) { return 10 - 2 * (threads - 1 - i); }));

    auto scoped = zeros<int>("scoped");
    observe({.order = order}, [&] { kernels::scopes(scoped.data(), threads); });
    CHECK(scoped.values()[0] == 2 * threads);
}

TEST_CASE("atomicInc and atomicDec wrap at their limit", "[atomics]") {
    const auto wrapped = [](unsigned up, unsigned down, unsigned limit, int threads) {
        auto u = upload<unsigned>("up", {up}), d = upload<unsigned>("down", {down});
        observe({}, [&] { kernels::wrap(u.data(), d.data(), limit, threads); });
        return std::pair(u.values()[0], d.values()[0]);
    };
    CHECK(wrapped(0, 0, 6, 1) == std::pair(1u, 6u));
    CHECK(wrapped(0, 3, 6, 20) == std::pair(20u % 7, (3u + 7 * 20 - 20) % 7));
    CHECK(wrapped(9, 9, 6, 1) == std::pair(0u, 6u));  // above the limit
    CHECK(wrapped(5, 5, 0, 1) == std::pair(0u, 0u));
}

TEST_CASE("compare-and-swap builds atomics that CUDA does not have", "[atomics]") {
    const Order order = any_order();
    std::vector<float> values(100);
    for (int i = 0; i < 100; ++i) values[i] = static_cast<float>((i * 37) % 100) / 8;
    auto in = upload("values", values);
    auto most = upload<float>("most", {0.0f});
    observe({.order = order}, [&] { kernels::compare_and_swap(most.data(), in.data(), 100); });
    CHECK(most.values()[0] == 99.0f / 8);
    auto word = zeros<unsigned short>("word");
    observe({.order = order}, [&] { kernels::compare_and_swap_short(word.data(), 50); });
    CHECK(word.values()[0] == 51);
}

TEST_CASE("atomics for the operators of reductions, whether CUDA has one or not", "[atomics]") {
    using enum kata::Arithmetic;
    const Order order = any_order();
    constexpr int threads = 100;
    const auto combined = [&]<class T>(kata::Operation operation, T start) {
        auto in = upload("in", listed<T>(threads, [=](int i) { return (i * 37) % threads - 200; }));
        auto out = upload<T>("out", {start});
        const auto seen = observe({.order = order},
                                  [&] { kernels::combine_all(operation, in.data(), out.data(), threads); });
        CHECK(seen.findings == std::vector<std::string>{});
        return out.values()[0];
    };
    constexpr int sum = threads * (threads - 1) / 2 - 200 * threads;
    CHECK(combined({sum_of_int}, 7) == sum + 7);
    CHECK(combined({sum_of_float}, 7.0f) == sum + 7);
    CHECK(combined({sum_of_double}, 7.0) == sum + 7);
    CHECK(combined({max_of_int}, -1000) == threads - 201);
    CHECK(combined({max_of_float}, -1000.0f) == threads - 201);
    CHECK(combined({max_of_double}, -1000.0) == threads - 201);
    CHECK(combined({max_of_int}, 5) == 5);
    auto applications = zeros<unsigned long long>("applications");
    CHECK(combined({counted_sum, applications.data()}, 7) == sum + 7);
    CHECK(applications.values()[0] == threads);
}

TEST_CASE("the last block sees what the others put behind a fence", "[atomics]") {
    const Order order = any_order();
    constexpr int blocks = 40;
    auto in = upload("in", counted<int>(blocks)), sum = zeros<int>("sum");
    Buffer<int> partial("partial", blocks);
    auto done = zeros<unsigned>("done");
    const auto seen = observe({.order = order}, [&] {
        kernels::last_block_sums(in.data(), partial.data(), sum.data(), done.data(), blocks);
    });
    CHECK(sum.values()[0] == blocks * (blocks - 1) / 2);
    CHECK(seen.findings == std::vector<std::string>{});
}

// Other elements of kernels

TEST_CASE("intrinsics compute what CUDA says", "[device]") {
    auto in = upload<float>("in", {2.25f});
    Buffer<float> floats("floats", 13);
    Buffer<int> ints("ints", 14);
    Buffer<unsigned> words("words", 5);
    observe({}, [&] { kernels::arithmetic(in.data(), floats.data(), ints.data(), words.data()); });
    CHECK(floats.values() ==
          std::vector<float>{1 / 1.5f, 4, 1, 0, 6.0625f, 1.5f, 1 / 2.25f, 2.25f, 3, 2.25f, 2.25f, 1, 2.25f});
    CHECK(ints.values() == std::vector<int>{2, 4, -2, 8, 64, 4, 0, 31, 32, 63, 1 << 28, -3, 1, 7});
    CHECK(words.values() == std::vector<unsigned>{0x80000000, 3, 0x3f800000, 5, 7});
}

TEST_CASE("__ldg, early returns and float4 through reinterpret_cast", "[device]") {
    const int n = GENERATE(4, 100, 128);
    auto in = upload("in", counted<float>(n));
    auto out = zeros<float>("out", n);
    observe({}, [&] { kernels::read_only_cache(in.data(), out.data(), n); });
    CHECK(out.values() == listed<float>(n, [](int i) { return 2 * i; }));
    observe({}, [&] { kernels::vector_copy(in.data(), out.data(), n); });
    CHECK(out.values() == listed<float>(n, [](int i) { return i / 4 * 4 + 3 - i % 4; }));
}

TEST_CASE("a grid-stride loop covers what the grid does not", "[device]") {
    const int n = GENERATE(0, 1, 63, 1000), blocks = GENERATE(1, 3);
    auto in = upload("in", counted<int>(n)), out = zeros<int>("out", n);
    observe({}, [&] { kernels::grid_stride(in.data(), out.data(), n, blocks, 64); });
    CHECK(out.values() == counted<int>(n, 1));
}

TEST_CASE("helpers, macros, structures, templates, launch bounds, unrolling and volatile variables",
          "[device]") {
    constexpr int n = 200;
    auto in = upload("in", counted<int>(3 * n)), out = zeros<int>("out", n);
    observe({}, [&] { kernels::odds_and_ends(in.data(), out.data(), n); });
    CHECK(out.values() == listed<int>(n, [](int i) {
              const int sum = 9 * i + 3;
              return i < 1 || i > n - 2 ? 0 : sum - sum % 256;
          }));
}

TEST_CASE("printf in a kernel prints", "[device]") {
    std::cout.flush();
    std::fflush(stdout);
    const auto path = std::filesystem::temp_directory_path() / ("kata-printf-" + std::to_string(getpid()));
    const int kept = dup(STDOUT_FILENO);
    const bool redirected = std::freopen(path.c_str(), "w", stdout) != nullptr;
    observe({}, [] { kernels::speak(4); });
    std::fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::filesystem::remove(path);
    REQUIRE(redirected);  // checked where the output can be read again
    CHECK(text == "thread 1 says 0.25\nthread 3 says 0.75\n");
}

TEST_CASE("an assertion in a kernel ends the launch and not the process", "[device]") {
    CHECK_THAT(fault([] { kernels::assertion(5); }),
               Equals("assertion failed: static_cast<int>(threadIdx.x) < n in " + line_of("assertion") +
                      ", thread (5,0,0) of block (0,0,0)"));
    CHECK_THAT(fault([] { kernels::assertion(5); }, {.order = Order::backwards}),
               ContainsSubstring("thread (7,0,0) of block (1,0,0)"));
    CHECK(fault([] { kernels::assertion(8); }) == "");
}

TEST_CASE("a division by zero in a kernel ends the launch and not the process", "[device]") {
#if defined(__SANITIZE_ADDRESS__)
    SKIP("the sanitizer of undefined behaviour is first to tell, and ends the program");
#endif
    Buffer<int> out("out", 8);
    const std::string line = kata::counts_available() ? " in " + line_of("divide") : "";
    for (int again = 0; again < 2; ++again)
        CHECK_THAT(fault([&] { kernels::divide(8, 3, out.data()); }),
                   Equals("an integer is divided by zero" + line +
                          ", by thread (3,0,0) of block (0,0,0): a GPU goes on with some number"));
    CHECK(fault([&] { kernels::divide(8, 8, out.data()); }) == "");
}

// Endless waits

namespace {

/// Returns ", in simt_kernels.cu:12" for the marked line if the meter names lines.
std::string in(const char* mark) { return kata::counts_available() ? ", in " + line_of(mark) : ""; }

}  // namespace

TEST_CASE("an endless loop ends the launch after its time", "[endless]") {
    auto out = zeros<int>("out");
    CHECK_THAT(
        fault([&] { kernels::endless(out.data()); }),
        Equals("endless loop: thread (0,0,0) of block (0,0,0) still runs after 0.1 s of processor time" +
               in("endless") + "; does its loop end for every thread?"));
    if (!kata::counts_available()) return;  // an optimizer may assume that such a loop ends
    CHECK_THAT(fault([] { kernels::endless_without_memory(40); }, {.time_limit = 0.05}),
               StartsWith("endless loop: thread (39,0,0) of block (0,0,0) still runs after 0.05 s"));
}

namespace {

/// A smaller limit than the default, so that reaching it does not take long.
constexpr std::uint64_t few_steps = 4'000'000;

}  // namespace

TEST_CASE("where steps are counted, an endless loop ends after so many of them", "[endless]") {
    need_meter();
    const Conditions conditions{.most_steps = few_steps};
    for (const int threads : {1, 256})
        CHECK_THAT(
            fault([=] { kernels::endless_without_memory(threads); }, conditions),
            StartsWith("endless loop: thread (" + std::to_string(threads - 1) + ",0,0) of block (0,0,0)") &&
                EndsWith(in("endless without memory") + "; does its loop end for every thread?"));
    auto flag = zeros<int>("flag");
    CHECK_THAT(fault([&] { kernels::spin_on_atomic(flag.data()); }, conditions),
               StartsWith("endless wait: thread (") &&
                   EndsWith(in("spin on atomic") + "; does another thread write what it waits for?"));
    CHECK_THAT(fault([&] { kernels::count_for_ever(flag.data()); }, conditions),
               StartsWith("endless loop: thread (") &&
                   EndsWith(in("count for ever") + "; does its loop end for every thread?"));
}

TEST_CASE("of a sample, a block that takes too long is not taken for one that never ends", "[endless]") {
    need_meter();
    auto out = zeros<int>("out");
    CHECK_THAT(
        fault([&] { kernels::endless(out.data()); }, {.most_steps = few_steps, .sample = 1}),
        Equals("it takes too long at full size: block (0,0,0) alone is not done after 2 million steps of "
               "its threads, as if few threads did the work of all"));
}

TEST_CASE("a wait that nobody is left to end is ended soon, and no other", "[endless]") {
    need_meter();
    const Conditions conditions{.most_steps = few_steps};
    constexpr int polls = 300'000;
    constexpr unsigned long_work = 500'000;
    auto flag = zeros<int>("flag");
    CHECK_THAT(fault([&] { kernels::wait_for_work(flag.data(), polls, 0, false); }, conditions),
               StartsWith("endless wait: thread (0,0,0) of block (0,0,0)"));
    CHECK(fault([&] { kernels::wait_for_work(flag.data(), polls, long_work, true); }, conditions) == "");
    CHECK(flag.values() == std::vector{1});
}

TEST_CASE("an endless wait for memory ends the launch after its time", "[endless]") {
    const Order order = any_order();
    auto flag = zeros<int>("flag");
    const Conditions conditions{.order = order, .time_limit = 0.1};
    CHECK_THAT(
        fault([&] { kernels::spin_on_atomic(flag.data()); }, conditions),
        StartsWith("endless wait: thread (") && ContainsSubstring("of block (0,0,0) still polls memory"));
    // only the meter notices a volatile read
    const std::string wait = kata::counts_available() ? "endless wait: thread (" : "endless loop: thread (";
    CHECK_THAT(fault([&] { kernels::spin_on_volatile(flag.data()); }, conditions), StartsWith(wait));
    if (!kata::counts_available()) return;
    CHECK_THAT(fault([&] { kernels::spin_on_plain(flag.data()); }, conditions),
               StartsWith("endless loop: thread ("));
}

TEST_CASE("who loops is told, and not who has polled and waits for it in a vote", "[endless]") {
    auto flag = zeros<int>("flag"), out = zeros<int>("out", 32);
    const Conditions conditions{.order = any_order(), .time_limit = 0.1};
    CHECK_THAT(fault([&] { kernels::loop_beside_vote(flag.data(), out.data()); }, conditions),
               StartsWith("endless loop: thread (1,0,0) of block (0,0,0) still runs"));
    auto set = upload("flag", std::vector{1});
    CHECK(fault([&] { kernels::loop_beside_vote(set.data(), out.data()); }, conditions) == "");
}

TEST_CASE("threads of a block may wait for each other", "[endless]") {
    const Order order = any_order();
    Buffer<int> out("out", 96);
    CHECK(fault([&] { kernels::wait_for_flag_in_block(out.data(), 96); }, {.order = order}) == "");
    CHECK(out.values() == std::vector<int>(96, 1));
}

TEST_CASE("a wait for a block that has not started is diagnosed", "[endless]") {
    constexpr int blocks = 12;
    auto flags = zeros<int>("flags", blocks), out = zeros<int>("out", blocks);
    CHECK(fault([&] { kernels::wait_for_block_before(flags.data(), out.data(), blocks); }) == "");
    CHECK(out.values() == counted<int>(blocks));
    auto fresh = zeros<int>("flags", blocks);
    CHECK_THAT(fault([&] { kernels::wait_for_block_before(fresh.data(), out.data(), blocks); },
                     {.order = Order::backwards, .time_limit = 0.1}),
               Equals("endless wait: thread (0,0,0) of block (11,0,0) still polls memory after 0.1 s of "
                      "processor time" +
                      in("wait for block before") + "; does it wait for a block that has not started?"));
}

TEST_CASE("blocks that number themselves as they start may wait for those before", "[endless]") {
    const auto [order, seed] = GENERATE(table<Order, unsigned>({{Order::forwards, 1},
                                                                {Order::backwards, 1},
                                                                {Order::shuffled, 1},
                                                                {Order::shuffled, 2},
                                                                {Order::shuffled, 3}}));
    constexpr int blocks = 12;
    auto ticket = zeros<unsigned>("ticket");
    auto flags = zeros<int>("flags", blocks), out = zeros<int>("out", blocks);
    CHECK(fault([&] { kernels::wait_for_ticket_before(ticket.data(), flags.data(), out.data(), blocks); },
                {.order = order, .seed = seed}) == "");
    CHECK(out.values() == counted<int>(blocks));
}

TEST_CASE("a warp that polls and votes waits for another resident block, counted or not", "[endless]") {
    constexpr int blocks = 12;
    const bool metered = GENERATE(true, false);
    const unsigned resident = GENERATE(2u, 5u), seed = GENERATE(1u, 2u, 3u);
    auto ticket = zeros<unsigned>("ticket");
    auto flags = zeros<int>("flags", blocks), out = zeros<int>("out", blocks);
    CHECK(
        fault([&] { kernels::warp_waits_for_ticket_before(ticket.data(), flags.data(), out.data(), blocks); },
              {.order = Order::shuffled,
               .seed = seed,
               .time_limit = 1,
               .metered = metered,
               .resident = resident}) == "");
    CHECK(out.values() == counted<int>(blocks));
}

TEST_CASE("as many blocks run alternately as the conditions say, where nothing is counted", "[endless]") {
#if defined(__SANITIZE_ADDRESS__)
    SKIP("under AddressSanitizer blocks run one after the other, for shared memory cannot be moved");
#endif
    const auto met = [](unsigned resident, bool metered, double seconds) {
        auto arrived = zeros<unsigned>("arrived");
        return fault([&] { kernels::meet(arrived.data(), 5); }, {.order = Order::shuffled,
                                                                 .time_limit = seconds,
                                                                 .metered = metered,
                                                                 .resident = resident}) == "";
    };
    CHECK(met(5, false, 30));
    CHECK(!met(4, false, 0.1));
    CHECK((!kata::counts_available() || !met(5, true, 0.1)));
}

TEST_CASE("the first block goes on when all others poll, where the conditions hold it back", "[endless]") {
#if defined(__SANITIZE_ADDRESS__)
    SKIP("under AddressSanitizer blocks run one after the other, for shared memory cannot be moved");
#endif
    constexpr int blocks = 40;
    const auto others_seen = [](bool held_back, unsigned polls_per_turn, unsigned seed,
                                bool together = false) {
        auto ticket = zeros<unsigned>("ticket");
        auto arrived = zeros<int>("arrived"), flag = zeros<int>("flag"), seen = zeros<int>("seen");
        CHECK(fault(
                  [&] {
                      kernels::wait_for_first(ticket.data(), arrived.data(), flag.data(), seen.data(), blocks,
                                              together);
                  },
                  {.order = Order::shuffled,
                   .seed = seed,
                   .metered = false,
                   .resident = blocks,
                   .first_held_back = held_back,
                   .polls_per_turn = polls_per_turn}) == "");
        return seen.values()[0];
    };
    const unsigned seed = GENERATE(1u, 2u, 3u);
    CHECK(others_seen(true, 64, seed) == blocks - 1);
    CHECK(others_seen(true, 1, seed) == blocks - 1);
    CHECK(others_seen(false, 64, seed) < blocks - 1);
    // None is seen to poll, but the launch ends anyway.
    CHECK(others_seen(true, 64, seed, true) == 0);
}

TEST_CASE("who started last is done next unless it waits for others, where the conditions prefer it",
          "[endless]") {
#if defined(__SANITIZE_ADDRESS__)
    SKIP("under AddressSanitizer blocks run one after the other, for shared memory cannot be moved");
#endif
    constexpr unsigned blocks = 20;
    auto ticket = zeros<unsigned>("ticket");
    auto arrived = zeros<int>("arrived"), flag = zeros<int>("flag"), seen = zeros<int>("seen"),
         flags = zeros<int>("flags", blocks);
    const auto next = [&](bool in_a_chain, bool together, unsigned resident, unsigned seed) {
        return observe({.order = Order::shuffled,
                        .seed = seed,
                        .metered = false,
                        .resident = resident,
                        .first_held_back = true,
                        .latest_first = true,
                        .polls_per_turn = 4},
                       [&] {
                           if (in_a_chain)
                               kernels::wait_in_a_chain(ticket.data(), flags.data(), blocks);
                           else
                               kernels::wait_for_first(ticket.data(), arrived.data(), flag.data(),
                                                       seen.data(), blocks, together);
                       })
            .next;
    };
    const unsigned seed = GENERATE(1u, 2u, 3u), resident = GENERATE(19u, 20u);
    const bool in_a_chain = GENERATE(false, true), together = GENERATE(false, true);
    if (in_a_chain && together) return;
    const auto [overtaken, not_overtaken] = next(in_a_chain, together, resident, seed);
    CHECK(overtaken == (in_a_chain ? 0 : blocks - 2));
    CHECK(not_overtaken == (in_a_chain ? blocks - 2 : 0));
}

TEST_CASE("others run between any two polls, where the conditions end turns so early", "[endless]") {
#if defined(__SANITIZE_ADDRESS__)
    SKIP("under AddressSanitizer blocks run one after the other, for shared memory cannot be moved");
#endif
    constexpr int looks = 320;
    const auto changes_seen = [](unsigned polls_per_turn) {
        auto value = zeros<int>("value"), changes = zeros<int>("changes");
        CHECK(fault([&] { kernels::look_twice(value.data(), changes.data(), looks); },
                    {.order = Order::shuffled, .metered = false, .polls_per_turn = polls_per_turn}) == "");
        return changes.values()[0];
    };
    CHECK(changes_seen(64) <= 2 * looks / 64);
    CHECK(changes_seen(1) > looks / 2);
}

// Missing memory

TEST_CASE("more static and dynamic shared memory than a block has is refused", "[bounds]") {
    need_sizes_of_shared_memory();
    Buffer<int> out("out", 256);
    CHECK(fault([&] { kernels::static_shared_at_limit(out.data()); }, {}) == "");
    CHECK_THAT(
        fault([&] { kernels::shared_over_limit(out.data()); }, {}),
        StartsWith("launch refused: ") && ContainsSubstring(": a block gets 49152 bytes of shared memory"));
}

TEST_CASE("an observation names the first launches as they were asked for", "[launch]") {
    Buffer<int> out("out", 12), flags("flags", 12);
    const auto seen = kata::observe({}, [&] {
        for (int i = 0; i < 4; ++i) kernels::wait_for_block_before(flags.data(), out.data(), 12 - i);
    });
    CHECK(seen.launches == 4);
    CHECK(seen.launched == std::vector<std::string>{"wait_for_block_before_kernel<<<12, 32>>>",
                                                    "wait_for_block_before_kernel<<<11, 32>>>",
                                                    "wait_for_block_before_kernel<<<10, 32>>>"});
}

TEST_CASE("pointers to what is no device memory are diagnosed", "[bounds]") {
    need_meter();
    Buffer<int> out("out", 8);
    std::vector<int> on_the_heap(100'000);
    static int in_the_program[8];
    int on_the_stack[8] = {};
    const auto message = "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes ";
    const auto where = ", in " + line_of("read through");
    CHECK(fault([&] { kernels::read_through(nullptr, out.data()); }) ==
          message + ("through a null pointer" + where));
    for (const int* pointer :
         {static_cast<const int*>(on_the_heap.data()), static_cast<const int*>(in_the_program),
          static_cast<const int*>(on_the_stack)})
        CHECK_THAT(fault([&] { kernels::read_through(pointer, out.data()); }),
                   StartsWith(message) && Catch::Matchers::EndsWith(where));
    CHECK_THAT(fault([&] { kernels::unasked_dynamic_shared(out.data()); }),
               ContainsSubstring("writes 4 bytes right past the end of dynamic shared memory (0 bytes)"));
}

TEST_CASE("a misaligned float4 is diagnosed", "[bounds]") {
    need_meter();
    Buffer<float> in("in", 16), out("out", 1);
    CHECK(fault([&] { kernels::misaligned(in.data(), out.data(), 4); }) == "");
    CHECK_THAT(fault([&] { kernels::misaligned(in.data(), out.data(), 2); }),
               Equals("misaligned access: thread (0,0,0) of block (0,0,0) reaches 16 bytes at offset 8 of "
                      "\"in\", which is no multiple of 16, in " +
                      line_of("misaligned")));
}

TEST_CASE("a stack that overflows is diagnosed", "[bounds]") {
    need_meter();
    Buffer<int> out("out", 1);
    CHECK(fault([&] { kernels::recurse(out.data(), 100); }) == "");
    CHECK(out.values()[0] == 100);
    for (const auto& overflow : {std::function([&] { kernels::recurse(out.data(), 100'000); }),
                                 std::function([&] { kernels::large_frame(out.data(), 10); })})
        CHECK_THAT(fault(overflow),
                   StartsWith("stack overflow: thread (0,0,0) of block (0,0,0) has no room for its "
                              "local variables in simt_kernels.cu:"));
}

// The translator

namespace {

struct Translation {
    int status;
    std::string errors, text, dependencies;
};

/// Returns the translator's output for a source that has other files beside it.
Translation translate(const std::string& source, const std::map<std::string, std::string>& beside = {}) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("kata-translate-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder / "own");
    std::ofstream(folder / "step.cu") << source;
    for (const auto& [name, text] : beside) std::ofstream(folder / name) << text;
    const auto quoted = [](const std::filesystem::path& path) { return "'" + path.string() + "'"; };
    auto run = quoted(PYTHON) + " " + quoted(TRANSLATE);
    for (const auto* argument : {"step.cu", "step.cpp", "step.d"}) run += " " + quoted(folder / argument);
    run += " 2> " + quoted(folder / "errors");
    const auto read = [&](const char* name) {
        std::ifstream file(folder / name);
        std::string text{std::istreambuf_iterator<char>(file), {}};
        for (std::size_t at; (at = text.find(folder.string() + "/")) != std::string::npos;)
            text.erase(at, folder.string().size() + 1);
        return text;
    };
    Translation result{std::system(run.c_str()), read("errors"), read("step.cpp"), read("step.d")};
    std::filesystem::remove_all(folder);
    return result;
}

}  // namespace

TEST_CASE("the translator sees an error that nobody reads", "[translator]") {
    const auto dropped = [](const std::string& source) {
        const auto text = translate("void f(bool b) { " + source + " }\n").text;
        return text.find("simt::dropped_cuda") != std::string::npos;
    };
    for (const auto* source :
         {"cudaGetLastError();", "if (b) cudaGetLastError();", "if (b) ; else cudaPeekAtLastError();",
          "(void)cudaGetLastError();", "::cudaGetLastError();", "b = true; cudaGetLastError( ) ;",
          "while (b) (void)::cudaGetLastError();"}) {
        CAPTURE(source);
        CHECK(dropped(source));
    }
    for (const auto* source :
         {"auto e = cudaGetLastError();", "check(cudaGetLastError());", "b = b ? 1 : cudaGetLastError();",
          "if (cudaGetLastError()) return;", "[] { return cudaGetLastError(); }();",
          "int e = (int)cudaGetLastError();", "std::cout << cudaGetLastError();"}) {
        CAPTURE(source);
        CHECK(!dropped(source));
    }
}

TEST_CASE("the translator lists what a source declares for the device", "[translator]") {
    const auto [source, names] = GENERATE(table<std::string, std::string>({
        {"__device__ unsigned done;", "done"},
        {"static __device__ __align__(16) float a[2] = {1, b}, c, d[3];", "a c d"},
        {"__constant__ float w[3]; static const float host[3] = {};", "w"},
        {"template <class T> __device__ T many = T{};", "many"},
        {"struct F { __host__ __device__ float operator()(float x) const { return x; } };", "operator"},
        {"__device__ float (*chosen)(float);", "chosen"},
        {"#define HD __host__ __device__\nHD float help(float x) { return x; }", "help"},
        {"__global__ void __launch_bounds__(256) add(const float* x) {}", "add"},
        {"__device__ std::array<float, 4> four{1, 2};", "four"},
        {"#define MAKE(name) __global__ void name() {}", "*"},
    }));
    CHECK_THAT(translate(source + "\n").text,
               ContainsSubstring(" simt_of_device[] = \"" + names + "\";\n#line 1 "));
}

TEST_CASE("what a local variable begins with is no local array", "[translator]") {
    const auto text =
        translate("__global__ void k(float* p) { float *q = &p[0] + 1, r[99] = {p[1]}, s[99]; }\n").text;
    CHECK_THAT(text, ContainsSubstring("hold_local(\"r\"") && ContainsSubstring("hold_local(\"s\""));
    CHECK_THAT(text, !ContainsSubstring("hold_local(\"p\""));
}

TEST_CASE("the translator refuses in one line what has no meaning on the CPU", "[translator]") {
    const auto [source, what] = GENERATE(table<std::string, std::string>({
        {"wmma::experimental::precision::b1", "such tensor cores"},
        {"wmma::bmma_sync(c, a, b, c);", "such tensor cores"},
        {"wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::row_major> a;", "such tensor cores"},
        {"wmma::fragment<wmma::accumulator, 8, 8, 4, double> c;", "such tensor cores"},
        {"wmma::fragment<wmma::matrix_b, 16, 16, 16, unsigned char, wmma::col_major> b;",
         "such tensor cores"},
        {"wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;", "such tensor cores"},
        {"asm volatile(\"mov.u32 %0, %laneid;\" : \"=r\"(lane));", "inline PTX"},
        {"__asm__(\"trap;\");", "inline PTX"},
        {"texture<float, 2> t;", "textures"},
        {"cudaTextureObject_t t", "textures"},
        {"x = tex2D<float>(t, 0.5f, 0.5f);", "textures"},
        {"#include <cuda/barrier>", "cuda::barrier and cuda::pipeline"},
        {"#include <cuda_fp8.h>", "arithmetic in less than 16 bits"},
        {"#include \"cuda_fp4.h\"", "arithmetic in less than 16 bits"},
        {"#include <cub/cub.cuh>", "such library"},
        {"cudaStreamBeginCapture(s, m);", "cudaStreamBeginCapture"},
        {"cudaLaunchCooperativeKernel(k, 1, 32, arguments);", "cooperative launches"},
        {"cudaMallocManaged(&p, 4);", "cudaMallocManaged"},
    }));
    const auto made = translate("// a step\n/* of two\nlines */\n" + source + "\n");
    CHECK(made.status != 0);
    CHECK_THAT(made.errors, ContainsSubstring("step.cu:4: error: the CPU back end has no " + what) &&
                                Catch::Matchers::EndsWith(": this step needs a GPU build\n"));
    CHECK(std::count(made.errors.begin(), made.errors.end(), '\n') == 1);
}

TEST_CASE("the translator says what to write in place of what it refuses, where there is something",
          "[translator]") {
    CHECK(translate("cudaLaunchKernel(k, 1, 32, arguments, 0, 0);\n")
              .errors.ends_with(":1: error: the CPU back end has no cudaLaunchKernel: launch it as "
                                "kernel<<<grid, block>>>(arguments)\n"));
}

TEST_CASE("the translator refuses in one line what nvcc would refuse", "[translator]") {
    const auto [source, what] = GENERATE(table<std::string, std::string>({
        {"void k(int n) {\n}\nvoid f() { k<<<1, 2>>>(3); }",
         ":2: error: k is launched, so it needs a __global__ in front\n"},
        {"__global__ void m(int n) {\n}\nvoid k(int n) {\nk<<<1, 2>>>(3); }",
         ":4: error: k is launched, so it needs a __global__ in front; or is a kernel meant: m?\n"},
        {"namespace a { template <class T> inline void k(T n) {\n} }\nvoid f() { ::a::k<int><<<1, 2>>>(3); }",
         ":2: error: k is launched, so it needs a __global__ in front\n"},
        {"__global__ void k() { __shared__ int n = 0; }",
         ":2: error: shared memory takes no initial value: let a thread store it, before a barrier\n"},
        {"__global__ void k() { __shared__ float s[2][2]{}; }",
         ":2: error: shared memory takes no initial value: let a thread store it, before a barrier\n"},
        {"__global__ void k() {\n  extern __shared__ float s[];\n  int n = sizeof(s) / sizeof(s[0]); }",
         ":4: error: s has no size: the launch says how many bytes there are\n"},
        {"__global__ void k() { extern __shared__ alignas(16) char s[]; }",
         ":2: error: nvcc takes no alignas behind extern: put it in front, or use __align__\n"},
        {"struct S { static __global__ void k(); };", ":2: error: a kernel cannot be a member function\n"},
        {"__global__ void k() {\n k<<<1, 2>>>(); }",
         ":3: error: a kernel launches no other: nvcc takes that only with -rdc=true\n"},
        {"#define BEGIN <<<",
         ":2: error: a launch stands in one piece, as kernel<<<grid, block>>>(arguments)\n"},
        {std::string("const char* s = \"\0\";", 20),
         ":1: error: this is no text in UTF-8: save it as such\n"},
    }));
    const auto made = translate("// a step\n" + source + "\n");
    CHECK(made.status != 0);
    CHECK(made.errors == "step.cu" + what);
}

TEST_CASE("the translator finds the whole of a launch, and nothing beside it", "[translator]") {
    const auto [launch, call] = GENERATE(table<std::string, std::string>({
        {"k<<<1, 2>>>(3);", "simt::configured(SIMT_KERNEL(k), 1, 2)(3);"},
        {"k<< <1, 2>> >(3);", "simt::configured(SIMT_KERNEL(k), 1, 2)(3);"},
        {"if (x) ::a::k<4><<<1, 2>>>(3);", "if (x) simt::configured(SIMT_KERNEL(::a::k<4>), 1, 2)(3);"},
        {"if (x) (k)<<<1, 2>>>(3);", "if (x) simt::configured(SIMT_KERNEL((k)), 1, 2)(3);"},
        {"return t[i]<<<1, 2>>>(3);", "return simt::configured(SIMT_KERNEL(t[i]), 1, 2)(3);"},
        {"p->f(1).k<<<1, 2>>>(3);", "simt::configured(SIMT_KERNEL(p->f(1).k), 1, 2)(3);"},
        {"k<A<B<4>>, (5 > 4)><<<1, 2>>>(3);", "simt::configured(SIMT_KERNEL(k<A<B<4>>, (5 > 4)>), 1, 2)(3);"},
        {"k<n < 4><<<1, 2>>>(3);", "simt::configured(SIMT_KERNEL(k<n < 4>), 1, 2)(3);"},
        {"k<<<A<A<B<4>>>::v, n >> 2>>>(m >> 3);",
         "simt::configured(SIMT_KERNEL(k), A<A<B<4>>>::v, n >> 2)(m >> 3);"},
        {"k<<<1, 2>>>(NULL, f(NULL));", "simt::configured(SIMT_KERNEL(k), 1, 2)(nullptr, f(NULL));"},
        {"s << \"k\" << 'k' << 1'000 << R\"(\"k<<<)\";", "s << \"k\" << 'k' << 1'000 << R\"(\"k<<<)\";"},
    }));
    const std::string kernel = "template <bool b> __global__ void k(int n) {}\nvoid f() { ";
    CHECK_THAT(translate(kernel + launch + " }\n").text, ContainsSubstring("void f() { " + call + " }\n"));
}

TEST_CASE("the translator passes over what only nvcc compiles", "[translator]") {
    const auto [condition, refused] = GENERATE(table<std::string, bool>({
        {"#ifdef __CUDA_ARCH__", false},
        {"#if __CUDA_ARCH__ >= 700 && defined(FAST)", false},
        {"#if defined(FAST) && (defined __CUDACC__)", false},
        {"#if 0", false},
        {"#ifndef __CUDA_ARCH__\n#else", false},
        {"#if 1\n#elif FAST", false},
        {"#ifdef __CUDA_ARCH__\n#elif FAST", true},
        {"#ifdef __CUDA_ARCH__\n#else", true},
        {"#if FAST", true},
        {"#if !FAST", true},
        {"#if __CUDA_ARCH__ >= 700 || FAST", true},
        {"#if !(__CUDA_ARCH__ >= 700)", true},
        {"#if __CUDA_ARCH__ < 700", true},
    }));
    CAPTURE(condition);
    const auto made = translate(condition + "\nasm(\"\");\n#endif\n");
    CHECK((made.status != 0) == refused);
    CHECK((made.errors.find("inline PTX") != std::string::npos) == refused);
}

TEST_CASE("the translator reads the headers that lie beside the step", "[translator]") {
    const std::map<std::string, std::string> beside{
        {"own/a.cuh", "#pragma once\n#include \"b.h\"\nvoid g() { k<<<1, 2>>>(); }"},
        {"own/b.h", "int b;\n"},
    };
    const auto made = translate("#include \"own/a.cuh\"  // mine\n#include \"kata.hpp\"\nint x;\n", beside);
    CHECK(made.errors == "");
    CHECK(made.dependencies == "step.cpp: step.cu own/a.cuh own/b.h\n");
    CHECK_THAT(made.text,
               ContainsSubstring("#line 1 \"own/a.cuh\"\n\n#include \"own/b.h\"\n"
                                 "void g() { simt::configured(SIMT_KERNEL(k), 1, 2)(); }\n") &&
                   ContainsSubstring("#line 1 \"step.cu\"\n  // mine\n#include \"kata.hpp\"\nint x;\n"));

    const std::string plain = "#include \"own/b.h\"\n#include \"own/none.h\"\n";
    CHECK(translate(plain, beside).text == "#include \"simt/cuda.hpp\"\n#line 1 \"step.cu\"\n" + plain);

    const auto wrong = translate("#include \"own/c.h\"\n", {{"own/c.h", "\n\nasm(\"exit;\");\n"}});
    CHECK(wrong.status != 0);
    CHECK(wrong.errors ==
          "own/c.h:3: error: the CPU back end has no inline PTX: this step needs a GPU build\n");

    const auto circle =
        translate("#include \"own/d.h\"\n",
                  {{"own/d.h", "#pragma once\n#include \"e.h\"\nvoid g() { k<<<1, 2>>>(); }\n"},
                   {"own/e.h", "#pragma once\n#include \"d.h\"\nint e;\n"}});
    CHECK(circle.errors == "");
    CHECK_THAT(circle.text, ContainsSubstring("\nint e;\n"));
}

TEST_CASE("the translator reads files with a mark of their encoding, or in another", "[translator]") {
    CHECK_THAT(translate("\xEF\xBB\xBFint x;").text, ContainsSubstring("\"\nint x;"));
    CHECK_THAT(translate("// f\xFCr\nint x;").text, ContainsSubstring("// f\xFCr\nint x;"));
}

TEST_CASE("the translator leaves comments, literals and line numbers as they are", "[translator]") {
    const std::string source =
        "// asm(\"x\") and k<<<1, 2>>>()\n"
        "const char* s = \"texture<float> k<<<1, 2>>>()\"; const char c = '\"';\n"
        "void f() { k<g<int>, 3><<<dim3(1,  // one\n"
        "                               2),\n"
        "                          32>>>(a, b); }\n";
    const auto made = translate(source);
    CHECK(made.status == 0);
    CHECK(made.errors == "");
    CHECK_THAT(made.text, ContainsSubstring("#line 1 \"") &&
                              ContainsSubstring(
                                  "\n// asm(\"x\") and k<<<1, 2>>>()\n"
                                  "const char* s = \"texture<float> k<<<1, 2>>>()\"; const char c = "
                                  "'\"';\n"
                                  "void f() { simt::configured(SIMT_KERNEL(k<g<int>, 3>), dim3(1,  // one\n"
                                  "                               2),\n"
                                  "                          32)(a, b); }\n"));
}
