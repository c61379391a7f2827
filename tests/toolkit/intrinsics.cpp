// Intrinsics.
#include "simt/intrinsics.hpp"

#include "suite.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

TEST_CASE("bits and bytes go where CUDA specifies", "[intrinsics]") {
    CHECK(__brev(0x80000001u) == 0x80000001u);
    CHECK(__brev(0x00000006u) == 0x60000000u);
    CHECK(__brevll(1) == 1ull << 63);
    CHECK((__clz(0) == 32 && __clz(1) == 31 && __clz(-1) == 0));
    CHECK((__clzll(0) == 64 && __clzll(1ll << 40) == 23));
    CHECK((__ffs(0) == 0 && __ffs(8) == 4 && __ffsll(1ll << 40) == 41));
    CHECK(__byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311);
    CHECK(__byte_perm(0x33221100, 0x77665544, 0x0246) == 0x00224466);
    CHECK(__byte_perm(0x80, 0x7f, 0xc8c8) == 0x00ff00ff);  // the sign, four times
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

TEST_CASE("small integers in a word do not affect each other", "[intrinsics]") {
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

TEST_CASE("floating-point arithmetic rounds in each direction as the processor does", "[intrinsics]") {
    std::mt19937 random(1);
    const auto number = [&] {  // of any magnitude, some far apart
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

TEST_CASE("values out of range become the nearest integer, and NaN becomes 0", "[intrinsics]") {
    CHECK((__float2int_rn(2.5f) == 2 && __float2int_rn(3.5f) == 4 && __float2int_rz(-2.5f) == -2));
    CHECK((__float2int_ru(2.1f) == 3 && __float2int_rd(-2.1f) == -3));
    CHECK(__float2int_rz(1e10f) == std::numeric_limits<int>::max());
    CHECK(__float2int_rz(-1e10f) == std::numeric_limits<int>::min());
    CHECK((__float2uint_rz(-1.0f) == 0 && __float2uint_rn(4294967296.0f) == ~0u));
    CHECK(__float2int_rn(std::numeric_limits<float>::quiet_NaN()) == 0);
    CHECK(__float2ull_rz(std::numeric_limits<float>::infinity()) == ~0ull);
}

TEST_CASE("a warp reduces the values of the lanes in its mask", "[intrinsics]") {
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

TEST_CASE("clock64() increases, so that a wait for it ends", "[intrinsics]") {
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
