// Other device code: intrinsics, templates, printf, assertions.
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

TEST_CASE("intrinsics compute what CUDA specifies", "[device]") {
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

TEST_CASE("a grid-stride loop covers the elements beyond the grid", "[device]") {
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
    REQUIRE(redirected);  // printed where the test can read it
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
    SKIP("the sanitizer of undefined behaviour reports it first, and ends the program");
#endif
    Buffer<int> out("out", 8);
    const std::string line = kata::counts_available() ? " in " + line_of("divide") : "";
    for (int again = 0; again < 2; ++again)
        CHECK_THAT(fault([&] { kernels::divide(8, 3, out.data()); }),
                   Equals("an integer is divided by zero" + line +
                          ", by thread (3,0,0) of block (0,0,0): a GPU goes on with some number"));
    CHECK(fault([&] { kernels::divide(8, 8, out.data()); }) == "");
}
