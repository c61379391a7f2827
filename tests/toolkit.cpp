// The CPU back end is judged on what CUDA's headers offer beside the language: intrinsics, streams and
// events, what the device is, and the headers in common/simt/toolkit.
#include "buffer.hpp"
#include "error.hpp"
#include "observe.hpp"
#include "simt/host.hpp"
#include "simt/intrinsics.hpp"
#include "tools/toolkit_kernels.hpp"

#include <bit>
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

/// value(0), value(1), …
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

/// What the work was ended with; empty if it was not.
std::string fault(const std::function<void()>& work) {
    try {
        observe({.time_limit = 0.5}, work);
    } catch (const kata::Error& e) {
        return e.what();
    }
    return "";
}

/// "toolkit_kernels.cu:12", where the file has the comment `mark: …` in line 12.
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
    CHECK(cudaGetDeviceProperties(&p, 1) == cudaErrorInvalidDevice);
    CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
    CHECK(std::string(cudaGetErrorName(cudaErrorInvalidDevice)) == "cudaErrorInvalidDevice");
    int blocks = 0, grid = 0, block = 0;
    CHECK(kernels::occupancy(&blocks, 256, 0) == cudaSuccess);
    CHECK(blocks == 8);  // 2048 threads
    CHECK(kernels::occupancy(&blocks, 32, 0) == cudaSuccess);
    CHECK(blocks == 32);  // as many blocks as there may be
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
        // NVIDIA hands the newer value to the operator first
        sum = first ? v : int2{sum.x * v.x, sum.y * v.x + v.y};
        CAPTURE(i);
        CHECK((all[i].x == sum.x && all[i].y == sum.y));
        CHECK((before[i].x == last.x && before[i].y == last.y));
    }
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

/// What the meter says of a copy that is waited for in this way; and without a meter, what was computed.
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
    // 16 threads copy 16 bytes each: eight sectors, and each quarter of a warp all banks once
    CHECK(seen.counts->global_load.requests == 1);
    CHECK(seen.counts->global_load.bytes == 256);
    CHECK(seen.counts->global_load.transactions == 8);
    CHECK(seen.counts->shared_store.bytes == 256);
    CHECK(seen.counts->shared_store.transactions == 2);
}

TEST_CASE("a read before the copy has arrived is found", "[copies]") {
    if (!kata::counts_available()) SKIP("without the meter the numbers are wrong, and nothing says why");
    const auto wait = GENERATE(kernels::Wait::none, kernels::Wait::no_commit, kernels::Wait::too_few);
    const auto order = GENERATE(Order::forwards, Order::backwards, Order::shuffled);
    const auto findings = copied(wait, order);
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0], StartsWith("read before the copy into shared memory has arrived: thread ("));
    CHECK_THAT(findings[0],
               ContainsSubstring("reads shared memory in " + line_of("read of the copy") +
                                 ", where the copy of " + line_of("copy") + " is still under way"));
    CHECK_THAT(findings[0], ContainsSubstring("__pipeline_wait_prior(0), and then with a barrier"));
}

TEST_CASE("to another thread a copy has not arrived before a barrier behind the wait", "[copies]") {
    if (!kata::counts_available()) SKIP("only the meter knows");
    const auto wait = GENERATE(kernels::Wait::no_barrier, kernels::Wait::barrier_first);
    auto in = upload("in", listed<int>(64, [](int i) { return i; }));
    auto out = zeros<int>("out", 64);
    const auto order = GENERATE(Order::forwards, Order::backwards);
    const auto seen = observe({.order = order}, [&] { kernels::copy_reversed(wait, in.data(), out.data()); });
    REQUIRE(!seen.findings.empty());  // who reads first finds shared memory that nobody has written, too
    CHECK_THAT(seen.findings.back(), ContainsSubstring(line_of("copy")));
    CHECK_THAT(seen.findings.back(), ContainsSubstring(line_of("read of the copy")));
}

TEST_CASE("a group that does not wait is found, and a write into a copy under way", "[copies]") {
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

// Atomics of libcu++

TEST_CASE("a block hands over to another what it has released", "[atomic_ref]") {
    using enum kernels::Handover;
    const auto order = GENERATE(Order::forwards, Order::shuffled);
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
