// Host code: accesses to device memory, leaks, copies.
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <string>
#include <tuple>
#include <unistd.h>
#include <vector>

TEST_CASE("the host must not access device memory", "[host]") {
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

TEST_CASE("the host must not access device memory through the C++ library either", "[host]") {
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
#if defined(__clang__)
    const std::string where =
        how == sort ? "" : line_of(mark) + ": on a GPU";  // it inlines less of std::sort
#else
    const std::string where = line_of(mark) + ": on a GPU";
#endif
    CHECK_THAT(findings[0],
               StartsWith("the host " + does + " \"data\", which is device memory, in " + where));
    CHECK(data.values().size() == 4);  // the caller of a step may read it
}

TEST_CASE("the host may access managed memory once it has waited for the launches", "[host]") {
    int sum = 0;
    const auto seen = observe({}, [&] { sum = kernels::host_shares(true); });
    CHECK(seen.findings == Findings{});
    CHECK(sum == 2 + 8 + 4);
    CHECK(found([&] { kernels::host_shares(false); }) ==
          Findings{"the host reads \"cudaMallocManaged\", which is managed memory that a launch may still "
                   "use, in " +
                   line_of("host reads what it shares") + ": call cudaDeviceSynchronize() first"});
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    CHECK(seen.counts->bytes_to_device == page);  // the numbers
    CHECK(seen.counts->bytes_to_host == 2 * page + sizeof(int));
}

TEST_CASE("a step must free what it allocates", "[host]") {
    using enum kernels::Leak;
    const auto leaked = [](kernels::Leak leak) {
        const auto seen = observe({.metered = false}, [=] { kernels::host_leaks(leak); });
        CHECK(seen.findings == Findings{});
        return seen.kept;
    };
    CHECK(leaked(none) == Findings{});
    CHECK(leaked(device) == Findings{"never freed: 4096 bytes that cudaMalloc has allocated in " +
                                     line_of("host allocates") + ": free them with cudaFree"});
    CHECK(leaked(on_stream) == Findings{"never freed: 4096 bytes that cudaMalloc has allocated in " +
                                        line_of("host allocates on a stream") + ": free them with cudaFree"});
    CHECK(leaked(host) ==
          Findings{"never freed: 4096 bytes of the host that cudaMallocHost has allocated in " +
                   line_of("host allocates of its own") + ": free them with cudaFreeHost"});
    CHECK(leaked(mapped) ==
          Findings{"never freed: 4096 bytes that cudaHostAlloc has allocated in " +
                   line_of("host allocates for kernels") + ": free them with cudaFreeHost"});
}

TEST_CASE("copies by the host are counted", "[host]") {
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
