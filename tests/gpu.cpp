// Tests of the GPU back end: it runs what is right, and refuses what is wrong in one line.
#include "buffer.hpp"
#include "error.hpp"
#include "gpu/device.hpp"
#include "gpu/launches.hpp"
#include "observe.hpp"
#include "process.hpp"
#include "stopwatch.hpp"
#include "tools/gpu_kernels.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using kata::Buffer;

namespace {

/// Returns the back end's message for `work`, or "nothing".
std::string said_against(const std::function<void()>& work) {
    unsetenv("KATA_KERNEL_SECONDS");  // the messages name one second
    try {
        kata::observe({.time_limit = 1.0}, work);
    } catch (const kata::Error& e) {
        return e.what();
    }
    return "nothing";
}

/// Returns the output of a hidden test case in a process of its own: a kernel that breaks the device breaks
/// it for everything that its process does later.
std::string written_by(const std::string& hidden_test_case) {
    const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
    return kata::run_program({self, hidden_test_case}, kata::Errors::joined).output;
}

}  // namespace

TEST_CASE("a kernel of a module runs", "[gpu]") {
    const int count = GENERATE(1, 31, 256, 1000);
    Buffer<int> out("out", static_cast<std::size_t>(count));
    const auto seen = kata::observe({}, [&] { run_fill(out.data(), out.size()); });
    const auto values = out.values();
    for (int i = 0; i < count; ++i) REQUIRE(values[static_cast<std::size_t>(i)] == i);
    CHECK(seen.launches == 1);
    CHECK(out.damage() == std::nullopt);
}

TEST_CASE("a block gets all dynamic shared memory of the device if it is requested", "[gpu]") {
    const int most = kata::gpu::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) / 4;
    const int count = GENERATE_COPY(12 * 1024, 12 * 1024 + 1, most);
    CAPTURE(count);
    std::vector<int> values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = 7 * i;
    Buffer<int> in("in", std::span<const int>(values)), out("out", values.size());
    if (count == 12 * 1024 + 1)  // before the first request, because a request stays
        CHECK_THAT(said_against([&] { run_reverse(in.data(), out.data(), count, false); }),
                   StartsWith("gpu_kernels.cu:") && ContainsSubstring("launch refused") &&
                       ContainsSubstring("a block gets 49152 bytes of shared memory, and more only"));
    CHECK(said_against([&] { run_reverse(in.data(), out.data(), count, count > 12 * 1024); }) == "nothing");
    std::reverse(values.begin(), values.end());
    CHECK(out.values() == values);
}

TEST_CASE("a launch that the device cannot take is refused with the limit that it breaks", "[gpu]") {
    const int most = kata::gpu::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    Buffer<int> out("out", 200);
    const auto over = [&](dim3 grid, dim3 block, std::size_t bytes = 0) {
        return said_against([&] { run_store_over(out.data(), grid, block, bytes); });
    };
    CHECK_THAT(
        over(1, 2048),
        StartsWith("gpu_kernels.cu:") &&
            ContainsSubstring(": launch refused: grid (1, 1, 1), block (2048, 1, 1) = 2048 threads, ") &&
            EndsWith("; a block has room for 1024 threads"));
    CHECK_THAT(over(1, {1, 1, 65}), EndsWith("a block may have (1024, 1024, 64) threads at most"));
    CHECK_THAT(over(1, {32, 0}), EndsWith("a block needs at least one thread in x, y and z"));
    CHECK_THAT(over({1, 65536}, 1),
               EndsWith("let threads loop; with x and y exchanged it would fit: are they exchanged?"));
    CHECK_THAT(over({0, 5}, 1),
               ContainsSubstring("the grid has no blocks: if there is nothing to do, launch nothing"));
    CHECK_THAT(over(1, 1, static_cast<std::size_t>(most) + 1),
               ContainsSubstring("a block has room for " + std::to_string(most) + " bytes"));
    CHECK_THAT(over(1, 1, 48 * 1024 + 1), ContainsSubstring("a block gets 49152 bytes of shared memory") &&
                                              ContainsSubstring("cudaFuncSetAttribute"));
    CHECK_THAT(said_against([&] { run_greedy(out.data()); }),
               ContainsSubstring("registers a thread, this kernel has room for "));
    CHECK(over(1, 1) == "nothing");
    CHECK(out.values().front() == 1);
}

TEST_CASE("more shared memory than the device has cannot be requested", "[gpu]") {
    const int most = kata::gpu::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) / 4;
    Buffer<int> out("out", 1);
    CHECK_THAT(said_against([&] { run_reverse(out.data(), out.data(), most + 1, true); }),
               StartsWith("gpu_kernels.cu:") && ContainsSubstring(": invalid argument; "));
}

TEST_CASE("a refused launch is explained even if the step does not check it", "[gpu]") {
    Buffer<int> out("out", 1);
    CHECK_THAT(said_against([&] { run_store_unseen(out.data(), 1, 2048); }),
               StartsWith("launch refused: grid (1, 1, 1), block (2048, 1, 1) = 2048 threads, ") &&
                   EndsWith("; a block has room for 1024 threads"));
    CHECK_THAT(said_against([&] {
                   run_store_unseen(out.data(), {3, 0}, 1);
               }),
               StartsWith("launch refused: grid (3, 0, 1)") && ContainsSubstring("launch nothing"));
    CHECK(said_against([&] { run_store_unseen(out.data(), 1, 1); }) == "nothing");
}

TEST_CASE("launches of a module are counted, except those that are refused", "[gpu]") {
    Buffer<int> out("out", 1000);
    CHECK(kata::observe({}, [&] { run_store(out.data(), 1); }).launches == 1);
    CHECK(kata::observe({}, [] {}).launches == 0);
    CHECK_THAT(said_against([&] { run_fill_twice(out.data(), out.size()); }), StartsWith("launch refused"));
    CHECK(kata::gpu::launches().taken == 2);
}

TEST_CASE("a call that fails is reported with its line and CUDA's message", "[gpu]") {
    Buffer<int> out("out", 1);
    CHECK_THAT(said_against([&] { run_bad_copy(out.data()); }),
               StartsWith("gpu_kernels.cu:") && ContainsSubstring(": invalid copy direction"));
    CHECK_THAT(said_against([&] { run_bad_copy_unseen(out.data()); }),
               ContainsSubstring("and the step did not check it"));
    CHECK(said_against([&] { run_store(out.data(), 3); }) == "nothing");
}

TEST_CASE("a store next to a buffer is found", "[gpu]") {
    Buffer<int> out("out", 100);
    run_store(out.data() + 99, 1);
    CHECK(out.damage() == std::nullopt);
    SECTION("behind it") {
        run_store(out.data() + 100, 1);
        CHECK(out.damage() ==
              R"(out of bounds: something was written 0 bytes past the end of "out" of 400 bytes)");
    }
    SECTION("before it") {
        run_store(out.data() - 2, 1);
        CHECK_THAT(out.damage().value_or(""), ContainsSubstring("bytes before \"out\" of 400 bytes"));
    }
}

TEST_CASE("a buffer may have more than 4 GiB", "[gpu]") {
    constexpr std::size_t count = (std::size_t{1} << 30) + 12345;
    kata::require_device();
    std::size_t available = 0, total = 0;
    REQUIRE(cudaMemGetInfo(&available, &total) == cudaSuccess);
    if (available < count * sizeof(int) + (1 << 20)) SKIP("the GPU has no room for it");
    Buffer<int> out("out", count);
    kata::observe({}, [&] { run_fill(out.data(), count); });
    CHECK(out.damage() == std::nullopt);
    int last = 0;
    kata::device::download(&last, out.data() + count - 1, sizeof last);
    CHECK(last == static_cast<int>(count - 1));
    run_store(out.data() + count, 1);
    CHECK_THAT(out.damage().value_or(""), ContainsSubstring("past the end"));
}

TEST_CASE("a buffer that does not fit into the GPU is refused with the free size", "[gpu]") {
    CHECK_THROWS_WITH(Buffer<int>("huge", std::size_t{1} << 50), ContainsSubstring("no room for") &&
                                                                     ContainsSubstring("\"huge\"") &&
                                                                     ContainsSubstring("are free"));
}

TEST_CASE("the timer measures what the device does", "[gpu]") {
    const auto watch = kata::stopwatch();
    watch->time([] { run_spin(1000); });
    const double few = watch->time([] { run_spin(1'000'000); }),
                 many = watch->time([] { run_spin(5'000'000); });
    CHECK(few >= 0.9e-3);  // the clock within a kernel has a coarse resolution
    CHECK(few < 1.3e-3);
    CHECK(many >= 4.9e-3);
    CHECK(many < 5.3e-3);
    CHECK(watch->time([] {}) < 1e-4);
}

TEST_CASE("the ceilings are those of the device", "[gpu]") {
    const auto ceilings = kata::stopwatch()->ceilings();
    // Two transfers a clock, most of which a copy uses.
    const double pins = 2e3 * kata::gpu::attribute(cudaDevAttrMemoryClockRate) *
                        kata::gpu::attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
    CAPTURE(ceilings.bytes_per_second, ceilings.flops_per_second, pins);
    CHECK(ceilings.bytes_per_second > 0.6 * pins);
    CHECK(ceilings.bytes_per_second < pins);
    CHECK(ceilings.flops_per_second > 1e12);
    CHECK(ceilings.flops_per_second < 1e15);
}

// Kernels after which a process can no longer use the device.

TEST_CASE("hidden: a wild store", "[.]") {
    Buffer<int> out("out", 1);
    std::puts(said_against([&] { run_store(nullptr, 1); }).c_str());
    std::puts(said_against([&] { run_store(out.data(), 1); }).c_str());
}

TEST_CASE("a wild store is out of bounds, and later tests report what broke the device", "[gpu]") {
    const auto text = written_by("hidden: a wild store");
    INFO(text);
    CHECK_THAT(text, ContainsSubstring("\na kernel was stopped: out of bounds: "));
    CHECK_THAT(text,
               ContainsSubstring(
                   "\nnot run, because an earlier kernel took the GPU from this process (out of bounds"));
    Buffer<int> out("out", 1);
    CHECK(said_against([&] { run_store(out.data(), 3); }) == "nothing");
}

TEST_CASE("hidden: an endless kernel", "[.]") {
    Buffer<int> out("out", 1);
    std::puts(said_against([&] { run_endless(out.data()); }).c_str());
    std::puts(said_against([&] { run_store(out.data(), 1); }).c_str());
}

TEST_CASE("an endless kernel ends at its time limit, and takes no time of another process", "[gpu]") {
    const auto text = written_by("hidden: an endless kernel");
    INFO(text);
    CHECK_THAT(text, ContainsSubstring("kernel still runs after 1 s: an endless loop"));
    CHECK_THAT(text, ContainsSubstring("\nnot run, because an earlier kernel took the GPU"));
    Buffer<int> out("out", 1);
    CHECK(said_against([&] { run_store(out.data(), 3); }) == "nothing");
}

TEST_CASE("hidden: a step that waits for its endless kernel", "[.]") {
    Buffer<int> out("out", 1);
    std::puts(said_against([&] { run_endless_and_wait(out.data()); }).c_str());
}

TEST_CASE("a step that waits for its endless kernel ends, too", "[gpu]") {
    const auto text = written_by("hidden: a step that waits for its endless kernel");
    INFO(text);
    CHECK_THAT(text, ContainsSubstring("the step has not returned after 2 s"));
    Buffer<int> out("out", 1);
    CHECK(said_against([&] { run_store(out.data(), 3); }) == "nothing");
}

TEST_CASE("hidden: a misaligned access", "[.]") {
    Buffer<int> out("out", 16);
    std::puts(said_against([&] { run_misaligned(out.data()); }).c_str());
}

TEST_CASE("hidden: a failed assert", "[.]") {
    Buffer<int> out("out", 1);
    std::puts(said_against([&] { run_asserts(out.data()); }).c_str());
}

TEST_CASE("the message for a kernel that the device stops says what it did", "[gpu]") {
    CHECK_THAT(written_by("hidden: a misaligned access"),
               ContainsSubstring("a kernel was stopped: misaligned"));
    CHECK_THAT(written_by("hidden: a failed assert"),
               ContainsSubstring("gpu_kernels.cu:") && ContainsSubstring("an assert in a kernel failed"));
}
