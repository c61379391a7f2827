// Streams, events and properties of the device.
#include "simt/host.hpp"
#include "suite.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <vector>

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

TEST_CASE("unordered work in two streams is reported", "[host]") {
    using enum kernels::Streams;
    constexpr int n = 40;
    const auto seen = [](kernels::Streams how, bool has_caller) {
        auto in = upload("in", listed<int>(n, [](int i) { return i; }));
        auto between = zeros<int>("between", n), out = zeros<int>("out", n);
        return observe({.has_caller = has_caller},
                       [&] { kernels::copy_and_launch(how, in.data(), between.data(), out.data(), n); });
    };
    const auto found = [&](kernels::Streams how, bool has_caller = true) {
        return seen(how, has_caller).findings;
    };
    const auto how =
        GENERATE(both_default, two_blocking, joined_by_event, joined_by_host, waited_for_by_host);
    CHECK(found(how) == Findings{});
    const auto launch = "a launch in " + line_of("launches in a stream");
    const auto copy = "cudaMemcpyAsync in " + line_of("copies in a stream");
    if (kata::counts_available())  // the accesses of a launch are known
        CHECK(found(apart) == Findings{"nothing orders " + launch + " and " + copy +
                                       ", which access the same memory: they are in different streams, and a "
                                       "GPU may do the second one first; let one stream wait for the other "
                                       "with cudaEventRecord and cudaStreamWaitEvent, or leave streams out"});
    CHECK(found(non_blocking) ==
          Findings{"nothing orders " + copy +
                   " after the caller's work in the default stream, such as a copy of the inputs: its stream "
                   "was created with cudaStreamNonBlocking; leave that out"});
    CHECK(found(non_blocking_at_the_end) ==
          Findings{"nothing orders " + launch +
                   " before the caller's next work in the default stream, such as a copy of the result: its "
                   "stream was created with cudaStreamNonBlocking; leave that out, or wait for it with "
                   "cudaStreamSynchronize"});
    CHECK(found(non_blocking, false) == Findings{});
    CHECK(found(non_blocking_at_the_end, false) == Findings{});
    CHECK(seen(never_destroyed, true).kept ==
          Findings{"never destroyed: the stream that is created in " + line_of("makes a stream") +
                   ": destroy it with cudaStreamDestroy"});
}

TEST_CASE("two streams need an order if they access the same memory and one of them writes", "[host]") {
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
    if (!kata::counts_available()) return;  // the accesses of a launch are unknown
    for (const auto how : {same_part, anything, copy})
        CHECK_THAT(found(how), StartsWith("nothing orders") && ContainsSubstring("cudaMemcpyAsync in "));
    CHECK_THAT(found(rows), StartsWith("nothing orders a launch in " + line_of("beside a copy") +
                                       " and cudaMemcpy2DAsync in " + line_of("rows")));
    CHECK_THAT(found(from_symbol),
               StartsWith("nothing orders cudaMemcpyFromSymbolAsync in " + line_of("asks") +
                          " and a launch in " + line_of("counts itself")));
}

TEST_CASE("the bytes that streams access decide whether they need an order", "[host]") {
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
        observe({}, [] { kernels::trap(false); });  // an unrelated launch
        CHECK_THAT(found(how, {.order = order}),
                   StartsWith("nothing orders ") && ContainsSubstring("a launch in "));
        CHECK(found(how, {.metered = false}) == "");
    }
}

TEST_CASE("work that the host has waited for is not compared with later work", "[host]") {
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

TEST_CASE("a nonexistent stream or event is refused", "[host]") {
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
    int* of_device = nullptr;
    CHECK(cudaMalloc(&of_device, 4) == cudaSuccess);
    CHECK_THROWS_WITH(cudaFreeHost(of_device), StartsWith("cudaFreeHost refused"));
    CHECK(cudaFree(of_device) == cudaSuccess);
    CHECK(cudaHostAlloc(&of_device, 4, cudaHostAllocMapped) == cudaSuccess);
    CHECK(cudaFreeHost(of_device) == cudaSuccess);
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

TEST_CASE("the reported device has the limits that are enforced", "[host]") {
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
