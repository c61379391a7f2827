// Tests what CUDA's headers offer beyond the language on the CPU back end: intrinsics, streams and events,
// device properties, and the headers in common/simt/toolkit.
#include "buffer.hpp"
#include "error.hpp"
#include "observe.hpp"
#include "simt/host.hpp"
#include "simt/intrinsics.hpp"
#include "simt/toolkit/cuda_bf16.h"
#include "simt/toolkit/cuda_fp16.h"
#include "tools/toolkit_kernels.hpp"

#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cfenv>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using kata::Buffer;
using kata::Conditions;
using kata::observe;
using kata::Order;

using Findings = std::vector<std::string>;

/// Returns value(0), value(1), …
template <class T, class Value>
std::vector<T> listed(int n, const Value& value) {
    std::vector<T> values;
    for (int i = 0; i < n; ++i) values.push_back(static_cast<T>(value(i)));
    return values;
}
template <class T>
Buffer<T> upload(std::string_view name, const std::vector<T>& values) {
    return {name, std::span<const T>(values)};
}
template <class T>
Buffer<T> zeros(std::string_view name, std::size_t n = 1) {
    return upload(name, std::vector<T>(n));
}

/// Returns the error that ended the work; empty if there was none.
std::string fault(const std::function<void()>& work) {
    try {
        observe({.time_limit = 0.5}, work);
    } catch (const kata::Error& e) {
        return e.what();
    }
    return "";
}

/// Returns "toolkit_kernels.cu:12" if the file has the comment `mark: …` in line 12.
std::string line_of(const std::string& mark) {
    std::ifstream file(TESTS_DIR "/tools/toolkit_kernels.cu");
    std::string text;
    for (int line = 1; std::getline(file, text); ++line)
        if (text.ends_with("mark: " + mark)) return "toolkit_kernels.cu:" + std::to_string(line);
    throw std::logic_error("no line is marked " + mark);
}

}  // namespace

// Intrinsics

TEST_CASE("bits and bytes go where CUDA says", "[intrinsics]") {
    CHECK(__brev(0x80000001u) == 0x80000001u);
    CHECK(__brev(0x00000006u) == 0x60000000u);
    CHECK(__brevll(1) == 1ull << 63);
    CHECK((__clz(0) == 32 && __clz(1) == 31 && __clz(-1) == 0));
    CHECK((__clzll(0) == 64 && __clzll(1ll << 40) == 23));
    CHECK((__ffs(0) == 0 && __ffs(8) == 4 && __ffsll(1ll << 40) == 41));
    CHECK(__byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311);
    CHECK(__byte_perm(0x33221100, 0x77665544, 0x0246) == 0x00224466);
    CHECK(__byte_perm(0x80, 0x7f, 0xc8c8) == 0x00ff00ff);  // signs, four times
    CHECK(__funnelshift_l(0x80000000, 0x1, 1) == 3);
    CHECK(__funnelshift_l(5, 6, 32) == 6);
    CHECK(__funnelshift_lc(5, 6, 32) == 5);
    CHECK(__funnelshift_r(0x80000000, 0x1, 31) == 3);
    CHECK(__funnelshift_r(5, 6, 32) == 5);
    CHECK(__funnelshift_rc(5, 6, 40) == 6);
    CHECK(__hiloint2double(__double2hiint(-1.25e10), __double2loint(-1.25e10)) == -1.25e10);
}

TEST_CASE("products and sums of integers are exact, and wrap around", "[intrinsics]") {
    CHECK(__mul24(0x1000003, 5) == 15);  // the lower 24 bits
    CHECK(__mul24(0x00ffffff, 7) == -7);
    CHECK(__umul24(0xff000002u, 3u) == 6);
    CHECK(__mulhi(-1, 1) == -1);
    CHECK(__umulhi(0xffffffffu, 0xffffffffu) == 0xfffffffeu);
    CHECK(__mul64hi(-1, 1) == -1);
    CHECK(__umul64hi(~0ull, ~0ull) == ~0ull - 1);
    CHECK(__sad(-5, 7, 100u) == 112);
    CHECK(__sad(std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), 0u) == 0xffffffffu);
    CHECK(__usad(7, 5, 1) == 3);
    CHECK((__hadd(-3, 0) == -2 && __rhadd(-3, 0) == -1));
    CHECK((__uhadd(~0u, ~0u - 1) == ~0u - 1 && __urhadd(~0u, ~0u - 1) == ~0u));
    CHECK(__dp4a(0x01ff0203, 0x05060708, 10) == 10 + 1 * 5 - 1 * 6 + 2 * 7 + 3 * 8);
    CHECK(__dp4a(0x01ff0203u, 0x05060708u, 10u) == 10u + 1 * 5 + 255 * 6 + 2 * 7 + 3 * 8);
    CHECK(__dp4a(make_char4(1, -2, 3, -4), make_char4(5, 6, 7, -8), -1) == 5 - 12 + 21 + 32 - 1);
    CHECK(__dp2a_lo(static_cast<int>(0xffff0003), 0x0706fe05, 1) == 3 * 5 + -1 * -2 + 1);
    CHECK(__dp2a_hi(static_cast<int>(0xffff0003), 0x0706fe05, 1) == 3 * 6 - 7 + 1);
    CHECK(__dp2a_lo(0xffff0003u, 0x0706fe05u, 1u) == 3 * 5 + 65535 * 254 + 1);
    CHECK(__dp2a_hi(make_ushort2(3, 65535), make_uchar4(5, 254, 6, 7), 1u) == 3 * 6 + 65535 * 7 + 1);
}

TEST_CASE("small integers in a word do not touch each other", "[intrinsics]") {
    CHECK(__vadd4(0x01ff7f80, 0x01010180) == 0x02008000);
    CHECK(__vadd2(0x0001ffff, 0x00010001) == 0x00020000);
    CHECK(__vsub4(0x00010203, 0x01010101) == 0xff000102);
    CHECK(__vmaxs4(0x80ff017f, 0x00000000) == 0x0000017f);
    CHECK(__vmaxu4(0x80ff017f, 0x01010101) == 0x80ff017f);
    CHECK(__vminu2(0x0001ffff, 0x00020003) == 0x00010003);
    CHECK(__vabsdiffu4(0x01ff0305, 0x0300ff05) == 0x02fffc00);
    CHECK(__vsadu4(0x01ff0305, 0x0300ff05) == 2 + 255 + 252);
    CHECK(__vavgu4(0x01020304, 0x02020204) == 0x02020304);
    CHECK(__vcmpeq4(0x01020304, 0x01000300) == 0xff00ff00);
    CHECK(__vcmpgts4(0x80000001, 0x00ff0000) == 0x00ff00ff);
    CHECK(
        (__vaddus4(0xff010203, 0x02010101) == 0xff020304 && __vsubus4(0x01020304, 0x02010101) == 0x00010203));
}

TEST_CASE("arithmetic of floats rounds in each direction as the processor does", "[intrinsics]") {
    std::mt19937 random(1);
    const auto number = [&] {  // of any size, and some that lie far apart
        const int exponent = static_cast<int>(random() % 80) - 40;
        return std::ldexp(static_cast<float>(static_cast<int>(random())), exponent - 31);
    };
    const auto near = std::fegetround();
    const auto by_processor = [&](int mode, auto compute) {
        std::fesetround(mode);
        const volatile float result = compute();
        std::fesetround(near);
        return float{result};
    };
    int inexact = 0;
    for (int i = 0; i < 20'000; ++i) {
        const volatile float a = number(), b = number(), c = i % 3 == 0 ? -a * b : number();
        const volatile double wide = double{a} * b;
        const volatile float square = a * a;
#define CHECK_ROUNDING(end, mode)                                                                      \
    CHECK(__fadd_##end(a, b) == by_processor(mode, [&] { return a + b; }));                            \
    CHECK(__fsub_##end(a, b) == by_processor(mode, [&] { return a - b; }));                            \
    CHECK(__fmul_##end(a, b) == by_processor(mode, [&] { return a * b; }));                            \
    CHECK(__fdiv_##end(a, b) == by_processor(mode, [&] { return a / b; }));                            \
    CHECK(__fmaf_##end(a, b, c) == by_processor(mode, [&] { return std::fma(a, b, c); }));             \
    CHECK(__frcp_##end(a) == by_processor(mode, [&] { return 1.0f / a; }));                            \
    CHECK(__fsqrt_##end(square) == by_processor(mode, [&] { return std::sqrt(square); }));             \
    CHECK(__double2float_##end(wide) == by_processor(mode, [&] { return static_cast<float>(wide); })); \
    CHECK(__float2ll_##end(a) == [&] {                                                                 \
        std::fesetround(mode);                                                                         \
        const volatile double whole = std::nearbyint(a);                                               \
        std::fesetround(near);                                                                         \
        return static_cast<long long>(whole);                                                          \
    }());
        CHECK_ROUNDING(rn, FE_TONEAREST)
        CHECK_ROUNDING(rz, FE_TOWARDZERO)
        CHECK_ROUNDING(ru, FE_UPWARD)
        CHECK_ROUNDING(rd, FE_DOWNWARD)
#undef CHECK_ROUNDING
        inexact += __fadd_ru(a, b) != __fadd_rd(a, b);
    }
    CHECK(inexact > 10'000);
    constexpr float most = std::numeric_limits<float>::max();
    CHECK((__fadd_rz(most, most) == most && std::isinf(__fadd_rn(most, most))));
}

TEST_CASE("what no integer holds becomes the nearest, and NaN 0", "[intrinsics]") {
    CHECK((__float2int_rn(2.5f) == 2 && __float2int_rn(3.5f) == 4 && __float2int_rz(-2.5f) == -2));
    CHECK((__float2int_ru(2.1f) == 3 && __float2int_rd(-2.1f) == -3));
    CHECK(__float2int_rz(1e10f) == std::numeric_limits<int>::max());
    CHECK(__float2int_rz(-1e10f) == std::numeric_limits<int>::min());
    CHECK((__float2uint_rz(-1.0f) == 0 && __float2uint_rn(4294967296.0f) == ~0u));
    CHECK(__float2int_rn(std::numeric_limits<float>::quiet_NaN()) == 0);
    CHECK(__float2ull_rz(std::numeric_limits<float>::infinity()) == ~0ull);
}

TEST_CASE("a warp makes one value of those in its mask", "[intrinsics]") {
    const unsigned mask = GENERATE(0xffffffffu, 0x80000001u, 0x00ff0000u);
    const auto value = [](int i) { return i % 5 == 0 ? -1000 * i - 7 : 77 * i + 1; };
    auto in = upload("in", listed<int>(32, value));
    auto out = zeros<int>("out", 3 * 32);
    auto bits = zeros<unsigned>("bits", 6 * 32);
    observe({}, [&] { kernels::reduce_lanes(mask, in.data(), out.data(), bits.data()); });
    std::vector<int> expected(3 * 32);
    std::vector<unsigned> expected_bits(6 * 32);
    int sum = 0, least = 1 << 30, most = -(1 << 30);
    unsigned all = ~0u, any = 0, odd = 0, lowest = ~0u, highest = 0;
    for (int i = 0; i < 32; ++i) {
        if (!(mask >> i & 1)) continue;
        const unsigned u = value(i);
        sum += value(i), least = std::min(least, value(i)), most = std::max(most, value(i));
        all &= u, any |= u, odd ^= u, lowest = std::min(lowest, u), highest = std::max(highest, u);
    }
    for (int i = 0; i < 32; ++i) {
        if (!(mask >> i & 1)) continue;
        const unsigned six[] = {static_cast<unsigned>(sum), lowest, highest, all, any, odd};
        const int three[] = {sum, least, most};
        std::copy(three, three + 3, &expected[3 * i]);
        std::copy(six, six + 6, &expected_bits[6 * i]);
    }
    CHECK(out.values() == expected);
    CHECK(bits.values() == expected_bits);
}

TEST_CASE("clock64() grows, so that a wait for it ends", "[intrinsics]") {
    Buffer<long long> out("out", 50);
    CHECK(fault([&] { kernels::ticks(out.data(), 50); }) == "");
    const auto seen = out.values();
    for (int i = 1; i < 50; ++i) CHECK(seen[i] > seen[i - 1]);
}

TEST_CASE("__trap() ends the launch and says where", "[intrinsics]") {
    CHECK(fault([] { kernels::trap(false); }) == "");
    CHECK(fault([] { kernels::trap(true); }) ==
          "__trap() in " + line_of("trap") + ": thread (3,0,0) of block (0,0,0) ends the launch");
}

// Host code

TEST_CASE("streams keep the order of the program, and time passes between events", "[host]") {
    constexpr int n = 100;
    auto in = upload("in", listed<int>(n, [](int i) { return i * i; })), out = zeros<int>("out", n);
    float milliseconds = 0;
    const auto seen = observe({}, [&] { milliseconds = kernels::through_streams(in.data(), out.data(), n); });
    CHECK(milliseconds > 0);
    CHECK(seen.launches == 2);
    CHECK(seen.findings == Findings{});
    CHECK(out.values() == listed<int>(n, [](int i) { return i * i + 2; }));
}

// Two warps of copies. The second ones are waited for after the first have been read, or together with them.
TEST_CASE("a copy that is awaited behind other work is told from one that is awaited at once", "[pipeline]") {
    if (!kata::counts_available()) SKIP("nothing is counted");
    auto in = upload("in", listed<int>(64, [](int i) { return i; })), out = zeros<int>("out", 64);
    const auto counts = [&](int groups) {
        return observe({}, [&] { kernels::copies_ahead(in.data(), out.data(), groups); }).counts.value();
    };
    const auto one_ahead = counts(1), none_ahead = counts(0);
    CHECK(one_ahead.copy_waits == 64);
    CHECK(one_ahead.waited_for == 32 * 4);
    CHECK(none_ahead.copy_waits == 32);  // the second wait has nothing to wait for
    CHECK(none_ahead.waited_for == 64 * 4);
}

TEST_CASE("what nothing orders in two streams is told", "[host]") {
    using enum kernels::Streams;
    constexpr int n = 40;
    const auto found = [](kernels::Streams how) {
        auto in = upload("in", listed<int>(n, [](int i) { return i; }));
        auto between = zeros<int>("between", n), out = zeros<int>("out", n);
        return observe({}, [&] { kernels::copy_and_launch(how, in.data(), between.data(), out.data(), n); })
            .findings;
    };
    const auto how =
        GENERATE(both_default, two_blocking, joined_by_event, joined_by_host, waited_for_by_host);
    CHECK(found(how) == Findings{});
    const auto launch = "a launch in " + line_of("launches in a stream");
    const auto copy = "cudaMemcpyAsync in " + line_of("copies in a stream");
    if (kata::counts_available())  // only there the memory that a launch accesses is known
        CHECK(found(apart) ==
              Findings{
                  "nothing orders " + launch + " and " + copy +
                  ", which reach the same memory: they are in different streams, and a GPU may do the second "
                  "one first; let one stream wait for the other with cudaEventRecord and "
                  "cudaStreamWaitEvent, or leave streams out"});
    CHECK(found(non_blocking) ==
          Findings{"nothing orders " + copy +
                   " behind what the caller has asked of the default stream, as for a copy of the inputs: "
                   "its stream was made with cudaStreamNonBlocking; leave that out"});
    CHECK(found(non_blocking_at_the_end) ==
          Findings{"nothing orders " + launch +
                   " before what the caller asks of the default stream next, as for a copy of the result: "
                   "its stream was made with cudaStreamNonBlocking; leave that out, or wait for it with "
                   "cudaStreamSynchronize"});
    CHECK(found(never_destroyed) ==
          Findings{"never destroyed: the stream that is made in " + line_of("makes a stream") +
                   ": what a step makes it gives back with cudaStreamDestroy"});
}

TEST_CASE("two streams need an order where they reach the same memory, and one of them writes", "[host]") {
    using enum kernels::Beside;
    constexpr int n = 64;
    const auto found = [](kernels::Beside how) {
        auto in = upload("in", listed<int>(n, [](int i) { return i; }));
        auto between = zeros<int>("between", n), out = zeros<int>("out", n);
        const auto seen =
            observe({}, [&] { kernels::beside_a_copy(how, in.data(), between.data(), out.data(), n); });
        return seen.findings.empty() ? "" : seen.findings.front();
    };
    for (const auto how : {nothing_shared, both_read, another_part}) CHECK(found(how) == "");
    CHECK_THAT(found(copy), StartsWith("nothing orders cudaMemcpyAsync in "));
    if (!kata::counts_available()) return;  // the memory that a launch accesses is unknown
    for (const auto how : {same_part, anything, copy})
        CHECK_THAT(found(how), StartsWith("nothing orders") && ContainsSubstring("cudaMemcpyAsync in "));
    CHECK_THAT(found(rows), StartsWith("nothing orders a launch in " + line_of("beside a copy") +
                                       " and cudaMemcpy2DAsync in " + line_of("rows")));
    CHECK_THAT(found(from_symbol),
               StartsWith("nothing orders cudaMemcpyFromSymbolAsync in " + line_of("asks") +
                          " and a launch in " + line_of("counts itself")));
}

TEST_CASE("streams are held to an order by the bytes that they reach", "[host]") {
    using enum kernels::Apart;
    constexpr int n = 64;
    const auto found = [](kernels::Apart how, const kata::Conditions& conditions = {}) {
        auto in = upload("in", listed<int>(n, [](int i) { return i; }));
        auto between = zeros<int>("between", n), out = zeros<int>("out", n);
        const auto seen = observe(
            conditions, [&] { kernels::in_two_streams(how, in.data(), between.data(), out.data(), n); });
        return seen.findings.empty() ? "" : seen.findings.front();
    };
    const auto right = GENERATE(halves_of_rows, base_and_offset, structure, another_symbol, launches_that_add,
                                through_pageable_memory, memory_of_before);
    CAPTURE(static_cast<int>(right));
    CHECK(found(right) == "");
    for (const auto how : {rows_that_overlap, through_pinned_memory})
        CHECK_THAT(found(how), StartsWith("nothing orders cudaMemcpy"));
    if (!kata::counts_available()) return;
    const auto order = GENERATE(Order::forwards, Order::backwards, Order::shuffled);
    for (const auto how : {all_of_it, symbol_by_address, constant, launches_that_write}) {
        CAPTURE(static_cast<int>(how));
        observe({}, [] { kernels::trap(false); });  // a launch that nothing may overlap
        CHECK_THAT(found(how, {.order = order}),
                   StartsWith("nothing orders ") && ContainsSubstring("a launch in "));
        CHECK(found(how, {.metered = false}) == "");
    }
}

TEST_CASE("what the host has waited for is not compared with what it asks for later", "[host]") {
    const auto remembered = [](bool host_waits) {
        std::size_t tasks = 0;
        observe({}, [&] { tasks = kernels::tasks_of_two_streams(10, host_waits); });
        return tasks;
    };
    CHECK(remembered(false) == 10);
    CHECK(remembered(true) == 0);
}

TEST_CASE("streams that have been destroyed are forgotten", "[host]") {
    const auto remembered = [] {
        auto in = upload("in", listed<int>(64, [](int i) { return i; }));
        auto between = zeros<int>("between", 64), out = zeros<int>("out", 64);
        observe({}, [&] {
            kernels::beside_a_copy(kernels::Beside::both_read, in.data(), between.data(), out.data(), 64);
        });
        return simt::streams_remembered();
    };
    const auto once = remembered();
    for (int i = 0; i < 3; ++i) CHECK(remembered() == once);
}

TEST_CASE("a stream or an event that does not exist is refused", "[host]") {
    auto out = zeros<int>("out");
    CHECK(fault([&] { kernels::launch_on_destroyed_stream(out.data()); }) ==
          "launch refused: there is no such stream, or it has been destroyed already");
    cudaEvent_t event = nullptr;
    CHECK_THROWS_WITH(cudaEventRecord(event),
                      "cudaEventRecord refused: there is no such event, or it has been destroyed already");
    CHECK(cudaEventCreate(&event) == cudaSuccess);
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, event, event) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventRecord(event) == cudaSuccess);
    CHECK(cudaEventElapsedTime(&milliseconds, event, event) == cudaSuccess);
    CHECK(milliseconds > 0);
    CHECK(cudaEventDestroy(event) == cudaSuccess);
    CHECK_THROWS_WITH(cudaEventDestroy(event), StartsWith("cudaEventDestroy refused"));
    int* host = nullptr;
    CHECK(cudaMallocHost(&host, 16) == cudaSuccess);
    CHECK(cudaFreeHost(host) == cudaSuccess);
    CHECK_THROWS_WITH(cudaFreeHost(host), StartsWith("cudaFreeHost refused"));
}

TEST_CASE("rows with a pitch are copied row by row", "[host]") {
    constexpr int width = 7, height = 5;
    auto in = upload("in", listed<int>(width * height, [](int i) { return 10 * i; }));
    auto out = zeros<int>("out", width * height);
    const auto seen = observe({}, [&] { kernels::rows(in.data(), out.data(), width, height); });
    CHECK(seen.findings == Findings{});
    CHECK(out.values() == listed<int>(width * height, [](int i) { return 10 * i + i / width; }));
    std::vector<int> host(8);
    CHECK(cudaMemcpy2D(host.data(), 4, host.data(), 8, 8, 1, cudaMemcpyHostToHost) ==
          cudaErrorInvalidPitchValue);
}

TEST_CASE("the device is the one whose limits hold", "[host]") {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
    CHECK((p.major == 9 && p.minor == 0 && p.warpSize == 32 && p.maxThreadsPerBlock == 1024));
    CHECK((p.maxGridSize[0] == 2147483647 && p.maxGridSize[1] == 65535 && p.maxThreadsDim[2] == 64));
    CHECK((p.sharedMemPerBlock == 48 * 1024 && p.sharedMemPerBlockOptin == 227 * 1024));
    int value = 0;
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
    CHECK(value == p.multiProcessorCount);
    observe({.multiprocessors = 3},
            [&] { cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0); });
    CHECK(value == 3);
    CHECK(cudaGetDeviceProperties(&p, 1) == cudaErrorInvalidDevice);
    CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
    CHECK(std::string(cudaGetErrorName(cudaErrorInvalidDevice)) == "cudaErrorInvalidDevice");
    int blocks = 0, grid = 0, block = 0;
    CHECK(kernels::occupancy(&blocks, 256, 0) == cudaSuccess);
    CHECK(blocks == 8);  // 2048 threads
    CHECK(kernels::occupancy(&blocks, 32, 0) == cudaSuccess);
    CHECK(blocks == 32);  // the maximum number of blocks
    CHECK(kernels::occupancy(&blocks, 256, 100 * 1024) == cudaSuccess);
    CHECK(blocks == 2);  // 228 KiB of shared memory
    CHECK(kernels::occupancy(&blocks, 2048, 0) == cudaSuccess);
    CHECK(blocks == 0);
    CHECK(kernels::best_block(&grid, &block) == cudaSuccess);
    CHECK((block == 1024 && grid == 2 * p.multiProcessorCount));
    std::size_t free = 0, total = 0, before = 0;
    cudaMemGetInfo(&before, &total);
    Buffer<char> some("some", 1000);
    cudaMemGetInfo(&free, &total);
    CHECK((before - free == 1000 && free < total));
}

// Cooperative groups

TEST_CASE("threads know their place in a block, in a tile and in a tile of a tile", "[groups]") {
    const dim3 block = GENERATE(dim3(40), dim3(5, 7, 3), dim3(1, 32));
    const unsigned threads = block.x * block.y * block.z;
    Buffer<unsigned> out("out", 8 * threads);
    observe({}, [&] { kernels::group_ranks(out.data(), block); });
    std::vector<unsigned> expected;
    for (unsigned i = 0; i < threads; ++i)
        expected.insert(expected.end(), {i, threads, i % 8, i / 8, (threads + 7) / 8, i % 4, i % 8 / 4, 2});
    CHECK(out.values() == expected);
}

TEST_CASE("a tile shuffles among its own threads", "[groups]") {
    using enum kernels::Tile_shuffle;
    const auto kind = GENERATE(index, up, down, exclusive_or);
    const int size = GENERATE(1, 2, 4, 8, 16, 32);
    const int argument = GENERATE(0, 1, 3, 8);
    const auto order = argument % 2 ? Order::backwards : Order::shuffled;
    auto in = upload("in", listed<int>(64, [](int i) { return 1000 + i; }));
    Buffer<int> out("out", 64);
    const auto seen = observe({.order = order},
                              [&] { kernels::tile_shuffle(kind, size, argument, in.data(), out.data()); });
    CHECK(seen.findings == Findings{});
    CHECK(out.values() == listed<int>(64, [=](int i) {
              const int first = i / size * size, rank = i % size;
              const int source = kind == index  ? argument % size
                                 : kind == up   ? rank - argument
                                 : kind == down ? rank + argument
                                                : rank ^ argument;
              return 1000 + (source < 0 || source >= size ? i : first + source);
          }));
}

TEST_CASE("a tile's shuffle counts as one of the warp", "[groups]") {
    if (!kata::counts_available()) SKIP("nothing is counted");
    auto in = upload("in", listed<int>(64, [](int i) { return i; }));
    Buffer<int> out("out", 64);
    const auto by_warp = observe({}, [&] { kernels::warp_shuffle(in.data(), out.data()); });
    const auto expected = out.values();
    const auto by_tile =
        observe({}, [&] { kernels::tile_shuffle(kernels::Tile_shuffle::down, 8, 3, in.data(), out.data()); });
    CHECK(out.values() == expected);
    CHECK(by_tile.counts->global_load == by_warp.counts->global_load);
    CHECK(by_tile.counts->global_store == by_warp.counts->global_store);
    CHECK(by_tile.counts->barriers == 0);
}

TEST_CASE("a tile moves values of up to 32 bytes", "[groups]") {
    Buffer<double> out("out", 4 * 32);
    observe({}, [&] { kernels::wide_shuffle(out.data()); });
    CHECK(out.values() == listed<double>(4 * 32, [](int i) {
              const int t = i / 4 ^ 1;
              return i % 4 == 0 ? t : i % 4 == 1 ? -t : i % 4 == 2 ? 2 * t : 0.5;
          }));
}

TEST_CASE("a tile makes one value of all", "[groups]") {
    const int size = GENERATE(2, 16, 32);
    const auto value = [](int i) { return i % 7 == 0 ? -5 * i - 1 : 3 * i; };
    auto in = upload("in", listed<int>(64, value));
    Buffer<int> out("out", 6 * 64);
    Buffer<float> sums("sums", 64);
    observe({}, [&] { kernels::tile_reduce(size, in.data(), out.data(), sums.data()); });
    std::vector<int> expected;
    std::vector<float> halves;
    for (int i = 0; i < 64; ++i) {
        int sum = 0, least = 1 << 30, most = -least, all = -1, any = 0, odd = 0;
        for (int k = i / size * size; k < i / size * size + size; ++k) {
            sum += value(k), least = std::min(least, value(k)), most = std::max(most, value(k));
            all &= value(k), any |= value(k), odd ^= value(k);
        }
        expected.insert(expected.end(), {sum, least, most, all, any, odd});
        halves.push_back(0.5f * static_cast<float>(sum));
    }
    CHECK(out.values() == expected);
    CHECK(sums.values() == halves);
}

TEST_CASE("a scan keeps the order of the lanes", "[groups]") {
    const bool coalesced = GENERATE(false, true);
    const auto value = [](int i) { return int2{i % 3 == 0 ? 1 : 2, i + 1}; };
    std::vector<int2> values;
    for (int i = 0; i < 32; ++i) values.push_back(value(i));
    auto in = upload("in", values);
    auto inclusive = upload("inclusive", std::vector<int2>(32)),
         exclusive = upload("exclusive", std::vector<int2>(32));
    observe({}, [&] { kernels::group_scan(coalesced, in.data(), inclusive.data(), exclusive.data()); });
    const auto all = inclusive.values(), before = exclusive.values();
    int2 sum{}, last{};
    for (int i = 0; i < 32; ++i) {
        if (coalesced && i % 3 != 0) continue;
        const bool first = coalesced ? i == 0 : i % 8 == 0;
        const auto v = value(i);
        last = first ? int2{0, 0} : sum;
        // NVIDIA passes the newer value to the operator first
        sum = first ? v : int2{sum.x * v.x, sum.y * v.x + v.y};
        CAPTURE(i);
        CHECK((all[i].x == sum.x && all[i].y == sum.y));
        CHECK((before[i].x == last.x && before[i].y == last.y));
    }
}

// Tiles of 8 lanes shuffle three times for an inclusive scan and four times for an exclusive one.
TEST_CASE("of a scan by the library its shuffles count, and not its loops", "[groups]") {
    if (!kata::counts_available()) SKIP("nothing is counted");
    auto in = upload("in", std::vector<int2>(32)), inclusive = upload("inclusive", std::vector<int2>(32)),
         exclusive = upload("exclusive", std::vector<int2>(32));
    const auto seen =
        observe({}, [&] { kernels::group_scan(false, in.data(), inclusive.data(), exclusive.data()); });
    const auto steps = seen.counts->basic_blocks;
    CHECK(steps >= 7);
    CHECK(steps < 30);
}

TEST_CASE("lanes at the same place are ranked, and vote by rank", "[groups]") {
    const unsigned mask = GENERATE(0xffffffffu, 0x80000001u, 0x0f0f0f00u, 0x00000010u);
    Buffer<int> out("out", 4 * 32);
    observe({}, [&] { kernels::lanes_together(mask, out.data()); });
    const auto seen = out.values();
    const int size = std::popcount(mask), last = 31 - std::countl_zero(mask);
    int sum = 0;
    for (int i = 0; i < 32; ++i) sum += mask >> i & 1 ? i : 0;
    for (int i = 0, rank = 0; i < 32; ++i) {
        if (!(mask >> i & 1)) continue;
        CHECK(seen[4 * i] == rank++);
        CHECK(seen[4 * i + 1] == 100 + last);
        CHECK(static_cast<unsigned>(seen[4 * i + 2]) ==
              (0xaaaaaaaau & (size == 32 ? ~0u : (1u << size) - 1)));
        CHECK(seen[4 * i + 3] == sum);
    }
}

TEST_CASE("a function takes any group", "[groups]") {
    const auto order = GENERATE(Order::forwards, Order::backwards, Order::shuffled);
    auto in = upload("in", listed<int>(64, [](int i) { return i * i; })), out = zeros<int>("out", 64);
    const auto seen =
        observe({.order = order}, [&] { kernels::reduce_through_group(in.data(), out.data()); });
    CHECK(seen.findings == Findings{});
    CHECK(out.values() == listed<int>(64, [](int i) {
              if (i % 16 != 0) return 0;
              int sum = 0;
              for (int k = i; k < (i == 0 ? 64 : i + 16); ++k) sum += k * k;
              return sum;
          }));
}

TEST_CASE("a thread of a tile that does not come is missed", "[groups]") {
    auto out = zeros<int>("out", 32);
    const auto message = fault([&] { kernels::tile_with_absent_lane(out.data()); });
    CHECK_THAT(message, StartsWith("deadlock: the threads of block (0,0,0)"));
    CHECK_THAT(message, ContainsSubstring("24 threads, first (0,0,0), wait at shfl_down in " +
                                          line_of("absent lane")));
    CHECK_THAT(message,
               ContainsSubstring("the mask 0x0000000f of shfl_down names 1 lane that did not come: 3"));
}

TEST_CASE("a block's sync() is a barrier like any other", "[groups]") {
    Buffer<int> out("out", 64);
    const auto seen = observe({}, [&] { kernels::group_barrier(false, out.data()); });
    CHECK(seen.findings == Findings{});
    if (seen.counts) CHECK(seen.counts->barriers == 1);
    CHECK(out.values() == listed<int>(64, [](int i) { return 63 - i; }));
    const auto message = fault([&] { kernels::group_barrier(true, out.data()); });
    CHECK_THAT(message, StartsWith("divergent barrier: "));
    CHECK_THAT(message, ContainsSubstring("10 threads, first (0,0,0), wait at sync in " +
                                          line_of("barrier of a group")));
}

TEST_CASE("a grid cannot wait for itself", "[groups]") {
    CHECK_THAT(fault([] { kernels::grid_barrier(); }),
               StartsWith("this_grid().sync() in " + line_of("barrier of the grid")) &&
                   ContainsSubstring("this step needs a GPU build"));
}

// Asynchronous copies

namespace {

/// Returns the meter's findings for a copy that is waited for in this way. Without a meter, checks only the
/// result.
Findings copied(kernels::Wait wait, Order order = Order::forwards) {
    auto in = upload("in", listed<int>(64, [](int i) { return i * i; }));
    auto out = zeros<int>("out", 64);
    const auto seen = observe({.order = order}, [&] { kernels::copy_reversed(wait, in.data(), out.data()); });
    CHECK((out.values() == listed<int>(64, [](int i) { return (63 - i) * (63 - i); })) ==
          (wait == kernels::Wait::right || wait == kernels::Wait::barrier_first ||
           wait == kernels::Wait::no_barrier));
    return seen.findings;
}

}  // namespace

TEST_CASE("a copy has arrived once its thread has waited and all have met", "[copies]") {
    const auto order = GENERATE(Order::forwards, Order::backwards, Order::shuffled);
    CHECK(copied(kernels::Wait::right, order) == Findings{});
    auto in = upload("in", listed<int>(64, [](int i) { return i + 1; }));
    auto out = zeros<int>("out", 64);
    auto seen = observe({.order = order}, [&] { kernels::copy_with_zeros(in.data(), out.data()); });
    CHECK(seen.findings == Findings{});
    CHECK(out.values() == listed<int>(64, [](int i) { return i % 4 + i / 4 % 5 < 4 ? i + 1 : 0; }));
    seen = observe({.order = order}, [&] { kernels::copy_by_group(true, in.data(), out.data()); });
    CHECK(seen.findings == Findings{});
    CHECK(out.values() == listed<int>(64, [](int i) { return 64 - i; }));
    if (!seen.counts) return;
    // 16 threads copy 16 bytes each: eight sectors, and each quarter of a warp accesses all banks once
    CHECK(seen.counts->global_load.requests == 1);
    CHECK(seen.counts->global_load.bytes == 256);
    CHECK(seen.counts->global_load.transactions == 8);
    CHECK(seen.counts->shared_store.bytes == 256);
    CHECK(seen.counts->shared_store.transactions == 2);
}

// Two warps copy an int per thread, and wait for it before their barrier or after it.
TEST_CASE("what copies are still to bring is counted at each barrier", "[copies]") {
    if (!kata::counts_available()) SKIP("nothing is counted on this back end");
    auto in = upload("in", listed<int>(64, [](int i) { return i; }));
    auto out = zeros<int>("out", 64);
    const auto counted = [&](kernels::Wait wait) {
        return observe({}, [&] { kernels::copy_reversed(wait, in.data(), out.data()); }).counts.value();
    };
    CHECK(counted(kernels::Wait::barrier_first).bytes_ahead == 64 * 4);
    CHECK(counted(kernels::Wait::right).bytes_ahead == 0);
    // The other warp may have worked between the barrier and the wait.
    CHECK(counted(kernels::Wait::barrier_first).waited_for == 0);
    CHECK(counted(kernels::Wait::right).waited_for == 64 * 4);
    CHECK(observe({}, [&] { kernels::copy_with_zeros(in.data(), out.data()); }).counts->bytes_ahead == 0);
}

TEST_CASE("a copy arrives where races are not looked for", "[copies]") {
    auto in = upload("in", listed<int>(64, [](int i) { return i + 1; }));
    auto out = zeros<int>("out", 64);
    const auto seen =
        observe({.sample = 1}, [&] { kernels::copy_reversed(kernels::Wait::none, in.data(), out.data()); });
    CHECK(seen.findings == Findings{});  // races are not looked for in a sample
    observe({.sample = 1}, [&] { kernels::copy_in_dynamic(in.data(), out.data()); });
    CHECK(out.values() == in.values());
}

TEST_CASE("a read before the copy has arrived is found", "[copies]") {
    if (!kata::counts_available()) SKIP("without the meter the numbers are wrong, and nothing says why");
    const auto wait = GENERATE(kernels::Wait::none, kernels::Wait::no_commit, kernels::Wait::too_few);
    const auto order = GENERATE(Order::forwards, Order::backwards, Order::shuffled);
    const auto findings = copied(wait, order);
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0], StartsWith("read before the copy into shared memory has arrived: thread ("));
    CHECK_THAT(findings[0],
               ContainsSubstring("reads shared memory \"s\", element ") &&
                   ContainsSubstring("in " + line_of("read of the copy") + ", where the copy of " +
                                     line_of("copy") + " is still in flight"));
    CHECK_THAT(findings[0], ContainsSubstring("__pipeline_wait_prior(0), and then with a barrier"));
}

TEST_CASE("to another thread a copy has not arrived before a barrier behind the wait", "[copies]") {
    if (!kata::counts_available()) SKIP("only the meter knows");
    const auto wait = GENERATE(kernels::Wait::no_barrier, kernels::Wait::barrier_first);
    auto in = upload("in", listed<int>(64, [](int i) { return i; }));
    auto out = zeros<int>("out", 64);
    const auto order = GENERATE(Order::forwards, Order::backwards);
    const auto seen = observe({.order = order}, [&] { kernels::copy_reversed(wait, in.data(), out.data()); });
    REQUIRE(!seen.findings.empty());  // a read that comes first also finds unwritten shared memory
    CHECK_THAT(seen.findings.front(), ContainsSubstring(line_of("copy")));
    CHECK_THAT(seen.findings.front(), ContainsSubstring(line_of("read of the copy")));
    CHECK(seen.counts->shared_store.bytes == 256);  // although the launch is repeated
}

TEST_CASE("a group that does not wait is found, and a write into a copy in flight", "[copies]") {
    if (!kata::counts_available()) SKIP("only the meter knows");
    auto in = upload("in", listed<int>(64, [](int i) { return i; }));
    auto out = zeros<int>("out", 64);
    auto seen = observe({}, [&] { kernels::copy_by_group(false, in.data(), out.data()); });
    REQUIRE(!seen.findings.empty());
    CHECK_THAT(seen.findings[0], ContainsSubstring(line_of("read of the group")));
    seen = observe({}, [&] { kernels::overwrite_copy(in.data(), out.data()); });
    REQUIRE(seen.findings.size() == 1);
    CHECK_THAT(seen.findings[0], StartsWith("write before the copy into shared memory has arrived") &&
                                     ContainsSubstring(line_of("write before the copy")) &&
                                     ContainsSubstring(line_of("overwritten copy")));
}

TEST_CASE("a copy of another size, to another place or off its alignment is refused", "[copies]") {
    auto out = zeros<int>("out", 8);
    CHECK(fault([&] { kernels::copy_badly(16, 0, false, out.data()); }) == "");
    CHECK_THAT(fault([&] { kernels::copy_badly(12, 0, false, out.data()); }),
               StartsWith("__pipeline_memcpy_async in " + line_of("bad copy")) &&
                   ContainsSubstring("copies 12 bytes") && ContainsSubstring("it takes 4, 8 or 16"));
    CHECK_THAT(fault([&] { kernels::copy_badly(8, 4, false, out.data()); }),
               ContainsSubstring("from an address that is no multiple of 8"));
    CHECK_THAT(fault([&] { kernels::copy_badly(4, 2, false, out.data()); }),
               ContainsSubstring("multiple of 4"));
    if (!kata::counts_available()) return;
    CHECK_THAT(fault([&] { kernels::copy_badly(4, 0, true, out.data()); }),
               StartsWith("__pipeline_memcpy_async copies into shared memory, and thread (0,0,0)"));
    CHECK_THAT(fault([&] { kernels::copy_badly(4, 32, false, out.data()); }),
               StartsWith("out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes"));
}

TEST_CASE("an asynchronous copy reads global memory, and that of a group any", "[pipeline]") {
    using enum kernels::Copy_from;
    auto in = upload("in", listed<int>(32, [](int i) { return i; })), out = zeros<int>("out", 32);
    const auto copy = [&](kernels::Copy_from from, bool by_group) {
        return fault([&] { kernels::copy_first_from(from, by_group, in.data(), out.data()); });
    };
    CHECK(copy(global, false) == "");
    for (const auto from : {global, shared, own}) CHECK(copy(from, true) == "");
    if (!kata::counts_available()) return;
    const auto refused = [&](const std::string& source) {
        return "__pipeline_memcpy_async copies from global memory, and thread (0,0,0) of block (0,0,0) "
               "copies from " +
               source + ", in " + line_of("copies from") + ": assign what is there";
    };
    CHECK(copy(shared, false) == refused("shared memory"));
    CHECK(copy(own, false) == refused("a variable of its own"));
}

// Atomics of libcu++

/// Under AddressSanitizer shared memory is in plain statics, which only one block can use at a time. A block
/// cannot wait there for a later one.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool blocks_run_side_by_side = false;
#else
constexpr bool blocks_run_side_by_side = true;
#endif

TEST_CASE("a block hands over to another what it has released", "[atomic_ref]") {
    using enum kernels::Handover;
    const auto order = GENERATE(Order::forwards, Order::shuffled);
    if (order == Order::shuffled && !blocks_run_side_by_side) return;
    const auto run = [&](kernels::Handover how) {
        auto data = zeros<int>("data", 32), flag = zeros<int>("flag"), out = zeros<int>("out", 32);
        const auto seen =
            observe({.order = order}, [&] { kernels::hand_over(how, data.data(), flag.data(), out.data()); });
        if (how == right) CHECK(out.values() == listed<int>(32, [](int i) { return 7 * i; }));
        return seen.findings;
    };
    CHECK(run(right) == Findings{});
    if (!kata::counts_available()) return;
    const auto unordered = run(relaxed), narrow = run(of_block), plain = run(plain_flag);
    REQUIRE(unordered.size() == 1);
    CHECK_THAT(unordered[0], StartsWith("race in global memory \"data\""));
    REQUIRE(narrow.size() == 2);
    CHECK_THAT(narrow[0], StartsWith("race in global memory \"flag\"") &&
                              ContainsSubstring(" writes atomically in ") &&
                              ContainsSubstring(" reads atomically in ") &&
                              ContainsSubstring("give it the scope of the device"));
    REQUIRE(plain.size() == 1);
    CHECK_THAT(plain[0], StartsWith("race in global memory \"flag\""));
}

TEST_CASE("an atomic_ref computes what its names say", "[atomic_ref]") {
    auto values = upload("values", std::vector<int>(8, 12)), before = zeros<int>("before", 8);
    const auto seen = observe({}, [&] { kernels::fetch_all(values.data(), before.data()); });
    CHECK(seen.findings == Findings{});
    CHECK(values.values() == std::vector<int>{17, 7, 4, 14, 10, -6, 60, 9});
    CHECK(before.values() == std::vector<int>(8, 12));
    auto counts = zeros<int>("counts", 3), sum = zeros<int>("sum");
    const auto order = GENERATE(Order::forwards, Order::shuffled);
    CHECK(observe({.order = order}, [&] { kernels::count_in_block(counts.data()); }).findings == Findings{});
    CHECK(counts.values() == std::vector<int>(3, 128));
    CHECK(observe({.order = order}, [&] { kernels::compare_and_swap(sum.data(), 4); }).findings ==
          Findings{});
    CHECK(sum.values()[0] == 4 * 32 * 3);
}

TEST_CASE("an atomic load counts as a load, a store as a store, and the rest as atomics", "[atomic_ref]") {
    auto words = zeros<unsigned long long>("words", 32);
    const auto seen = observe({}, [&] { kernels::atomic_traffic(words.data()); });
    CHECK(words.values() == std::vector<unsigned long long>(32, 2));
    if (!seen.counts) return;
    for (const auto& traffic :
         {seen.counts->global_load, seen.counts->global_store, seen.counts->global_atomic})
        CHECK((traffic.requests == 1 && traffic.bytes == 256 && traffic.transactions == 8));
}

// 16-bit numbers

namespace {

// A number with 113 bits, if there is one.
#if defined(__SIZEOF_FLOAT128__)
using Wide = __float128;
constexpr bool wide_enough = true;
#else
using Wide = long double;
constexpr bool wide_enough = std::numeric_limits<Wide>::digits >= 113;
#endif

template <class Number>
struct Layout;
template <>
struct Layout<half> {
    static constexpr int fraction = 10, bias = 15;
};
template <>
struct Layout<nv_bfloat16> {
    static constexpr int fraction = 7, bias = 127;
};

/// Returns the value of a number's bits by the standard.
template <class Number>
double value_of(int bits) {
    using L = Layout<Number>;
    const int exponent = (bits & 0x7fff) >> L::fraction, fraction = bits & ((1 << L::fraction) - 1);
    const double sign = bits >> 15 ? -1 : 1;
    if (exponent == 2 * L::bias + 1)
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    return exponent == 0 ? sign * std::ldexp(fraction, 1 - L::bias - L::fraction)
                         : sign * std::ldexp((1 << L::fraction) + fraction, exponent - L::bias - L::fraction);
}
template <class Number>
int largest() {
    return ((2 * Layout<Number>::bias + 1) << Layout<Number>::fraction) - 1;
}

/// Returns the bits of the number nearest to x, or the even one of two. Found by search: positive numbers and
/// their bits have the same order.
template <class Number>
int nearest(double x) {
    if (std::isnan(x)) return 0x7fff;
    const int sign = std::signbit(x) ? 0x8000 : 0;
    x = std::fabs(x);
    int low = 0, high = largest<Number>() + 1;  // infinity, which stands for the next step
    const double step = value_of<Number>(high - 1) - value_of<Number>(high - 2);
    const auto value = [&](int bits) {
        return bits == high ? value_of<Number>(bits - 1) + step : value_of<Number>(bits);
    };
    const int infinity = high;
    if (x >= value(infinity)) return sign | infinity;
    int above = infinity;
    while (above - low > 1) {
        const int middle = (low + above) / 2;
        (value_of<Number>(middle) <= x ? low : above) = middle;
    }
    const double down = x - value_of<Number>(low),
                 up = (above == infinity ? value(infinity) : value_of<Number>(above)) - x;
    return sign | (down < up || (down == up && low % 2 == 0) ? low : above);
}

/// Returns the double next to a + b, choosing of two the one with the last bit set: rounding it again gives
/// the same as rounding a + b.
double odd_sum_of(Wide a, Wide b) {
    const Wide sum = a + b;
    auto result = static_cast<double>(sum);
    if (!std::isfinite(result) || std::bit_cast<std::uint64_t>(result) % 2 != 0) return result;
    // the part that 113 bits leave out; the larger one first
    const bool in_order = (a < 0 ? -a : a) >= (b < 0 ? -b : b);
    const Wide rest = in_order ? b - (sum - a) : a - (sum - b), beyond = sum - result;
    if (beyond > 0 || (beyond == 0 && rest > 0)) return std::nextafter(result, HUGE_VAL);
    if (beyond < 0 || (beyond == 0 && rest < 0)) return std::nextafter(result, -HUGE_VAL);
    return result;
}

}  // namespace

TEMPLATE_TEST_CASE("all numbers of 16 bits are what the standard says", "[half]", half, nv_bfloat16) {
    int wrong = 0;
    for (int bits = 0; bits < 0x10000; ++bits) {
        const auto number = TestType::of_bits(static_cast<unsigned short>(bits));
        const double expected = value_of<TestType>(bits);
        const float wide = number;
        wrong += std::isnan(expected) ? !std::isnan(wide) || !__hisnan(number)
                                      : wide != static_cast<float>(expected);
        wrong += std::signbit(wide) != std::signbit(expected) && !std::isnan(expected);
        wrong += TestType(wide).bits() != (std::isnan(expected) ? 0x7fff : bits);  // and back again
    }
    CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("what lies between two numbers of 16 bits goes to the nearer, then to the even", "[half]",
                   half, nv_bfloat16) {
    int wrong = 0;
    for (int bits = 0; bits < largest<TestType>(); ++bits)
        for (const double sign : {1.0, -1.0}) {
            const double low = value_of<TestType>(bits), high = value_of<TestType>(bits + 1),
                         middle = (low + high) / 2;
            const int s = sign < 0 ? 0x8000 : 0, even = bits % 2 == 0 ? bits : bits + 1;
            wrong += TestType(sign * middle).bits() != (s | even);
            wrong += TestType(sign * std::nextafter(middle, 0)).bits() != (s | bits);
            wrong += TestType(sign * std::nextafter(middle, HUGE_VAL)).bits() != (s | (bits + 1));
        }
    CHECK(wrong == 0);
    const double most = value_of<TestType>(largest<TestType>());
    const double half_a_step = (most - value_of<TestType>(largest<TestType>() - 1)) / 2;
    CHECK(TestType(most + half_a_step).bits() == largest<TestType>() + 1);  // infinity
    CHECK(TestType(std::nextafter(most + half_a_step, 0)).bits() == largest<TestType>());
}

TEST_CASE("a float becomes a half in the direction that is asked for", "[half]") {
    std::mt19937 random(2);
    for (int i = 0; i < 20'000; ++i) {
        const auto x = std::bit_cast<float>(static_cast<unsigned>(random()) >> 2 |
                                            static_cast<unsigned>(random() & 1) << 31);
        const float near = __half2float(__float2half_rn(x)), zero = __half2float(__float2half_rz(x));
        const float up = __half2float(__float2half_ru(x)), down = __half2float(__float2half_rd(x));
        CHECK((down <= x && x <= up && (near == up || near == down) && zero == (x > 0 ? down : up)));
        const auto next = __half_as_ushort(__float2half_rd(x));
        if (down != up && down >= 0) CHECK(next + 1 == __half_as_ushort(__float2half_ru(x)));
        CHECK(__float2half(x).bits() == nearest<half>(x));
    }
    CHECK(__float2half_rz(1e9f).bits() == largest<half>());
    CHECK(__float2half(1e9f).bits() == largest<half>() + 1);
    CHECK((__half2int_rn(half(2.5f)) == 2 && __half2int_rz(half(-2.5f)) == -2 &&
           __half2int_ru(half(2.5f)) == 3));
    CHECK(half((1ll << 40) + 1).bits() == largest<half>() + 1);
    CHECK(nv_bfloat16((1ll << 62) + (1ll << 54) + 1).bits() ==
          nv_bfloat16(0x1p62).bits() + 1);  // one above the middle
}

TEMPLATE_TEST_CASE("arithmetic of 16 bits is exact, rounded once", "[half]", half, nv_bfloat16) {
    if (!wide_enough) SKIP("this machine has no number to compute the exact result with");
    std::mt19937 random(3);
    const auto number = [&] {
        const auto bits = static_cast<unsigned short>(random());
        // as often near 1 as anywhere, so that operands are of similar size
        return TestType::of_bits(static_cast<unsigned short>(
            random() % 2 ? bits : (bits & 0x83ff) | Layout<TestType>::bias << Layout<TestType>::fraction));
    };
    const auto bits = [](double x) { return nearest<TestType>(x); };
    int wrong = 0;
    for (int i = 0; i < 100'000; ++i) {
        const auto a = number(), b = number(), c = number();
        const double x = value_of<TestType>(a.bits()), y = value_of<TestType>(b.bits()),
                     z = value_of<TestType>(c.bits());
        const double odd = odd_sum_of(static_cast<Wide>(x) * y, z), sum = odd_sum_of(x, y);
        wrong += __hadd(a, b).bits() != bits(sum);
        wrong += (a * b).bits() != bits(x * y);
        wrong += (a / b).bits() != bits(x / y);
        wrong += __hfma(a, b, c).bits() != bits(odd);
        wrong += (a < b) != (x < y) || (a == b) != (x == y) || (a != b) != (x != y) ||
                 __hne(a, b) != (x < y || x > y);
        if (!std::isnan(x) && !std::isnan(y))
            wrong += static_cast<float>(__hmax(a, b)) != static_cast<float>(std::max(x, y));
    }
    CHECK(wrong == 0);
    CHECK(__hmax(TestType::of_bits(0x7fff), TestType(1)) == TestType(1));
    CHECK(__hisnan(__hmin_nan(TestType::of_bits(0x7fff), TestType(1))));
    CHECK(__hfma_relu(TestType(-1), TestType(1), TestType(0)).bits() == 0);
    CHECK(__hadd_sat(TestType(1), TestType(1)) == TestType(1));
}

TEST_CASE("a fused product is rounded once where two roundings give another number", "[half]") {
    // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20: almost the middle of two halves once 2^-11 is added
    const half a(1 + 0x1p-10), c(0x1p-11);
    CHECK(static_cast<float>(__hfma(a, a, c)) == 1 + 0x1p-9f + 0x1p-10f);
    CHECK(static_cast<float>(a * a + c) == 1 + 0x1p-9f);
    // far below the precision of a double next to 1: only its sign matters
    const nv_bfloat16 x(1 + 0x1p-7), tiny(0x1p-100);
    CHECK(static_cast<float>(__hfma(nv_bfloat16(0.5), nv_bfloat16(1 + 0x1p-7), nv_bfloat16(0.5))) == 1.0f);
    CHECK(static_cast<float>(__hadd(x, tiny)) == 1 + 0x1p-7f);
}

TEST_CASE("halves travel in pairs, through memory, atomics and shuffles", "[half]") {
    static_assert(sizeof(half) == 2 && alignof(half) == 2 && sizeof(half2) == 4 && alignof(half2) == 4);
    std::vector<unsigned short> in;
    for (int i = 0; i < 64; ++i) in.push_back(half(i).bits());
    auto words = upload("words", in);
    auto sums = zeros<unsigned short>("sums", 2);
    Buffer<float> out("out", 64);
    const auto seen = observe({}, [&] { kernels::halves(words.data(), sums.data(), out.data()); });
    CHECK(seen.findings == Findings{});
    // x of the neighbor, and y twice plus 1
    CHECK(out.values() == listed<float>(64, [](int i) { return i % 2 == 0 ? i ^ 2 : 2 * i + 1; }));
    CHECK(half::of_bits(sums.values()[0]) == half(2 * (0 + 31) * 16));  // 0, 2, …, 62
    CHECK(half::of_bits(sums.values()[1]) == half(32));
    if (!seen.counts) return;
    CHECK(seen.counts->global_load.bytes == 128);
    CHECK(seen.counts->global_load.transactions == 4);
    CHECK(seen.counts->global_atomic.accesses == 32 + 32);
}

// Tensor cores

TEST_CASE("a warp multiplies halves in every layout", "[wmma]") {
    const bool a_by_rows = GENERATE(true, false), b_by_rows = GENERATE(true, false),
               c_by_rows = GENERATE(true, false);
    const auto a = [](int y, int x) { return (3 * y + 5 * x) % 17 - 8; };
    const auto b = [](int y, int x) { return (7 * y + 2 * x + y * x) % 13 - 6; };
    const auto laid = [](const auto& value, bool by_rows) {
        return [=](int i) { return by_rows ? value(i / 16, i % 16) : value(i % 16, i / 16); };
    };
    const auto bits = [&](const auto& value, bool by_rows) {
        return listed<unsigned short>(256, [&](int i) { return half(laid(value, by_rows)(i)).bits(); });
    };
    auto left = upload("left", bits(a, a_by_rows)), right = upload("right", bits(b, b_by_rows));
    const auto before = [](int y, int x) { return y * 100 + x; };
    auto sum = upload("sum", listed<float>(256, laid(before, c_by_rows)));
    const auto seen = observe({.order = a_by_rows ? Order::shuffled : Order::backwards}, [&] {
        kernels::multiply_halves(a_by_rows, b_by_rows, c_by_rows, left.data(), right.data(), sum.data());
    });
    CHECK(seen.findings == Findings{});
    CHECK(seen.fragments);
    CHECK(sum.values() == listed<float>(256, laid(
                                                 [&](int y, int x) {
                                                     int result = before(y, x);
                                                     for (int k = 0; k < 16; ++k) result += a(y, k) * b(k, x);
                                                     return result;
                                                 },
                                                 c_by_rows)));
}

// Measured on an H100 with the same kernel: row and column of each element of lane 5.
TEST_CASE("a lane holds the elements of a second factor that it holds on an H100", "[wmma]") {
    const bool tf32 = GENERATE(true, false), by_rows = GENERATE(true, false);
    CAPTURE(tf32, by_rows);
    const std::size_t k = tf32 ? 8 : 16;
    std::vector<float> b(k * 16);
    std::vector<unsigned short> narrow(b.size());
    for (std::size_t row = 0; row < k; ++row)
        for (std::size_t column = 0; column < 16; ++column) {
            const auto at = by_rows ? row * 16 + column : column * k + row;
            b[at] = static_cast<float>(row * 16 + column);
            narrow[at] = static_cast<unsigned short>(std::bit_cast<unsigned>(b[at]) >> 16);
        }
    const auto elements = tf32 ? 4u : 8u;
    auto factor = upload("factor", b);
    auto narrow_factor = upload("narrow factor", narrow);
    auto out = zeros<float>("out", 32 * elements);
    observe({}, [&] {
        kernels::elements_of_lanes(tf32, by_rows, factor.data(), narrow_factor.data(), out.data());
    });
    const auto all = out.values();
    const std::vector<float> lane_5(all.begin() + 5 * elements, all.begin() + 6 * elements);
    const auto place = [](int row, int column) { return static_cast<float>(row * 16 + column); };
    if (tf32)
        CHECK(lane_5 == std::vector{place(1, 1), place(5, 1), place(1, 9), place(5, 9)});
    else
        CHECK(lane_5 == std::vector{place(2, 1), place(3, 1), place(10, 1), place(11, 1), place(2, 9),
                                    place(3, 9), place(10, 9), place(11, 9)});
}

TEST_CASE("tf32 has 10 bits behind the point, rounded where that is asked for", "[wmma]") {
    // a single element of the sum: 1 + 2^-11 lies halfway between two tf32 numbers
    std::vector<float> a(16 * 8), b(8 * 16);
    a[0] = 1 + 0x1p-11f, b[0] = 1;
    a[8] = 1 + 0x1p-10f, b[1] = 1 + 0x1p-10f;
    auto left = upload("left", a), right = upload("right", b);
    auto sum = zeros<float>("sum", 256);
    observe({}, [&] { kernels::multiply_tf32(true, left.data(), right.data(), sum.data()); });
    CHECK(sum.values()[0] == 1 + 0x1p-10f);
    CHECK(sum.values()[17] == 1 + 0x1p-9f + 0x1p-20f);  // the product is exact
    observe({}, [&] { kernels::multiply_tf32(false, left.data(), right.data(), sum.data()); });
    CHECK(sum.values()[0] == 1);
}

TEST_CASE("rounding to tf32 keeps zeros and infinities, and a NaN stays one in a product", "[wmma]") {
    constexpr float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> numbers{0,
                                     -0.0f,
                                     inf,
                                     -inf,
                                     1 + 0x1p-11f,
                                     -1 - 0x1p-11f,
                                     1 + 0x1.fp-12f,
                                     std::numeric_limits<float>::max(),
                                     std::bit_cast<float>(0x7f800001u)};
    auto in = upload("in", numbers), out = zeros<float>("out", numbers.size());
    observe({}, [&] { kernels::round_to_tf32(in.data(), out.data(), static_cast<int>(numbers.size())); });
    const auto rounded = out.values();
    for (std::size_t i = 0; i < 4; ++i)
        CHECK(std::bit_cast<unsigned>(rounded[i]) == std::bit_cast<unsigned>(numbers[i]));
    CHECK(rounded[4] == 1 + 0x1p-10f);
    CHECK(rounded[5] == -1 - 0x1p-10f);
    CHECK(rounded[6] == 1);
    CHECK(rounded[7] == inf);
    CHECK(std::bit_cast<unsigned>(rounded[8]) == 0x7fffffffu);
}

TEST_CASE("a fragment that is loaded before its copy has arrived is found", "[wmma][copies]") {
    const auto numbers = listed<float>(256, [](int i) { return i; });
    auto in = upload("in", numbers), out = zeros<float>("out", 256);
    const auto waited = observe({}, [&] { kernels::through_a_fragment(true, in.data(), out.data()); });
    CHECK(waited.findings == Findings{});
    CHECK(out.values() == numbers);
    if (!waited.counts) return;  // with a meter, it reports the error
    const auto findings =
        observe({}, [&] { kernels::through_a_fragment(false, in.data(), out.data()); }).findings;
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0], StartsWith("read before the copy into shared memory has arrived: ") &&
                                ContainsSubstring(line_of("fragment of a copy")));
}

TEST_CASE("a fragment takes the whole warp, one address and its alignment", "[wmma]") {
    using enum kernels::Bad_matrix;
    auto out = zeros<float>("out", 300);
    const auto fault_of = [&](kernels::Bad_matrix how) {
        return fault([&] { kernels::multiply_badly(how, out.data()); });
    };
    CHECK(fault_of(none) == "");
    const auto start = "store_matrix_sync in " + line_of("bad matrix");
    for (const auto& [how, words] : std::vector<std::pair<kernels::Bad_matrix, std::string>>{
             {half_a_warp, " takes a whole warp: this one has only 16 threads"},
             {gone_lane, " takes a whole warp: of this one, lane 5 has left the kernel"},
             {off_alignment,
              ", by warp 0 of block (0,0,0): the address of the first element is 16 bytes beyond "
              "a multiple of 32: tensor cores take only multiples"},
             {odd_pitch,
              ", by warp 0 of block (0,0,0): the leading dimension, 18, is no multiple of 4 elements, "
              "which are 16 bytes"},
             {unlike_address,
              ", by warp 0 of block (0,0,0): lanes 0 and 9 give different addresses: the warp "
              "takes one matrix, and each lane gives the address of its first element"},
             {unlike_pitch,
              ", by warp 0 of block (0,0,0): lanes 0 and 9 give different leading dimensions, 16 "
              "and 20: the warp takes one matrix"},
             {unlike_layout,
              ", by warp 0 of block (0,0,0): lanes 0 and 9 give different layouts: the warp takes "
              "one matrix"}})
        CHECK_THAT(fault_of(how), StartsWith(start + words));
    const auto apart = fault_of(other_line);
    CHECK_THAT(apart, ContainsSubstring(" takes a whole warp: lane ") &&
                          ContainsSubstring(line_of("bad matrix")) &&
                          ContainsSubstring(line_of("other line")));
    CHECK_THAT(fault_of(absent_lane),
               StartsWith("deadlock: ") &&
                   ContainsSubstring("of store_matrix_sync names 1 lane that did not come: 5"));
}
